/*
 * thread_pattern.h - what the names of threads have in common: "http-nio-8080-exec-*" of twelve threads of a pool.
 *
 * Numbers are what tells threads of one kind apart. Of names that agree but for numbers the last number that differs
 * becomes "*": the port and the pool stay. Where that puts hardly any two together, all that differ do. A thread that
 * has no like keeps its name.
 *
 *     pool-3-thread-1, pool-3-thread-2, pool-4-thread-1     pool-3-thread-*, pool-4-thread-1
 *     conn-17-request-8155, conn-18-request-9001            conn-*-request-*
 *     main                                                  main
 */
#ifndef JSTROBE_MODEL_THREAD_PATTERN_H
#define JSTROBE_MODEL_THREAD_PATTERN_H

#include "common/base/strings.h"
#include "profile/model/profile.h"

/* Says otherwise what the pattern of a name is. */
struct thread_namer {
	/* The part of NAME that is its pattern, with its length; NULL: it says nothing of this name. */
	const char *(*part)(const struct thread_namer *namer, const char *name, size_t *length);
};

/*
 * The pattern of each of P's threads, as a number in TEXTS, to OF_THREAD. NAMER (NULL: none) is asked first. 0 or
 * -ENOMEM.
 */
int thread_patterns(const struct profile *p, const struct thread_namer *namer, struct strings *texts,
		    uint32_t *of_thread);

#endif
