/*
 * perf_rest.h - what a perf event still holds when it goes: records whose signal has not come to their thread, which is
 * in the kernel, has no CPU, blocks its signals, or has ended. Their stack in user mode is not known any more, so they
 * are counted, with their weight.
 *
 * Normal code, records' lock held.
 */
#ifndef JSTROBE_SAMPLE_PERF_REST_H
#define JSTROBE_SAMPLE_PERF_REST_H

#include "agent/zone/thread_record.h"

/* Whether EVENT, for which R is armed by perf, has samples for R that no handler has taken. */
bool perf_has_rest(const struct thread_record *r, uint32_t event);
/* They are lost for WHY. R's handler is not at work, or it is the running thread's. The event is switched off. */
void perf_lose_rest(struct thread_record *r, uint32_t event, enum loss_reason why);

#endif
