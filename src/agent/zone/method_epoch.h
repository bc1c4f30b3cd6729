/*
 * method_epoch.h - whether a Method* can have become another method since a sample was taken.
 *
 * The memory of a method is given back in two ways only: its class is unloaded, or a
 * redefinition replaced it and no frame runs it any more. The JVM counts the first before it
 * frees anything (ClassLoadingService::notify_class_unloaded); the second is counted by the agent, which stands
 * before Redefine- and RetransformClasses. Replaced methods wait for a safepoint of their own
 * choice to be freed (ClassLoaderDataGraph::clean_deallocate_lists, at a safepoint in JDK 8 to 28). So where an agent
 * replaces methods, or may have done so before us, safepoints count as well:
 *
 *      era = classes unloaded + redefinitions begun and ended [+ classes loaded + times that safepoints were seen to
 *            have gone on]
 *
 * The JVM says in its performance data that a safepoint begins, that all threads have stopped for it, and that it
 * ends (RuntimeService; numbers and times). If these are as they were before the sample, nothing was freed since. If
 * they are not, but no class was loaded or redefined since, what was freed was not used again
 * (agent/collect/names/method_identity.h). Without performance data only the latter tells.
 *
 * A sample carries the era that its walk began in (its lower 16 bits). If it is the same after
 * the collector has read a method's names, they are the names the method had in the sample.
 *
 * Without the JVM's counts an era lasts from drain to drain and proves less: see agent/collect/names/method_identity.c.
 */
#ifndef JSTROBE_ZONE_METHOD_EPOCH_H
#define JSTROBE_ZONE_METHOD_EPOCH_H

#include <stdatomic.h>

#include "agent/zone/load.h"

#define EPOCH_COUNTS 2     /* classes from files, and from shared archives */
#define EPOCH_MARKS 16
/* Begun; time until all had stopped; time until they went on: a safepoint changes each once. */
#define EPOCH_SAFEPOINTS 3

struct method_epochs {
	_Atomic(const uint64_t *) unloaded[EPOCH_COUNTS]; /* the JVM's own counts; NULL: not found (yet) */
	_Atomic(const uint64_t *) loaded[EPOCH_COUNTS];
	_Atomic(const uint64_t *) safepoints[EPOCH_SAFEPOINTS]; /* all or none */
	_Atomic uint64_t seen;                          /* their sum when the collector looked last */
	_Atomic uint64_t moves;                         /* times that it had grown */
	struct method_epoch_move {
		uint64_t epoch, others;                   /* the era that a move began, and method_epoch_others then */
	/* of the last moves, by their number: see agent/collect/names/method_identity.h */
	} marks[EPOCH_MARKS];
	atomic_bool replacing;                          /* methods are replaced, or may have been before us */
	_Atomic uint64_t redefinitions;                 /* begun and ended, since the agent watches */
	_Atomic uint32_t redefining;                    /* calls under way: grows before the count, falls after it */
	_Atomic uint64_t drains;                        /* stand in for the counts where there are none */
};

static inline bool method_epoch_counts_known(const struct method_epochs *e)
{
	return atomic_load_explicit(&e->unloaded[0], memory_order_acquire) != NULL;
}

static inline bool method_epoch_safepoints_known(const struct method_epochs *e)
{
	return atomic_load_explicit(&e->safepoints[0], memory_order_acquire) != NULL;
}

static inline uint64_t method_epoch_sum(const _Atomic(const uint64_t *) *counts, int n)
{
	uint64_t value, sum = 0;
	int i;

	for (i = 0; i < n; i++) {
		const uint64_t *at = atomic_load_explicit(&counts[i], memory_order_acquire);

		if (at && load_u64((uintptr_t)at, &value))
			sum += value;
	}
	return sum;
}

/* Classes unloaded so far. Any context. */
static inline uint64_t method_epoch_unloaded(const struct method_epochs *e)
{
	return method_epoch_sum(e->unloaded, EPOCH_COUNTS);
}

/* Has grown if the place of a replaced method may have been given away meanwhile. Any context. */
static inline uint64_t method_epoch_chances(const struct method_epochs *e)
{
	return method_epoch_safepoints_known(e) ? method_epoch_sum(e->safepoints, EPOCH_SAFEPOINTS)
						: method_epoch_sum(e->loaded, EPOCH_COUNTS);
}

/* Whether eras end at safepoints too: it is known only afterwards that one has. Any context. */
static inline bool method_epoch_is_seen_late(const struct method_epochs *e)
{
	return atomic_load_explicit(&e->replacing, memory_order_relaxed) && method_epoch_safepoints_known(e);
}

/* What ends an era at once, whatever else does. Any context. */
static inline uint64_t method_epoch_others(const struct method_epochs *e)
{
	return atomic_load_explicit(&e->redefinitions, memory_order_acquire) +
	       atomic_load_explicit(&e->drains, memory_order_relaxed) + method_epoch_unloaded(e);
}

/* The present era, never 0. Any context. */
static inline uint64_t method_epoch_now(const struct method_epochs *e)
{
	uint64_t epoch = 1 + atomic_load_explicit(&e->moves, memory_order_acquire) + method_epoch_others(e);

	if (!atomic_load_explicit(&e->replacing, memory_order_relaxed))
		return epoch;
	return epoch + method_epoch_sum(e->loaded, EPOCH_COUNTS);
}

#endif
