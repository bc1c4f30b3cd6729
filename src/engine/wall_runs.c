/*
 * wall_runs.c - equal samples of a thread one after the other are one run, counted out when the thread
 * moves on, at 1000 samples, after 10 s, and when somebody wants to see the result.
 */
#include "engine/runs.h"
#include "engine/wall.h"

#define RUN_SAMPLES 1000
#define RUN_LENGTH (10 * NS_PER_S)

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

void wall_again(uint32_t i, uint32_t count, uint64_t now)
{
	struct wall_thread *t = &wall.threads[i];

	if (!t->samples)
		t->first = MAX(t->last, now);
	t->samples += count;
	t->last = MAX(t->last, now); /* it may have been found, or have answered, since this turn began */
	if (unlikely(t->samples >= RUN_SAMPLES || now - t->first >= RUN_LENGTH))
		wall_count_out(i);
}

static bool begin(uint32_t i, const struct wall_sight *s, uint64_t now)
{
	struct run_note n = {
		.trace = s->stack.trace,
		.time = now,
		.context = s->stack.context,
		.thread = i,
		.era = s->stack.era,
		.event = (uint8_t)wall.event,
		.state = (uint8_t)s->state,
	};

	return runs_push(&n);
}

bool wall_stands(uint32_t i, const struct wall_sight *s, uint64_t now)
{
	struct wall_thread *t = &wall.threads[i];
	struct wall_stack *k = &wall.stacks[i];
	bool same = k->trace == s->stack.trace && k->context == s->stack.context && t->state == s->state;

	if (!same && (!wall_count_out(i) || !begin(i, s, now)))
		return false;
	t->still = same ? t->still + 1 : 0;
	*k = s->stack;
	t->state = (uint8_t)s->state;
	t->mode = (uint8_t)s->mode;
	t->clock = s->clock;
	t->field = s->field;
	wall_again(i, 1, now);
	return true;
}
