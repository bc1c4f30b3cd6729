/*
 * wall_turn.c - the turn of one thread that moved, or of which a glance does not show whether it did.
 */
#include "engine/marker.h"
#include "engine/wall.h"
#include "os/os.h"

#define YOUNG 64       /* STILL: turns after a move for which the words of its stack are compared each turn */
#define PAUSE 16       /* CLOCK: turns between two looks, at most */
#define MANY_CLOCKS 64 /* threads whose clocks are read each turn whatever they do */

/* The last turn that was served before this one; wall.late of them passed in between. */
static uint64_t turn_before(void)
{
	return wall.turn - 1 - wall.late;
}

static void miss(enum loss_reason why, uint64_t count)
{
	turn_miss(wall.event, why, count);
}

static uint64_t cpu_clock(uint32_t i)
{
	return os_thread_cpu(atomic_load(&zone.records.records[i].tid));
}

/* ---- what the next turn will look at ---- */

static uintptr_t watch_of(uint32_t i)
{
	const struct wall_thread *t = &wall.threads[i];

	switch (t->mode) {
	case WALL_SEALED:
		return t->field | WATCH_MARKER;
	case WALL_STILL:
		return wall.turn - t->moved < YOUNG || (t->anchor & WATCH_KIND) ? WATCH_ATTEND
										: t->anchor | WATCH_FRAME;
	case WALL_CLOCK:
		return wall.expected[i] > wall.turn + 1 ? WATCH_CLOCK : WATCH_ATTEND;
	default:
		return WATCH_ATTEND;
	}
}

static void watch(uint32_t i, uintptr_t what)
{
	if (atomic_load_explicit(&wall.watch[i], memory_order_relaxed) == what)
		return;
	atomic_store(&wall.watch[i], what);
	/* Who takes the thread away writes its life, then its watch: one of us sees the other. */
	if (atomic_load(&wall.threads[i].life) != WALL_ON)
		atomic_store(&wall.watch[i], WATCH_ATTEND);
}

/* ---- turns that were not looked at one by one ---- */

void wall_settle(uint32_t i, uint64_t turn)
{
	struct wall_thread *t = &wall.threads[i];

	if (!t->turn || turn <= t->turn)
		return;
	if (t->mode == WALL_SEALED || t->mode == WALL_STILL || (t->mode == WALL_CLOCK && cpu_clock(i) == t->clock)) {
		wall_stood(i, turn);
		return;
	}
	if (t->mode == WALL_CLOCK)
		miss(LOSS_unseen, turn - t->turn);
	t->turn = turn;
}

void wall_finish(uint32_t i, uint64_t turn)
{
	wall_settle(i, turn);
	if (!wall_count_out(i))
		return;
	atomic_store(&wall.watch[i], 0);
	atomic_store(&wall.threads[i].life, WALL_FREE);
}

/* Its watch was written when it had been counted out already. The order is arm's, the other way round. */
static void forget(uint32_t i)
{
	atomic_store(&wall.watch[i], 0);
	if (atomic_load(&wall.threads[i].life) != WALL_FREE)
		atomic_store(&wall.watch[i], WATCH_ATTEND);
}

/* LATE turns of thread I saw nobody knows what: they are lost, with their time. */
static void lose_late(uint32_t i, uint32_t late)
{
	struct wall_thread *t = &wall.threads[i];
	uint64_t now, time = late * zone.events[wall.event].interval;

	if (!late)
		return;
	miss(LOSS_late, late);
	t->turn += late;
	now = os_monotonic();
	/* While a question is open the time is its handler's: the thread has not come out of where it was. */
	if (t->mode == WALL_ASKED || now <= t->last || !wall_count_out(i))
		return;
	time = MIN(time, now - t->last);
	t->last += time;
	t->begun = t->last;
	atomic_fetch_add_explicit(&zone.lost_weight[wall.event][LOSS_late], time, memory_order_relaxed);
}

/* ---- the turn ---- */

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

