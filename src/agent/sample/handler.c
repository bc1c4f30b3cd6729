/*
 * handler.c - what happens when a thread's signal goes off.
 *
 *   whose signal, whose thread? ─▶ what is due? ─▶ record_sample.c: walk ─▶ intern the trace ─▶ push to its queue
 *
 * All that is due to the thread is served, whatever the signal was sent for: while one is pending, others of its number
 * are dropped by the kernel. What waited for the next one instead would come with another moment's stack.
 *
 * Bounded time, no allocation, no lock, errno kept. A sample that cannot be kept
 * is counted under its reason with its weight.
 */
#include "agent/sample/handler.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/sample/perf_samples.h"
#include "agent/sample/record_sample.h"
#include "agent/sample/tick_state.h"
#include "agent/sample/wait_sample.h"
#include "agent/sample/window_look.h"
#include "agent/walk/decode.h"
#include "agent/walk/fault.h"
#include "agent/zone/signal_entry.h"
#include "common/base/clock_ns.h"
#include "context.h"

static const _Atomic uint32_t parent = 1;
struct zone zone;

/* No initializer: with one, 70 KB that are nearly all zero would lie in the file. */
static void __attribute__((constructor)) begin_zone(void)
{
	zone.epoch = 1;
	zone.parent = &parent;
}

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

/* A record met for the first time learns its thread pointer, proved by tid. R is entered: it is no other thread's. */
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
 * look-up and here the session ended, and the record may be another thread's by now.
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

bool handler_learn(void)
{
	struct thread_record *r = record_find_tid(&zone.records, own_tid());
	uint32_t epoch = handler_epoch();
	bool known;

	if (!r || !handler_try(r, epoch))
		return false;
	known = atomic_load(&r->tcb) == context_tcb() || learns(r, context_tcb());
	handler_back_out(r, epoch);
	return known;
}

/* What a signal was sent for. */
enum sender { SENT_BY_PERF, SENT_BY_TIMER, SENT_BY_PROCESS_TIMER, SENT_BY_TICK, SENT_BY_GONE, SENT_BY_STRANGER };

struct call {
	enum sender sender;
	uint32_t event;
	uint32_t overrun;   /* SENT_BY_TIMER: so many times it has expired since */
	uint64_t weight;    /* of the sample that a timer brings, 0 = none does; perf events have their own count */
	uint64_t time;
};

/* ---- what is due ---- */

static void start_timer(int32_t timer, uint64_t due, uint64_t interval)
{
	struct itimerspec t = {
		.it_interval = {(time_t)(interval / NS_PER_S), (long)(interval % NS_PER_S)},
		.it_value = {(time_t)(due / NS_PER_S), (long)(due % NS_PER_S)},
	};

	syscall(SYS_timer_settime, timer, TIMER_ABSTIME, &t, NULL);
}

uint64_t handler_timer_weight(struct record_source *s, uint32_t event, uint64_t overrun)
{
	uint64_t passed = overrun * s->jitter.keep;

	s->charged += passed;
	/* Shorter periods end at each tick, so a thread's first sample is as likely as a tick. */
	if (s->jitter.kind == JITTER_FIRST)
		return MAX(passed + s->jitter.keep, zone.tick);
	return passed + jitter_weight(&s->jitter, zone.events[event].interval, s->period, s->period, true);
}

/* R's timer has expired, for C. Returns the weight. */
static uint64_t timer_weight(struct thread_record *r, const struct call *c)
{
	struct record_source *s = &r->sources[c->event];

	return atomic_load_explicit(&s->arm, memory_order_relaxed) == ARM_TIMER
		       ? handler_timer_weight(s, c->event, c->overrun) : c->weight;
}

/* When it expires next. Should the timer be gone already, nothing happens: the kernel gives no number twice. */
static void timer_next(struct thread_record *r, const struct call *c, bool may_react)
{
	struct record_source *s = &r->sources[c->event];
	uint64_t interval = zone.events[c->event].interval;
	bool other;

	if (atomic_load_explicit(&s->arm, memory_order_relaxed) != ARM_TIMER)
		return;
	other = jitter_next(&s->jitter, interval, may_react && interval >= 2 * zone.tick, &s->period);
	s->charged += s->period;
	if (other)
		start_timer(s->timer, s->charged, s->jitter.keep);
}

/* The sample that C's timer brings R. */
static void timer_sample(struct thread_record *r, const struct call *c, const struct walk_regs *regs)
{
	bool own = c->sender == SENT_BY_TIMER;

	record_take(r, c->event);
	take_sample(r, c->event, c->time, own ? timer_weight(r, c) : c->weight, NULL, regs);
	if (own)
		timer_next(r, c, tick_in_bulk(regs, jitter_bulk(zone.events[c->event].interval)));
}

