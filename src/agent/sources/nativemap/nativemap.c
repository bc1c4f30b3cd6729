/*
 * nativemap.c - native memory that is mapped: who calls mmap and its like, and what of it is not unmapped.
 *
 *   mmap, mremap, sbrk … in the images' GOT ─▶ its ticket (map_changes.h) ─▶ a sample: stack, bytes ─▶ its queue
 *   munmap, and what lies under a new mapping ─▶ its ticket
 *   the collector: queues ─▶ whose each ticket is; tickets in their order ─▶ ranges (native_maps.c)
 *
 * Each call is a sample. It weighs the bytes that can be resident by it; addresses that are only reserved (PROT_NONE,
 * as the JVM does for its heap) weigh nothing until something is mapped over them, and are summed up apart.
 */
#include "agent/sources/nativemap/nativemap.h"

#include <errno.h>

#include "agent/sample/field_sample.h"
#include "agent/sample/handler.h"
#include "agent/sample/record_sample.h"
#include "agent/sources/active.h"
#include "agent/sources/callback_source.h"
#include "agent/sources/nativemap/map_calls.h"
#include "agent/sources/nativemap/map_changes.h"
#include "agent/sources/nativemap/native_maps.h"
#include "common/base/clock_ns.h"

static struct {
	_Atomic int event; /* which of the session's; -1: none is taken */
	int wanted;        /* the same, from the start to the halt */
} nativemap = {.event = -1, .wanted = -1};

/* ---- on the thread that maps ---- */

static uint64_t begin(uint64_t start, uint64_t end, uint64_t time, enum map_what what)
{
	const struct thread_record *r = zone.records.by_tcb ? record_find(&zone.records, context_tcb()) : NULL;

	return map_change_begin(&(struct map_change){start, end, time, what, r ? r->index + 1 : 0});
}

/* R, entered, takes the sample of CALL, whose ticket is TICKET. */
static void take(struct thread_record *r, uint32_t event, const struct map_call *call, uint64_t time, uint64_t ticket,
		 const struct walk_caller *from)
{
	const struct field_note fields = {.values = {[NATIVEMAP_ADDRESS] = call->start, [NATIVEMAP_FILE] = call->file,
						     [NATIVEMAP_TICKET] = ticket}};

	if (ticket) {
		field_sample_take_from(r, event, time, call->end - call->start, &fields, from);
	} else {
		/* it would count as unmapped */
		record_take(r, event);
		record_lose(r, event, LOSS_queue_full, call->end - call->start);
	}
}

static void on_brought(const struct map_call *call, const struct walk_caller *from)
{
	int event = atomic_load_explicit(&nativemap.event, memory_order_acquire);
	uint64_t time = clock_ns(CLOCK_MONOTONIC), ticket;
	struct thread_record *r;

	if (event < 0)
		return;
	ticket = begin(call->start, call->end, time, call->accessible ? MAP_BROUGHT : MAP_RESERVED);
	r = call->accessible ? field_sample_enter((uint32_t)event, call->end - call->start) : NULL;
	if (r) {
		take(r, (uint32_t)event, call, time, ticket, from);
		wait_leave(r);
	}
	if (ticket)
		map_change_end(ticket, true);
}

static uint64_t on_going(uint64_t start, uint64_t end)
{
	return begin(start, end, clock_ns(CLOCK_MONOTONIC), MAP_GONE);
}

/* ---- the source ---- */

static int start(struct engine_event *event, uint32_t e, struct buffer *notes, struct error *err)
{
	if (event->interval)
		return error_set(err, EINVAL, "nativemap: each mapping is a sample; remove the interval");
	if (!native_maps_open())
		return error_set(err, ENOMEM, "nativemap: cannot reserve 512 KB of address space; raise the limit of "
				 "virtual memory (ulimit -v)");
	nativemap.wanted = (int)e;
	return 0;
}

static int listen(struct buffer *notes, struct error *err)
{
	static const struct map_told told = {on_brought, on_going, map_change_end};

	if (nativemap.wanted < 0)
		return 0;
	atomic_store(&nativemap.event, nativemap.wanted);
	if (map_calls_install(&told))
		return 0;
	atomic_store(&nativemap.event, -1);
	return error_set(err, EBUSY, "nativemap: another copy of libjstrobe.so in this process is just starting or "
			 "ending a session; try again");
}

static void halt(void)
{
	if (nativemap.wanted < 0)
		return;
	map_calls_remove();
	atomic_store(&nativemap.event, -1);
	nativemap.wanted = -1;
}

static void listen_no_more(bool goes_on)
{
	halt();
}

static int arm(struct thread_record *r, uint32_t e)
{
	struct record_source *s = &r->sources[e];

	s->last_count = s->charged = 0;
	atomic_store_explicit(&s->arm, ARM_CALLS, memory_order_release);
	return 0;
}

const struct engine_ops engine_nativemap = {
	.name = "nativemap", .handler = handler_thread, .start = start, .arm = arm, .disarm = callback_source_disarm,
	.halt = halt, .listen = listen, .listen_no_more = listen_no_more,
	.images_changed = map_calls_refresh,
};
