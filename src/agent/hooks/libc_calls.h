/*
 * libc_calls.h - functions of libc that are found by name.
 *
 * Those that we replace in other images and call ourselves are called by pointer, and never through a slot of our own:
 * another copy of this library, or another profiler, replaces whatever slots it finds. The library has no such slot
 * (tests/check/test_library.py).
 */
#ifndef JSTROBE_HOOKS_LIBC_CALLS_H
#define JSTROBE_HOOKS_LIBC_CALLS_H

#include <pthread.h>

typedef int pthread_create_fn(pthread_t *thread, const pthread_attr_t *attr, void *(*routine)(void *), void *arg);

/* What the program's own calls of pthread_create reach: libc's, or that of a library preloaded to stand before it. */
pthread_create_fn *libc_pthread_create(void);
/* pthread_atfork(NULL, NULL, FN), which is no function of glibc's libraries but of what programs are linked with. */
void libc_at_fork_in_child(void (*fn)(void));

#endif
