/*
 * collected.c - what the collector asks of the sources, of which each file knows its own part.
 */
#include "agent/collect/sources.h"
#include "agent/sources/class_names.h"
#include "agent/sources/engine.h"
#include "agent/sources/engine_clocks.h"
#include "agent/sources/io/io_targets.h"
#include "agent/sources/live/live_objects.h"
#include "agent/sources/live/live_table.h"
#include "agent/sources/lock/lock_waits.h"
#include "agent/sources/nativemem/blocks.h"
#include "agent/sources/nativemem/nativemem.h"
#include "agent/sources/object_samples.h"
#include "agent/sources/wall/vthreads.h"

static uint64_t counted(uint32_t e)
{
	struct engine_counts counts;

	engine_count(e, &counts);
	return counts.counted;
}

static void change_kept(kept_stack_fn *fn, void *arg)
{
	waits_change_kept(fn, arg);
	vthreads_parked_change_kept(fn, arg);
}

static const char *name_of(uint32_t number)
{
	return number < IO_NAMES_FIRST ? class_name_of(number) : io_target_name(number);
}

const struct collect_sources engine_of_collector = {
	.flush = engine_flush,
	.open_ticks = engine_open_ticks,
	.look_again = engine_look_again,
	.keeps = engine_keeps,
	.active = engine_active,
	.counted = counted,
	.clocks = engine_clocks,
	.vthreads_parked_open = vthreads_parked_tell_open,
	.waits_open = waits_tell_open,
	.parked_done = vthreads_parked_tell_done,
	.waits_done = waits_tell_done,
	.change_kept = change_kept,
	.stored = nativemem_stored,
	.blocks = blocks_each,
	.blocks_gather = blocks_gather,
	.blocks_freed = blocks_freed,
	.images_changed = engine_images_changed,
	.class_name = name_of,
	.stands_for = live_table_stands_for,
	.heap_used = live_objects_used,
	.object_intervals = object_samples_intervals,
	.heap_collected = live_objects_collected,
};
