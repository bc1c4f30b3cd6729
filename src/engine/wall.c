/*
 * wall.c - the wall clock: once an interval, at a random moment in it, each thread has its turn.
 *
 *   has it run since the last turn?  no ──▶ one more sample of the same stack          (wall_runs.c)
 *                │ yes
 *   does it wait, and can its stack be read from outside?  yes ──▶ a sample of that stack (wall_look.c)
 *                │ no
 *   a signal: its handler takes the sample, answering the question in its record   (signal/handler.c)
 *
 * All of it is done by one thread, which is never attached to the JVM and holds a record only for the time of
 * one look. A turn that could not be served is counted as lost by its reason; the thread's next sample weighs
 * for its time, too.
 */
#include "engine/wall.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>

#include "engine/force.h"
#include "engine/marker.h"
#include "engine/runs.h"
#include "os/os.h"
#include "signal/handler.h"

#define AHEAD 8        /* threads whose markers are fetched before their turn */
#define PAUSE 16       /* turns between two looks at a CPU clock, at most */
#define MANY_CLOCKS 64 /* threads whose clocks are read each turn whatever they do */

struct wall wall;

static pthread_t thread;
static bool running;
static pthread_mutex_t sleep_lock = PTHREAD_MUTEX_INITIALIZER; /* the next four */
static pthread_cond_t wake;
static bool ending, known;
static uint64_t flushes_asked, flushes_done;

static uint64_t due; /* turns that have not been added to zone.due yet */

static void miss(enum loss_reason why, uint64_t count)
{
	if (!count)
		return;
	atomic_fetch_add_explicit(&zone.lost_count[wall.event][why], count, memory_order_relaxed);
}

/* ---- a thread's turn ---- */

/* The record of thread I is held. */
static void ask(uint32_t i, enum thread_state expected, uint64_t now)
{
	struct thread_record *r = &zone.records.records[i];
	struct record_source *s = &r->sources[wall.event];
	struct wall_thread *t = &wall.threads[i];
	int rc;

	if (!wall_count_out(i)) {
		miss(LOSS_queue_full, 1);
		return;
	}
	wall.stacks[i].trace = NULL;
	t->mode = WALL_ASKED;
	s->charged = t->last;
	s->expected = expected;
	s->asked_at = now;
	atomic_store_explicit(&s->asked, atomic_load(&s->asked) + 1, memory_order_release);
	rc = os_signal_thread(atomic_load(&r->tid), zone.signo, zone_turn_word(r, wall.event));
	if (rc) {
		atomic_store(&s->answered, atomic_load(&s->asked));
		miss(rc == -ESRCH ? LOSS_thread_exiting : LOSS_unanswered, 1);
	}
}

static void look(uint32_t i, uint64_t now)
{
	struct thread_record *r = &zone.records.records[i];
	struct wall_thread *t = &wall.threads[i];
	struct wall_sight s;

	if (!wall_hold(i)) {
		due--; /* it has ended: this is no turn */
		return;
	}
	/* What it said a moment ago is the newest there is. */
	if (!wall_look(r, t, &s))
		ask(i, s.state, now);
	else if (!wall_stands(i, &s, now))
		miss(LOSS_queue_full, 1);
	wall_let_go();
}

/* The signal of an earlier turn has not been taken: it is sent once more, in case it was lost. */
static bool is_unanswered(uint32_t i)
{
	struct thread_record *r = &zone.records.records[i];
	struct record_source *s = &r->sources[wall.event];

	if (atomic_load_explicit(&s->answered, memory_order_acquire) == atomic_load(&s->asked)) {
		wall.threads[i].last = wall.threads[i].begun = s->charged;
		return false;
	}
	miss(LOSS_unanswered, 1);
	os_signal_thread(atomic_load(&r->tid), zone.signo, zone_turn_word(r, wall.event));
	return true;
}

/* By the CPU clock: true when the turn is done with. Rarely read, unmoved clocks vouch for the turns before. */
static bool by_clock(uint32_t i, uint32_t late, uint64_t now)
{
	struct wall_thread *t = &wall.threads[i];
	uint32_t pending = t->pending;

	if (t->wait) {
		t->wait--;
		t->pending += late + 1;
		return true;
	}
	t->pending = 0;
	if (os_thread_cpu(atomic_load(&zone.records.records[i].tid)) != t->clock) {
		t->pause = 0;
		miss(LOSS_unseen, pending);
		return false;
	}
	if (wall.clocked > MANY_CLOCKS)
		t->pause = (uint8_t)MIN(t->pause * 2 + 1, PAUSE - 1);
	t->wait = t->pause;
	wall_again(i, pending + late + 1, now);
	return true;
}

