/*
 * finish.c - what is decided when all options have been read: which events they mean together.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/base/ascii.h"
#include "common/options/option_table.h"

bool option_holds(const char *list, const char *name)
{
	size_t n;

	for (; *list; list += n + (list[n] != '\0')) {
		n = strcspn(list, ",");
		if (option_is(name, list, MIN(n, strcspn(list, "@"))))
			return true;
	}
	return false;
}

#define CALLS "calls" /* the event of calls that are samples */
#define PATTERNS sizeof(((struct options *)0)->instrument)
_Static_assert(PATTERNS == sizeof(((struct options *)0)->traced) && PATTERNS == sizeof(((struct options *)0)->methods),
	       "methods are added to any");

/* Add METHOD[0..LENGTH) to PATTERNS of methods. */
static int add_method(char *patterns, const char *method, size_t length, struct error *err)
{
	size_t used = strlen(patterns);

	if (used + length + 2 > PATTERNS)
		return error_set(err, EINVAL, "the patterns of methods are too long together");
	snprintf(patterns + used, PATTERNS - used, "%s%.*s", used ? ";" : "", (int)length, method);
	return 0;
}

/* "pkg.Class.method:50ms" at ITEM, which has an end of its own; the TIME, if it says one. */
static int add_traced(char *patterns, const char *item, uint64_t *time, struct error *err)
{
	const char *colon = strrchr(item, ':');
	size_t length = strlen(item);

	if (colon && ascii_is_digit(colon[1])) {
		length = (size_t)(colon - item);
		if (option_time(colon + 1, false, time) || !*time)
			return error_set(err, EINVAL, "trace: '%s' is no time; write METHOD:50ms", colon + 1);
	}
	return add_method(patterns, item, length, err);
}

/* To PATTERNS. There is one time for all. */
static int finish_trace(struct options *o, char *patterns, struct error *err)
{
	char *item = o->trace, *rest;
	uint64_t all = 0, time;
	char one[32], other[32];
	int rc = 0;

	for (item = strtok_r(item, "\n", &rest); rc == 0 && item; item = strtok_r(NULL, "\n", &rest)) {
		time = o->latency ? o->latency : 1;
		rc = add_traced(patterns, item, &time, err);
		if (rc == 0 && (all || o->latency) && time != (all ? all : o->latency)) {
			option_time_text(all ? all : o->latency, one, sizeof(one));
			option_time_text(time, other, sizeof(other));
			rc = error_set(err, EINVAL, "trace: calls are told from one length on, not %s and %s (all: 1 "
				       "ns); give all methods the same, or none and --latency TIME", one, other);
		}
		all = time;
	}
	o->latency = all;
	memset(o->trace, 0, sizeof(o->trace)); /* as if never said */
	return rc;
}

/* Events that are Java methods go to PATTERNS; what is left is sampled. */
static int finish_methods(struct options *o, char *patterns, struct error *err)
{
	char list[sizeof(o->event)], *item, *rest;
	int rc = 0;

	strcpy(list, o->event);
	o->event[0] = '\0';
	for (item = strtok_r(list, ",", &rest); rc == 0 && item; item = strtok_r(NULL, ",", &rest)) {
		bool method = option_is_method(item);

		if (method)
			rc = add_method(patterns, item, strlen(item), err);
		if (method && patterns == o->methods)
			item = (char *)(uintptr_t)CALLS; /* is sampled in its place, once */
		if (rc == 0 && (!method || (patterns == o->methods && !option_holds(o->event, CALLS))))
			snprintf(strchr(o->event, '\0'), sizeof(o->event) - strlen(o->event), "%s%s",
				 o->event[0] ? "," : "", item);
	}
	return rc;
}

/* Whether LIST has an event that is a Java METHOD's, or one that is none. */
static bool has(const char *list, bool methods)
{
	char item[sizeof(((struct options *)0)->event)];
	size_t n;

	for (; *list; list += n + (list[n] != '\0')) {
		n = strcspn(list, ",");
		snprintf(item, sizeof(item), "%.*s", (int)n, list);
		if (option_is_method(item) == methods)
			return true;
	}
	return false;
}

/* What an option that is an event with an interval of its own has of it: 0 = the option was not said. */
static uint64_t said_of(const struct option *p, const struct options *o)
{
	uint64_t said = 0;

	if (option_is_own_event(p))
		memcpy(&said, (const char *)o + p->offset, sizeof(said));
	return said;
}

