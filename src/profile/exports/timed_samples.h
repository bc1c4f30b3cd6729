/*
 * timed_samples.h - the samples of a profile one by one, for formats that show time. Normal code, one thread at a time.
 *
 * Where it is not known when samples were taken, the stacks of a thread stand one after the other, as long as they
 * weigh.
 */
#ifndef JSTROBE_EXPORTS_TIMED_SAMPLES_H
#define JSTROBE_EXPORTS_TIMED_SAMPLES_H

#include "profile/model/profile.h"

/* Some samples of a thread that stand beside each other. */
struct timed_sample {
	uint64_t time, weight;  /* time: ns since the start */
	uint64_t span;          /* ns that they lasted, in steps of the moments */
	uint64_t samples;
	uint32_t stack;         /* of the profile, or PROFILE_NO_STACK */
	uint32_t thread;        /* of the profile, or their number: it is not known */
};

struct timed_samples {
	struct timed_sample *items; /* by time, thread and stack */
	size_t count, threads;      /* threads: their numbers are below that */
};

/* Those of P, to be freed in any case; what those of a stack weigh is what it weighs. False: no memory. */
bool timed_samples_build(struct timed_samples *t, const struct profile *p);
/* From now on they are by thread, time and stack. False: no memory. */
bool timed_samples_by_thread(struct timed_samples *t);
void timed_samples_free(struct timed_samples *t);

#endif
