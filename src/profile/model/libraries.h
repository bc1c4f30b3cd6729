/*
 * libraries.h - which libraries ask for native memory: sums of a profile by the image of the innermost frame, which is
 * the function that called malloc, mmap or the like.
 */
#ifndef JSTROBE_MODEL_LIBRARIES_H
#define JSTROBE_MODEL_LIBRARIES_H

#include "profile/model/profile.h"

/* The JVM asks for what direct buffers (java.nio) need: a line of its own. */
#define LIBRARIES_DIRECT "libjvm.so, direct buffers"

struct library_sum {
	const char *name; /* "libjvm.so", LIBRARIES_DIRECT; of frames of no image what they are: "Java", "[other]" */
	uint64_t samples, weight;
};

struct libraries {
	struct library_sum *rows; /* the most bytes first */
	uint32_t count;
};

/* Whether such sums say something of P: it is of native memory. */
bool libraries_matter(const struct profile *p);
/* Those of P, whose names they have. 0 or -ENOMEM; free in both cases. */
int libraries_find(struct libraries *l, const struct profile *p);
void libraries_free(struct libraries *l);

#endif