#define THREAD_USER ((clockid_t)(~0u << 3 | 5)) /* this thread's user time: os_thread_user */

/* What a sample by ticks weighs: the time since the last one, by its clock. */
static uint64_t tick_weight(struct record_source *s, uint32_t event, uint64_t time)
{
	clockid_t clock = zone.events[event].user_only ? THREAD_USER : CLOCK_THREAD_CPUTIME_ID;
	uint64_t now = zone.events[event].ticks == TICKS_WALL ? time : clock_ns(clock);
	uint64_t weight = now > s->charged ? now - s->charged : 0;

	s->charged = now;
	return weight;
}

/*
 * A thread of the engine may have asked for a sample of R's EVENT. Whatever becomes of it, the question is answered
 * once; one that is not (this thread was inside the profiler, its record was closed) is counted by who asked. WHY: that
 * it cannot be taken, or LOSS_REASONS.
 */
static void answer(struct thread_record *r, uint32_t event, enum loss_reason why, uint64_t time,
		   const struct walk_regs *regs)
{
	struct record_source *s = &r->sources[event];
	uint32_t asked = atomic_load_explicit(&s->asked, memory_order_acquire);

	if (atomic_load_explicit(&s->arm, memory_order_relaxed) != ARM_TICKS ||
	    asked == atomic_load_explicit(&s->answered, memory_order_relaxed))
		return;
	if (why == LOSS_REASONS)
		take_sample(r, event, time, tick_weight(s, event, time), NULL, regs);
	else
		record_lose(r, event, why, tick_weight(s, event, time));
	atomic_store_explicit(&s->answered, asked, memory_order_release);
}

static void answer_all(struct thread_record *r, enum loss_reason why, uint64_t time, const struct walk_regs *regs)
{
	uint32_t e;

	for (e = 0; e < zone.event_count; e++)
		if (zone.events[e].ticks)
			answer(r, e, why, time, regs);
}

/*
 * Nothing may be taken of R, for WHY; a ring and a descriptor may be going away under us: not a look at them. Who takes
 * a thread's source away counts what was due by it (perf_samples.h, agent/sources/cpu/ctimer.c).
 */
static void refuse(struct thread_record *r, const struct call *c, enum loss_reason why)
{
	bool counted = c->sender == SENT_BY_TIMER && why == LOSS_disabled;

	if (c->weight && !counted && zone.events[c->event].role == WINDOW_NONE) {
		record_take(r, c->event);
		record_lose(r, c->event, why, c->weight);
	}
	answer_all(r, why, c->time, NULL);
}

static bool is_timer(const struct call *c)
{
	return c->sender == SENT_BY_TIMER || c->sender == SENT_BY_PROCESS_TIMER;
}

/* R has been entered: take all that is due, C among it. */
static void serve(struct thread_record *r, const struct call *c, void *context)
{
	enum loss_reason why = take_refusal(r);
	struct walk_regs regs;

	if (unlikely(why != LOSS_REASONS)) {
		refuse(r, c, why);
		return;
	}
	perf_hush(r, true);
	if (unlikely(zone.windowed))
		window_look(r, c->sender == SENT_BY_PERF ? c->event : RECORD_EVENTS, c->time);
	context_read(context, &regs);
	if (is_timer(c))
		timer_sample(r, c, &regs);
	perf_samples(r, c->sender == SENT_BY_PERF ? c->event : RECORD_EVENTS, c->time, &regs);
	if (zone.asked)
		answer_all(r, LOSS_REASONS, c->time, &regs);
	perf_hush(r, false);
}

/*
 * This thread is inside the profiler. A ring keeps its records: they are looked at, and found to be too late, with the
 * next signal; a tick's question stays open.
 */
static void put_off(struct thread_record *r, const struct call *c)
{
	if (!is_timer(c))
		return;
	record_take(r, c->event);
	record_lose(r, c->event, LOSS_recursion, 0);
	r->sources[c->event].carried += c->sender == SENT_BY_TIMER ? timer_weight(r, c) : c->weight;
	if (c->sender == SENT_BY_TIMER)
		timer_next(r, c, false);
}

