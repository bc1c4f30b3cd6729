/*
 * run_queue.h - samples taken from outside on their way to the collector, as runs of equal ones.
 *
 * A thread that waits has the same stack at each look. The engine's thread says once that a run begins, so that
 * the stack gets its names while its methods are certainly there, and later how many samples it was; it may
 * say so several times (a run that goes on for long is counted out now and then).
 * One producer, one consumer.
 */
#ifndef JSTROBE_THREADS_RUN_QUEUE_H
#define JSTROBE_THREADS_RUN_QUEUE_H

#include "agent/zone/zone.h"

#define RUNS_LIMIT (64u * 1024)

struct run_note {
	const struct stack_trace *trace; /* a run of the thread begins; NULL: it is counted */
	uint64_t time;             /* counted: of its first sample since the last count, os_monotonic */
	uint64_t span;             /* from there to the last one, ns */
	uint64_t weight;           /* wall time of all of them, ns */
	uint64_t vthread;          /* begins: virtual thread, as in struct sample */
	struct trace_context trace_context;    /* begins: what the thread works for; all 0 = nothing */
	uint32_t thread;           /* index of its record */
	uint32_t samples;          /* counted */
	uint16_t epoch;              /* begins: as in struct sample */
	uint8_t event, state;      /* enum thread_state */
};

/* Address space for the notes, once; records_release gives the memory back. */
int runs_open(struct error *err);
void runs_release(void);
/* Add N. False: no room. The engine's thread. */
bool runs_push(const struct run_note *n);
/* Take the oldest note. False: there is none. The collector. */
bool runs_pop(struct run_note *n);

#endif
