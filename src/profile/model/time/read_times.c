#include "profile/model/time/read_times.h"

#include <errno.h>
#include <stdlib.h>

#include "profile/model/time/times.h"
#include "profile/model/time/moments.h"

/* What NUMBER leads to, less than LIMIT, or UINT32_MAX where it is not known. False: it cannot be. */
static bool find(uint32_t number, const uint32_t *list, uint32_t count, uint32_t limit, uint32_t *found)
{
	*found = UINT32_MAX;
	if (!number)
		return true;
	if (number > count || list[number - 1] > limit)
		return false;
	*found = list[number - 1] - 1;
	return true;
}

/* What they weigh; an agent's roundings may be more than there is. */
static uint64_t weight_of(const struct profile *p, const struct times_moment *m)
{
	uint64_t usual;
	int64_t quanta;

	if (__builtin_mul_overflow(m->samples, p->time_usual, &usual) ||
	    __builtin_add_overflow((int64_t)usual, m->beside, &quanta) || quanta < 0)
		return 0;
	return (uint64_t)quanta * p->time_quantum;
}

static int expand(const struct profile *p, struct moments *to)
{
	const uint8_t *at = p->times, *end = at + p->time_bytes;
	struct times_moment m = {.at = 0};
	uint64_t from, span;
	uint32_t stack, thread;

	while (at < end && !to->failed) {
		if (!times_next(&at, end, &m) ||
		    !find(m.stack, p->time_stacks, p->time_stack_count, p->stack_count, &stack) ||
		    !find(m.thread, p->time_threads, p->time_thread_count, p->thread_count, &thread) ||
		    m.at > UINT32_MAX || m.span > UINT32_MAX || m.samples > UINT32_MAX ||
		    __builtin_mul_overflow(m.at, p->time_step, &from) ||
		    __builtin_mul_overflow(m.span, p->time_step, &span) || from > INT64_MAX)
			return -EPROTO;
		moments_add(to, (int64_t)from, span, stack, stack == PROFILE_NO_STACK ? PROFILE_NO_THREAD : thread,
			    m.samples, weight_of(p, &m));
	}
	return to->failed ? -ENOMEM : 0;
}

int read_times(struct profile *p, size_t most, struct profile_moment **moments)
{
	struct moments all = {.step = p->time_step, .most = most};
	int rc;

	*moments = NULL;
	if (!p->times || !p->time_bytes)
		return 0;
	rc = p->time_step ? expand(p, &all) : -EPROTO;
	if (rc) {
		moments_free(&all);
		return rc;
	}
	moments_sort(&all);
	p->moments = *moments = all.items.items;
	p->moments_of = p->stacks;
	p->moment_count = all.items.count;
	p->moment_step = all.step;
	all.items.items = NULL;
	moments_free(&all);
	return 0;
}
