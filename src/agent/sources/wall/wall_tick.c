/*
 * wall_tick.c - the tick of one thread that moved, or of which a glance does not show whether it did.
 */
#include "agent/sources/wall/marker.h"
#include "agent/sources/wall/wall.h"
#include "common/os/os.h"

#define YOUNG 64       /* STILL: ticks after a move in which the words of its stack are compared; then comes a hint */
#define OLD 128        /* SEALED: ticks after a move from which a hint is worth its while */
#define PAUSE 16       /* CLOCK: ticks between two looks, at most */
#define MANY_CLOCKS 64 /* threads whose clocks are read each tick whatever they do */

/* The last tick that was served before this one; wall.late of them passed in between. */
static uint64_t tick_before(void)
{
	return wall.tick - 1 - wall.late;
}

static void miss(enum loss_reason why, uint64_t count)
{
	tick_miss(wall.event, why, count);
}

static uint64_t cpu_clock(uint32_t i)
{
	return os_thread_cpu(atomic_load(&zone.records.records[i].tid));
}

static bool is_marked(uint32_t i)
{
	return marker_is_set(wall.fields[i]);
}

/* ---- what the next tick will look at ---- */

static uintptr_t watch_of(uint32_t i)
{
	const struct wall_thread *t = &wall.threads[i];
	uintptr_t now = atomic_load_explicit(&wall.watch[i], memory_order_relaxed);

	switch (t->mode) {
	case WALL_VERIFIED:
		return wall_hint_holds(i, now) ? now : wall.fields[i] | WATCH_MARKER;
	case WALL_UNMOVED:
		if ((now & WATCH_KIND) == WATCH_SLEEP && wall_hint_holds(i, now))
			return now;
		if (wall.tick - t->moved < YOUNG || !t->pause || (t->anchor & WATCH_KIND))
			return WATCH_ATTEND;
		wall.expected[i] = wall.slots[i].frame;
		return t->anchor | WATCH_FRAME;
	case WALL_CLOCK:
		return wall.expected[i] > wall.tick + 1 ? WATCH_CLOCK : WATCH_ATTEND;
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

/* ---- ticks that were not looked at one by one ---- */

/* What thread I did in TURNS is not known: they are lost, with their time. */
static void lose(uint32_t i, enum loss_reason why, uint64_t ticks)
{
	struct wall_thread *t = &wall.threads[i];
	uint64_t now, time = ticks * zone.events[wall.event].interval;

	if (!ticks)
		return;
	miss(why, ticks);
	t->tick += ticks;
	now = os_monotonic();
	/* While a question is open the time is its handler's: the thread has not come out of where it was. */
	if (t->mode == WALL_ASKED || now <= t->last || !wall_count_out(i))
		return;
	time = MIN(time, now - t->last);
	t->last += time;
	t->begun = t->last;
	atomic_fetch_add_explicit(&zone.lost_weight[wall.event][why], time, memory_order_relaxed);
}

/*
 * Thread I, SEALED, has lost its marker by TURN, and its hint WHAT does not say when: it ran, and waits at the same
 * place again. Returns the last tick in which its marker was there.
 */
static uint64_t verified_until(uint32_t i, uintptr_t what, uint64_t tick)
{
	uint64_t until = wall.threads[i].tick;

	if ((what & WATCH_KIND) == WATCH_PLACE)
		until = MAX(until, tick - (tick + i) % WALL_ROTATION);
	return until;
}

/*
 * Thread I, STILL, stood in all ticks up to TURN that were served. What it did in the others is not known, unless a
 * condition variable says that it is in the same wait.
 */
static void unmoved_when_seen(uint32_t i, uint64_t tick)
{
	struct wall_thread *t = &wall.threads[i];
	uint64_t lates = tick == wall.tick ? wall.lates : wall.lates - wall.late;
	uintptr_t what = atomic_load_explicit(&wall.watch[i], memory_order_relaxed);
	bool same_wait = (what & WATCH_KIND) == WATCH_SLEEP && (tick != wall.tick || wall_hint_holds(i, what));
	uint64_t late = same_wait ? 0 : MIN(lates - t->lates, tick - t->tick);

	t->lates = lates;
	wall_unmoved(i, tick - late);
	lose(i, LOSS_missed_tick, late);
}

void wall_settle(uint32_t i, uint64_t tick)
{
	struct wall_thread *t = &wall.threads[i];
	uintptr_t what = atomic_load_explicit(&wall.watch[i], memory_order_relaxed);

	if (!t->tick || tick <= t->tick)
		return;
	if (t->mode == WALL_CLOCK && cpu_clock(i) != t->clock) {
		lose(i, LOSS_not_observed, tick - t->tick);
		return;
	}
	if (t->mode == WALL_VERIFIED && !is_marked(i) && wall_hint_holds(i, what)) {
		wall_unmoved(i, verified_until(i, what, tick));
		lose(i, LOSS_not_observed, tick - t->tick);
		watch(i, WATCH_ATTEND);
		return;
	}
	if (t->mode == WALL_UNMOVED)
		unmoved_when_seen(i, tick);
	else
		wall_unmoved(i, tick);
}

/* At its next tick its stack is read, as if it had moved. */
static void look_again(uint32_t i)
{
	struct wall_thread *t = &wall.threads[i];

	if (t->mode == WALL_ASKED)
		return; /* it is on its way */
	wall_settle(i, wall.tick);
	if (!wall_count_out(i))
		return;
	atomic_store(&t->again, false);
	wall.stacks[i].trace = NULL;
	t->mode = WALL_NEW;
	watch(i, WATCH_ATTEND);
}

/* Whether thread I has stood for so long that a hint is worth its while, and has none. */
static bool wants_hint(uint32_t i)
{
	const struct wall_thread *t = &wall.threads[i];

	if (t->mode == WALL_UNMOVED)
		return !t->pause && wall.tick - t->moved >= YOUNG && wall.watch[i] == WATCH_ATTEND;
	return wall.tick - t->moved >= OLD && wall.watch[i] == wall.fields[i];
}

/* There is none for it: later, perhaps; STILL: when it has moved. */
static void no_hint(uint32_t i)
{
	if (wall.threads[i].mode == WALL_UNMOVED)
		wall.threads[i].pause = 1;
	else
		wall.threads[i].moved = wall.tick;
}

void wall_look_after(uint32_t i)
{
	struct wall_thread *t = &wall.threads[i];
	uintptr_t hint;

	if (atomic_load(&t->life) != WALL_ON)
		return;
	if (unlikely(atomic_load_explicit(&t->again, memory_order_relaxed)))
		look_again(i);
	if (t->mode != WALL_VERIFIED && t->mode != WALL_UNMOVED)
		return;
	wall_settle(i, wall.tick);
	if (!wants_hint(i))
		return;
	hint = wall_hint(i);
	if (hint)
		watch(i, hint);
	else
		no_hint(i);
}

void wall_finish(uint32_t i, uint64_t tick)
{
	wall_settle(i, tick);
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

/* ---- the tick ---- */

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
	tick_ask(r, wall.event, expected, now);
}

/* False: it has ended, and this is no tick. */
static bool look(uint32_t i)
{
	struct thread_record *r = &zone.records.records[i];
	struct wall_sight s;

	if (!tick_hold(r, wall.event))
		return false;
	/* The time after the look: this thread may have been kept from its CPU since the tick began. */
	if (!wall_look(r, &s)) {
		wall.threads[i].ticks = s.ticks;
		ask(i, s.state, os_monotonic());
	} else if (!wall_stands(i, &s, os_monotonic())) {
		miss(LOSS_queue_full, 1);
	}
	tick_let_go(wall.event);
	return true;
}

/* The signal of an earlier tick has not been taken. */
static bool is_unanswered(uint32_t i)
{
	struct thread_record *r = &zone.records.records[i];

	if (tick_is_open(r, wall.event))
		return true;
	wall.threads[i].last = wall.threads[i].begun = r->sources[wall.event].charged;
	return false;
}

/* A look at its CPU clock is due. One that did not move vouches for all ticks since the last look. */
static bool by_clock(uint32_t i)
{
	struct wall_thread *t = &wall.threads[i];

	if (cpu_clock(i) != t->clock) {
		t->pause = 0;
		return false; /* what is owed is lost by wall_settle */
	}
	if (wall.clocked > MANY_CLOCKS)
		t->pause = (uint8_t)MIN(t->pause * 2 + 1, PAUSE - 1);
	wall.expected[i] = wall.tick + 1 + t->pause;
	wall_unmoved(i, wall.tick);
	return true;
}

/* Whether thread I's watch WHAT is a hint that shows a move; that there was none is known. */
static bool is_wrong(uint32_t i, uintptr_t what)
{
	return (what & WATCH_KIND) >= WATCH_WAIT && !wall_hint_holds(i, what);
}

/* By its last Java frame and the words of its stack. */
static bool by_frame(uint32_t i)
{
	if (!wall_is_unmoved(i))
		return false;
	if (is_wrong(i, wall.watch[i]))
		wall.threads[i].moved = wall.tick; /* it has, or others wait there too */
	unmoved_when_seen(i, wall.tick);
	return true;
}

/* Whether thread I has stood in this tick; then all ticks up to it are decided. */
static bool has_stood(uint32_t i)
{
	struct wall_thread *t = &wall.threads[i];

	switch (t->mode) {
	case WALL_MARKED:
		/* It may have been on its way to sleep when it was marked, and sleep elsewhere since. */
		if (!is_marked(i) || cpu_clock(i) != t->clock)
			return false;
		t->mode = WALL_VERIFIED;
		wall_unmoved(i, wall.tick);
		return true;
	case WALL_VERIFIED:
		if (!is_marked(i))
			return false;
		if (is_wrong(i, wall.watch[i]))
			t->moved = wall.tick; /* no hint for a while */
		wall_unmoved(i, wall.tick);
		return true;
	case WALL_UNMOVED:
		return by_frame(i);
	case WALL_CLOCK:
		return by_clock(i);
	default:
		return false;
	}
}

/* Whether thread I has a tick at all. */
static bool is_on(uint32_t i)
{
	struct wall_thread *t = &wall.threads[i];

	switch (atomic_load(&t->life)) {
	case WALL_FREE:
		forget(i);
		return false;
	case WALL_GONE:
		wall_waits_gone(atomic_load(&zone.records.records[i].tid));
		wall_finish(i, tick_before());
		return false;
	}
	if (!t->tick)
		t->tick = wall.tick - 1; /* armed since the last tick: those before were not its own */
	return true;
}

uint32_t wall_attend(uint32_t i)
{
	struct wall_thread *t = &wall.threads[i];
	uint32_t late, due;

	if (!is_on(i))
		return 0;
	wall.on++;
	if (wall.stride > 1 && (wall.tick + i) % wall.stride) {
		t->tick = wall.tick; /* it has none: so many signals would cost too much */
		return 0;
	}
	late = (uint32_t)MIN(wall.late, wall.tick - 1 - t->tick);
	due = late + 1;
	if (t->mode == WALL_ASKED && is_unanswered(i)) {
		miss(LOSS_missed_tick, late);
	} else if (!has_stood(i)) {
		wall_settle(i, tick_before());
		if (t->mode == WALL_ASKED)
			t->mode = WALL_NEW;
		lose(i, LOSS_missed_tick, late);
		due -= !look(i);
	}
	t->tick = wall.tick;
	t->lates = wall.lates;
	watch(i, watch_of(i));
	return due;
}

uint32_t wall_leave_out(uint32_t i)
{
	struct wall_thread *t = &wall.threads[i];
	uint32_t late;

	if (!is_on(i))
		return 0;
	late = (uint32_t)MIN(wall.late, wall.tick - 1 - t->tick);
	if (t->mode == WALL_ASKED && is_unanswered(i)) {
		miss(LOSS_missed_tick, late);
	} else {
		wall_settle(i, tick_before());
		miss(LOSS_outside_window, late + 1);
		if (wall_count_out(i)) {
			wall.stacks[i].trace = NULL;
			t->mode = WALL_NEW;
			t->begun = t->last = os_monotonic();
		}
	}
	t->tick = wall.tick;
	watch(i, WATCH_ATTEND);
	return late + 1;
}
