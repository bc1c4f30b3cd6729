/*
 * io.c - reads, writes and the like: how long they take, how many bytes they move, of which file, peer or pipe.
 *
 *   read, write … in the images' GOT ─▶ the thread's clock, twice ─▶ a sample: what it was about, stack ─▶ its queue
 *
 * A thread takes its sample in the function that it has called, when that has come back, as in a callback of the JVM:
 * its record is entered, and a signal meanwhile counts as `recursion`. Calls that go on when a result is wanted are
 * told of by the thread that wants it, with the stack from the thread's last Java frame on, as far as their time is in
 * no sample yet; for who sees each sample, a stream or a recording, by the collector, now and then.
 *
 * A call that waits until a client wants something weighs nothing: IO_FLAG_IDLE.
 */
#include <errno.h>
#include <pthread.h>

#include "agent/sample/field_sample.h"
#include "agent/sample/handler.h"
#include "agent/sample/record_sample.h"
#include "agent/sources/callback_source.h"
#include "agent/sources/io/io_hooks.h"
#include "agent/sources/io/io_targets.h"
#include "agent/threads/records.h"
#include "agent/walk/fault.h"
#include "common/base/clock_ns.h"
#include "common/words/io_fields.h"

static struct {
	_Atomic int event; /* which of the session's; -1: none is taken */
	int wanted;        /* the same, from the start to the halt */
} io = {.event = -1, .wanted = -1};

static bool is_read(enum io_operation operation)
{
	return operation == IO_READ || operation == IO_ACCEPT;
}

/* What the sample of a call of OPERATION says, but for what came of it. WEIGHT: as it would be; what it is. */
static struct field_note describe(const struct io_target *t, enum io_operation operation, uint8_t flags,
				  uint64_t duration, uint64_t *weight)
{
	uint64_t idle = 0;

	if (is_read(operation) && t->serves) {
		flags |= IO_FLAG_IDLE;
		idle = *weight;
		*weight = 0;
	}
	return (struct field_note){.values = {
		[IO_FIELD_TARGET] = t->name, [IO_FIELD_OPERATION] = operation,
		[IO_FIELD_KIND] = io_kind_word((enum io_kind)t->kind, flags, t->port),
		[IO_FIELD_DURATION] = duration, [IO_FIELD_IDLE] = idle,
	}};
}

/* ---- on the thread that calls ---- */

static void on_sample(const struct timed_call *call, const struct io_call *what, const struct walk_caller *from)
{
	int event = atomic_load_explicit(&io.event, memory_order_acquire);
	uint64_t duration = timed_length(call), weight = timed_weight(&io_calls, call);
	uint64_t now = clock_ns(CLOCK_MONOTONIC), time = now - timed_ns(timed_now() - call->from);
	struct thread_record *r = event < 0 ? NULL : field_sample_enter((uint32_t)event, weight);
	struct field_note fields;
	struct io_target t;

	if (!r)
		return;
	t = what->fd < 0 && what->path ? io_target_path(what->path) :
					 io_target_of(what->fd, what->peer, what->peer_length);
	fields = describe(&t, what->operation,
			  what->operation == IO_READ && !what->result && what->wanted ? IO_FLAG_END : 0, duration,
			  &weight);
	fields.values[IO_FIELD_BYTES] = what->result > 0 ? (uint64_t)what->result : 0;
	field_sample_take_since(r, (uint32_t)event, time, now, weight, &fields, from);
	wait_leave(r);
}

/* ---- calls that go on ---- */

#define PATIENCE 1000 /* ms, until the collector has made room; then what is told is lost */

static pthread_mutex_t telling = PTHREAD_MUTEX_INITIALIZER;
/* with that lock */
static uint32_t told_event;
static unsigned waited; /* ms, for the collector */
static bool lately;     /* it is the collector that tells */

/* Thousands of threads may be in calls, and the queue is one thread's. */
static void wait_for_room(struct thread_record *self)
{
	struct timespec rest = {0, (long)NS_PER_MS};

	/* the collector does not wait for itself: what finds no room is told the next time */
	for (; !lately && waited < PATIENCE && !queue_has_plenty(take_queue(self), 2); waited++) {
		record_stir(&zone.records, self->index);
		nanosleep(&rest, NULL);
	}
}

