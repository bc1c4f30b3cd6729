/*
 * sample_times.h - which moments the samples of a file are made of, for formats whose samples sum up stacks and can
 * say when each part of them was taken. Normal code, one thread at a time.
 */
#ifndef JSTROBE_EXPORTS_SAMPLE_TIMES_H
#define JSTROBE_EXPORTS_SAMPLE_TIMES_H

#include "profile/exports/value_types.h"
#include "profile/model/profile.h"

/* Zeroed: times are not known. */
struct sample_times {
	const struct profile *profile;
	uint32_t *moments;  /* of all samples, one behind the other, each in the order of time */
	uint32_t *first;    /* of sample i: first[i] … first[i + 1] - 1 */
};

/*
 * Of COUNT samples, OF_STACK leading from the stacks of P to theirs. False: no memory; zeroed where P does not say when
 * its samples were taken. Free in both cases.
 */
bool sample_times_build(struct sample_times *t, const struct profile *p, const uint32_t *of_stack, uint32_t count);
void sample_times_free(struct sample_times *t);
/*
 * The parts of sample SAMPLE, which is VALUE in all by TYPE, into VALUES and TIMES (ns since 1970), as many as it has
 * moments: their number; 0: that is not known, or they are not all of it.
 */
uint32_t sample_times_of(const struct sample_times *t, uint32_t sample, const struct value_type *type, uint64_t value,
			 uint64_t *values, uint64_t *times);
/* So many moments has SAMPLE. */
static inline uint32_t sample_times_count(const struct sample_times *t, uint32_t sample)
{
	return t->first ? t->first[sample + 1] - t->first[sample] : 0;
}

/*
 * What the moments of P weigh, to be freed: those of a stack together what it weighs, if all of it is there but for
 * roundings. NULL: no memory.
 */
uint64_t *sample_times_weights(const struct profile *p);

#endif
