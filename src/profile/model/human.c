#include "profile/model/human.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/base/decimal.h"

struct human human_count(uint64_t n)
{
	struct human h;
	char digits[24];
	int length = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)n);
	int from, to = 0;

	for (from = 0; from < length; from++) {
		if (from > 0 && (length - from) % 3 == 0)
			h.text[to++] = ',';
		h.text[to++] = digits[from];
	}
	h.text[to] = '\0';
	return h;
}

/* NS in units of UNIT; decimals only where the value is not a whole number of units. */
static struct human in_unit(uint64_t ns, uint64_t unit, int decimals, const char *name)
{
	struct human h;

	if (ns % unit == 0)
		decimals = 0;
	snprintf(h.text, sizeof(h.text), "%s %s", decimal((double)ns / (double)unit, decimals).text, name);
	return h;
}

struct human human_time(uint64_t ns)
{
	struct human h;
	uint64_t s = (ns + NS_PER_S / 2) / NS_PER_S;

	if (ns < NS_PER_US)
		return in_unit(ns, 1, 0, "ns");
	/* the limits lie where rounding would reach the next unit */
	if (ns < 999950)
		return in_unit(ns, NS_PER_US, 1, "µs");
	if (ns < 999950000)
		return in_unit(ns, NS_PER_MS, 1, "ms");
	if (s < 120)
		return in_unit(ns, NS_PER_S, 2, "s");
	if (s < 7200)
		snprintf(h.text, sizeof(h.text), "%llu min %02llu s",
			 (unsigned long long)(s / 60), (unsigned long long)(s % 60));
	else
		snprintf(h.text, sizeof(h.text), "%llu h %02llu min",
			 (unsigned long long)(s / 3600), (unsigned long long)(s / 60 % 60));
	return h;
}

struct human human_bytes(uint64_t bytes)
{
	static const char *const units[] = {"bytes", "KB", "MB", "GB", "TB"};
	struct human h;
	double value = (double)bytes;
	unsigned u = 0;

	while (value >= 1024 && u + 1 < ARRAY_LEN(units)) {
		value /= 1024;
		u++;
	}
	snprintf(h.text, sizeof(h.text), "%s %s", decimal(value, u && value < 10 ? 1 : 0).text, units[u]);
	return h;
}

struct human human_percent(uint64_t part, uint64_t whole)
{
	double percent = percent_of(part, whole);
	struct human h;

	if (part == 0 || whole == 0)
		snprintf(h.text, sizeof(h.text), "0 %%");
	else if (part == whole)
		snprintf(h.text, sizeof(h.text), "100 %%");
	else if (percent < 0.01)
		snprintf(h.text, sizeof(h.text), "< 0.01 %%");
	else if (percent > 99.99 && percent < 100)
		snprintf(h.text, sizeof(h.text), "99.99 %%");
	else
		snprintf(h.text, sizeof(h.text), "%s %%", decimal(percent, 2).text);
	return h;
}

struct human human_date(uint64_t ns)
{
	struct human h;
	time_t seconds = (time_t)(ns / NS_PER_S);
	struct tm tm;

	if (!gmtime_r(&seconds, &tm) ||
	    !strftime(h.text, sizeof(h.text), "%Y-%m-%d %H:%M:%S UTC", &tm))
		snprintf(h.text, sizeof(h.text), "?");
	return h;
}

void human_right(struct buffer *out, const char *text, int width)
{
	const char *p;

	for (p = text; *p; p++)
		if ((*p & 0xc0) != 0x80) /* continuation bytes take no column */
			width--;
	while (width-- > 0)
		buffer_putc(out, ' ');
	buffer_puts(out, text);
}

struct human human_amount(uint64_t weight, enum weight_kind kind)
{
	if (kind == WEIGHT_BYTES)
		return human_bytes(weight);
	return weight_is_time(kind) ? human_time(weight) : human_count(weight);
}
