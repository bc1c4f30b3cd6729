/*
 * square_root.h - a square root without libm, which the agent is not linked with: what it would bring into a process
 * that has none. Pure, any context but signal handlers.
 */
#ifndef JSTROBE_BASE_SQUARE_ROOT_H
#define JSTROBE_BASE_SQUARE_ROOT_H

/* 0 of what is not positive. */
static inline double square_root(double x)
{
	double root = x > 1 ? x : 1;
	int i;

	if (!(x > 0))
		return 0;
	for (i = 0; i < 600; i++) { /* Newton's: it halves until it is near, then doubles its digits */
		double next = (root + x / root) / 2;

		if (!(next < root))
			break;
		root = next;
	}
	return root;
}

#endif
