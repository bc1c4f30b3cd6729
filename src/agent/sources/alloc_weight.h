/*
 * alloc_weight.h - what a sampled object stands for.
 *
 * HotSpot draws the distance to the next sample from an exponential distribution whose mean is the interval I (JEP
 * 331). An object of S bytes is a sample with the probability P = 1 - e^(-S/I): what of it lies beyond the drawn point
 * is not drawn on. So one sample stands for 1/P objects of its size, S/P bytes (Horvitz and Thompson, 1952): sums are
 * right whatever sizes there are, where max(S, I) is 37 % short at S = I.
 *
 * Pure; normal code, as it uses floating point.
 */
#ifndef JSTROBE_SOURCES_ALLOC_WEIGHT_H
#define JSTROBE_SOURCES_ALLOC_WEIGHT_H

#include <stdint.h>

/* 1 - e^-x, x >= 0, within 1e-12 of itself: its series for a small part of x, then doubled, as libm is not linked. */
static inline double alloc_chance(double x)
{
	double y = x, e;
	int halved = 0;

	if (x > 45)
		return 1;
	for (; y > 0.03125; y /= 2)
		halved++;
	e = y * (1 - y / 2 * (1 - y / 3 * (1 - y / 4 * (1 - y / 5 * (1 - y / 6)))));
	for (; halved; halved--)
		e *= 2 - e;
	return e;
}

/* Bytes that a sampled object of SIZE bytes stands for; INTERVAL in bytes, 0: each object is a sample. */
static inline uint64_t alloc_weight(uint64_t size, uint64_t interval)
{
	if (!interval || !size)
		return size;
	return (uint64_t)((double)size / alloc_chance((double)size / (double)interval) + 0.5);
}

#endif
