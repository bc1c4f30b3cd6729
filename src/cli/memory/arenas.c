/*
 * arenas.c - the arenas of glibc's malloc, and what of them is free. Nothing of it is locked while we look, and it may
 * change: what does not fit together is taken for unknown, not for true.
 */
#include <stdlib.h>

#include "cli/memory/glibc.h"

#define FREE_MAX 400000 /* blocks in bins that are looked at, of all arenas */
#define ARENAS_MAX 4096
#define TRIES 3

struct arena {
	uint64_t at, low, high; /* HIGH: end of what its top block reaches to */
	bool main;
};
struct arenas {
	VECTOR(struct arena) list;
	VECTOR(struct owned_range) heaps;
	struct peek *peek;
	struct memory_malloc *sums;
	unsigned free_count;
};

static bool is_arena(struct peek *p, uint64_t at)
{
	uint64_t words[ARENA_BYTES / 8], system;
	unsigned i, empty = 0;

	if (sizeof(void *) != 8 || !peek_read(p, at, words, sizeof(words)))
		return false;
	system = words[ARENA_SYSTEM / 8];
	for (i = 0; i < ARENA_BIN_COUNT; i++) {
		uint64_t self = at + ARENA_BINS + i * 16 - 16, next = words[ARENA_BINS / 8 + i * 2];
		uint64_t former = words[ARENA_BINS / 8 + i * 2 + 1];

		if ((next == self) != (former == self) || next % 16 || former % 16)
			return false;
		empty += next == self;
	}
	return empty >= 1 && system && system < 1ull << 44 && words[ARENA_TOP / 8] % 16 == 0;
}

static bool has_arena(const struct arenas *a, uint64_t at)
{
	size_t i;

	for (i = 0; i < a->list.count; i++)
		if (a->list.items[i].at == at)
			return true;
	return false;
}

static void add_arena(struct arenas *a, uint64_t at, bool main)
{
	struct arena *arena;

	if (a->list.count >= ARENAS_MAX || has_arena(a, at) || !is_arena(a->peek, at))
		return;
	arena = VECTOR_PUSH(&a->list);
	if (arena)
		*arena = (struct arena){.at = at, .main = main};
}

/* Where the heap that lies in mapping I may end by now: the system has been asked for more of it since it was read. */
static uint64_t may_end(const struct mappings *m, size_t i)
{
	const struct mapping *reserve = i + 1 < m->count ? &m->items[i + 1] : NULL;

	return reserve && reserve->start == m->items[i].end && reserve->perms[0] == '-' && reserve->path[0] == '\0' ?
	       reserve->end : m->items[i].end;
}

/* The header of an arena's heap at ADDRESS. */
static void look_at_heap(struct arenas *a, uint64_t address, uint64_t end)
{
	uint64_t head[4];
	struct owned_range *heap;

	if (!peek_read(a->peek, address, head, sizeof(head)) || head[3] % 4096 || head[2] > head[3] ||
	    head[3] > ARENA_HEAP || head[2] < 4096 || address + head[2] > end)
		return;
	/* its first heap has the arena right behind the header, which grew in 2.35 */
	if (head[0] == address + 32 || head[0] == address + 48 || head[0] == address + 64)
		add_arena(a, head[0], false);
	if (!has_arena(a, head[0]) && !is_arena(a->peek, head[0]))
		return;
	heap = VECTOR_PUSH(&a->heaps);
	if (heap)
		*heap = (struct owned_range){.start = address, .end = address + head[3]};
}

static void find_heaps(struct arenas *a)
{
	size_t i;

	for (i = 0; i < a->peek->maps->count; i++) {
		const struct mapping *m = &a->peek->maps->items[i];
		uint64_t at = (m->start + ARENA_HEAP - 1) / ARENA_HEAP * ARENA_HEAP;

		if (!mapping_is_anonymous(m) || m->perms[0] != 'r' || m->perms[1] != 'w' || !m->rss)
			continue;
		for (; at < m->end; at += ARENA_HEAP)
			look_at_heap(a, at, may_end(a->peek->maps, i));
	}
}

static bool is_libc(const char *path)
{
	const char *name = maps_name(path);

	return strncmp(name, "libc.so", 7) == 0 || strncmp(name, "libc-", 5) == 0;
}

