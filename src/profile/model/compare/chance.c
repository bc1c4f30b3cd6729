#include "profile/model/compare/chance.h"

#include "common/base/square_root.h"

/* ln(X) of what is above 0 and below 1, without libm, which the agent is not linked with. */
static double logarithm(double x)
{
	const double ln2 = 0.693147180559945309417;
	double power = 0, y, square, sum = 0, term;
	int i;

	for (; x < 0.70710678; power--)
		x *= 2;
	y = (x - 1) / (x + 1);
	square = y * y;
	for (i = 1, term = y; i < 40; i += 2, term *= square)
		sum += term / i;
	return 2 * sum + power * ln2;
}

double chance_deviations(double tail)
{
	/* the quantile of the normal distribution: a rational approximation, to 5e-4 (Abramowitz, Stegun 26.2.23) */
	double p = MIN(MAX(tail / 2, 1e-300), 0.5), t = square_root(-2 * logarithm(p));
	double z = t - (2.515517 + 0.802853 * t + 0.010328 * t * t) /
			       (1 + 1.432788 * t + 0.189269 * t * t + 0.001308 * t * t * t);

	return MAX(z, 0.0);
}

double chance_of_all(uint32_t rows)
{
	return chance_deviations((1 - CHANCE_CERTAINTY) / MAX(rows, 1u));
}

static double squared(double x)
{
	return x * x;
}

double chance_block_variance(const double *blocks, unsigned count)
{
	double most = 0;
	unsigned size, i, k;

	for (size = 1; size <= 4; size *= 2) {
		double sum = 0, before = 0, here;
		unsigned n = count / size;

		for (i = 0; i < n; i++) {
			for (here = 0, k = 0; k < size; k++)
				here += blocks[i * size + k];
			sum += i ? squared(here - before) : 0;
			before = here;
		}
		if (n > 1)
			most = MAX(most, sum / 2 * n / (n - 1));
	}
	return most;
}

double chance_share_variance(double amount, double variance, double whole, double whole_variance)
{
	double share = whole > 0 ? amount / whole : 0, rest = MAX(whole_variance - variance, 0.0);

	return whole > 0 ? ((1 - share) * (1 - share) * variance + share * share * rest) / (whole * whole) : 0;
}


static struct chance_change change(double before, double after, double variance, double deviations)
{
	double half = deviations * square_root(variance), moved = after - before;
	struct chance_change c = {before, after, moved - half, moved + half, false};

	c.beyond = c.low > 0 || c.high < 0;
	return c;
}

struct chance_change chance_whole(const struct chance_run runs[2], double deviations)
{
	double rates[2], variance = 0;
	int i;

	for (i = 0; i < 2; i++) {
		rates[i] = runs[i].whole / runs[i].per;
		variance += runs[i].variance / squared(runs[i].per) +
			    squared((CHANCE_OF_WHOLE + runs[i].uneven) * rates[i]);
	}
	return change(rates[0], rates[1], variance, deviations);
}

struct chance_change chance_row(const struct chance_run runs[2], const struct chance_row rows[2], double deviations,
				bool by_share)
{
	double rates[2], shares[2], variance = 0, share_variance = 0;
	struct chance_change rate, share;
	int i;

	for (i = 0; i < 2; i++) {
		double of_row = CHANCE_OF_ROW + runs[i].uneven;

		shares[i] = runs[i].whole > 0 ? rows[i].amount / runs[i].whole : 0;
		rates[i] = rows[i].amount / runs[i].per;
		/* what is all of the whole cannot have another share in the next run */
		share_variance += rows[i].share_variance + squared(of_row * shares[i] * (1 - shares[i]));
		/* how fast the machine is as a whole is not the row's */
		variance += rows[i].variance / squared(runs[i].per) + squared(of_row * rates[i]);
	}
	share = change(shares[0], shares[1], share_variance, deviations);
	if (by_share)
		return share;
	rate = change(rates[0], rates[1], variance, deviations);
	rate.beyond = rate.beyond && share.beyond && (rate.low > 0) == (share.low > 0);
	return rate;
}
