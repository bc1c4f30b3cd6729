/*
 * own_thread.h - threads of the profiler's own in the target: none of the program's signals lands on them, and they
 * are not sampled.
 */
#ifndef JSTROBE_THREADS_OWN_THREAD_H
#define JSTROBE_THREADS_OWN_THREAD_H

#include <pthread.h>
#include <sys/types.h>

#include "common/base/error.h"

/*
 * Start RUN(ARG) in *THREAD, born with all signals blocked: none of the program may land there before
 * own_thread_begin. To be joined. WHAT names it in the error. Any thread.
 */
int own_thread_start(pthread_t *thread, void *(*run)(void *), void *arg, const char *what, struct error *err);

/*
 * Wait for THREAD's end, NS at most. False: it has not ended, will not be joined, and what it uses must stay.
 * Any thread.
 */
bool own_thread_join(pthread_t thread, uint64_t ns);
/*
 * The same for one that may have much to do yet: for as long as *TID, the thread's, runs or its CPU clock moves, until
 * it has not for OWN_THREAD_PATIENCE, and for OWN_THREAD_LONGEST in all. False: it can be waited for again. Time in
 * which the caller did not run either does not count.
 */
bool own_thread_join_busy(pthread_t thread, const _Atomic pid_t *tid);
/* The thread that waits so just now, 0 = none does. Any thread. */
pid_t own_thread_waiting(void);
#define OWN_THREAD_LONGEST (60 * NS_PER_S)
/* The longest that one is waited for that was told to end: some ms pass even where the CPU is short. */
#define OWN_THREAD_PATIENCE (5 * NS_PER_S)

/*
 * Those that begin from here on take SIGNO (0: none), of a process-wide timer of ours: blocked there, what they expire
 * would fall on a thread of the program. Otherwise no handler of the program may run on them.
 */
void own_threads_take(int signo);
/* First and last thing such a thread does. NAME, at most 15 bytes, is what the system shows. */
void own_thread_begin(const char *name);
/*
 * The same for one, of number *TID, that must not wait on a machine that is busy to the last core; it may all the same
 * where that is not permitted.
 */
void own_thread_begin_first(const char *name, _Atomic pid_t *tid);
void own_thread_end(void);

/*
 * Start a detached thread that runs RUN(DATA) with all signals blocked but those of faults (the
 * JVM and our own loads live on them), so that no handler of the program, and none of ours, ever
 * runs on it. NAME, at most 15 bytes, is what the system shows.
 */
int thread_start(const char *name, void *(*run)(void *), void *data, struct error *err);

#endif
