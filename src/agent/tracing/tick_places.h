/*
 * tick_places.h - where in its period a tick falls.
 *
 * Programs work in rhythms, most of them of whole milliseconds, as timers do. Ticks a period apart would meet the same
 * place of such a rhythm each time, and one of two methods would get the time of both. So each period has one tick, at
 * a place that this sequence says, and the tick stands for its period, however far away the last one is. (Were it for
 * the time since then, places early in a period would weigh less than late ones.)
 *
 * Chance alone would do. But places that lie a noble number apart (one whose continued fraction ends in ones, as the
 * golden ratio's does) spread more evenly over a rhythm that is a period, a part of it or a few of it: for 150 µs of
 * each millisecond, in 10 s, the error is 0.6 % instead of 2.1. A rhythm that goes with one of these numbers itself
 * would be met as unevenly as any by plain ticks: so after some ticks it is another number, from another begin, by
 * chance, and no rhythm has a much larger error than with chance alone.
 */
#ifndef JSTROBE_TRACING_TICK_PLACES_H
#define JSTROBE_TRACING_TICK_PLACES_H

#include "common/base/base.h"
#include "common/base/error.h"

struct tick_places {
	uint32_t at, step; /* 2^32 is a period */
	unsigned left;     /* ticks with this step */
	uint64_t chance;
};

/* Each SEED has a sequence of its own. */
void tick_places_begin(struct tick_places *p, uint64_t seed);
/* How many ns into its period of PERIOD ns the next tick comes. */
uint64_t tick_places_next(struct tick_places *p, uint64_t period);

/* The thread that tells all probes each period to take the time. Normal code, one at a time. */

/* Tick each PERIOD ns. The tree has begun. */
int trace_ticks_start(uint64_t period, struct error *err);
/* No tick comes after this. */
void trace_ticks_stop(void);

#endif
