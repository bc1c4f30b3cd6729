/*
 * handler.c - what happens when a thread's signal goes off.
 *
 *   whose signal, whose thread? ─▶ take.c: walk ─▶ intern the trace ─▶ push into the thread's queue
 *
 * Bounded time, no allocation, no lock, errno kept. A sample that cannot be kept
 * is counted under its reason with its weight.
 */
#include "signal/handler.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "context.h"
#include "signal/clock.h"
#include "signal/decode.h"
#include "signal/fault.h"
#include "signal/perf_samples.h"
#include "signal/take.h"
#include "signal/wait.h"

static const _Atomic uint32_t parent = 1;
struct zone zone = {.epoch = 1, .signo = 0, .parent = &parent};

#define LINE 64
#define STACK_LINES 8 /* the frames of ten ordinary methods */
#define PROCESS_SHARE 8

/* What the walk will need lies in cold memory: it comes while other things are seen to. */
static void prefetch(const void *context)
{
	const char *layout = (const char *)&zone.layout;
	struct walk_regs regs;
	size_t i;

	context_read(context, &regs);
	decode_prefetch(atomic_load_explicit(&zone.cache, memory_order_relaxed), regs.pc);
	for (i = 0; i < STACK_LINES; i++)
		__builtin_prefetch((const char *)regs.sp + i * LINE);
	for (i = 0; i < sizeof(zone.layout); i += LINE)
		__builtin_prefetch(layout + i);
}

uintptr_t handler_thread_pointer(void)
{
	return context_tcb();
}

static int32_t own_tid(void)
{
	return (int32_t)syscall(SYS_gettid);
}

/* Signals without a record: counted for the process. */
static void lose_unknown(uint32_t event, enum loss_reason why, uint64_t weight)
{
	atomic_fetch_add_explicit(&zone.lost_count[event][why], 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&zone.lost_weight[event][why], weight, memory_order_relaxed);
}

static enum loss_reason unknown_why(void)
{
	return atomic_load(&zone.enabled) ? LOSS_no_record : LOSS_disabled;
}

/*
 * What should be the record of the running thread: HINT if it is ours, else by thread pointer, or by tid if it has
 * none yet. enter() proves it.
 */
static struct thread_record *identify(struct thread_record *hint)
{
	uintptr_t tcb = context_tcb();
	struct thread_record *r;

	if (hint) {
		uintptr_t its = atomic_load_explicit(&hint->tcb, memory_order_relaxed);

		if (likely(its == tcb))
			return hint;
		if (its == 0 && atomic_load(&hint->tid) == own_tid())
			return hint;
	}
	r = record_find(&zone.records, tcb);
	if (r && atomic_load(&r->tid) == own_tid())
		return r;
	return record_find_tid(&zone.records, own_tid());
}

enum entrance { ENTERED, BUSY, GONE };

/* A record met for the first time learns its thread pointer, proved by tid. R is entered: it is nobody else's. */
static bool learns(struct thread_record *r, uintptr_t tcb)
{
	if (atomic_load(&r->tcb) || atomic_load(&r->state) != RECORD_LIVE || !atomic_load(&zone.enabled) ||
	    atomic_load(&r->tid) != own_tid())
		return false;
	record_publish(&zone.records, r, tcb);
	return true;
}

/*
 * Enter R for a handler. BUSY: this thread is inside the profiler already. GONE: between the
 * look-up and here the session ended, and the record may be somebody else's by now.
 */
static enum entrance enter(struct thread_record *r)
{
	uint32_t epoch = handler_epoch();
	uintptr_t tcb = context_tcb();

	if (!handler_try(r, epoch))
		return atomic_load(&r->tcb) == tcb ? BUSY : GONE;
	if (likely(atomic_load_explicit(&r->tcb, memory_order_relaxed) == tcb) || learns(r, tcb))
		return ENTERED;
	handler_back_out(r, epoch);
	return GONE;
}

/* R has been entered: its sample of WEIGHT, or the reason why there is none. */
static void take_or_lose(struct thread_record *r, uint32_t event, uint64_t time, uint64_t weight, void *context)
{
	enum loss_reason why = take_refusal(r);
	struct walk_regs regs;

	if (why != LOSS_REASONS) {
		record_lose(r, event, why, weight);
		return;
	}
	perf_hush(r, true);
	if (unlikely(zone.windowed))
		window_look(r, RECORD_EVENTS, time);
	context_read(context, &regs);
	take_sample(r, event, time, weight, NULL, &regs);
	perf_hush(r, false);
}

/* The whole of a signal that brings one sample of WEIGHT. */
static void one_sample(struct thread_record *r, uint32_t event, uint64_t time, uint64_t weight,
		       void *context)
{
	enum entrance entrance = enter(r);

	if (entrance == GONE) {
		lose_unknown(event, LOSS_disabled, weight);
		return;
	}
	record_take(r, event);
	if (entrance == BUSY) {
		record_lose(r, event, LOSS_recursion, 0);
		r->sources[event].carried += weight;
		return;
	}
	take_or_lose(r, event, time, weight, context);
	handler_leave(r);
}

/* A signal that is not our engine's: whoever had it before us gets it. */
static void pass_on(int signo, siginfo_t *info, void *context)
{
	const struct sigaction *old = &zone.former;

	if (old->sa_flags & SA_SIGINFO)
		old->sa_sigaction(signo, info, context);
	else if (old->sa_handler != SIG_DFL && old->sa_handler != SIG_IGN)
		old->sa_handler(signo);
}

