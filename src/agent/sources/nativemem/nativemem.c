/*
 * nativemem.c - native memory: who asks libc for it, and what of it stays.
 *
 *   malloc, calloc … in the images' GOT ─▶ the thread's distance runs down ─▶ a sample: stack, weight ─▶ its queue
 *                                                                          └▶ the block is remembered (blocks.h)
 *   free, realloc ─▶ a remembered block? ─▶ it is forgotten before it is really freed
 *
 * A thread takes its sample in the function that it has called, as in a callback of the JVM: its record is entered, and
 * a signal meanwhile counts as `recursion`. The hooks (malloc_hooks.h) are there while a session has the event; so are
 * the blocks until the next one.
 */
#include "agent/sources/nativemem/nativemem.h"

#include <errno.h>

#include "agent/sample/field_sample.h"
#include "agent/sample/handler.h"
#include "agent/sources/alloc_weight.h"
#include "agent/sources/callback_source.h"
#include "agent/sources/nativemem/blocks.h"
#include "agent/sources/nativemem/malloc_hooks.h"
#include "agent/threads/records.h"
#include "common/base/clock_ns.h"

/* The event's fields, as its row has them; behind them what only the collector is told. */
enum { FIELD_ADDRESS, FIELD_BLOCK = EVENT_FIELDS_MAX - 1 };

#define LONGEST (1ull << 40)

static struct {
	_Atomic int event; /* which of the session's; -1: none is taken */
	int wanted;        /* the same, from the start to the halt */
	_Atomic int last;  /* the same, from the start to the next one */
} nativemem = {.event = -1, .wanted = -1, .last = -1};

/* ---- on the thread that allocates ---- */

static void on_sample(void *address, size_t size, struct draw_stream *stream, const struct walk_caller *from)
{
	int event = atomic_load_explicit(&nativemem.event, memory_order_acquire);
	uint64_t time = event < 0 ? 0 : clock_ns(CLOCK_MONOTONIC), weight;
	struct field_note fields = {.values = {[FIELD_ADDRESS] = (uintptr_t)address}};
	struct thread_record *r;

	if (event < 0)
		return;
	weight = alloc_weight(size, zone.events[event].interval);
	r = field_sample_enter((uint32_t)event, weight);
	if (!r)
		return;
	/* inside the record: when all threads are outside, no block comes any more */
	fields.values[FIELD_BLOCK] = blocks_add((uintptr_t)address, &(struct block_there){weight, time, 0},
						draw_random(stream));
	if (!field_sample_take_from(r, (uint32_t)event, time, weight, &fields, from))
		blocks_take_out((uintptr_t)address);
	wait_leave(r);
}

/* ---- what was asked for, by the streams' count ---- */

/* Bytes that R has drawn with. */
static uint64_t drawn(const struct thread_record *r)
{
	return draw_total(atomic_load(&((struct thread_record *)r)->tcb));
}

static uint64_t counted(const struct thread_record *r, uint32_t e)
{
	return r->sources[e].last_count +
	       (atomic_load(&nativemem.event) >= 0 ? callback_source_since(r, e, drawn(r)) : 0);
}

static void end_count(struct thread_record *r)
{
	callback_source_counted(r, (uint32_t)nativemem.wanted, drawn(r));
}

/* ---- the collector ---- */

void nativemem_stored(uint32_t e, const struct field_note *n, uint32_t owner)
{
	if ((int)e == atomic_load(&nativemem.last) && n->values[FIELD_BLOCK])
		blocks_own(n->values[FIELD_BLOCK], owner);
}

/* ---- the source ---- */

static int start(struct engine_event *event, uint32_t e, struct buffer *notes, struct error *err)
{
	if (event->interval > LONGEST)
		return error_set(err, EINVAL, "nativemem: intervals go up to 1 TiB");
	if (!blocks_open() || !draw_open(event->interval))
		return error_set(err, ENOMEM, "nativemem: cannot reserve 18 MB of address space; raise the limit of "
				 "virtual memory (ulimit -v)");
	blocks_clear();
	nativemem.wanted = (int)e;
	atomic_store(&nativemem.last, (int)e);
	return 0;
}

static int listen(struct buffer *notes, struct error *err)
{
	if (nativemem.wanted < 0)
		return 0;
	atomic_store(&nativemem.event, nativemem.wanted);
	if (malloc_hooks_install(on_sample))
		return 0;
	atomic_store(&nativemem.event, -1);
	return error_set(err, EBUSY, "nativemem: another copy of libjstrobe.so in this process is just starting or "
			 "ending a session; try again");
}

static void halt(void)
{
	if (nativemem.wanted < 0)
		return;
	malloc_hooks_remove();
	/* from here on counted() has what end_count adds, and no more */
	if (atomic_exchange(&nativemem.event, -1) >= 0)
		records_each(end_count);
	nativemem.wanted = -1;
}

static void listen_no_more(bool goes_on)
{
	halt();
}

/* The process ends: slots are left as they are, and what is in them passes on. */
static void vm_death(void)
{
	atomic_store(&draws.on, false);
}

static int arm(struct thread_record *r, uint32_t e)
{
	struct record_source *s = &r->sources[e];

	s->last_count = 0;
	s->charged = drawn(r);
	atomic_store_explicit(&s->arm, ARM_CALLS, memory_order_release);
	return 0;
}

const struct engine_ops engine_nativemem = {
	.name = "nativemem", .handler = handler_thread, .start = start, .arm = arm, .disarm = callback_source_disarm,
	.halt = halt, .counted = counted, .listen = listen, .listen_no_more = listen_no_more,
	.images_changed = malloc_hooks_refresh, .vm_death = vm_death,
};
