/*
 * Times at which something shall happen: a while from now, or when the clock on the wall says so.
 */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "common/base/ascii.h"
#include "common/options/option_table.h"

#define ANY (-1)

/* One field of "hh:mm:ss", a number below LIMIT, or * for any; moves *TEXT behind its colon. */
static int field(const char **text, int limit, int *value)
{
	const char *p = *text;

	*value = ANY;
	if (*p == '*') {
		p++;
	} else if (ascii_is_digit(*p)) {
		*value = *p++ - '0';
		if (ascii_is_digit(*p))
			*value = *value * 10 + *p++ - '0';
	}
	if (p == *text || *value >= limit || (*p && *p != ':'))
		return -EINVAL;
	*text = *p ? p + 1 : p;
	return 0;
}

/* When local time is next HH:MM:SS; what is left open stays as it is now, as in async-profiler. */
static uint64_t next_time(time_t now, int hh, int mm, int ss)
{
	struct tm tm, day;
	time_t at;

	localtime_r(&now, &tm);
	tm.tm_hour = hh == ANY ? tm.tm_hour : hh;
	tm.tm_min = mm == ANY ? tm.tm_min : mm;
	tm.tm_sec = ss == ANY ? tm.tm_sec : ss;
	tm.tm_isdst = -1;
	day = tm;
	at = mktime(&tm);
	if (at > now)
		return (uint64_t)at * NS_PER_S;
	if (hh == ANY)
		return (uint64_t)(at + (mm != ANY ? 3600 : 60)) * NS_PER_S;
	/* of tomorrow, which is 23 or 25 hours away where summer time begins or ends */
	day.tm_mday++;
	return (uint64_t)mktime(&day) * NS_PER_S;
}

int options_moment(const char *text, uint64_t real, uint64_t monotonic, struct options_moment *m)
{
	int hh, mm, ss = ANY, rc;
	uint64_t ns;

	m->at = 0;
	m->by_clock = strchr(text, ':') != NULL;
	if (!m->by_clock) {
		rc = option_time(text, true, &ns);
		if (rc == 0 && ns > 365 * 86400 * NS_PER_S)
			return -ERANGE;
		m->at = rc || ns == 0 ? 0 : monotonic + ns;
		return rc;
	}
	if (text[strlen(text) - 1] == ':' || field(&text, 24, &hh) || field(&text, 60, &mm) ||
	    (*text && field(&text, 60, &ss)) || *text || (hh == ANY && mm == ANY && ss == ANY))
		return -EINVAL;
	m->at = next_time((time_t)(real / NS_PER_S), hh, mm, ss);
	return 0;
}
