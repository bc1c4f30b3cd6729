/*
 * wall_tick.c - the tick of one thread that moved, or of which the quick check does not show whether it did.
 *
 *   its proof holds   one more sample of the same stack; if it has slept for long, a quick check is found for it
 *   else              what is known of it goes to its run, the rest is lost; it is looked at, or sent a signal
 */
#include "agent/sources/wall/wall.h"
#include "common/os/os.h"

#define OLD 128        /* ticks after a move from which a quick check is worth finding */
#define LATER 16       /* ticks between two looks at a CPU clock, at most */
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

/* ---- what the next tick will look at ---- */

static uintptr_t watch_of(uint32_t i)
{
	return atomic_load_explicit(&wall.watch[i], memory_order_relaxed);
}

/* The clock of a thread that has slept for n ticks may wait for as many, if there are many. */
static uintptr_t next_clock(uint32_t i)
{
	uint64_t ticks = wall.clocked > MANY_CLOCKS ? MIN(wall.tick - wall.threads[i].moved + 1, LATER) : 1;

	if (ticks == 1)
		return WATCH_PROOF;
	wall.expected[i] = wall.tick + ticks;
	return WATCH_LATER;
}

/* Whether thread I has slept for so long that a quick check is worth finding. Not of all threads in the same tick. */
static bool wants_hint(uint32_t i)
{
	return wall_is_due(i) && wall.tick - wall.threads[i].moved >= OLD;
}

static uintptr_t next_watch(uint32_t i)
{
	struct wall_thread *t = &wall.threads[i];
	uintptr_t now = watch_of(i), hint;

	if (t->proof == WALL_NONE)
		return WATCH_PROOF;
	if (t->proof == WALL_CLOCK)
		return next_clock(i);
	if ((now & WATCH_KIND) == WATCH_WAIT || (now & WATCH_KIND) == WATCH_FRAME) {
		if (t->moved != wall.tick && wall_check(i, now))
			return now;
	} else if (wants_hint(i)) {
		hint = wall_hint(i);
		if (hint)
			return hint;
		t->moved = wall.tick; /* later, perhaps */
	}
	return t->proof == WALL_MARKER ? wall.fields[i] | WATCH_MARKER : WATCH_PROOF;
}

static void watch(uint32_t i, uintptr_t what)
{
	if (atomic_load_explicit(&wall.watch[i], memory_order_relaxed) == what)
		return;
	atomic_store(&wall.watch[i], what);
	/* Who takes the thread away writes its life, then its watch: one of us sees the other. */
	if (atomic_load(&wall.threads[i].life) != WALL_ON)
		atomic_store(&wall.watch[i], WATCH_PROOF);
}

/* ---- ticks that were not looked at one by one ---- */

/* What thread I did in TICKS is not known: they are lost, with their time. */
static void lose(uint32_t i, enum loss_reason why, uint64_t ticks)
{
	struct wall_thread *t = &wall.threads[i];
	uint64_t now, time = ticks * zone.events[wall.event].interval;

	if (!ticks)
		return;
	miss(why, ticks);
	t->tick += ticks;
	now = os_monotonic();
	if (now <= t->last || !wall_count_out(i))
		return;
	time = MIN(time, now - t->last);
	t->last += time;
	t->begun = t->last;
	atomic_fetch_add_explicit(&zone.lost_weight[wall.event][why], time, memory_order_relaxed);
}

/* Whether thread I's quick check is proof enough: what it waits on says that it is in the same wait. */
static bool is_in_its_wait(uint32_t i)
{
	uintptr_t what = watch_of(i);

	return wall.threads[i].proof == WALL_WORDS && (what & WATCH_KIND) == WATCH_WAIT && wall_check(i, what);
}

/*
 * Up to which tick it is known that thread I did not move; TICK was the last one. A quick check that shows a move now
 * showed none then. Where it shows none and the proof is gone, the thread ran and waits at the same place again: it is
 * known up to the last proof. (In the same wait, or where there are no words, words prove nothing more.)
 */
static uint64_t known_until(uint32_t i, uint64_t tick)
{
	const struct wall_thread *t = &wall.threads[i];
	uintptr_t what = watch_of(i);
	uint32_t kind = what & WATCH_KIND;

	if (kind == WATCH_MARKER || (t->proof == WALL_WORDS && (kind != WATCH_FRAME || !wall.slots[i].count)))
		return tick;
	if ((kind <= WATCH_FRAME && !wall_check(i, what)) || wall_is_unmoved(i))
		return tick;
	return kind == WATCH_FRAME ? MAX(t->tick, tick - (tick + i) % FRAME_ROTATION) : t->tick;
}