/* The call at TCB as a sample in the queue of SELF, this thread's record, entered. */
static bool tell_open(uintptr_t tcb, uint64_t what, uint64_t began, uint64_t from, uint64_t now, void *arg)
{
	struct thread_record *self = arg, *r = record_find(&zone.records, tcb);
	uint64_t duration = timed_ns(now - from), weight = duration;
	uint32_t event = told_event;
	struct io_target t;
	struct field_note fields;
	struct sample s;

	wait_for_room(self);
	if (lately && !queue_has_plenty(take_queue(self), 2))
		return false;
	if (!r || r == self || atomic_load(&r->sources[event].arm) != ARM_CALLS || !zone_hold(r, event))
		return false;
	s = (struct sample){
		.time = clock_ns(CLOCK_MONOTONIC) - timed_ns(timed_now() - from), .event = (uint8_t)event,
		.thread = r->index, .state = THREAD_RUNNING, .payload = UINT32_MAX, .vthread = zone_mounted(r),
	};
	s.trace = wait_look(r, self, event, &s.epoch);
	if (s.trace)
		atomic_fetch_add(&r->told, 1);
	zone_let_go(event);
	if (!s.trace)
		return false;
	t = io_target_of((int)(uint32_t)what, NULL, 0);
	fields = describe(&t, (enum io_operation)(what >> 32), IO_FLAG_OPEN, duration, &weight);
	s.weight = weight;
	atomic_fetch_add_explicit(&zone.due[event], 1, memory_order_relaxed);
	if (!queue_push_pair(take_queue(self), &s, (const void *)&fields)) {
		atomic_fetch_sub(&r->told, 1);
		record_lose(self, event, LOSS_queue_full, weight);
	}
	record_stir(&zone.records, self->index);
	return true;
}

/* All that have gone on for the interval, and for a millisecond: others are about to end. This thread is ours. */
static void tell_each_open(bool by_collector)
{
	struct thread_record *self = records_found(os_gettid(), handler_thread_pointer());
	int event = atomic_load(&io.event);

	if (event < 0)
		return;
	told_event = (uint32_t)event;
	lately = by_collector;
	waited = 0;
	if (self) {
		handler_enter(self);
		fault_look();
		timed_tell_open(&io_calls, MAX(zone.events[event].interval, NS_PER_MS), lately, tell_open, self);
		handler_leave(self);
	}
}

static void tell_all_open(void)
{
	if (atomic_load(&io.event) < 0)
		return;
	pthread_mutex_lock(&telling);
	tell_each_open(false);
	pthread_mutex_unlock(&telling);
}

void io_tell_lately(void)
{
	if (atomic_load(&io.event) < 0 || pthread_mutex_trylock(&telling))
		return;
	tell_each_open(true);
	pthread_mutex_unlock(&telling);
}

/* ---- the source ---- */

static int start(struct engine_event *event, uint32_t e, struct buffer *notes, struct error *err)
{
	if (!io_targets_open() || !timed_open(&io_calls, event->interval))
		return error_set(err, ENOMEM, "io: cannot reserve 24 MB of address space; raise the limit of virtual "
				 "memory (ulimit -v)");
	io.wanted = (int)e;
	return 0;
}

static int listen_to_calls(struct buffer *notes, struct error *err)
{
	if (io.wanted < 0)
		return 0;
	atomic_store(&io.event, io.wanted);
	if (io_hooks_install(on_sample))
		return 0;
	atomic_store(&io.event, -1);
	return error_set(err, EBUSY, "io: another copy of libjstrobe.so in this process is just starting or ending a "
			 "session; try again");
}

static void halt(void)
{
	if (io.wanted < 0)
		return;
	tell_all_open();
	io_hooks_remove();
	atomic_store(&io.event, -1);
	io.wanted = -1;
}

static void listen_no_more(bool goes_on)
{
	halt();
}

static void look(bool collect)
{
	tell_all_open();
}

/* The process ends: slots are left as they are, and what is in them passes on. */
static void vm_death(void)
{
	atomic_store(&io_calls.on, false);
}

static int arm(struct thread_record *r, uint32_t e)
{
	atomic_store_explicit(&r->sources[e].arm, ARM_CALLS, memory_order_release);
	return 0;
}

const struct engine_ops engine_io = {
	.name = "io", .handler = handler_thread, .start = start, .arm = arm, .disarm = callback_source_disarm,
	.halt = halt, .listen = listen_to_calls, .listen_no_more = listen_no_more, .look = look,
	.images_changed = io_hooks_refresh, .vm_death = vm_death, .release = io_targets_release,
};
