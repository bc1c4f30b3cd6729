/*
 * seed.h - a number that differs from process to process, so that a file or a stream cannot choose keys and texts that
 * all land in one place of a table, where each look-up then costs as much as all of them.
 */
#ifndef JSTROBE_BASE_SEED_H
#define JSTROBE_BASE_SEED_H

#include "common/base/base.h"

extern uint64_t seed_value; /* read by seed() only */

/* Take it from the random bytes that the kernel gave the process at its start: no system call, no memory. */
uint64_t seed_begin(void);

/* Never 0, and the same until the process ends. Any thread. */
static inline uint64_t seed(void)
{
	uint64_t value = __atomic_load_n(&seed_value, __ATOMIC_RELAXED);

	return likely(value) ? value : seed_begin();
}

#endif