void wall_settle(uint32_t i, uint64_t tick)
{
	const struct wall_thread *t = &wall.threads[i];
	uint64_t known;

	if (!t->tick || tick <= t->tick)
		return;
	known = known_until(i, tick);
	wall_unmoved(i, known);
	lose(i, LOSS_not_observed, tick - known);
	if (known < tick)
		watch(i, WATCH_PROOF);
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
		atomic_store(&wall.watch[i], WATCH_PROOF);
}

/* ---- the tick ---- */

/* The record of thread I is held. */
static void ask(uint32_t i, enum thread_state expected, uint64_t now)
{
	struct thread_record *r = &zone.records.records[i];

	if (!wall_count_out(i)) {
		miss(LOSS_queue_full, 1);
		return;
	}
	wall.stacks[i].trace = NULL;
	r->sources[wall.event].charged = wall.threads[i].last;
	r->sources[wall.event].had_cpu = expected == THREAD_RUNNING ? wall_has_cpu(i, r) : CPU_NOT_KNOWN;
	tick_ask(r, wall.event, expected, now);
}

/* False: it has ended, and this is no tick. */
static bool look(uint32_t i)
{
	struct thread_record *r = &zone.records.records[i];
	struct wall_sight s;

	wall.threads[i].proof = WALL_NONE;
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

/* Whether the signal of an earlier tick has not been taken. */
static bool is_unanswered(uint32_t i)
{
	struct thread_record *r = &zone.records.records[i];
	struct wall_thread *t = &wall.threads[i];

	if (t->proof != WALL_NONE)
		return false;
	if (tick_is_open(r, wall.event))
		return true;
	/* The time up to its answer is in that sample. */
	if (r->sources[wall.event].charged > t->last) {
		wall_weighs(i, r->sources[wall.event].charged - t->last);
		t->last = t->begun = r->sources[wall.event].charged;
	}
	return false;
}

/* Its stack is to be read once more, as if it had moved. */
static void look_again(uint32_t i)
{
	wall_settle(i, tick_before());
	if (!wall_count_out(i))
		return;
	atomic_store(&wall.threads[i].again, false);
	wall.stacks[i].trace = NULL;
	wall.threads[i].proof = WALL_NONE;
}

/* Thread I's proof is asked; LATE ticks passed before this one. True: all ticks up to it are decided. */
static bool has_stood(uint32_t i, uint32_t late)
{
	struct wall_thread *t = &wall.threads[i];
	uintptr_t what = watch_of(i);
	bool unmoved;

	if (unlikely(atomic_load_explicit(&t->again, memory_order_relaxed)))
		look_again(i);
	unmoved = wall_is_unmoved(i);
	/* Equal words show how it stood in ticks that were served; the others prove that it did not run. */
	if (!unmoved || (late && t->proof == WALL_WORDS && !is_in_its_wait(i))) {
		wall_settle(i, tick_before());
		lose(i, LOSS_missed_tick, late);
	}
	if (!unmoved)
		return false;
	/* It may have been on its way to sleep when it was marked, and sleep elsewhere since: not by its clock. */
	if (t->proof == WALL_CLOCK && wall.fields[i] && marker_is_set(wall.fields[i]))
		t->proof = WALL_MARKER;
	if ((what & WATCH_KIND) < WATCH_LATER && !wall_check(i, what))
		t->moved = wall.tick; /* others wait there, too, or it ran and stands as before: none for a while */
	wall_unmoved(i, wall.tick);
	return true;
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
	if (is_unanswered(i))
		miss(LOSS_missed_tick, late);
	else if (!has_stood(i, late))
		due -= !look(i);
	t->tick = wall.tick;
	watch(i, next_watch(i));
	return due;
}

uint32_t wall_leave_out(uint32_t i)
{
	struct wall_thread *t = &wall.threads[i];
	uint32_t late;

	if (!is_on(i))
		return 0;
	late = (uint32_t)MIN(wall.late, wall.tick - 1 - t->tick);
	if (is_unanswered(i)) {
		miss(LOSS_missed_tick, late);
	} else {
		wall_settle(i, tick_before());
		miss(LOSS_outside_window, late + 1);
		if (wall_count_out(i)) {
			wall.stacks[i].trace = NULL;
			t->proof = WALL_NONE;
			t->begun = t->last = os_monotonic();
		}
	}
	t->tick = wall.tick;
	watch(i, WATCH_PROOF);
	return late + 1;
}
