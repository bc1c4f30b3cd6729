/*
 * thread_counter.h - a thread's own count of its samples, for programs that ask for it (asprof_get_thread_local_data).
 */
#ifndef JSTROBE_THREADS_THREAD_COUNTER_H
#define JSTROBE_THREADS_THREAD_COUNTER_H

#include <stdint.h>

/*
 * The calling thread's, made at the first call and gone with the thread. NULL: too many threads have asked, or there
 * are no keys of threads left. Any thread in normal code.
 */
volatile uint64_t *thread_counter(void);

#endif
