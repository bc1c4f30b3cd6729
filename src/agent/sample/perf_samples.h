/*
 * perf_samples.h - between the handler and the rings of perf events. Inner header of the signal
 * zone; all of it is for handlers, on R's own thread, which has entered R.
 */
#ifndef JSTROBE_SAMPLE_PERF_SAMPLES_H
#define JSTROBE_SAMPLE_PERF_SAMPLES_H

#include "agent/sample/perf_ring.h"
#include "agent/walk/walk.h"
#include "agent/zone/thread_record.h"

/*
 * Take all samples of R that wait. EVENT sent the signal, or none of them did (RECORD_EVENTS); those of others may have
 * been merged into it, so all are looked at.
 */
void perf_samples(struct thread_record *r, uint32_t event, uint64_t time, const struct walk_regs *regs);
/* Switch R's events that our own work could cause off (ON: there is quiet) or on again. */
void perf_hush(struct thread_record *r, bool on);

/* What the kernel has counted for S, by a system call; its last_count if that fails. */
uint64_t perf_count(const struct record_source *s, bool scaled);

/*
 * What a perf event still holds when it goes: records whose signal has not come to their thread, which is
 * in the kernel, has no CPU, blocks its signals, or has ended. Their stack in user mode is not known any more, so they
 * are counted, with their weight.
 *
 * Normal code, records' lock held.
 */

/* Whether EVENT, for which R is armed by perf, has samples for R that no handler has taken. */
bool perf_has_rest(const struct thread_record *r, uint32_t event);
/* They are lost for WHY. R's handler is not at work, or it is the running thread's. The event is switched off. */
void perf_lose_rest(struct thread_record *r, uint32_t event, enum loss_reason why);

#endif