/*
 * LATE turns of the thread were due before this one. Where it is proved that the thread has not run since its
 * last one, they saw the same.
 */
static void turn(uint32_t i, uint32_t late, uint64_t now)
{
	struct wall_thread *t = &wall.threads[i];

	due += late + 1;
	switch (t->mode) {
	case WALL_SEALED:
		if (likely(marker_is_set(t->field))) {
			wall_again(i, late + 1, now);
			return;
		}
		break;
	case WALL_MARKED:
		/* It may have been on its way to sleep when it was marked, and sleep elsewhere since. */
		if (marker_is_set(t->field) &&
		    os_thread_cpu(atomic_load(&zone.records.records[i].tid)) == t->clock) {
			t->mode = WALL_SEALED;
			wall_again(i, late + 1, now);
			return;
		}
		break;
	case WALL_STILL:
		if (wall_is_still(i)) {
			t->still++;
			wall_again(i, 1, now);
			goto missed; /* what it did in between is not known */
		}
		break;
	case WALL_CLOCK:
		if (by_clock(i, late, now))
			return;
		break;
	case WALL_ASKED:
		if (is_unanswered(i))
			goto missed;
		break;
	}
	look(i, now);
missed:
	miss(LOSS_late, late);
}

/* The window that `begin` and `end` make is shut: the turn is no sample, nor is the time up to now. */
static void leave_out(uint32_t i, uint32_t late, uint64_t now)
{
	struct wall_thread *t = &wall.threads[i];

	due += late + 1;
	if (t->mode == WALL_ASKED && is_unanswered(i)) {
		miss(LOSS_late, late);
		return;
	}
	miss(LOSS_outside_window, t->pending + late + 1);
	t->pending = 0;
	if (!wall_count_out(i))
		return;
	wall.stacks[i].trace = NULL;
	t->mode = WALL_NEW;
	t->begun = t->last = now;
}

/* Turns that wait for a look at thread I's clock are decided. */
static void settle(uint32_t i)
{
	struct wall_thread *t = &wall.threads[i];
	uint32_t pending = t->pending;

	t->pending = 0;
	t->wait = 0;
	if (pending && os_thread_cpu(atomic_load(&zone.records.records[i].tid)) == t->clock)
		wall_again(i, pending, os_monotonic());
	else
		miss(LOSS_unseen, pending);
}

/* The thread has ended, or is not sampled any more: what is known of it goes out. */
static void finish(uint32_t i)
{
	struct wall_thread *t = &wall.threads[i];

	settle(i);
	if (wall_count_out(i))
		atomic_store_explicit(&t->life, WALL_FREE, memory_order_release);
}

static void each_turn(uint32_t late)
{
	uint32_t i, count = atomic_load(&zone.records.count), clocked = 0;
	bool shut = window_keeps_out(&zone.window);
	uint64_t now = os_monotonic();

	handler_enter(wall.self);
	for (i = 0; i < count; i++) {
		struct wall_thread *t = &wall.threads[i];
		uint32_t life = atomic_load_explicit(&t->life, memory_order_acquire);

		if (i + AHEAD < count && wall.threads[i + AHEAD].field)
			__builtin_prefetch((const void *)wall.threads[i + AHEAD].field);
		if (life == WALL_GONE)
			finish(i);
		if (life != WALL_ON)
			continue;
		if (shut)
			leave_out(i, late, now);
		else
			turn(i, late, now);
		clocked += t->mode == WALL_CLOCK;
	}
	handler_leave(wall.self);
	wall.clocked = clocked;
	atomic_fetch_add_explicit(&zone.due[wall.event], due, memory_order_relaxed);
	due = 0;
}

/* ---- the thread ---- */

