/*
 * sample_rate.h - so many samples a second at most: what interval brings them, by what samples themselves stand for.
 *
 * Weights are by the interval of each sample's own drawing, which depends on samples before it alone: sums are unbiased
 * whatever the interval does. Inner header of the sources room.
 */
#ifndef JSTROBE_SOURCES_SAMPLE_RATE_H
#define JSTROBE_SOURCES_SAMPLE_RATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct sample_rate {
	uint32_t rate;       /* samples a second */
	uint64_t shortest, longest; /* intervals, bytes */
	_Atomic uint64_t since, count, bytes; /* since then so many came, for so many bytes */
	_Atomic bool busy;   /* a thread is about what follows */
	_Atomic bool begun;  /* the pace has been told once */
	double debt;         /* samples that came beyond the rate, and are not made up for yet */
};

/* RATE of them from NOW (CLOCK_MONOTONIC ns) on, at intervals between these two. Before any sample comes. */
void sample_rate_begin(struct sample_rate *s, uint32_t rate, uint64_t shortest, uint64_t longest, uint64_t now);
/*
 * A sample that stands for BYTES came at NOW. Returns the interval from now on; 0: as it was. Any thread; it waits for
 * none.
 */
uint64_t sample_rate_took(struct sample_rate *s, uint64_t now, uint64_t bytes);

#endif
