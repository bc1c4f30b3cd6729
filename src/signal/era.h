/*
 * era.h - whether a Method* can have become another method since a sample was taken.
 *
 * The memory of a method is given back in two ways only: its class is unloaded, or a
 * redefinition replaced it and no frame runs it any more. The JVM counts the first before it
 * frees anything (ClassLoadingService::notify_class_unloaded); the second is counted by the agent, which stands
 * before Redefine- and RetransformClasses. Replaced methods wait for a safepoint of their own
 * choice to be freed, but before something else can stand there a class must be loaded (counted by
 * the JVM) or redefined: so from the first redefinition on loads count as well.
 *
 *      era = classes unloaded + redefinitions begun and ended [+ classes loaded]
 *
 * A sample carries the era that its walk began in (its lower 16 bits). If it is the same after
 * the collector has read a method's names, they are the names the method had in the sample.
 *
 * Without the JVM's counts an era lasts from drain to drain and proves less: see collect/seen.c.
 */
#ifndef JSTROBE_SIGNAL_ERA_H
#define JSTROBE_SIGNAL_ERA_H

#include <stdatomic.h>

#include "signal/load.h"

#define ERA_COUNTS 2 /* classes from files, and from shared archives */

struct eras {
	_Atomic(const uint64_t *) unloaded[ERA_COUNTS]; /* the JVM's own counts; NULL: not found (yet) */
	_Atomic(const uint64_t *) loaded[ERA_COUNTS];
	_Atomic uint64_t redefinitions;                 /* begun and ended, since the agent watches */
	_Atomic uint32_t redefining;                    /* calls under way: grows before the count, falls after it */
	_Atomic uint64_t drains;                        /* stand in for the counts where there are none */
};

static inline bool era_counts_known(const struct eras *e)
{
	return atomic_load_explicit(&e->unloaded[0], memory_order_acquire) != NULL;
}

static inline uint64_t era_count(const _Atomic(const uint64_t *) *counts)
{
	uint64_t value, sum = 0;
	int i;

	for (i = 0; i < ERA_COUNTS; i++) {
		const uint64_t *at = atomic_load_explicit(&counts[i], memory_order_acquire);

		if (at && load_u64((uintptr_t)at, &value))
			sum += value;
	}
	return sum;
}

/* Classes unloaded so far. Any context. */
static inline uint64_t era_unloaded(const struct eras *e)
{
	return era_count(e->unloaded);
}

/* The present era, never 0. Any context. */
static inline uint64_t era_now(const struct eras *e)
{
	uint64_t redefinitions = atomic_load_explicit(&e->redefinitions, memory_order_acquire);
	uint64_t era = 1 + redefinitions + atomic_load_explicit(&e->drains, memory_order_relaxed);

	era += era_unloaded(e);
	return redefinitions ? era + era_count(e->loaded) : era;
}

#endif
