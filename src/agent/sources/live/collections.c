/*
 * collections.c - the heap's own count where the JVM's tables lead to it (CollectedHeap::_total_collections: a cycle of
 * ZGC is one), else the collectors' in the performance data. Shenandoah counts its cycles in neither (the performance
 * data have all phases of each): of its collections only those count that a result has asked for.
 */
#include "agent/sources/live/collections.h"

#include <string.h>

#include "agent/zone/load.h"
#include "agent/zone/zone.h"
#include "common/hotspot/flags.h"
#include "common/hotspot/perf_data.h"

#define EDEN "sun.gc.generation.0.space.0.used"
#define SURVIVOR "sun.gc.generation.0.space.1.used"

static struct {
	struct heap_counters all;
	const uint64_t *eden, *survivor;
	_Atomic uint32_t asked_for; /* that the heap does not count */
} counters;

static void take(const char *name, const uint64_t *value, void *arg)
{
	if (strcmp(name, EDEN) == 0)
		counters.eden = value;
	else if (strcmp(name, SURVIVOR) == 0)
		counters.survivor = value;
}

static uintptr_t heap_count(void)
{
	const struct layout *l = &zone.layout;
	uintptr_t heap;

	if (!l->collected_heap || l->heap_collections < 0 || !load_word(l->collected_heap, &heap) || !heap)
		return 0;
	return heap + (uintptr_t)l->heap_collections;
}

bool collections_open(void)
{
	if (!counters.all.used.count && heap_counters_find(&zone.layout, &counters.all))
		perf_data_each(&zone.layout, take, NULL);
	return heap_count() || counters.all.collections.count;
}

uint32_t collections_now(void)
{
	uintptr_t at = heap_count();
	struct heap_state now;
	uint32_t count;

	if (at && load_u32(at, &count))
		return count + atomic_load_explicit(&counters.asked_for, memory_order_relaxed);
	heap_read(&zone.layout, &counters.all, &now);
	return (uint32_t)now.collections;
}

void collections_ask(void)
{
	bool shenandoah;

	if (flag_read_bool(&zone.layout, "UseShenandoahGC", &shenandoah) && shenandoah)
		atomic_fetch_add(&counters.asked_for, 1);
}

/* Eden is empty after a collection, and its number follows what is allocated since (G1MonitoringSupport). */
uint64_t collections_used(void)
{
	struct heap_state now;

	if (!collections_open() || !counters.all.used.count)
		return 0;
	heap_read(&zone.layout, &counters.all, &now);
	return counters.eden && counters.survivor ? now.used - MIN(now.used, *counters.eden) : now.used;
}

uint64_t collections_most(void)
{
	uint64_t most = 0;

	return flag_read_size(&zone.layout, "MaxHeapSize", &most) ? most : 0;
}
