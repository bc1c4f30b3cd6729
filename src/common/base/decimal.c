#include "common/base/decimal.h"

#include <stdio.h>
#include <string.h>

#include "common/base/ascii.h"

/* What is neither digit nor letter nor sign is the locale's point, of one byte or several. */
static bool is_point(char c)
{
	return !ascii_is_letter(c) && !ascii_is_digit(c) && c != '+' && c != '-';
}

static struct decimal with_point(struct decimal d)
{
	char *at = d.text, *end;

	while (*at && !is_point(*at))
		at++;
	if (!*at)
		return d;
	for (end = at; *end && is_point(*end); end++)
		;
	*at++ = '.';
	memmove(at, end, strlen(end) + 1);
	return d;
}

struct decimal decimal(double value, int digits)
{
	struct decimal d;

	snprintf(d.text, sizeof(d.text), "%.*f", digits, value);
	return with_point(d);
}

struct decimal decimal_signed(double value, int digits)
{
	struct decimal d;

	snprintf(d.text, sizeof(d.text), "%+.*f", digits, value);
	return with_point(d);
}

struct decimal decimal_short(double value)
{
	struct decimal d;

	snprintf(d.text, sizeof(d.text), "%g", value);
	return with_point(d);
}
