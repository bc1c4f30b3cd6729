/*
 * clock_ns.h - the kernel's clocks, as a handler may read them.
 */
#ifndef JSTROBE_SAMPLE_CLOCK_NS_H
#define JSTROBE_SAMPLE_CLOCK_NS_H

#include <time.h>

#include "common/base/base.h"

/* Nanoseconds of CLOCK. Any context; errno may change. */
static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

#endif
