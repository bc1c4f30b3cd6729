#include "agent/sources/ticker.h"

#include <errno.h>
#include <string.h>
#include <sys/prctl.h>

#include "agent/sample/handler.h"
#include "agent/sources/active.h"
#include "agent/threads/own_thread.h"
#include "agent/threads/records.h"
#include "agent/walk/fault.h"
#include "common/base/random.h"
#include "common/os/os.h"

#define FLUSH_LIMIT NS_PER_S     /* the longest wait for what was gathered */
#define NOTICE (50 * NS_PER_MS)  /* later no wish is noticed */
#define SIGNAL_COST (16 * NS_PER_US) /* to send one that wakes, to switch there and back, to walk: as measured */
#define SIGNALS_SHARE 4
#define STRIDE_LIMIT 100000u
#define HOLD_LIMIT (2 * NS_PER_S) /* a thread that ends waits no longer for one look at it: some 100 µs */

static struct ticker *all[RECORD_EVENTS];
static uint32_t count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* the above; not taken by the threads themselves */
static atomic_bool known;

/*
 * Sleep until WHEN, or until something is asked for, which is noticed soon enough. Not on a condition:
 * to wake no thread, glibc's unlock behind it goes through the kernel's list of all threads that
 * wait for a lock, and with ten thousand of them that took longer than their ticks.
 * False: the thread shall end.
 */
static bool sleep_until(struct ticker *r, uint64_t when)
{
	uint64_t now;

	while (!atomic_load(&r->ending) && atomic_load(&r->asked) == atomic_load(&r->done)) {
		now = os_monotonic();
		if (now >= when)
			break;
		os_sleep(MIN(when - now, NOTICE));
	}
	return !atomic_load(&r->ending);
}

static void flush(struct ticker *r)
{
	uint64_t asked = atomic_load(&r->asked);

	if (asked == atomic_load(&r->done))
		return;
	if (r->flush)
		r->flush();
	atomic_store(&r->done, asked);
}

/* Java threads must be known as such first: taken for native ones they would get signals. */
static bool wait_until_known(struct ticker *r)
{
	while (!atomic_load(&known) && !atomic_load(&r->ending))
		os_sleep(NS_PER_MS);
	return !atomic_load(&r->ending);
}

static void go_round(struct ticker *r)
{
	uint64_t interval = zone.events[r->event].interval, start = os_monotonic(), seed = random_seed(start);
	uint64_t round = 0, when = start + (r->scattered ? random_below(&seed, interval) : interval);

	r->open(start);
	while (sleep_until(r, when)) {
		uint64_t now = os_monotonic();
		uint32_t late;

		/* Inside: stacks that are gone through must stay. */
		handler_enter(r->self);
		fault_look();
		flush(r);
		if (now < when) { /* it was only that */
			handler_leave(r->self);
			continue;
		}
		/* Whole intervals that passed without a tick. */
		late = (uint32_t)((now - when) / interval);
		round += late;
		r->tick(late);
		handler_leave(r->self);
		round++;
		when = start + round * interval + (r->scattered ? random_below(&seed, interval) : interval);
	}
}

static void leave(struct ticker *r)
{
	if (r->self)
		handler_enter(r->self);
	if (r->leave)
		r->leave();
	flush(r);
	if (r->self)
		handler_leave(r->self);
}

static void *run(void *arg)
{
	struct ticker *r = arg;
	pid_t tid = os_gettid();

	own_thread_begin(r->name);
	prctl(PR_SET_TIMERSLACK, 1);
	/* Ticks must not wait on a busy machine; where not permitted some are late. */
	os_thread_first();
	r->self = records_found(tid, handler_thread_pointer());
	if (r->self && wait_until_known(r))
		go_round(r);
	leave(r);
	own_thread_end();
	atomic_store(&r->alive, false);
	return NULL;
}

int ticker_begin(struct ticker *r, uint32_t event, struct error *err)
{
	int rc;

	if (atomic_load(&r->alive))
		return error_set(err, EBUSY, "%s: the last session's thread has not come to its end yet; try again",
				 r->name);
	r->event = event;
	atomic_store(&r->ending, false);
	atomic_store(&r->asked, 0);
	atomic_store(&r->done, 0);
	if (count == 0)
		atomic_store(&known, false);
	atomic_store(&r->alive, true);
	rc = own_thread_start(&r->thread, run, r, r->name, err);
	if (rc) {
		atomic_store(&r->alive, false);
		return rc;
	}
	pthread_mutex_lock(&lock);
	r->running = true;
	all[count++] = r;
	pthread_mutex_unlock(&lock);
	return 0;
}

