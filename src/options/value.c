/*
 * Numbers and times as users write them, read exactly: no floating point.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "options/table.h"

struct unit {
	const char *name;
	uint64_t ns;
};

static const struct unit interval_units[] = {
	{"", 1}, {"n", 1}, {"ns", 1}, {"u", NS_PER_US}, {"us", NS_PER_US}, {"m", NS_PER_MS},
	{"ms", NS_PER_MS}, {"s", NS_PER_S}, {NULL, 0},
};
static const struct unit duration_units[] = {
	{"", NS_PER_S}, {"ns", 1}, {"us", NS_PER_US}, {"ms", NS_PER_MS}, {"s", NS_PER_S},
	{"m", 60 * NS_PER_S}, {"min", 60 * NS_PER_S}, {"h", 3600 * NS_PER_S},
	{"d", 86400 * NS_PER_S}, {NULL, 0},
};

/* Digits at *TEXT, moved past them. -EINVAL: there are none. */
static int digits(const char **text, uint64_t *value)
{
	const char *p = *text;

	*value = 0;
	if (!isdigit((unsigned char)*p))
		return -EINVAL;
	for (; isdigit((unsigned char)*p); p++)
		if (__builtin_mul_overflow(*value, 10, value) ||
		    __builtin_add_overflow(*value, (uint64_t)(*p - '0'), value))
			return -ERANGE;
	*text = p;
	return 0;
}

int option_count(const char *text, uint64_t *value)
{
	bool negative = *text == '-';
	int rc;

	text += negative;
	rc = digits(&text, value);
	if (rc)
		return rc;
	if (*text)
		return -EINVAL;
	return negative && *value ? -ERANGE : 0;
}

bool options_thread_listed(const char *list, uint32_t tid)
{
	uint64_t from, to;
	bool listed = false;

	for (;; list++) {
		if (digits(&list, &from) || from == 0)
			return false;
		to = from;
		if (*list == '-' && (list++, digits(&list, &to)))
			return false;
		if (to < from || to >= UINT32_MAX || (*list && *list != ',' && *list != ';'))
			return false;
		listed |= tid >= from && tid <= to;
		if (!*list)
			return listed || tid == UINT32_MAX;
	}
}

int option_interval(const char *text, uint64_t *value)
{
	static const struct unit units[] = {{"b", 1}, {"k", 1u << 10}, {"g", 1u << 30}};
	const char *p = text;
	uint64_t n;
	size_t i;

	if (digits(&p, &n) == 0)
		for (i = 0; i < ARRAY_LEN(units); i++)
			if (strcmp(units[i].name, p) == 0)
				return __builtin_mul_overflow(n, units[i].ns, value) ? -ERANGE : 0;
	return option_time(text, false, value);
}

/* The part after the point at *TEXT in parts of UNIT, rounded down. */
static int fraction(const char **text, const struct unit *unit, uint64_t *ns)
{
	uint64_t place = unit->ns;
	const char *p = *text;

	*ns = 0;
	if (!isdigit((unsigned char)*p))
		return -EINVAL;
	for (; isdigit((unsigned char)*p); p++) {
		*ns += (uint64_t)(*p - '0') * (place / 10) +
		       (uint64_t)(*p - '0') * (place % 10) / 10;
		place /= 10;
	}
	*text = p;
	return 0;
}

int option_time(const char *text, bool minutes, uint64_t *ns)
{
	const struct unit *unit = minutes ? duration_units : interval_units;
	bool negative = *text == '-';
	const char *point = NULL;
	uint64_t whole, rest = 0;
	int rc;

	text += negative;
	rc = digits(&text, &whole);
	/* ".5" is 0.5 */
	if (rc && *text != '.')
		return rc;
	if (*text == '.') {
		point = ++text;
		text += strspn(text, "0123456789");
	}
	while (unit->name && strcmp(unit->name, text) != 0)
		unit++;
	if (!unit->name || (point && fraction(&point, unit, &rest)))
		return -EINVAL;
	if (negative || __builtin_mul_overflow(whole, unit->ns, &whole) ||
	    __builtin_add_overflow(whole, rest, ns) || *ns > INT64_MAX)
		return -ERANGE;
	return 0;
}

int option_percent(const char *text, uint32_t *thousandths)
{
	static const struct unit percent = {"", 1000};
	bool negative = *text == '-';
	uint64_t whole, rest = 0;
	int rc;

	text += negative;
	rc = digits(&text, &whole);
	if (rc && *text != '.')
		return rc;
	if (*text == '.') {
		text++;
		if (fraction(&text, &percent, &rest))
			return -EINVAL;
	}
	if (*text)
		return -EINVAL;
	if (whole > 100 || (whole == 100 && rest) || (negative && (whole || rest)))
		return -ERANGE;
	*thousandths = (uint32_t)(whole * 1000 + rest);
	return 0;
}

void option_time_text(uint64_t ns, char *out, size_t size)
{
	static const struct unit units[] = {
		{"h", 3600 * NS_PER_S}, {"s", NS_PER_S}, {"ms", NS_PER_MS}, {"us", NS_PER_US},
		{"ns", 1},
	};
	const struct unit *unit = units;

	while (unit->ns > 1 && (ns == 0 || ns % unit->ns))
		unit++;
	snprintf(out, size, "%llu%s", (unsigned long long)(ns / unit->ns), unit->name);
}
