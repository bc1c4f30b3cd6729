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
#include <string.h>
#include <sys/mman.h>

#include "engine/force.h"
#include "engine/marker.h"
#include "engine/rounds.h"
#include "engine/runs.h"
#include "os/os.h"
#include "signal/handler.h"

#define AHEAD 16       /* threads whose markers are fetched before their turn */
#define CLOCK_EVERY 32 /* threads that one look at the clock stands for */
#define PAUSE 16       /* turns between two looks at a CPU clock, at most */
#define MANY_CLOCKS 64 /* threads whose clocks are read each turn whatever they do */

struct wall wall;

static void open_rounds(uint64_t now), each_turn(uint32_t late), flush(void), leave(void);
static struct rounds rounds = {
	.name = "jstrobe wall", .scattered = true, .open = open_rounds, .turn = each_turn, .flush = flush,
	.leave = leave,
};

static uint64_t due; /* turns that have not been added to zone.due yet */

static void miss(enum loss_reason why, uint64_t count)
{
	turn_miss(wall.event, why, count);
}

/* ---- a thread's turn ---- */

/* The record of thread I is held. */
static void ask(uint32_t i, enum thread_state expected, uint64_t now)
{
	struct thread_record *r = &zone.records.records[i];
	struct wall_thread *t = &wall.threads[i];

	if (!wall_count_out(i)) {
		miss(LOSS_queue_full, 1);
		return;
	}
	wall.stacks[i].trace = NULL;
	t->mode = WALL_ASKED;
	r->sources[wall.event].charged = t->last;
	turn_ask(r, wall.event, expected, now);
}

static void look(uint32_t i)
{
	struct thread_record *r = &zone.records.records[i];
	struct wall_thread *t = &wall.threads[i];
	struct wall_sight s;

	if (!turn_hold(r, wall.event)) {
		due--; /* it has ended: this is no turn */
		return;
	}
	/* The time after the look: this thread may have been kept from its CPU since the turn began. */
	if (!wall_look(r, t, &s))
		ask(i, s.state, os_monotonic());
	else if (!wall_stands(i, &s, os_monotonic()))
		miss(LOSS_queue_full, 1);
	turn_let_go(wall.event);
}

/* The signal of an earlier turn has not been taken. */
static bool is_unanswered(uint32_t i)
{
	struct thread_record *r = &zone.records.records[i];

	if (turn_is_open(r, wall.event))
		return true;
	wall.threads[i].last = wall.threads[i].begun = r->sources[wall.event].charged;
	return false;
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

/* LATE turns of thread I saw nobody knows what: they are lost, with their time. */
static void lose_late(uint32_t i, uint32_t late, uint64_t now)
{
	struct wall_thread *t = &wall.threads[i];
	uint64_t time = late * zone.events[wall.event].interval;

	if (!late)
		return;
	miss(LOSS_late, late);
	/* While a question is open the time is its handler's: the thread has not come out of where it was. */
	if (t->mode == WALL_ASKED || now <= t->last || !wall_count_out(i))
		return;
	time = MIN(time, now - t->last);
	t->last += time;
	t->begun = t->last;
	atomic_fetch_add_explicit(&zone.lost_weight[wall.event][LOSS_late], time, memory_order_relaxed);
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
			lose_late(i, late, now); /* what it did in between is not known */
			t->still++;
			wall_again(i, 1, now);
			return;
		}
		break;
	case WALL_CLOCK:
		if (by_clock(i, late, now))
			return;
		break;
	case WALL_ASKED:
		if (is_unanswered(i)) {
			miss(LOSS_late, late);
			return;
		}
		t->mode = WALL_NEW;
		break;
	}
	lose_late(i, late, now);
	look(i);
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

/* What thread I's turn will look at is begun to be fetched. */
static void fetch_ahead(uint32_t i, uint32_t count)
{
	const struct wall_thread *t = &wall.threads[i];

	if (i < count && (t->field || t->mode == WALL_STILL))
		__builtin_prefetch((const void *)(t->mode == WALL_STILL ? t->anchor : t->field));
}

static void each_turn(uint32_t late)
{
	uint32_t i, count = atomic_load(&zone.records.count), clocked = 0;
	bool shut = window_keeps_out(&zone.window);
	uint64_t now = os_monotonic();

	for (i = 0; i < count; i++) {
		struct wall_thread *t = &wall.threads[i];
		uint32_t life = atomic_load_explicit(&t->life, memory_order_acquire);

		fetch_ahead(i + AHEAD, count);
		if (i % CLOCK_EVERY == 0)
			now = os_monotonic();
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
	wall.clocked = clocked;
	turn_due(wall.event, due);
	due = 0;
}

/* Threads that were armed before the JVM's were known have had no turns since. */
static void open_rounds(uint64_t now)
{
	uint32_t i, count = atomic_load(&zone.records.count);

	for (i = 0; i < count; i++)
		wall.threads[i].begun = wall.threads[i].last = now;
}

static void flush(void)
{
	uint32_t i, count = atomic_load(&zone.records.count);

	for (i = 0; i < count; i++)
		if (atomic_load_explicit(&wall.threads[i].life, memory_order_acquire) != WALL_FREE) {
			settle(i);
			wall_count_out(i);
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
		if (t->field && turn_hold(&zone.records.records[i], wall.event)) {
			marker_clear(t->field);
			turn_let_go(wall.event);
		}
		atomic_store(&t->life, WALL_GONE);
		finish(i);
	}
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

static int start(struct engine_event *event, uint32_t e, struct buffer *notes, struct error *err)
{
	const char *mode = force_options()->wall_mode;
	int rc = open_tables(err);

	(void)event;
	if (rc)
		return rc;
	wall.event = e;
	wall.rounds = &rounds;
	wall.clocked = 0;
	wall.one_by_one = force_options()->one_by_one;
	due = 0;
	wall.marker = strcmp(mode, "slots") != 0 && marker_works();
	if (!wall.marker && strcmp(mode, "marker") == 0)
		return error_set(err, ENOTSUP, "wallmode=marker: threads of this process cannot be marked (it needs "
				 "glibc 2.35, glibc.pthread.rseq=1 and a kernel that passes the self-test); "
				 "leave the option out");
	(void)notes;
	return rounds_begin(&rounds, e, err);
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

static void disarm(struct thread_record *r, uint32_t e)
{
	uint32_t on = WALL_ON;

	atomic_compare_exchange_strong(&wall.threads[r->index].life, &on, WALL_GONE);
	turn_close(r, e);
}

/* Before anything else goes away. */
static void halt(void)
{
	rounds_end(&rounds);
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
	rounds_known();
}

void engine_flush(void)
{
	rounds_flush();
}

/* The tables' memory goes back; their address space stays. */
static void stop(void)
{
	madvise(wall.threads, RECORD_LIMIT * sizeof(*wall.threads), MADV_DONTNEED);
	madvise(wall.stacks, RECORD_LIMIT * sizeof(*wall.stacks), MADV_DONTNEED);
}

static const char *way(void)
{
	return wall.one_by_one ? "signals" : wall.marker ? "marker" : "slots";
}

const struct engine_ops engine_wall = {
	.name = "wall", .way = way, .handler = handler_thread, .start = start, .arm = arm, .silence = silence,
	.disarm = disarm, .halt = halt, .stop = stop,
};
