/*
 * agent_thread.h - threads of the agent's own.
 */
#ifndef JSTROBE_THREADS_AGENT_THREAD_H
#define JSTROBE_THREADS_AGENT_THREAD_H

#include "common/base/error.h"

/*
 * Start a detached thread that runs RUN(DATA) with all signals blocked but those of faults (the
 * JVM and our own loads live on them), so that no handler of the program, and none of ours, ever
 * runs on it. NAME, at most 15 bytes, is what the system shows.
 */
int thread_start(const char *name, void *(*run)(void *), void *data, struct error *err);

#endif
