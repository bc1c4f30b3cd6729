/*
 * Numbers and times as users write them, read exactly: no floating point.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/base/ascii.h"
#include "common/options/option_table.h"

/* What may stand behind a number, and how much it is; ends with one without name. */
struct unit {
	const char *name;
	uint64_t value;
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
static const struct unit event_units[] = {{"b", 1}, {"k", 1u << 10}, {"g", 1u << 30}, {NULL, 0}};
static const struct unit size_units[] = {
	{"", 1}, {"b", 1}, {"k", 1u << 10}, {"kb", 1u << 10}, {"m", 1u << 20}, {"mb", 1u << 20},
	{"g", 1u << 30}, {"gb", 1u << 30}, {NULL, 0},
};
static const struct unit percent_units[] = {{"", 1000}, {NULL, 0}};
static const struct unit ratio_units[] = {{"%", 1000}, {"", 100 * 1000}, {NULL, 0}};

/* Digits at *TEXT, moved past them. -EINVAL: there are none. */
static int digits(const char **text, uint64_t *value)
{
	const char *p = *text;

	*value = 0;
	if (!ascii_is_digit(*p))
		return -EINVAL;
	for (; ascii_is_digit(*p); p++)
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

/* "name:PATTERN" or "group:PATTERN" at *TEXT, moved past it. */
static bool is_named(const char **text)
{
	size_t prefix = strncmp(*text, "name:", 5) == 0 ? 5 : strncmp(*text, "group:", 6) == 0 ? 6 : 0;
	size_t n = strcspn(*text, ",;");

	if (!prefix || n <= prefix)
		return false;
	*text += n;
	return true;
}

bool options_thread_listed(const char *list, uint32_t tid)
{
	uint64_t from, to;
	bool listed = false;

	for (;; list++) {
		if (is_named(&list)) {
			if (*list)
				continue;
			return listed || tid == UINT32_MAX;
		}
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

/* The digits at *TEXT, moved past them, as the part of UNIT behind its point, rounded down. */
static uint64_t fraction(const char **text, uint64_t unit)
{
	uint64_t sum = 0;

	for (; ascii_is_digit(**text); ++*text) {
		uint64_t digit = (uint64_t)(**text - '0');

		sum += digit * (unit / 10) + digit * (unit % 10) / 10;
		unit /= 10;
	}
	return sum;
}

/*
 * "12", "0.5ms", ".5": a number and one of UNITS. 0, -EINVAL (it is none), -ERANGE (below 0, or 2^63
 * and more).
 */
static int quantity(const char *text, const struct unit *unit, uint64_t *value)
{
	bool negative = *text == '-';
	const char *point = NULL;
	uint64_t whole, rest;
	int rc;

	text += negative;
	rc = digits(&text, &whole);
	/* ".5" is 0.5 */
	if (rc && *text != '.')
		return rc;
	if (*text == '.') {
		point = ++text;
		text += strspn(text, "0123456789");
		if (text == point)
			return -EINVAL;
	}
	while (unit->name && !ascii_equals(unit->name, text))
		unit++;
	if (!unit->name)
		return -EINVAL;
	rest = point ? fraction(&point, unit->value) : 0;
	if (__builtin_mul_overflow(whole, unit->value, &whole) ||
	    __builtin_add_overflow(whole, rest, value) || *value > INT64_MAX || (negative && *value))
		return -ERANGE;
	return 0;
}

int option_time(const char *text, bool minutes, uint64_t *ns)
{
	return quantity(text, minutes ? duration_units : interval_units, ns);
}

int option_interval(const char *text, uint64_t *value)
{
	int rc = quantity(text, event_units, value);

	return rc == -EINVAL ? quantity(text, interval_units, value) : rc;
}

int option_size(const char *text, uint64_t *bytes)
{
	return quantity(text, size_units, bytes);
}

int option_percent(const char *text, uint32_t *thousandths)
{
	uint64_t value = 0;
	int rc = quantity(text, percent_units, &value);

	if (rc == 0 && value > 100 * 1000)
		return -ERANGE;
	*thousandths = (uint32_t)value;
	return rc;
}

int option_ratio(const char *text, uint32_t *thousandths)
{
	uint64_t value = 0;
	int rc = quantity(text, ratio_units, &value);

	if (rc == 0 && value > 100 * 1000)
		return -ERANGE;
	*thousandths = (uint32_t)value;
	return rc;
}

/* VALUE in the largest of UNITS, which go from large to small, that needs no fraction. */
static void put_text(uint64_t value, const struct unit *unit, char *out, size_t size)
{
	while (unit->value > 1 && (value == 0 || value % unit->value))
		unit++;
	snprintf(out, size, "%llu%s", (unsigned long long)(value / unit->value), unit->name);
}

void option_time_text(uint64_t ns, char *out, size_t size)
{
	static const struct unit units[] = {
		{"h", 3600 * NS_PER_S}, {"s", NS_PER_S}, {"ms", NS_PER_MS}, {"us", NS_PER_US},
		{"ns", 1},
	};

	put_text(ns, units, out, size);
}

void option_size_text(uint64_t bytes, char *out, size_t size)
{
	static const struct unit units[] = {{"g", 1u << 30}, {"m", 1u << 20}, {"k", 1u << 10}, {"", 1}};

	put_text(bytes, units, out, size);
}
