/*
 * large.c - blocks that glibc's malloc has mapped one by one (128 KB and more, at first). Each begins on a page with
 * its size, a multiple of pages, and a flag. Neighbours are one mapping for the kernel: one block leads to the next.
 */
#include "cli/memory/glibc.h"

#define LARGE_MIN 65536ull

static uint64_t block_size(struct peek *p, uint64_t at, uint64_t end)
{
	uint64_t head[2], size;

	if (sizeof(void *) != 8 || !peek_read(p, at, head, sizeof(head)))
		return 0;
	size = head[1] & ~BLOCK_FLAGS;
	return (head[1] & BLOCK_FLAGS) == BLOCK_MAPPED && head[0] == 0 && size % 4096 == 0 && size >= LARGE_MIN &&
		       size <= end - at ? size : 0;
}

struct search {
	struct peek *peek;
	const struct memory_classes *classes;
	struct ranges *found;
	struct memory_malloc *sums;
};

/* Blocks in [FROM, END), of which nothing else is known. What holds a class is metaspace, whatever it begins with. */
static void look_for_blocks(struct search *s, uint64_t from, uint64_t end)
{
	uint64_t size;

	while ((from = peek_next(s->peek, from, end)) < end) {
		size = block_size(s->peek, from, end);
		if (size && memory_has_class(s->classes, from, from + size))
			size = 0;
		if (size) {
			ranges_add(s->found, from, from + size, MEMORY_malloc_large, NULL);
			s->sums->large += size;
			s->sums->large_count++;
		}
		from += size ? size : 4096;
	}
}

void memory_claim_large(struct peek *p, const struct memory_classes *classes, struct ranges *c, struct memory_malloc *m)
{
	struct search s = {p, classes, c, m};
	size_t i, k, known;
	uint64_t from;

	if (!m->known)
		return;
	ranges_settle(c);
	known = c->count;
	for (i = 0; i < p->maps->count; i++) {
		const struct mapping *map = &p->maps->items[i];

		if (!mapping_is_anonymous(map) || strcmp(map->perms, "rw-p") != 0 || !map->rss)
			continue;
		from = map->start;
		for (k = ranges_after(&(struct ranges){c->items, known, known, false}, from);
		     k < known && c->items[k].start < map->end; k++) {
			uint64_t start = c->items[k].start, next = c->items[k].end;

			if (start > from)
				look_for_blocks(&s, from, start);
			from = next;
		}
		if (from < map->end)
			look_for_blocks(&s, from, map->end);
	}
}
