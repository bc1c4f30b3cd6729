/*
 * jitter.h - when a thread's next sample of CPU time is due, and what it weighs: moments that it can neither avoid nor
 * choose.
 *
 * A thread may begin anywhere in a period, so its first one ends at random in the first interval of its life. A thread
 * that ends before has no sample, and others like it, who have one, stand for it: a first sample weighs a whole
 * period. For threads of any length the sum of weights is right on average.
 *
 * Then each thread keeps a period of its own, a little off the interval, so as not to be in step with what it does.
 * That costs nothing. But where a long read or write ends because our signal comes, each sample brings the thread to
 * the same place, and the next one finds it there again, whatever the period. Right for whatever signals make a thread
 * do is only a sample that is as likely at each moment as at any other: for some time after one in such a call periods
 * are drawn anew for each sample, with an exponential distribution (Wolff 1982: Poisson arrivals see time averages).
 * Behind a sample there is none for a 32nd of the interval: a period is gone through again and again until the thread
 * comes back from the kernel.
 *
 * For the same reason samples with drawn periods weigh alike, an interval each, and not the time since the last one:
 * that would be longer the further from the last one a place lies. What they weigh too much or too little altogether is
 * a debt that the next ones pay little by little, so that a thread's sum stays near its clock.
 *
 * Pure functions, any context.
 */
#ifndef JSTROBE_ZONE_JITTER_H
#define JSTROBE_ZONE_JITTER_H

#include "common/base/random.h"

#define JITTER_LATELY 64  /* samples with drawn periods, from one on that may have changed what the thread does */
#define JITTER_KEEP 256   /* samples with one period where nothing has */
#define JITTER_LONGEST 7  /* intervals: no drawn period is that long */
#define JITTER_PAYS 8     /* a sample pays this part of the debt */

enum jitter_kind {
	JITTER_KEPT,  /* gone through before, or as good as that */
	JITTER_DRAWN,
	JITTER_FIRST, /* of the thread's life */
};

struct jitter {
	uint64_t seed;
	uint64_t keep;          /* the thread's own period */
	int64_t debt;           /* what its samples have weighed too little so far, ns */
	uint16_t kept;          /* samples with that period so far */
	uint8_t left;           /* samples that get a drawn period yet */
	uint8_t kind;           /* enum jitter_kind, of the present period */
};

/* -log2 of a random number between 0 and 1, in 2^-32: the leading zeros, and between powers of 2 a polynomial. */
static inline uint64_t jitter_log(uint64_t *state)
{
	uint64_t word = random_below(state, UINT64_MAX) | 1, zeros = (uint64_t)__builtin_clzll(word);
	uint64_t x = word << zeros << 1 >> 32; /* mantissa - 1 */
	uint64_t bend = x * ((1ull << 32) - x) >> 32, by;

	/* log2(1 + x) = x + x (1 - x) (0.4427 - x (0.2463 - 0.0823 x)), within 0.0003 */
	by = 1901382022 - (x * (1057850445 - (x * 353475808 >> 32)) >> 32);
	return ((zeros + 1) << 32) - x - (bend * by >> 32);
}

/* A distance from an exponential distribution whose mean is MEAN. */
static inline int64_t jitter_distance(uint64_t *state, uint64_t mean)
{
	/* log2, in 2^-32, × ln 2 */
	return (int64_t)((double)jitter_log(state) * (0.69314718055994531 / 4294967296.0) * (double)mean);
}

/*
 * So many bytes a call has read or written if it has taken a tenth of the interval: slow ones 250 MB a second. Shorter
 * calls shift what comes next by so little that nothing falls into step.
 */
static inline uint64_t jitter_bulk(uint64_t interval)
{
	return interval / 40;
}

/* For so long behind a sample there is no second one. */
static inline uint64_t jitter_quiet(uint64_t interval)
{
	return MIN(MAX(interval / 32, 50 * NS_PER_US), interval / 2);
}

static inline uint64_t jitter_draw(struct jitter *j, uint64_t interval)
{
	uint64_t quiet = jitter_quiet(interval), logs = jitter_log(&j->seed);

	logs = MIN(logs, 10ull << 32);
	j->kind = JITTER_DRAWN;
	/* × ln 2 */
	return quiet + wide_product((interval - quiet) * 8, (logs >> 3) * 2977044472ull).high;
}

/* A period to keep: within a tenth of the interval. */
static inline void jitter_renew(struct jitter *j, uint64_t interval)
{
	j->keep = interval - interval / 10 + random_below(&j->seed, interval / 5 + 1);
	j->kept = 0;
}

/* Begin with a thread, with a random WORD. Returns its first period. */
static inline uint64_t jitter_begin(struct jitter *j, uint64_t word, uint64_t interval)
{
	*j = (struct jitter){.seed = random_seed(word), .kind = JITTER_FIRST};
	jitter_renew(j, interval);
	return random_below(&j->seed, j->keep) + 1;
}

/*
 * The period after the present one, which has ended; MAY_REACT: the sample may have changed what the thread does.
 * False: it goes on as it is.
 */
static inline bool jitter_next(struct jitter *j, uint64_t interval, bool may_react, uint64_t *period)
{
	uint64_t rest = j->kind == JITTER_FIRST && j->keep > *period ? j->keep - *period : 0;

	if (may_react)
		j->left = JITTER_LATELY;
	if (j->left) {
		/* The first sample's weight reaches to the end of the first interval. */
		j->left--;
		j->debt -= (int64_t)rest;
		*period = rest + jitter_draw(j, interval);
		return true;
	}
	if (j->kind == JITTER_KEPT && ++j->kept < JITTER_KEEP)
		return false;
	if (j->kind == JITTER_KEPT)
		jitter_renew(j, interval);
	j->kind = JITTER_KEPT;
	*period = j->keep;
	return true;
}

/*
 * The weight of a sample at the end of PERIOD, TIME since the last one. Not FRESH: the period was gone through before.
 * What is longer than the period was, is the sample's own.
 */
static inline uint64_t jitter_weight(struct jitter *j, uint64_t interval, uint64_t period, uint64_t time, bool fresh)
{
	uint64_t late = time > period ? time - period : 0;
	int64_t weight = (int64_t)time, pays;

	if (likely(j->kind == JITTER_KEPT && !j->debt))
		return time;
	fresh = fresh && time >= period - period / 8;
	if (fresh && j->kind == JITTER_FIRST)
		return j->keep + late;
	if (fresh && j->kind == JITTER_DRAWN)
		weight = (int64_t)(interval + late);
	pays = MAX(MIN(j->debt / JITTER_PAYS, weight / 2), -weight / 2);
	j->debt += (int64_t)time - weight - pays;
	return (uint64_t)(weight + pays);
}

#endif
