/*
 * harness.h - what the tests of running engines share: a profiling session without JVM in
 * the test process, threads that burn CPU time, and a look at what a process holds.
 */
#ifndef HARNESS_H
#define HARNESS_H

#include <pthread.h>

#include "agent/collect/collector.h"
#include "agent/sources/engine.h"
#include "common/base/error.h"

/* What may be lost at a session's end: due to a thread that had no CPU for the 50 ms that a stop waits. */
#define HARNESS_AT_THE_END 8

/* Everything from records to engine, as agent/session/session.c does it. Negative errno on failure. */
int harness_start_events(const char *names, uint64_t interval, uint32_t queue, const char *fail,
			 struct error *err);
int harness_start(const struct engine_ops *ops, uint64_t interval, uint32_t queue, const char *fail,
		  struct error *err);
/* Stop; the result stays until harness_end. */
struct profile *harness_stop(void);
/* The same; NULL when there is no memory for the result. */
struct profile *harness_try_stop(void);
/* What the start had to say; "" = nothing. */
const char *harness_notes(void);
/* Free it all. */
void harness_end(void);
/* Stop and free if a session runs. */
void harness_abort(void);
/* The aggregate of the running session. */
struct collector *harness_collector(void);
/* Weight of all samples that P lost, whatever the reason. */
uint64_t harness_lost_weight(const struct profile *p);
/* CPU time of the process during the session, own threads left out, ns. */
uint64_t harness_cpu(void);

/* A library beside the test program ("lib_threads.so"), NULL with the reason printed. */
void *harness_library(const char *name);

/* What the process holds; equal before and after a session. */
struct holdings {
	unsigned descriptors, threads, timers;
	char actions[65][200]; /* by signal */
};
void holdings_take(struct holdings *h);
/* Fails the test with what differs. */
void holdings_compare(const struct holdings *before);

/* Burn NS of the calling thread's CPU time in the function itself. */
void harness_burn(uint64_t ns);

#endif
