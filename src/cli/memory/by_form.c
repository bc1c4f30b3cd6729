/*
 * by_form.c - what mappings' forms say where a JVM's memory may not be read: code heaps can be run, the heap's
 * reservation has the size that the JVM tells, arenas of glibc begin on 64 MiB and end on the next. It is less sure
 * than what the tables tell, and used in their stead only.
 */
#include "cli/memory/glibc.h"

#define HEAP_UNIT (1ull << 20)

static bool is_part(const struct mapping *m)
{
	return mapping_is_anonymous(m) || memory_line_of_mapping(m) == MEMORY_cds;
}

/* What is resident of [M[FIRST].start, + SIZE), if mappings without a hole cover it; 0. */
static uint64_t resident_of(const struct mappings *m, size_t first, uint64_t size)
{
	uint64_t end = m->items[first].start + size, at = m->items[first].start, rss = 0;
	size_t i;

	for (i = first; i < m->count && at < end && m->items[i].start == at && is_part(&m->items[i]); i++) {
		rss += m->items[i].rss;
		at = m->items[i].end;
	}
	return at >= end ? rss : 0;
}

/*
 * The heap: of the ranges with the size of its reservation that begin on a mapping the one with the most resident; it
 * is none if that is less than what is in use. G1 tells some words more than there are.
 */
static void claim_heap(const struct mappings *m, const struct memory_counters *c, struct ranges *out)
{
	uint64_t best = 0, start = 0, bytes = 0;
	size_t i, k;

	for (k = 0; k < ARRAY_LEN(c->generations_max); k++)
		for (i = 0; i < m->count && c->generations_max[k] >= HEAP_UNIT; i++) {
			uint64_t size = c->generations_max[k] / HEAP_UNIT * HEAP_UNIT, rss;

			rss = m->items[i].start % HEAP_UNIT == 0 && m->items[i].perms[1] == 'w' ?
				      resident_of(m, i, size) : 0;
			if (rss <= best)
				continue;
			best = rss;
			start = m->items[i].start;
			bytes = size;
		}
	if (c->heap_used && best >= c->heap_used / 4 * 3)
		ranges_add(out, start, start + bytes, MEMORY_java_heap, NULL);
}

static bool is_arena(const struct mapping *m, const struct mapping *next)
{
	return m->start % ARENA_HEAP == 0 && strncmp(m->perms, "rw-p", 4) == 0 && next->start == m->end &&
	       mapping_is_anonymous(next) && strncmp(next->perms, "---", 3) == 0 && next->end == m->start + ARENA_HEAP;
}

void memory_claim_by_form(const struct mappings *m, const struct memory_counters *counters, struct ranges *c)
{
	size_t i;

	claim_heap(m, counters, c);
	for (i = 0; i < m->count; i++) {
		const struct mapping *map = &m->items[i];

		if (!mapping_is_anonymous(map) || !map->rss)
			continue;
		if (map->perms[2] == 'x')
			ranges_add(c, map->start, map->end, MEMORY_code, NULL);
		else if (i + 1 < m->count && is_arena(map, map + 1))
			ranges_add(c, map->start, map->end, MEMORY_malloc_used, NULL);
	}
}
