#include "profile/model/read_times.h"

#include <errno.h>
#include <stdlib.h>

#include "profile/model/times.h"
#include "profile/model/moments.h"

static bool places_are_in_range(const struct profile *p)
{
	uint32_t i;

	for (i = 0; i < p->time_place_count; i++) {
		const struct profile_place *at = &p->time_places[i];

		if ((at->stack != PROFILE_NO_STACK && at->stack >= p->stack_count) ||
		    (at->thread != PROFILE_NO_THREAD && at->thread >= p->thread_count))
			return false;
	}
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

	while (at < end && !to->failed) {
		if (!times_next(&at, end, &m) || m.place >= p->time_place_count || m.at > UINT32_MAX ||
		    m.span > UINT32_MAX || m.samples > UINT32_MAX ||
		    __builtin_mul_overflow(m.at, p->time_step, &from) ||
		    __builtin_mul_overflow(m.span, p->time_step, &span) || from > INT64_MAX)
			return -EPROTO;
		moments_add(to, (int64_t)from, span, p->time_places[m.place].stack, p->time_places[m.place].thread,
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
	rc = p->time_step && p->time_places && places_are_in_range(p) ? expand(p, &all) : -EPROTO;
	if (rc) {
		moments_free(&all);
		return rc;
	}
	moments_sort(&all);
	free(all.recent);
	p->moments = *moments = all.items.items;
	p->moments_of = p->stacks;
	p->moment_count = all.items.count;
	p->moment_step = all.step;
	return 0;
}
