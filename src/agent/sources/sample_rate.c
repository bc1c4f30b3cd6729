/*
 * sample_rate.c - once a second, or as soon as there are as many as a second may have, the interval becomes what brings
 * that many at the present pace (of few it takes more seconds to tell).
 *
 * What came beyond the rate is made up for: before the pace is known, and where it rises, as many as a second may have
 * come at once. Else a session of 6 s had 1.2 to 1.4 times the rate at 3 to 7 GB/s. What did not come is no credit: the
 * rate is a bound, and a burst of the program would bring a burst of samples.
 */
#include "agent/sources/sample_rate.h"

#include "common/base/base.h"

#define SAMPLES 20u            /* at least, that tell the pace */
#define SHORTEST NS_PER_MS     /* time that does, … */
#define FIRST (20 * NS_PER_US) /* … and of the first, before which samples come at the shortest interval */
#define MAKE_UP 2.0            /* s, in which some 63 of 100 are made up for */
#define SLOWEST 2              /* a part of the rate, while that is done: fewer would not tell the pace */

void sample_rate_begin(struct sample_rate *s, uint32_t rate, uint64_t shortest, uint64_t longest, uint64_t now)
{
	s->rate = rate;
	s->shortest = shortest;
	s->longest = longest;
	atomic_store(&s->begun, false);
	s->debt = 0;
	atomic_store(&s->count, 0);
	atomic_store(&s->bytes, 0);
	atomic_store(&s->busy, false);
	atomic_store(&s->since, now);
}

/* COUNT samples came in TOOK ns, for BYTES. */
static uint64_t follow(struct sample_rate *s, uint64_t count, uint64_t took, uint64_t bytes)
{
	double seconds = (double)took / NS_PER_S, wanted, interval;

	atomic_store(&s->begun, true);
	s->debt += (double)count - s->rate * seconds;
	s->debt = MAX(s->debt, 0);
	wanted = MAX(s->rate - s->debt / MAKE_UP, (double)s->rate / SLOWEST);
	interval = (double)bytes / seconds / wanted;
	if (interval >= (double)s->longest)
		return s->longest;
	return MAX((uint64_t)interval, s->shortest);
}

uint64_t sample_rate_took(struct sample_rate *s, uint64_t now, uint64_t bytes)
{
	uint64_t count = atomic_fetch_add(&s->count, 1) + 1, since = atomic_load(&s->since), took, interval;
	bool begun = atomic_load(&s->begun);
	uint64_t enough = begun ? MAX(s->rate, SAMPLES) : SAMPLES;

	atomic_fetch_add(&s->bytes, bytes);
	took = now > since ? now - since : 0; /* another thread was here meanwhile */
	if (took < (begun ? SHORTEST : FIRST) || (count < enough && took < NS_PER_S * enough / s->rate))
		return 0;
	if (atomic_exchange(&s->busy, true))
		return 0;
	if (atomic_load(&s->since) != since) {
		atomic_store(&s->busy, false);
		return 0;
	}
	interval = follow(s, atomic_exchange(&s->count, 0), took, atomic_exchange(&s->bytes, 0));
	atomic_store(&s->since, now);
	atomic_store(&s->busy, false);
	return interval;
}
