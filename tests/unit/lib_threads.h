/*
 * lib_threads.h - starting threads from a library whose calls can be hooked (calls of the
 * test program itself are not: it holds jstrobe's own code).
 */
#ifndef LIB_THREADS_H
#define LIB_THREADS_H

#include <pthread.h>

typedef int threads_start_fn(pthread_t *thread, void *(*routine)(void *), void *arg);

threads_start_fn threads_start;
void *threads_undefined(void);

#endif
