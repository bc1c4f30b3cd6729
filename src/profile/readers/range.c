#include "profile/readers/range.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/base/ascii.h"

#define SINCE_1970_FROM 100000000000.0 /* ms: in 1973 */

/* ".25" at TEXT in ns, moved past it. */
static int64_t fraction(const char **text)
{
	int64_t ns = 0, unit = (int64_t)NS_PER_S / 10;

	if (**text != '.')
		return 0;
	for ((*text)++; **text >= '0' && **text <= '9'; (*text)++, unit /= 10)
		ns += (**text - '0') * unit;
	return ns;
}

/* SECONDS since 1970 and REST ns; false beyond what 64 bits hold. */
static bool in_ns(time_t seconds, int64_t rest, int64_t *ns)
{
	return !__builtin_mul_overflow((int64_t)seconds, (int64_t)NS_PER_S, ns) &&
	       !__builtin_add_overflow(*ns, rest, ns);
}

static bool by_date(const char *text, int64_t *ns)
{
	struct tm tm = {.tm_isdst = -1};
	const char *p = strptime(text, "%Y-%m-%d", &tm);
	int64_t rest;
	time_t t;

	if (!p)
		return false;
	if (*p == 'T' || *p == ' ')
		p = strptime(p + 1, "%H:%M:%S", &tm);
	if (!p)
		return false;
	rest = fraction(&p);
	t = *p == 'Z' ? timegm(&tm) : mktime(&tm);
	return t != -1 && in_ns(t, rest, ns) && (*p == '\0' || strcmp(p, "Z") == 0);
}

/* The time of day that is in the recording, else the one that is nearest to it: before its begin or behind its end. */
static bool by_clock(const char *text, int64_t start, int64_t end, int64_t *ns)
{
	struct tm tm = {0}, day;
	const char *p = strptime(text, "%H:%M:%S", &tm);
	time_t t = (time_t)(start / (int64_t)NS_PER_S);
	int64_t rest;

	if (!p || !localtime_r(&t, &day))
		return false;
	rest = fraction(&p);
	tm.tm_year = day.tm_year;
	tm.tm_mon = day.tm_mon;
	tm.tm_mday = day.tm_mday;
	tm.tm_isdst = -1;
	day = tm;
	if (!in_ns(mktime(&tm), rest, ns))
		return false;
	if (*ns < start - start % (int64_t)NS_PER_S) {
		int64_t next;

		day.tm_mday++;
		if (!in_ns(mktime(&day), rest, &next))
			return false;
		if (next - end < start - *ns)
			*ns = next;
	}
	return *p == '\0';
}

/* The number that TEXT begins with, "-1.5"; *REST stands behind it, at TEXT if there is none. */
static double number(const char *text, const char **rest)
{
	const char *p = text + (text[0] == '-');
	double n = 0, part = 1;
	bool any = false, behind = false;

	for (; ascii_is_digit(*p) || (*p == '.' && !behind); p++) {
		if (*p == '.') {
			behind = true;
			continue;
		}
		any = true;
		n = n * 10 + (*p - '0');
		part *= behind ? 10 : 1;
	}
	*rest = any ? p : text;
	return (text[0] == '-' ? -n : n) / part;
}

static bool by_number(const char *text, int64_t start, int64_t end, int64_t *ns)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {
		{"", 1e6}, {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"m", 60e9},
		{"h", 3600e9}, {"d", 86400e9},
	};
	const char *rest;
	double n;
	size_t i;

	n = number(text, &rest);
	for (i = 0; rest > text && i < ARRAY_LEN(units); i++) {
		if (strcmp(units[i].name, rest) != 0)
			continue;
		if (n * units[i].ns > 9e18 || n * units[i].ns < -9e18)
			return false;
		*ns = (int64_t)(n * units[i].ns);
		return (!*rest && n >= SINCE_1970_FROM) ||
		       !__builtin_add_overflow(*ns, text[0] == '-' ? end : start, ns);
	}
	return false;
}

int range_moment(const char *text, int64_t start, int64_t end, const char *option, int64_t *ns,
		 struct error *err)
{
	if (by_date(text, ns) || by_clock(text, start, end, ns) || by_number(text, start, end, ns))
		return 0;
	return error_set(err, EINVAL, "%s: '%s' is no time; write it like 90s (from the start), -10s (from "
			 "the end), 12:30:00 or 2026-11-21T12:30:00", option, text);
}