/* The main arena is data of libc.so, which others lead to; where there are no others, it is looked for. */
static void find_main(struct arenas *a)
{
	uint64_t next, at, first;
	size_t i, steps, begin = a->list.count ? a->list.items[0].at != 0 : 0;

	for (steps = 0, at = first = begin ? a->list.items[0].at : 0; at && steps < ARENAS_MAX; steps++, at = next) {
		const struct mapping *m = mappings_find(a->peek->maps, at);

		if (m && m->path[0] == '/' && is_libc(m->path)) {
			add_arena(a, at, true);
			return;
		}
		if (!peek_word(a->peek, at + ARENA_NEXT, &next) || next == first)
			break;
	}
	for (i = 0; i < a->peek->maps->count; i++) {
		const struct mapping *m = &a->peek->maps->items[i];

		if (!is_libc(m->path) || m->perms[1] != 'w')
			continue;
		for (at = m->start; at + ARENA_BYTES <= m->end; at += 16) {
			uint64_t two[2];

			/* most bins are empty: the last one is that of the largest blocks */
			if (peek_read(a->peek, at + ARENA_BINS + 126 * 16 - 32, two, sizeof(two)) &&
			    two[0] == at + ARENA_BINS + 124 * 16 - 16 && is_arena(a->peek, at)) {
				add_arena(a, at, true);
				return;
			}
		}
	}
}

/* The whole pages of [FROM, TO) are free. */
static void claim_free(struct ranges *c, uint64_t from, uint64_t to)
{
	ranges_add(c, (from + 4095) / 4096 * 4096, to / 4096 * 4096, MEMORY_malloc_free, NULL);
}

/* The blocks of one bin; false: it changes while we look. */
static bool walk_bin(struct arenas *a, struct ranges *c, uint64_t self, uint64_t *bytes)
{
	uint64_t block[4], at, former = self;

	if (!peek_word(a->peek, self + 16, &at))
		return false;
	for (; at != self; former = at, at = block[2]) {
		if (++a->free_count > FREE_MAX || at % 16 || !peek_read(a->peek, at, block, sizeof(block)) ||
		    block[3] != former || (block[1] & ~BLOCK_FLAGS) < 32 || block[1] > 1ull << 40)
			return false;
		*bytes += block[1] & ~BLOCK_FLAGS;
		/* the header, and the links of large ones, are in use */
		claim_free(c, at + 48, at + (block[1] & ~BLOCK_FLAGS));
	}
	return true;
}

static bool walk_arena(struct arenas *a, struct ranges *c, const struct arena *arena, uint64_t *bytes)
{
	uint64_t top, size;
	unsigned i;

	for (i = 0; i < ARENA_BIN_COUNT; i++)
		if (!walk_bin(a, c, arena->at + ARENA_BINS + i * 16 - 16, bytes))
			return false;
	if (!peek_word(a->peek, arena->at + ARENA_TOP, &top) || top == arena->at + ARENA_TOP)
		return true;
	if (!peek_word(a->peek, top + 8, &size) || size > 1ull << 40)
		return false;
	size &= ~BLOCK_FLAGS;
	*bytes += size;
	claim_free(c, top + 16, top + size);
	return true;
}

static void claim_arena(struct arenas *a, struct ranges *c, const struct arena *arena)
{
	uint64_t bytes = 0, system = 0;
	struct ranges found;
	unsigned tries;
	bool done = false;
	size_t i;

	peek_word(a->peek, arena->at + ARENA_SYSTEM, &system);
	a->sums->system += system;
	for (tries = 0; tries < TRIES && !done; tries++) {
		found = (struct ranges){0};
		bytes = 0;
		done = walk_arena(a, &found, arena, &bytes) && bytes <= system;
		for (i = 0; i < found.count && done; i++)
			ranges_add(c, found.items[i].start, found.items[i].end, MEMORY_malloc_free, NULL);
		free(found.items);
	}
	if (done)
		a->sums->free += bytes;
	else
		a->sums->free_known = false;
}

void memory_claim_arenas(struct peek *p, struct ranges *c, struct memory_malloc *m)
{
	struct arenas a = {.peek = p, .sums = m};
	size_t i;

	find_heaps(&a);
	find_main(&a);
	m->known = a.list.count > 0;
	m->free_known = m->known;
	m->arenas = (uint32_t)a.list.count;
	/* free blocks first: they lie in what is claimed as a whole */
	for (i = 0; i < a.list.count; i++)
		claim_arena(&a, c, &a.list.items[i]);
	for (i = 0; i < a.heaps.count; i++)
		ranges_add(c, a.heaps.items[i].start, a.heaps.items[i].end, MEMORY_malloc_used, NULL);
	free(a.list.items);
	free(a.heaps.items);
}
