/*
 * perf_ring.h - the records a perf event leaves behind a signal.
 *
 * One data page a thread. A record is {header, u64 count, u64 nr, u64 ips[nr]}
 * (PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN, user part excluded). The kernel
 * writes at data_head, we read up to it and store data_tail.
 */
#ifndef JSTROBE_SIGNAL_PERF_RING_H
#define JSTROBE_SIGNAL_PERF_RING_H

#include "base/base.h"

struct perf_reader {
	void *ring;
	uint64_t head, tail;
	uint64_t count;    /* the event's count when the record was made: ns of CPU time */
	uint64_t chain;    /* position of the kernel addresses */
	uint64_t chain_length;
};

/* Start reading RING (the mmap of the descriptor). Handler. */
void perf_ring_open(struct perf_reader *r, void *ring);
/* Step to the next sample record. False when there is none. Handler. */
bool perf_ring_next(struct perf_reader *r);
/* Kernel address I of the record, leaf first; 0 for context markers. Handler. */
uint64_t perf_ring_address(const struct perf_reader *r, uint64_t i);
/* Tell the kernel that all is read. Handler. */
void perf_ring_close(struct perf_reader *r);

#endif
