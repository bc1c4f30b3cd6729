#include "agent/collect/durations.h"

static unsigned bucket_of(uint64_t ns)
{
	unsigned power;

	if (ns < 16)
		return (unsigned)ns;
	power = 63 - (unsigned)__builtin_clzll(ns);
	return (power - 3) * 16 + (unsigned)(ns >> (power - 4) & 15);
}

/* The largest value that falls into BUCKET. */
static uint64_t upper_end(unsigned bucket)
{
	unsigned power = bucket / 16 + 3;

	if (bucket < 16)
		return bucket;
	return ((uint64_t)(16 + bucket % 16 + 1) << (power - 4)) - 1;
}

void timing_add(struct timing *t, uint64_t ns)
{
	t->count++;
	t->sum += ns;
	t->max = MAX(t->max, ns);
	t->bucket[bucket_of(ns)]++;
}

static uint64_t percentile(const struct timing *t, double share)
{
	uint64_t rank = (uint64_t)((double)t->count * share), seen = 0;
	unsigned i;

	for (i = 0; i < ARRAY_LEN(t->bucket); i++) {
		seen += t->bucket[i];
		if (seen > rank)
			return MIN(upper_end(i), t->max);
	}
	return t->max;
}

void timing_report(const struct timing *t, struct profile_timing *out)
{
	out->count = t->count;
	out->mean = t->count ? t->sum / t->count : 0;
	out->p99 = t->count ? percentile(t, 0.99) : 0;
	out->p999 = t->count ? percentile(t, 0.999) : 0;
	out->max = t->max;
}