/* C has come to the thread that may be HINT's. */
static void come_in(struct thread_record *hint, const struct call *c, void *context)
{
	struct thread_record *r = identify(hint);
	uint32_t e;

	if (!r) {
		if (c->sender == SENT_BY_PROCESS_TIMER && c->weight)
			zone_lose(c->event, unknown_why(), c->weight);
		return;
	}
	switch (enter(r)) {
	case ENTERED:
		serve(r, c, context);
		handler_leave(r);
		break;
	case BUSY:
		put_off(r, c);
		break;
	case GONE:
		if (c->sender == SENT_BY_PROCESS_TIMER && c->weight)
			zone_lose(c->event, LOSS_disabled, c->weight);
		return;
	}
	for (e = 0; zone.asked && e < zone.event_count; e++)
		if (zone.events[e].waits)
			wait_answer(r, e, context);
}

/* ---- signals ---- */

/* A signal that is not our engine's goes to the action before ours. */
static void pass_on(int signo, siginfo_t *info, void *context)
{
	const struct sigaction *old = &zone.former;

	if (old->sa_flags & SA_SIGINFO)
		old->sa_sigaction(signo, info, context);
	else if (old->sa_handler != SIG_DFL && old->sa_handler != SIG_IGN)
		old->sa_handler(signo);
}

/* The record that a perf event's descriptor stands for, and its event. */
static struct thread_record *of_perf(const siginfo_t *info, struct call *c)
{
	uint32_t word = 0;

	c->sender = SENT_BY_PERF;
	if ((uint32_t)info->si_fd < ZONE_FDS)
		word = atomic_load_explicit(&zone.record_of_fd[info->si_fd], memory_order_acquire);
	if (!word) {
		c->sender = SENT_BY_GONE;
		return NULL;
	}
	c->event = (word - 1) % RECORD_EVENTS;
	return &zone.records.records[(word - 1) / RECORD_EVENTS];
}

static struct thread_record *of_timer(const siginfo_t *info, struct call *c)
{
	struct thread_record *hint = info->si_value.sival_ptr;

	c->sender = SENT_BY_TIMER;
	c->event = zone.timer_event;
	c->overrun = info->si_overrun > 0 ? (uint32_t)info->si_overrun : 0;
	c->weight = zone.events[c->event].interval * ((uint64_t)c->overrun + 1);
	/* The pointer is only believed if it lies in the table. */
	if (hint >= zone.records.records && hint < zone.records.records + RECORD_LIMIT)
		return hint;
	zone_lose(c->event, unknown_why(), c->weight);
	c->sender = SENT_BY_GONE;
	c->weight = 0;
	return NULL;
}

static struct thread_record *of_tick(const siginfo_t *info, struct call *c)
{
	uintptr_t word = (uintptr_t)info->si_value.sival_ptr;
	uint32_t event = word % RECORD_EVENTS;
	uintptr_t at = word - event - (uintptr_t)zone.records.records;

	if (word < (uintptr_t)zone.records.records || at / sizeof(struct thread_record) >= RECORD_LIMIT ||
	    at % sizeof(struct thread_record))
		return NULL;
	c->sender = SENT_BY_TICK;
	c->event = event;
	return &zone.records.records[at / sizeof(struct thread_record)];
}

/* Sent to this thread. */
static void thread_signal(int signo, siginfo_t *info, void *context)
{
	struct call c = {.sender = SENT_BY_STRANGER};
	struct thread_record *hint = NULL;
	int saved = errno;
	uint32_t entered;

	if (zone_in_child()) {
		pass_on(signo, info, context);
		return;
	}
	prefetch(context);
	entered = fault_enter(context);
	c.time = clock_ns(CLOCK_MONOTONIC);
	if (info->si_code == SI_QUEUE)
		hint = of_tick(info, &c);
	else if (info->si_code == SI_TIMER)
		hint = of_timer(info, &c);
	else if (info->si_code > 0)
		hint = of_perf(info, &c);
	come_in(hint, &c, context);
	if (c.sender == SENT_BY_STRANGER)
		pass_on(signo, info, context);
	fault_leave(entered);
	errno = saved;
}

SIGNAL_HANDLER(, handler_thread)
{
	thread_signal(signo, info, context);
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

SIGNAL_HANDLER(, handler_itimer)
{
	struct call c = {.sender = SENT_BY_PROCESS_TIMER, .event = zone.timer_event};
	int saved = errno;
	struct thread_record *r;
	uint32_t entered;

	if (zone_in_child() || info->si_code != SI_KERNEL) { /* of another event, or not ours */
		thread_signal(signo, info, context);
		return;
	}
	c.time = clock_ns(CLOCK_MONOTONIC);
	prefetch(context);
	entered = fault_enter(context);
	c.weight = process_growth();
	r = identify(NULL);
	if (r && r->own)
		atomic_fetch_add_explicit(&zone.own_weight, c.weight, memory_order_relaxed);
	else
		come_in(r, &c, context);
	fault_leave(entered);
	errno = saved;
}
