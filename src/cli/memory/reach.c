/*
 * reach.c - what the JVM has mapped for itself: no table tells where mark bitmaps, offset tables and the like are, but
 * the objects that use them do. From the collector's own object on, words are followed that point to blocks of malloc,
 * a few steps far; one that points to memory of which nothing is known yet, on a page's begin, names it. So do, in a
 * second round, the data of libjvm.so.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/memory/glibc.h"
#include "cli/memory/spread.h"

#define STEPS 3
#define OBJECTS_MAX 30000
#define OBJECT_MAX (64u << 10) /* bytes of one that are looked at */
#define BYTES_MAX (256u << 20) /* that are looked at in all */
#define NMT_HEADER 16u
#define UNKNOWN_BYTES 1024u
#define SEEN_SLOTS 65536u
enum { OF_GC = 1, OF_VM };

struct object {
	uint64_t at, bytes;
	unsigned steps;
};
struct reach {
	struct peek *peek;
	const struct ranges *settled;
	struct ranges *ranges; /* exact ones */
	struct spread spread;
	VECTOR(struct object) queue;
	uint64_t *seen, bytes;
	uint64_t words[OBJECT_MAX / 8];
};

static bool is_new(struct reach *r, uint64_t at)
{
	size_t slot = (at >> 4) * 0x9E3779B97F4A7C15ull >> 48;

	for (; r->seen[slot % SEEN_SLOTS]; slot++)
		if (r->seen[slot % SEEN_SLOTS] == at)
			return false;
	r->seen[slot % SEEN_SLOTS] = at;
	return true;
}

static const struct owned_range *claim_at(const struct reach *r, uint64_t at)
{
	size_t i = ranges_after(r->settled, at);

	return i < r->settled->count && r->settled->items[i].start <= at ? &r->settled->items[i] : NULL;
}

static bool is_malloc(const struct reach *r, uint64_t at)
{
	const struct owned_range *c = claim_at(r, at);
	const struct mapping *m;

	if (c)
		return c->line == MEMORY_malloc_used || c->line == MEMORY_malloc_large;
	m = mappings_find(r->peek->maps, at);
	return m && strcmp(m->path, "[heap]") == 0;
}

/* How long the block is that begins at AT, by the header of malloc before it, or before that of NMT. */
static uint64_t block_bytes(struct reach *r, uint64_t at)
{
	uint64_t size, i;

	for (i = 0; i < 2; i++) {
		if (!peek_word(r->peek, at - 8 - i * NMT_HEADER, &size))
			continue;
		size &= ~BLOCK_FLAGS;
		if (size >= 32 && size % 16 == 0 && size <= 1ull << 32)
			return size - 8 - i * NMT_HEADER;
	}
	return UNKNOWN_BYTES;
}

static void follow(struct reach *r, uint64_t at, unsigned steps)
{
	struct object *o;

	if (at % 16 || r->queue.count >= OBJECTS_MAX || !is_malloc(r, at) || !is_new(r, at))
		return;
	o = VECTOR_PUSH(&r->queue);
	if (o)
		*o = (struct object){at, MIN(block_bytes(r, at), OBJECT_MAX), steps};
}

static void look_at(struct reach *r, uint64_t at, uint64_t bytes, unsigned steps, unsigned char mark)
{
	uint64_t i;

	if ((r->bytes += bytes) > BYTES_MAX || !peek_read(r->peek, at, r->words, bytes / 8 * 8))
		return;
	for (i = 0; i < bytes / 8; i++) {
		uint64_t word = r->words[i];

		if (word < 65536 || word >> 47)
			continue;
		if (word % 4096 == 0)
			spread_mark(&r->spread, word, mark);
		if (steps < STEPS)
			follow(r, word, steps + 1);
	}
}

static void drain(struct reach *r, unsigned char mark)
{
	size_t i;

	for (i = 0; i < r->queue.count; i++)
		look_at(r, r->queue.items[i].at, r->queue.items[i].bytes, r->queue.items[i].steps, mark);
	r->queue.count = 0;
}

/* Data of libjvm.so, and what its loader has put behind it (.bss). */
static void look_at_data(struct reach *r)
{
	const struct mapping *m = r->peek->maps->items;
	bool behind = false;
	uint64_t at;
	size_t i;

	for (i = 0; i < r->peek->maps->count; i++) {
		behind = strcmp(maps_name(m[i].path), "libjvm.so") == 0 ||
			 (behind && m[i].path[0] == '\0' && m[i].start == m[i - 1].end);
		if (!behind || m[i].perms[1] != 'w')
			continue;
		for (at = m[i].start; at < m[i].end; at += 4096)
			look_at(r, at, 4096, STEPS - 1, OF_VM);
	}
}

void memory_claim_reached(struct peek *p, const struct vm_tables *t, struct ranges *c)
{
	struct reach *r = calloc(1, sizeof(*r));

	ranges_settle(c);
	if (r)
		*r = (struct reach){.peek = p, .settled = c, .seen = calloc(SEEN_SLOTS, sizeof(*r->seen))};
	if (!r || !r->seen || !spread_init(&r->spread, p->maps, c)) {
		c->failed = true;
		if (r)
			free(r->seen);
		free(r);
		return;
	}
	follow(r, vm_tables_value(t, p, "Universe", "_collectedHeap"), 0);
	drain(r, OF_GC);
	look_at_data(r);
	drain(r, OF_VM);
	spread_claim(&r->spread, c, OF_GC, MEMORY_gc, "bitmaps and tables");
	spread_claim(&r->spread, c, OF_VM, MEMORY_vm, NULL);
	spread_free(&r->spread);
	free(r->queue.items);
	free(r->seen);
	free(r);
}
