/*
 * heap.c - how full the Java heap is, as the JVM's performance data have it: brought up to date at the end of each
 * collection. Nothing with -XX:-UsePerfData.
 */
#include "common/hotspot/perf_data.h"

#include <stdlib.h>
#include <string.h>

/* NAME is PATTERN, whose # stand for numbers. */
static bool is_like(const char *name, const char *pattern)
{
	for (; *pattern; pattern++) {
		size_t digits = strspn(name, "0123456789");

		if (*pattern == '#' ? !digits : *name != *pattern)
			return false;
		name += *pattern == '#' ? digits : 1;
	}
	return !*name;
}

static void take(const char *name, const uint64_t *value, void *arg)
{
	struct heap_counters *c = arg;
	const uint64_t **slot = NULL;

	if (strncmp(name, "sun.gc.", 7) != 0)
		return;
	if (is_like(name, "sun.gc.collector.#.invocations"))
		slot = VECTOR_PUSH(&c->collections);
	else if (is_like(name, "sun.gc.generation.#.space.#.used"))
		slot = VECTOR_PUSH(&c->used);
	else if (is_like(name, "sun.gc.generation.#.capacity"))
		slot = VECTOR_PUSH(&c->committed);
	if (slot)
		*slot = value;
}

bool heap_counters_find(const struct layout *l, struct heap_counters *c)
{
	perf_data_each(l, take, c);
	if (c->collections.count && c->used.count && c->committed.count)
		return true;
	heap_counters_free(c);
	return false;
}

void heap_counters_free(struct heap_counters *c)
{
	free(c->collections.items);
	free(c->used.items);
	free(c->committed.items);
	memset(c, 0, sizeof(*c));
}

static uint64_t sum(const uint64_t *const *values, size_t count)
{
	uint64_t all = 0;
	size_t i;

	for (i = 0; i < count; i++)
		all += *(const volatile uint64_t *)values[i];
	return all;
}

void heap_read(const struct layout *l, const struct heap_counters *c, struct heap_state *s)
{
	uintptr_t heap = l->collected_heap ? *(const uintptr_t *)l->collected_heap : 0, region;

	memset(s, 0, sizeof(*s));
	s->collections = sum(c->collections.items, c->collections.count);
	s->used = sum(c->used.items, c->used.count);
	s->committed = sum(c->committed.items, c->committed.count);
	if (heap && l->heap_reserved >= 0 && l->region_start >= 0 && l->region_words >= 0) {
		region = heap + (uintptr_t)l->heap_reserved;
		s->start = *(const uintptr_t *)(region + (uintptr_t)l->region_start);
		s->reserved = *(const uintptr_t *)(region + (uintptr_t)l->region_words) * sizeof(uintptr_t);
		/* G1 adds some words to each of its counters, so that none is 0 (G1MonitoringSupport::pad_capacity) */
		s->committed = MIN(s->committed, s->reserved);
	}
}