/* The first of these options that was said; NULL: none was. */
static const struct option *with_interval(const struct options *o)
{
	const struct option *p;

	for (p = option_table; p->kind; p++)
		if (said_of(p, o))
			return p;
	return NULL;
}

uint64_t options_event_interval(const struct options *o, const char *event)
{
	const struct option *p;

	for (p = option_table; p->kind; p++)
		if (option_is_own_event(p) && strcmp(p->agent, event) == 0)
			return said_of(p, o);
	return 0;
}

int options_check_tracing(const struct options *o, struct error *err)
{
	if (!o->instrument[0])
		return 0;
	if (o->sampling_said)
		return error_set(err, EINVAL, "event: %s is not sampled while calls are counted; do one after "
				 "the other, record with the event, trace with the methods",
				 with_interval(o) ? with_interval(o)->agent : o->event);
	if (o->interval)
		return error_set(err, EINVAL, "interval: every call of traced methods is counted; remove it (there is "
				 "--period, of sampled timing)");
	if (o->filter[0] || o->ttsp || o->begin[0] || o->end[0] || o->fdtransfer)
		return error_set(err, EINVAL, "%s: calls are counted on all threads, whatever options of samples say; "
				 "remove it", o->filter[0] ? "filter" : o->ttsp ? "ttsp" :
				 o->fdtransfer ? "fdtransfer" : o->begin[0] ? "begin" : "end");
	return 0;
}

/* What was not said of the events with intervals of their own is their default. */
static void say_all(struct options *o)
{
	const struct option *p;
	uint64_t by_default = 1;

	for (p = option_table; p->kind; p++)
		if (option_has_interval(p) && !said_of(p, o))
			memcpy((char *)o + p->offset, &by_default, sizeof(by_default));
}

/* Whether more is asked of calls than who makes how many: then methods are counted, or recorded, by probes. */
static bool is_timed(const struct options *o)
{
	return o->trace[0] || o->instrument[0] || o->latency || o->timing[0] || o->root[0] || o->budget || o->period ||
	       o->cpu_clock || o->trace_depth;
}

/* What the methods said mean: samples, calls that are recorded beside samples, or counted instead of any. */
static int finish_calls(struct options *o, bool *event_said, struct error *err)
{
	bool timed = is_timed(o), beside = o->sampling_said && !o->instrument[0];
	char *patterns = beside ? o->traced : o->instrument;
	int rc = o->trace[0] ? finish_trace(o, patterns, err) : 0;

	if (rc == 0 && has(o->event, true)) {
		rc = finish_methods(o, timed ? patterns : o->methods, err);
		if (timed && !beside)
			o->interval = 0; /* every call is counted */
	}
	if (!o->event[0]) {
		strcpy(o->event, "cpu");
		*event_said = false;
	}
	if (rc == 0 && o->methods[0] && !option_holds(o->event, CALLS)) {
		if (!*event_said)
			o->event[0] = '\0';
		*event_said = o->sampling_said = true;
		rc = option_add_event(CALLS, o, err);
	}
	if (rc == 0 && option_holds(o->event, CALLS) && !o->methods[0])
		rc = error_set(err, EINVAL, "event: calls of which methods? Say -e Class.method, or "
			       "--methods PATTERNS");
	if (rc == 0 && o->methods[0] && (o->traced[0] || o->instrument[0]))
		rc = error_set(err, EINVAL, "methods: calls are either samples or traced; remove it, or --trace and "
			       "--instrument");
	if (o->traced[0] && !o->latency)
		o->latency = 1; /* each call is told */
	return rc ? rc : options_check_tracing(o, err);
}

int option_finish_events(struct options *o, bool event_said, struct error *err)
{
	const struct option *p;
	int rc;

	if (o->all) {
		say_all(o);
		event_said = true; /* else it is cpu */
	}
	o->nativemem_live |= o->tail && !o->converting; /* it is of what is left */
	o->sampling_said = with_interval(o) || (event_said && has(o->event, false));
	rc = finish_calls(o, &event_said, err);
	for (p = option_table; rc == 0 && p->kind; p++) {
		if (!said_of(p, o) || option_holds(o->event, p->agent))
			continue;
		if (!event_said)
			o->event[0] = '\0';
		event_said = true;
		rc = option_add_event(p->agent, o, err);
	}
	return rc ? rc : option_check_interval(o, err);
}
