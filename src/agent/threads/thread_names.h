/*
 * thread_names.h - a thread that notices when threads get other names, while a stream or recording runs.
 *
 * The JVM sends no event for Thread.setName. So a daemon thread of the JVM, "jstrobe names", reads the names of all
 * Java threads again and again, as often as a small part of a core allows; the names of all others, from the kernel,
 * less often. What it finds goes to the collector. Session's lock held.
 */
#ifndef JSTROBE_THREADS_THREAD_NAMES_H
#define JSTROBE_THREADS_THREAD_NAMES_H

#include <jvmti.h>
#include <stdint.h>

#include "common/base/error.h"

#define THREAD_NAMES_SHARE 200              /* of the time: 0.5 % */
#define THREAD_NAMES_OFTEN (20 * NS_PER_MS)
#define THREAD_NAMES_EVERY (5 * NS_PER_S)   /* the default of ALL_EVERY below */

/* From now on; names of all threads each ALL_EVERY ns. It may be running. */
int thread_names_begin(uint64_t all_every, struct error *err);
/* No longer; the thread is gone afterwards (or, if it is held up for two seconds, soon). */
void thread_names_end(void);

/* Virtual threads that a program has given names: the JVM tells of them only in their own callbacks. */

/*
 * THREAD, a virtual one with Thread.getId ID, is about to have a sample: its name goes to the aggregate, unless it was
 * told a few seconds ago. Attached threads, normal code, in a callback on that thread or its carrier.
 */
void virtual_name_tell(JNIEnv *env, jthread thread, uint64_t id);
/* A session begins: no name was reported yet. */
void virtual_names_begin(void);

#endif