/* Sleep until WHEN, or until somebody wants something. False: the engine ends. */
static bool sleep_until(uint64_t when)
{
	struct timespec t = {(time_t)(when / NS_PER_S), (long)(when % NS_PER_S)};
	bool go_on;

	pthread_mutex_lock(&sleep_lock);
	while (!ending && flushes_asked == flushes_done)
		if (pthread_cond_timedwait(&wake, &sleep_lock, &t) == ETIMEDOUT)
			break;
	go_on = !ending;
	pthread_mutex_unlock(&sleep_lock);
	return go_on;
}

static void flush(void)
{
	uint32_t i, count = atomic_load(&zone.records.count);
	uint64_t asked;

	pthread_mutex_lock(&sleep_lock);
	asked = flushes_asked;
	pthread_mutex_unlock(&sleep_lock);
	if (asked == flushes_done)
		return;
	for (i = 0; i < count; i++)
		if (atomic_load_explicit(&wall.threads[i].life, memory_order_acquire) != WALL_FREE) {
			settle(i);
			wall_count_out(i);
		}
	pthread_mutex_lock(&sleep_lock);
	flushes_done = asked;
	pthread_cond_broadcast(&wake);
	pthread_mutex_unlock(&sleep_lock);
}

/* Java threads must be known as such first: taken for native ones they would get signals. */
static bool wait_until_known(void)
{
	bool go_on;

	pthread_mutex_lock(&sleep_lock);
	while (!known && !ending)
		pthread_cond_wait(&wake, &sleep_lock);
	go_on = !ending;
	pthread_mutex_unlock(&sleep_lock);
	return go_on;
}

/* xorshift64* (Vigna 2016): turns must not run in step with the program. */
static uint64_t random_below(uint64_t *state, uint64_t limit)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return (uint64_t)((unsigned __int128)(*state * 0x2545f4914f6cdd1dull) * limit >> 64);
}

static void go_round(void)
{
	uint64_t interval = zone.events[wall.event].interval, start = os_monotonic(), seed = start | 1;
	uint64_t round = 0, when = start + random_below(&seed, interval);

	while (sleep_until(when)) {
		uint64_t now = os_monotonic();
		uint32_t late;

		flush();
		if (now < when)
			continue; /* it was only that */
		/* Whole intervals that passed without a turn. */
		late = (uint32_t)((now - when) / interval);
		round += late;
		each_turn(late);
		round++;
		when = start + round * interval + random_below(&seed, interval);
	}
}

/* All threads are counted out, and no marker stays behind. */
static void leave(void)
{
	uint32_t i, count = atomic_load(&zone.records.count);

	for (i = 0; i < count; i++) {
		struct wall_thread *t = &wall.threads[i];

		if (atomic_load(&t->life) == WALL_FREE)
			continue;
		if (t->field && wall_hold(i)) {
			marker_clear(t->field);
			wall_let_go();
		}
		atomic_store(&t->life, WALL_GONE);
		finish(i);
	}
	flush();
}

static void *run(void *arg)
{
	pid_t tid = os_gettid();

	(void)arg;
	os_block_signals();
	prctl(PR_SET_NAME, "jstrobe wall");
	prctl(PR_SET_TIMERSLACK, 1);
	records_own(tid, true);
	/* Turns must not wait on a busy machine; where not permitted some are late. */
	setpriority(PRIO_PROCESS, (id_t)tid, -10);
	wall.self = records_found(tid, (uintptr_t)pthread_self());
	if (wall.self && wait_until_known())
		go_round();
	leave();
	records_own(tid, false);
	return NULL;
}

/* ---- the engine ---- */

static int open_tables(struct error *err)
{
	size_t bytes[2] = {RECORD_LIMIT * sizeof(*wall.threads), RECORD_LIMIT * sizeof(*wall.stacks)};

	if (!wall.threads) {
		wall.threads = os_reserve(bytes[0]);
		wall.stacks = os_reserve(bytes[1]);
	}
	if (!wall.threads || !wall.stacks || os_make_writable(wall.threads, bytes[0]) ||
	    os_make_writable(wall.stacks, bytes[1]))
		return error_set(err, ENOMEM, "wall: cannot reserve address space for threads; raise the limit of "
				 "virtual memory (ulimit -v)");
	return runs_open(err);
}