void ticker_end(struct ticker *r)
{
	uint32_t i;

	if (!r->running)
		return;
	pthread_mutex_lock(&lock);
	r->running = false;
	for (i = 0; i < count; i++)
		if (all[i] == r)
			all[i] = all[--count];
	pthread_mutex_unlock(&lock);
	atomic_store(&r->ending, true);
	own_thread_join(r->thread, OWN_THREAD_PATIENCE);
}

void ticker_known(void)
{
	atomic_store(&known, true);
}

/* Lock held. */
static bool are_done(void)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		if (atomic_load(&all[i]->asked) != atomic_load(&all[i]->done))
			return false;
	return true;
}

void ticker_flush(void)
{
	uint64_t until = os_monotonic() + FLUSH_LIMIT;
	uint32_t i;

	if (!atomic_load(&known))
		return;
	pthread_mutex_lock(&lock);
	for (i = 0; i < count; i++)
		atomic_fetch_add(&all[i]->asked, 1);
	while (!are_done() && os_monotonic() < until)
		os_sleep(NS_PER_MS);
	pthread_mutex_unlock(&lock);
}

/* ---- ticks ---- */

void tick_miss(uint32_t event, enum loss_reason why, uint64_t n)
{
	if (n)
		atomic_fetch_add_explicit(&zone.lost_count[event][why], n, memory_order_relaxed);
}

void tick_due(uint32_t event, uint64_t n)
{
	atomic_fetch_add_explicit(&zone.due[event], n, memory_order_relaxed);
}

static int send(struct thread_record *r, uint32_t event)
{
	return os_signal_thread(atomic_load(&r->tid), zone.signo, zone_tick_word(r, event));
}

void tick_ask(struct thread_record *r, uint32_t event, enum thread_state expected, uint64_t now)
{
	struct record_source *s = &r->sources[event];
	int rc;

	s->expected = expected;
	s->asked_at = now;
	atomic_store_explicit(&s->asked, atomic_load(&s->asked) + 1, memory_order_release);
	rc = send(r, event);
	if (rc) {
		atomic_store(&s->answered, atomic_load(&s->asked));
		tick_miss(event, rc == -ESRCH ? LOSS_thread_exiting : LOSS_signal_pending, 1);
	}
}

bool tick_is_open(struct thread_record *r, uint32_t event)
{
	struct record_source *s = &r->sources[event];

	if (atomic_load_explicit(&s->answered, memory_order_acquire) == atomic_load(&s->asked))
		return false;
	tick_miss(event, LOSS_signal_pending, 1);
	send(r, event);
	return true;
}

/* If it takes longer (a debugger has stopped our thread), it may find a thread that is gone: its loads bear that. */
static void wait_let_go(const struct thread_record *r, uint32_t event)
{
	uint64_t until = 0;

	while (atomic_load(&zone.held[event]) == r->index + 1) {
		uint64_t now = os_monotonic();

		until = until ? until : now + HOLD_LIMIT;
		if (now >= until)
			return;
		os_sleep(20 * NS_PER_US);
	}
}

uint32_t tick_stride(uint32_t event, uint64_t threads)
{
	uint64_t budget = zone.events[event].interval / SIGNALS_SHARE;
	uint32_t stride = (uint32_t)MIN((threads * SIGNAL_COST + budget - 1) / MAX(budget, 1), STRIDE_LIMIT);

	if (stride > 1 && stride > atomic_load(&zone.stretched[event]))
		atomic_store(&zone.stretched[event], stride);
	return MAX(stride, 1u);
}

void tick_close(struct thread_record *r, uint32_t event)
{
	struct record_source *s = &r->sources[event];

	atomic_store(&s->arm, ARM_NONE);
	wait_let_go(r, event);
	if (atomic_load(&s->asked) != atomic_load(&s->answered)) {
		tick_miss(event, atomic_load(&zone.enabled) ? LOSS_thread_exiting : LOSS_disabled, 1);
		atomic_store(&s->answered, atomic_load(&s->asked));
	}
}

bool tick_hold(struct thread_record *r, uint32_t event)
{
	atomic_store(&zone.held[event], r->index + 1);
	if (likely(atomic_load(&r->sources[event].arm) == ARM_TICKS && atomic_load(&r->state) == RECORD_LIVE))
		return true;
	tick_let_go(event);
	return false;
}

void tick_let_go(uint32_t event)
{
	zone_let_go(event);
}

void active_wait(const struct thread_record *r)
{
	uint32_t e;

	for (e = 0; e < RECORD_EVENTS; e++)
		wait_let_go(r, e);
}
