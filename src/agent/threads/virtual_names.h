/*
 * virtual_names.h - virtual threads that a program has given names: the JVM tells of them only in their own callbacks.
 */
#ifndef JSTROBE_THREADS_VIRTUAL_NAMES_H
#define JSTROBE_THREADS_VIRTUAL_NAMES_H

#include <stdint.h>
#include <jvmti.h>

/*
 * THREAD, a virtual one with Thread.getId ID, is about to have a sample: its name goes to the aggregate, unless it was
 * told a few seconds ago. Attached threads, normal code, in a callback on that thread or its carrier.
 */
void virtual_name_tell(JNIEnv *env, jthread thread, uint64_t id);
/* A session begins: no name was reported yet. */
void virtual_names_begin(void);

#endif
