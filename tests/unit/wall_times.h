/* wall_times.h - when the stacks of a sample of wall time were there. */
#ifndef WALL_TIMES_H
#define WALL_TIMES_H

#include "profile/model/profile.h"

/* Stack number I of P was there from AT on, in ms, for as long as it weighs. */
static inline struct profile_moment wall_moment(const struct profile *p, uint32_t i, uint32_t at)
{
	const struct profile_stack *s = &p->stacks[i];

	return (struct profile_moment){
		.at = at, .span = (uint32_t)((s->weight - s->weight / MAX(s->samples, 1u)) / NS_PER_MS), .stack = i,
		.thread = s->thread, .samples = (uint32_t)s->samples, .weight = s->weight,
	};
}

/* All of them from the recording's start on; MOMENTS are as many as there are stacks. */
static inline void wall_from_start(struct profile *p, struct profile_moment *moments)
{
	uint32_t i;

	for (i = 0; i < p->stack_count; i++)
		moments[i] = wall_moment(p, i, 0);
	p->moments = moments;
	p->moments_of = p->stacks;
	p->moment_count = p->stack_count;
	p->moment_step = NS_PER_MS;
}

#endif
