#include "profile/model/human.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/base/decimal.h"
#include "common/base/utf8.h"

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

static const char *const byte_units[] = {"bytes", "KB", "MB", "GB", "TB"};

struct human human_bytes(uint64_t bytes)
{
	struct human h;
	double value = (double)bytes;
	unsigned u = 0;

	while (value >= 1024 && u + 1 < ARRAY_LEN(byte_units)) {
		value /= 1024;
		u++;
	}
	snprintf(h.text, sizeof(h.text), "%s %s", decimal(value, u && value < 10 ? 1 : 0).text, byte_units[u]);
	return h;
}

/* ---- estimates ---- */

struct about {
	const char *mark;
	double value; /* with DIGITS digits, others are 0 */
	int digits;
};

static double power_of_ten(int n)
{
	double p = 1;

	for (; n > 0; n--)
		p *= 10;
	return p;
}

/* VALUE with DIGITS digits; UP: or a little more. */
static double with_digits(double value, int digits, bool up)
{
	double whole, unit = 1, limit = power_of_ten(digits);

	while (value / unit >= limit)
		unit *= 10;
	whole = (double)(uint64_t)(value / unit);
	if (unit > 1 || up)
		whole += up ? whole * unit < value : value / unit - whole >= 0.5;
	else
		return value;
	return whole * unit;
}

/* How VALUE is told, in units that make it 1 or more. */
static struct about about(double value, double error)
{
	/* what a count of 1 to 4 is at most with a certainty of 97.5 %, if it is Poisson's */
	static const double most[] = {5.57, 7.22, 8.77, 10.24};
	double happenings = error > 0 ? value / error * (value / error) : 0;

	if (!(error > 0))
		return (struct about){"", value, 0};
	if (happenings < 4.5) {
		int n = happenings < 1.5 ? 0 : happenings < 2.5 ? 1 : happenings < 3.5 ? 2 : 3;

		return (struct about){"< ", with_digits(MAX(value, error) / (n + 1) * most[n], 1, true), 1};
	}
	return (struct about){"~", with_digits(value, error > 0.3 * value ? 1 : error > 0.03 * value ? 2 : 3, false),
			      error > 0.3 * value ? 1 : error > 0.03 * value ? 2 : 3};
}

/* H with MARK before it; zeros behind a point, which say nothing, are left out. */
static struct human marked(struct human h, const char *mark)
{
	char *point = strchr(h.text, '.'), *end = point ? point + strspn(point, ".0123456789") : NULL, *last = end;
	struct human out;

	while (last && last > point && (last[-1] == '0' || last[-1] == '.'))
		if (*--last == '.')
			break;
	if (last && last < end)
		memmove(last, end, strlen(end) + 1);
	snprintf(out.text, sizeof(out.text), "%s%.36s", mark, h.text);
	return out;
}

struct human human_count_about(uint64_t n, uint64_t error)
{
	struct about a = about((double)n, (double)error);

	return error ? marked(human_count((uint64_t)a.value), a.mark) : human_count(n);
}

struct human human_time_about(uint64_t ns, uint64_t error)
{
	struct about a = about((double)ns, (double)error);

	return error ? marked(human_time((uint64_t)a.value), a.mark) : human_time(ns);
}

struct human human_bytes_about(uint64_t bytes, uint64_t error)
{
	struct about a;
	double unit = 1;
	struct human h;
	unsigned u = 0;

	if (!error)
		return human_bytes(bytes);
	do { /* rounded up it may need the next unit */
		a = about((double)bytes / unit, (double)error / unit);
		if (a.value < 1000 || u + 1 == ARRAY_LEN(byte_units))
			break;
		unit *= 1024;
		u++;
	} while (true);
	snprintf(h.text, sizeof(h.text), "%s %s",
		 decimal(a.value, u && a.value < 10 && a.digits > 1 ? 1 : 0).text, byte_units[u]);
	return marked(h, a.mark);
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
	int columns = (int)utf8_columns(text, strlen(text));

	while (columns++ < width)
		buffer_putc(out, ' ');
	buffer_puts(out, text);
}

struct human human_amount(uint64_t weight, enum weight_kind kind)
{
	if (kind == WEIGHT_BYTES)
		return human_bytes(weight);
	return weight_is_time(kind) ? human_time(weight) : human_count(weight);
}
