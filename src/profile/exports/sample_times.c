#include "profile/exports/sample_times.h"

#include <stdlib.h>

#include "common/base/wide.h"

/* An agent tells weights in parts of a usual sample: so many in one, at least. */
#define PARTS 64

/* Whether SUM, of so many SAMPLES of P, is not WHOLE by more than roundings. */
static bool is_other(const struct profile *p, uint64_t samples, uint64_t sum, uint64_t whole)
{
	uint64_t usual = p->stored ? p->weight_stored / p->stored : 0;

	return (sum > whole ? sum - whole : whole - sum) > wide_scale(samples, usual, PARTS - 1, PARTS);
}

bool sample_times_build(struct sample_times *t, const struct profile *p, const uint32_t *of_stack, uint32_t count)
{
	uint32_t i, n = (uint32_t)MIN(p->moment_count, (uint64_t)UINT32_MAX), *next;

	*t = (struct sample_times){.profile = p};
	if (!profile_has_times(p))
		return true;
	t->first = calloc((size_t)count + 2, sizeof(*t->first));
	t->moments = calloc(n, sizeof(*t->moments));
	next = t->first ? t->first + 1 : NULL;
	if (!t->first || !t->moments)
		return false;
	/* how many each has, then where the next one of each goes: at the end, where the one behind it begins */
	for (i = 0; i < n; i++)
		if (p->moments[i].stack != PROFILE_NO_STACK && of_stack[p->moments[i].stack] + 1 < count)
			next[of_stack[p->moments[i].stack] + 1]++;
	for (i = 1; i < count; i++)
		next[i] += next[i - 1];
	for (i = 0; i < n; i++)
		if (p->moments[i].stack != PROFILE_NO_STACK)
			t->moments[next[of_stack[p->moments[i].stack]]++] = i;
	return true;
}

uint64_t *sample_times_weights(const struct profile *p)
{
	uint64_t *weights = calloc(p->moment_count + 1, sizeof(*weights)), i;
	uint64_t *sums = calloc((size_t)p->stack_count + 1, sizeof(*sums)), *last;

	last = calloc((size_t)p->stack_count + 1, sizeof(*last));
	for (i = 0; weights && sums && last && i < p->moment_count; i++) {
		const struct profile_moment *m = &p->moments[i];

		weights[i] = m->weight;
		if (m->stack == PROFILE_NO_STACK)
			continue;
		sums[m->stack] += m->weight;
		last[m->stack] = i + 1;
	}
	for (i = 0; weights && sums && last && i < p->stack_count; i++) {
		const struct profile_stack *s = &p->stacks[i];

		if (last[i] && !is_other(p, s->samples, sums[i], s->weight) &&
		    weights[last[i] - 1] + s->weight >= sums[i])
			weights[last[i] - 1] += s->weight - sums[i];
	}
	if (!sums || !last) {
		free(weights);
		weights = NULL;
	}
	free(sums);
	free(last);
	return weights;
}

void sample_times_free(struct sample_times *t)
{
	free(t->first);
	free(t->moments);
	*t = (struct sample_times){.profile = NULL};
}

uint32_t sample_times_of(const struct sample_times *t, uint32_t sample, const struct value_type *type, uint64_t value,
			 uint64_t *values, uint64_t *times)
{
	uint32_t i, n = type->of == VALUE_OBJECTS ? 0 : sample_times_count(t, sample);
	uint64_t sum = 0, samples = 0;

	for (i = 0; i < n; i++) {
		const struct profile_moment *m = &t->profile->moments[t->moments[t->first[sample] + i]];

		values[i] = type->of == VALUE_SAMPLES ? m->samples : m->weight;
		times[i] = wide_add(t->profile->started_at, wide_times(m->at, t->profile->moment_step));
		sum += values[i];
		samples += m->samples;
	}
	if (!n || is_other(t->profile, samples, sum, value) || values[n - 1] + value < sum)
		return 0;
	values[n - 1] += value - sum; /* roundings, so that the parts are the whole */
	return n;
}
