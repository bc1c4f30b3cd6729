/*
 * chance.h - how far chance alone can move a number that was sampled: intervals of changes between two runs.
 *
 * A run has an AMOUNT of something (CPU time of a method) with a variance, a WHOLE with one, and what it is divided by
 * (seconds, units of work). Where a row is a part of the whole, two changes are looked at: that of its rate, amount
 * divided by `per`, and that of its share of the whole. The rate is what is told; but a busier machine or more work
 * moves all rates alike, so a row has changed by itself only if its share has moved beyond chance, too, the same way.
 *
 * Where many rows are looked at, one of twenty would be beyond its interval of 95 % by chance alone. The intervals here
 * hold all at once with that certainty: each is as wide as one of 1 - 5 % / rows (Bonferroni). Pure, normal code.
 */
#ifndef JSTROBE_MODEL_CHANCE_H
#define JSTROBE_MODEL_CHANCE_H

#include "common/base/base.h"

#define CHANCE_CERTAINTY 0.95

/*
 * Samples of one run are no independent draws: compilations, collections and phases of the program come in bursts, and
 * run after run is compiled otherwise. The variance of a number is so many times that of as many independent samples,
 * as equal runs show (bench/diff_rows.py, docs/use/compare.md).
 *
 * A recording says when its samples were. Then bursts are seen (chance_block_variance), and the number is the least
 * that is taken for those of Java. Of the others it stays: what the kernel does for other processes, or whether a
 * method was compiled again, may go on for the whole of one run and not happen in another.
 */
#define CHANCE_TIMED 1.5  /* of Java's, of which the times are known */
#define CHANCE_JAVA 4.0   /* of samples whose innermost frame is Java's */
#define CHANCE_NATIVE 5.0 /* of native code that Java methods call, and of methods that are not compiled yet */
#define CHANCE_JVM 15.0   /* of threads without Java: compilers, collectors; and of the kernel */
/* … and beside that, in parts of the number: what another layout, compilation or machine does to the same work. */
#define CHANCE_OF_ROW 0.02
#define CHANCE_OF_WHOLE 0.04
/*
 * … and of samples in methods that the compiler has put into others: which of them an instruction belongs to is the
 * compiler's to say, and it decides again in each run. The variance, in parts of the amount and of the whole: small
 * shares move more than large ones.
 */
#define CHANCE_OF_INLINED 6e-4

/*
 * … and of waits and calls, each of which weighs what it took: a few long ones are most of the sum, and the next run
 * has others, or none. How many there were says little then.
 */
#define CHANCE_OF_WAITS 0.30

/* A row in one run. */
struct chance_row {
	double amount, variance; /* of its samples alone */
	double share_variance;   /* of its share of the whole; see chance_share_variance */
};

struct chance_run {
	double whole, variance;
	double per; /* what amounts are divided by; > 0 */
	double uneven; /* CHANCE_OF_WAITS, or 0 */
};

struct chance_change {
	double before, after; /* rates */
	double low, high;     /* of after - before */
	bool beyond;          /* 0 is not within */
};

/* How many standard deviations hold a number with a certainty of 1 - TAIL on both sides together, 0 < TAIL < 1. */
double chance_deviations(double tail);
/* The deviations that let the intervals of so many rows hold all at once. */
double chance_of_all(uint32_t rows);

/* The variance of a share, of the variances of the row's amount and of the rest of the whole. */
double chance_share_variance(double amount, double variance, double whole, double whole_variance);

/*
 * The variance of the sum of COUNT amounts (a multiple of 4), each of an equal part of the time, by how much they
 * differ from their neighbours: alone, two and four of them together, the most of that. So it sees bursts of up to an
 * eighth of the time, but no trend, as that of a program that warms up, which is in the other run as well.
 */
double chance_block_variance(const double *blocks, unsigned count);

/* The change of the whole itself. */
struct chance_change chance_whole(const struct chance_run runs[2], double deviations);
/* The change of a row, with both conditions. BY_SHARE: rates are not known, shares of the whole take their place. */
struct chance_change chance_row(const struct chance_run runs[2], const struct chance_row rows[2], double deviations,
				bool by_share);

#endif