static int begin_thread(struct error *err)
{
	pthread_condattr_t monotonic;
	sigset_t all, old;
	int rc;

	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&wake, &monotonic);
	pthread_condattr_destroy(&monotonic);
	ending = known = false;
	flushes_asked = flushes_done = 0;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	rc = pthread_create(&thread, NULL, run, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (rc)
		return error_set(err, rc, "wall: cannot create the sampling thread: %s; raise the limit of threads "
				 "(ulimit -u, pids.max)", strerror(rc));
	running = true;
	return 0;
}

static int start(struct engine_event *event, uint32_t e, struct buffer *notes, struct error *err)
{
	const char *mode = force_options()->wall_mode;
	int rc = open_tables(err);

	(void)event;
	if (rc)
		return rc;
	wall.event = e;
	wall.clocked = 0;
	wall.one_by_one = force_options()->one_by_one;
	due = 0;
	wall.marker = strcmp(mode, "slots") != 0 && marker_works();
	if (!wall.marker && strcmp(mode, "marker") == 0)
		return error_set(err, ENOTSUP, "wallmode=marker: threads of this process cannot be marked (it needs "
				 "glibc 2.35, glibc.pthread.rseq=1 and a kernel that passes the self-test); "
				 "leave the option out");
	(void)notes;
	return begin_thread(err);
}

static int arm(struct thread_record *r, uint32_t e)
{
	struct wall_thread *t = &wall.threads[r->index];

	/* What was here before has not been counted out yet. */
	if (atomic_load(&t->life) != WALL_FREE)
		return -EAGAIN;
	memset(t, 0, sizeof(*t));
	memset(&wall.stacks[r->index], 0, sizeof(wall.stacks[r->index]));
	t->begun = t->last = os_monotonic();
	r->sources[e].charged = t->last;
	atomic_store(&r->sources[e].arm, ARM_TURNS);
	atomic_store(&t->life, WALL_ON);
	return 0;
}

void wall_wait(const struct thread_record *r)
{
	while (atomic_load(&zone.held) == r->index + 1)
		os_sleep(20 * NS_PER_US);
}

static void disarm(struct thread_record *r, uint32_t e)
{
	struct wall_thread *t = &wall.threads[r->index];
	struct record_source *s = &r->sources[e];
	uint32_t on = WALL_ON;

	if (atomic_compare_exchange_strong(&t->life, &on, WALL_GONE))
		wall_wait(r);
	atomic_store(&s->arm, ARM_NONE);
	if (atomic_load(&s->asked) != atomic_load(&s->answered)) {
		miss(atomic_load(&zone.enabled) ? LOSS_thread_exiting : LOSS_disabled, 1);
		atomic_store(&s->answered, atomic_load(&s->asked));
	}
}

/* End the thread, before anything else goes away. */
static void halt(void)
{
	if (!running)
		return;
	pthread_mutex_lock(&sleep_lock);
	ending = true;
	pthread_cond_broadcast(&wake);
	pthread_mutex_unlock(&sleep_lock);
	pthread_join(thread, NULL);
	running = false;
}

static void silence(struct thread_record *r, uint32_t e)
{
	(void)r;
	(void)e;
}

bool engine_keeps(const struct thread_record *r)
{
	return wall.threads && atomic_load_explicit(&wall.threads[r->index].life, memory_order_acquire) != WALL_FREE;
}

void engine_threads_known(void)
{
	pthread_mutex_lock(&sleep_lock);
	if (running) {
		known = true;
		pthread_cond_broadcast(&wake);
	}
	pthread_mutex_unlock(&sleep_lock);
}

void engine_flush(void)
{
	struct timespec t;
	uint64_t mine;

	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_sec += 1;
	pthread_mutex_lock(&sleep_lock);
	if (running && known && !ending) {
		mine = ++flushes_asked;
		pthread_cond_broadcast(&wake);
		while (running && !ending && flushes_done < mine)
			if (pthread_cond_timedwait(&wake, &sleep_lock, &t) == ETIMEDOUT)
				break;
	}
	pthread_mutex_unlock(&sleep_lock);
}

static const char *way(void)
{
	return wall.one_by_one ? "signals" : wall.marker ? "marker" : "slots";
}

const struct engine_ops engine_wall = {
	.name = "wall", .way = way, .handler = handler_thread, .start = start, .arm = arm, .silence = silence,
	.disarm = disarm, .halt = halt,
};
