/*
 * clock_ns.h - the kernel's clocks, as plain numbers of ns.
 */
#ifndef JSTROBE_BASE_CLOCK_NS_H
#define JSTROBE_BASE_CLOCK_NS_H

#include <time.h>

#include "common/base/base.h"

/* What CLOCK says, 0 if there is no such clock. Any context, handlers too; errno may change. */
static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	if (clock_gettime(clock, &t))
		return 0;
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

#endif
