/*
 * collected.c - what the collector asks of the sources, of which each file knows its own part.
 */
#include "agent/collect/sources.h"
#include "agent/sources/active.h"
#include "agent/sources/class_names.h"
#include "agent/sources/engine.h"
#include "agent/sources/engine_clocks.h"
#include "agent/sources/io/io_hooks.h"
#include "agent/sources/io/io_targets.h"
#include "agent/sources/live/live_objects.h"
#include "agent/sources/live/live_table.h"
#include "agent/sources/lock/lock_waits.h"
#include "agent/sources/nativemap/native_maps.h"
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

static bool is_of(uint32_t e, const struct engine_ops *source)
{
	return active_event(e)->ops == source;
}

static void stored(uint32_t e, const struct field_note *n, uint32_t owner)
{
	if (is_of(e, &engine_nativemem))
		nativemem_stored(e, n, owner);
	else if (is_of(e, &engine_nativemap))
		native_maps_stored(n, owner);
}

static void blocks(uint32_t e, block_owned_fn *fn, void *arg)
{
	if (is_of(e, &engine_nativemem))
		blocks_each(fn, arg);
	else if (is_of(e, &engine_nativemap))
		native_maps_each(fn, arg);
}

static uint64_t reserved(uint32_t e)
{
	return is_of(e, &engine_nativemap) ? native_maps_reserved() : 0;
}

static void gather(void)
{
	blocks_gather();
	native_maps_gather();
}

static uint64_t freed(bool wanted, block_freed_fn *fn, void *arg)
{
	uint64_t missed = blocks_freed(wanted, fn, arg);

	return missed + native_maps_freed(wanted, fn, arg);
}

static const char *name_of(uint32_t number)
{
	return number < IO_NAMES_FIRST ? class_name_of(number) : io_target_name(number);
}

static struct profile_io_counted io_counted(uint32_t operation)
{
	struct timed_total total = timed_total(&io_calls, operation);

	return (struct profile_io_counted){total.calls, total.bytes, total.ns};
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
	.calls_open = io_tell_lately,
	.parked_done = vthreads_parked_tell_done,
	.waits_done = waits_tell_done,
	.change_kept = change_kept,
	.stored = stored,
	.blocks = blocks,
	.blocks_reserved = reserved,
	.blocks_gather = gather,
	.blocks_freed = freed,
	.images_changed = engine_images_changed,
	.io_counted = io_counted,
	.class_name = name_of,
	.stands_for = live_table_stands_for,
	.heap_used = live_objects_used,
	.heap_most = live_objects_most,
	.object_intervals = object_samples_intervals,
	.heap_collected = live_objects_collected,
};
