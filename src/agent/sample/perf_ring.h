/*
 * perf_ring.h - the records a perf event leaves behind a signal.
 *
 * One ring a thread and event; the kernel says in its first page where the data lies. A sample is {header, u64 count,
 * u64 nr, u64 ips[nr], u64 abi, u64 sp and pc} (PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN, user part excluded, |
 * PERF_SAMPLE_REGS_USER). Hardware counters that the kernel may share out have two more words after the count: ns
 * enabled, ns running. Where there was no room, the next record that finds some says how many there were not:
 * {header, u64 id, u64 lost}. The kernel writes at data_head, we read up to it and store data_tail.
 */
#ifndef JSTROBE_SAMPLE_PERF_RING_H
#define JSTROBE_SAMPLE_PERF_RING_H

#include "common/base/base.h"

struct perf_reader {
	void *ring;
	const uint64_t *data;
	uint64_t size;     /* of the data, a power of two; 0 = the ring has no room for any */
	uint64_t head, tail;
	bool scaled;       /* counts are followed by the two times */
	bool full;         /* at the opening there may not have been room for one more */
	uint64_t lost;     /* samples that found no room, as far as records read so far say */

	/* of the sample that was read last */
	uint64_t count;    /* the event's count when the record was made: ns of CPU time, or events */
	uint64_t chain;    /* position of the kernel addresses */
	uint64_t chain_length;
	bool in_kernel;    /* the thread was */
	bool placed;       /* it is known where in user mode it was, or had come from: */
	uint64_t sp, pc;
};

/* Whether RING holds anything. */
bool perf_ring_holds(const void *ring);
/* Start reading RING (the mmap of the descriptor). Handler. */
void perf_ring_open(struct perf_reader *r, void *ring, bool scaled);
/* COUNT as it would be had the counter run all the time it was ENABLED, not only RUNNING ns. */
uint64_t perf_scaled(uint64_t count, uint64_t enabled, uint64_t running);
/* Step to the next sample record. False when there is none. Handler. */
bool perf_ring_next(struct perf_reader *r);
/* Kernel address I of the record, leaf first; 0 for context markers. Handler. */
uint64_t perf_ring_address(const struct perf_reader *r, uint64_t i);
/* Tell the kernel that all is read. Handler. */
void perf_ring_close(struct perf_reader *r);

#endif