/* False: it has ended, and this is no turn. */
static bool look(uint32_t i)
{
	struct thread_record *r = &zone.records.records[i];
	struct wall_sight s;

	if (!turn_hold(r, wall.event))
		return false;
	/* The time after the look: this thread may have been kept from its CPU since the turn began. */
	if (!wall_look(r, &s))
		ask(i, s.state, os_monotonic());
	else if (!wall_stands(i, &s, os_monotonic()))
		miss(LOSS_queue_full, 1);
	turn_let_go(wall.event);
	return true;
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

/* A look at its CPU clock is due. One that did not move vouches for all turns since the last look. */
static bool by_clock(uint32_t i)
{
	struct wall_thread *t = &wall.threads[i];

	if (cpu_clock(i) != t->clock) {
		t->pause = 0;
		return false;
	}
	if (wall.clocked > MANY_CLOCKS)
		t->pause = (uint8_t)MIN(t->pause * 2 + 1, PAUSE - 1);
	wall.expected[i] = wall.turn + 1 + t->pause;
	wall_stood(i, wall.turn);
	return true;
}

/* By its last Java frame and the words of its stack. What it did in turns that passed without a look is not known. */
static bool by_frame(uint32_t i, uint32_t late)
{
	if (wall_frame(wall.threads[i].anchor) != wall.expected[i] || !wall_is_still(i))
		return false;
	wall_settle(i, turn_before());
	lose_late(i, late);
	wall_stood(i, wall.turn);
	return true;
}

/* Whether thread I has stood in this turn; LATE ones before it are decided then, too. */
static bool has_stood(uint32_t i, uint32_t late)
{
	struct wall_thread *t = &wall.threads[i];

	switch (t->mode) {
	case WALL_MARKED:
		/* It may have been on its way to sleep when it was marked, and sleep elsewhere since. */
		if (!marker_is_set(t->field) || cpu_clock(i) != t->clock)
			return false;
		t->mode = WALL_SEALED;
		wall_stood(i, wall.turn);
		return true;
	case WALL_SEALED:
		if (!marker_is_set(t->field))
			return false;
		wall_stood(i, wall.turn);
		return true;
	case WALL_STILL:
		return by_frame(i, late);
	case WALL_CLOCK:
		return by_clock(i);
	default:
		return false;
	}
}

/* Whether thread I has a turn at all. */
static bool is_on(uint32_t i)
{
	struct wall_thread *t = &wall.threads[i];

	switch (atomic_load(&t->life)) {
	case WALL_FREE:
		forget(i);
		return false;
	case WALL_GONE:
		wall_finish(i, turn_before());
		return false;
	}
	if (!t->turn)
		t->turn = wall.turn - 1; /* armed since the last turn: those before were not its own */
	return true;
}

uint32_t wall_attend(uint32_t i)
{
	struct wall_thread *t = &wall.threads[i];
	uint32_t late, due;

	if (!is_on(i))
		return 0;
	late = (uint32_t)MIN(wall.late, wall.turn - 1 - t->turn);
	due = late + 1;
	if (t->mode == WALL_ASKED && is_unanswered(i)) {
		miss(LOSS_late, late);
	} else if (!has_stood(i, late)) {
		wall_settle(i, turn_before());
		if (t->mode == WALL_ASKED)
			t->mode = WALL_NEW;
		lose_late(i, late);
		due -= !look(i);
	}
	t->turn = wall.turn;
	watch(i, watch_of(i));
	return due;
}

uint32_t wall_leave_out(uint32_t i)
{
	struct wall_thread *t = &wall.threads[i];
	uint32_t late;

	if (!is_on(i))
		return 0;
	late = (uint32_t)MIN(wall.late, wall.turn - 1 - t->turn);
	if (t->mode == WALL_ASKED && is_unanswered(i)) {
		miss(LOSS_late, late);
	} else {
		wall_settle(i, turn_before());
		miss(LOSS_outside_window, late + 1);
		if (wall_count_out(i)) {
			wall.stacks[i].trace = NULL;
			t->mode = WALL_NEW;
			t->begun = t->last = os_monotonic();
		}
	}
	t->turn = wall.turn;
	watch(i, WATCH_ATTEND);
	return late + 1;
}
