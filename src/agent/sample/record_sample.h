/*
 * record_sample.h - one sample of a thread: its trace into the store, the sample into the thread's queue; or lost,
 * with the reason and its weight.
 *
 * For handlers and for callbacks in normal code, on R's own thread, which has entered R (handler.h), but where it says
 * otherwise.
 */
#ifndef JSTROBE_SAMPLE_RECORD_SAMPLE_H
#define JSTROBE_SAMPLE_RECORD_SAMPLE_H

#include "agent/sample/perf_ring.h"
#include "agent/walk/walk.h"

/* Why a sample of R must not be taken now; LOSS_REASONS = it may. */
enum loss_reason take_refusal(const struct thread_record *r);
/* The queue R's samples go to now. */
struct queue *take_queue(struct thread_record *r);
/* S into it, and NOTE behind it if S says that it is noted. False: there was no room. */
bool take_push(struct thread_record *r, const struct sample *s, const struct trace_context_note *note);
/*
 * Take one sample of R's EVENT at TIME (CLOCK_MONOTONIC, ns), of WEIGHT and what R carried over, from REGS on. RING
 * may be NULL: no kernel frames.
 */
void take_sample(struct thread_record *r, uint32_t event, uint64_t time, uint64_t weight,
		 const struct perf_reader *ring, const struct walk_regs *regs);

#endif