static void on_perf(siginfo_t *info, void *context)
{
	uint64_t time = clock_ns(CLOCK_MONOTONIC);
	struct thread_record *r = NULL;
	uint32_t word = 0, event = 0;

	if ((uint32_t)info->si_fd < ZONE_FDS)
		word = atomic_load_explicit(&zone.record_of_fd[info->si_fd], memory_order_acquire);
	if (word) {
		event = (word - 1) % RECORD_EVENTS;
		r = identify(&zone.records.records[(word - 1) / RECORD_EVENTS]);
	}
	if (!r) {
		lose_unknown(event, unknown_why(), zone.events[event].interval);
		return;
	}
	switch (enter(r)) {
	case ENTERED:
		perf_samples(r, event, time, context);
		handler_leave(r);
		break;
	case BUSY:
		break; /* the ring keeps the records: they are read, and counted, with the next signal */
	case GONE:
		lose_unknown(event, LOSS_disabled, zone.events[event].interval);
	}
}

static void on_timer(siginfo_t *info, void *context)
{
	uint64_t time = clock_ns(CLOCK_MONOTONIC);
	struct thread_record *hint, *r = NULL;
	uint32_t event = zone.timer_event;
	uint64_t weight;

	weight = zone.events[event].interval *
		 ((uint64_t)(info->si_overrun > 0 ? info->si_overrun : 0) + 1);
	hint = info->si_value.sival_ptr;
	/* The pointer is only believed if it lies in the table. */
	if (hint >= zone.records.records && hint < zone.records.records + RECORD_LIMIT)
		r = identify(hint);
	if (r)
		one_sample(r, event, time, weight, context);
	else
		lose_unknown(event, unknown_why(), weight);
}

/* What a sample by turns weighs: the time since the last one, by its clock. */
static uint64_t turn_weight(struct record_source *s, uint32_t event, uint64_t time)
{
	uint64_t now = zone.events[event].turns == TURNS_WALL ? time : clock_ns(CLOCK_THREAD_CPUTIME_ID);
	uint64_t weight = now > s->charged ? now - s->charged : 0;

	s->charged = now;
	return weight;
}

/*
 * Somebody asks for a sample of R. Whatever becomes of it, the question is answered once; one
 * that is not (this thread was inside the profiler, its record was closed) is counted by who asked.
 */
static void answer(struct thread_record *r, uint32_t event, uint64_t time, void *context)
{
	struct record_source *s = &r->sources[event];
	uint32_t asked;

	if (enter(r) != ENTERED)
		return;
	asked = atomic_load_explicit(&s->asked, memory_order_acquire);
	if (atomic_load_explicit(&s->arm, memory_order_relaxed) == ARM_TURNS &&
	    asked != atomic_load_explicit(&s->answered, memory_order_relaxed)) {
		take_or_lose(r, event, time, turn_weight(s, event, time), context);
		atomic_store_explicit(&s->answered, asked, memory_order_release);
	}
	handler_leave(r);
}

/* False: it is not a signal of ours. */
static bool on_turn(siginfo_t *info, void *context)
{
	uint64_t time = clock_ns(CLOCK_MONOTONIC);
	uintptr_t word = (uintptr_t)info->si_value.sival_ptr;
	uint32_t event = word % RECORD_EVENTS;
	uintptr_t at = word - event - (uintptr_t)zone.records.records;
	struct thread_record *r;

	if (word < (uintptr_t)zone.records.records || at / sizeof(*r) >= RECORD_LIMIT || at % sizeof(*r))
		return false;
	r = identify(&zone.records.records[at / sizeof(*r)]);
	if (r && zone.events[event].turns)
		answer(r, event, time, context);
	else if (r && zone.events[event].waits)
		wait_answer(r, event, context);
	return true;
}

void handler_thread(int signo, siginfo_t *info, void *context)
{
	int saved = errno;
	uint32_t entered;

	if (zone_in_child()) {
		pass_on(signo, info, context);
		return;
	}
	prefetch(context);
	entered = fault_enter(context);
	if (info->si_code == SI_QUEUE) {
		if (!on_turn(info, context))
			pass_on(signo, info, context);
	} else if (info->si_code == SI_TIMER)
		on_timer(info, context);
	else if (info->si_code > 0)
		on_perf(info, context);
	else
		pass_on(signo, info, context);
	fault_leave(entered);
	errno = saved;
}

/*
 * An itimer sample's part of what the process CPU clock has grown beyond what earlier ones had. The kernel looks at the
 * timer at the ticks of the CPUs, one after the other: a signal comes some ms behind that of one CPU and right behind
 * that of another, each time. Who had all that is new would have most of it on one CPU, so each has a share of what is
 * there, and what is left in the end is that of a few samples.
 */
static uint64_t process_growth(void)
{
	uint64_t now = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	uint64_t last = atomic_load_explicit(&zone.process_clock, memory_order_relaxed);
	int tries;

	for (tries = 0; tries < 8 && last < now; tries++)
		if (atomic_compare_exchange_weak(&zone.process_clock, &last, last + (now - last) / PROCESS_SHARE))
			return (now - last) / PROCESS_SHARE;
	return 0;
}

void handler_itimer(int signo, siginfo_t *info, void *context)
{
	int saved = errno;
	uint64_t time = clock_ns(CLOCK_MONOTONIC);
	struct thread_record *r;
	uint32_t entered;
	uint64_t weight;

	if (zone_in_child() || info->si_code != SI_KERNEL) {
		pass_on(signo, info, context);
		errno = saved;
		return;
	}
	prefetch(context);
	entered = fault_enter(context);
	weight = process_growth();
	r = identify(NULL);
	if (!r)
		lose_unknown(0, unknown_why(), weight);
	else if (r->own)
		atomic_fetch_add_explicit(&zone.own_weight, weight, memory_order_relaxed);
	else
		one_sample(r, 0, time, weight, context);
	fault_leave(entered);
	errno = saved;
}
