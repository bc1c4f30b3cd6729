/*
 * durations.h - distributions of durations in ns: mean, percentiles, maximum.
 *
 * 16 buckets for each power of two: a percentile is at most 6 % too high.
 */
#ifndef JSTROBE_COLLECT_DURATIONS_H
#define JSTROBE_COLLECT_DURATIONS_H

#include "profile/model/profile.h"

struct timing {
	uint64_t count, sum, max;
	uint32_t bucket[64 * 16];
};

void timing_add(struct timing *t, uint64_t ns);
/* Fill OUT from T. */
void timing_report(const struct timing *t, struct profile_timing *out);

#endif
