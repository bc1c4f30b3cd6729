/*
 * perf_samples.h - between the handler and the rings of perf events. Inner header of the signal
 * zone; all of it is for handlers, on R's own thread, which has entered R.
 */
#ifndef JSTROBE_SAMPLE_PERF_SAMPLES_H
#define JSTROBE_SAMPLE_PERF_SAMPLES_H

#include "agent/sample/perf_rest.h"
#include "agent/sample/perf_ring.h"
#include "agent/walk/walk.h"

/*
 * Take all samples of R that wait. EVENT sent the signal, or none of them did (RECORD_EVENTS); those of others may have
 * been merged into it, so all are looked at.
 */
void perf_samples(struct thread_record *r, uint32_t event, uint64_t time, const struct walk_regs *regs);
/* Switch R's events that our own work could cause off (ON: there is quiet) or on again. */
void perf_hush(struct thread_record *r, bool on);

/* What the kernel has counted for S, by a system call; its last_count if that fails. */
uint64_t perf_count(const struct record_source *s, bool scaled);

#endif
