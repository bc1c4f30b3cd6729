/*
 * timeline.h - when the samples of an event were taken, for results that show time. Inner header of the collect room.
 *
 * Each stored sample is a few bytes (profile/model/time/times.h). Memory is bounded: when it is full, steps become
 * longer, and what is of one step, stack and thread becomes one. Normal code, one thread at a time.
 */
#ifndef JSTROBE_COLLECT_TIMELINE_H
#define JSTROBE_COLLECT_TIMELINE_H

#include "common/base/pages.h"
#include "profile/model/profile.h"
#include "profile/model/time/times.h"

#define TIMELINE_STEP_BITS 20 /* at first: 1.05 ms; powers of two, so that a sample costs no division */

struct timeline {
	PAGED(uint8_t) bytes;     /* stack: index into collector.stack_counts + 1, thread: + 1; 0: unknown */
	unsigned step_bits;       /* a step is 2^so many ns; 0: nothing was kept yet */
	unsigned quantum_bits;    /* a quantum is 2^so many ns, or what the event weighs in */
	uint64_t usual;           /* quanta of a usual sample */
	struct times_moment last; /* the newest one */
	bool off;                 /* memory was short: nothing is known */
};

/* Samples that have been added to stack count number COUNT. */
struct timeline_sample {
	uint64_t at, span;      /* ns since the session's start; of several, from the first to the last */
	uint64_t samples, weight;
	size_t count;
	uint32_t thread;        /* index into collector.threads */
	bool even;              /* all samples of the event weigh about the same */
};

/* S was taken; T may have MOST bytes of moments. */
void timeline_add(struct timeline *t, const struct timeline_sample *s, size_t most);
/* Numbers are new: of COUNT stack counts they are NOW, each + 1, 0 = it is gone; of threads THREADS, each + 1. */
void timeline_renew(struct timeline *t, const uint32_t *now, size_t count, const uint32_t *threads);
/* What a result numbers otherwise. */
struct timeline_numbers {
	const uint32_t *stacks; /* by stack count: its stack there, + 1, 0 = it has none; as long as the result */
	uint32_t *threads;      /* by thread of the collector: its thread there */
	size_t stack_count, thread_count;
};

/* The result P gets a copy of T, to be freed with timeline_view_free() also if that fails. False: no memory. */
bool timeline_view(const struct timeline *t, const struct timeline_numbers *numbers, struct profile *p);
void timeline_view_free(struct profile *p);
size_t timeline_bytes(const struct timeline *t);
void timeline_free(struct timeline *t);

#endif
