/*
 * decimal.h - numbers with a fraction as text: with a point, whatever locale the process has.
 *
 * A program's own library may have called setlocale: printf writes 2,73 then, which no reader of JSON takes. So nothing
 * in the tree formats a floating-point number but this; tests/check/test_locale.py sees to it. Any thread, normal code.
 */
#ifndef JSTROBE_BASE_DECIMAL_H
#define JSTROBE_BASE_DECIMAL_H

#include <stdint.h>

struct decimal {
	char text[32];
};

/* VALUE with DIGITS digits behind the point, as by %.*f. */
struct decimal decimal(double value, int digits);
/* The same with its sign, + or -, as by %+.*f. */
struct decimal decimal_signed(double value, int digits);
/* Up to six digits and no zeros at the end, as by %g. */
struct decimal decimal_short(double value);

/* PART of WHOLE in percent; 0 of nothing. */
static inline double percent_of(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

#endif
