/*
 * wall_batches.c - equal samples of a thread one after the other are one run, counted out when the thread
 * moves on, at 1000 samples, after 10 s, and when a result is asked for.
 *
 * Nothing is written while a thread stands: how many ticks passed, and when they were, is known of all threads alike.
 */
#include "agent/sources/wall/wall.h"
#include "agent/threads/run_queue.h"

#define RUN_SAMPLES 1000
#define RUN_LENGTH (10 * NS_PER_S)

/* When TICK was; 0 = too long ago. */
static uint64_t time_of(uint64_t tick)
{
	return tick + WALL_TIMES > wall.tick ? wall.times[tick % WALL_TIMES] : 0;
}

bool wall_count_out(uint32_t i)
{
	struct wall_thread *t = &wall.threads[i];
	struct run_note n = {
		.time = t->first,
		.span = t->last - t->first,
		.weight = t->last - t->begun,
		.thread = i,
		.samples = t->samples,
		.event = (uint8_t)wall.event,
		.state = t->state,
	};

	if (!t->samples)
		return true;
	if (!runs_push(&n))
		return false;
	t->samples = 0;
	t->begun = t->last;
	return true;
}

/* COUNT samples, the first of them at FIRST, the last one at LAST. */
static void add(uint32_t i, uint32_t count, uint64_t first, uint64_t last)
{
	struct wall_thread *t = &wall.threads[i];
	uint64_t ahead = wall.rotation * zone.events[wall.event].interval; /* until it is attended to again */

	/* It may have been found, or have answered, since its tick began. */
	if (!t->samples)
		t->first = MAX(t->last, first);
	t->last = MAX(t->last, last);
	t->samples += count;
	if (unlikely(t->samples + wall.rotation > RUN_SAMPLES || t->last - t->first + ahead > RUN_LENGTH))
		wall_count_out(i);
}

void wall_unmoved(uint32_t i, uint64_t tick)
{
	struct wall_thread *t = &wall.threads[i];
	uint64_t from = t->tick;

	if (tick <= from)
		return;
	t->tick = tick;
	add(i, (uint32_t)(tick - from), time_of(from + 1), time_of(tick));
}

static bool begin(uint32_t i, const struct wall_sight *s, uint64_t now)
{
	struct run_note n = {
		.trace = s->stack.trace,
		.time = now,
		.vthread = s->stack.vthread,
		.trace_context = s->stack.trace_context,
		.thread = i,
		.epoch = s->stack.epoch,
		.event = (uint8_t)wall.event,
		.state = (uint8_t)s->state,
	};

	return runs_push(&n);
}

bool wall_stands(uint32_t i, const struct wall_sight *s, uint64_t now)
{
	struct wall_thread *t = &wall.threads[i];
	struct wall_stack *k = &wall.stacks[i];
	bool same = k->trace == s->stack.trace && k->generation == s->stack.generation &&
		    k->vthread == s->stack.vthread && t->state == s->state &&
		    trace_context_equals(&k->trace_context, &s->stack.trace_context);

	if (!same && (!wall_count_out(i) || !begin(i, s, now)))
		return false;
	if (!same || s->proof != WALL_WORDS)
		t->moved = wall.tick; /* else it may be too deep for its words */
	*k = s->stack;
	t->state = (uint8_t)s->state;
	t->proof = (uint8_t)s->proof;
	t->clock = s->clock;
	wall.fields[i] = s->field;
	add(i, 1, now, now);
	return true;
}
