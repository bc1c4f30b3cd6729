/*
 * finish.c - what is decided when all options have been read: which events they mean together.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "options/table.h"

/* Whether LIST holds NAME, with an interval or without. */
static bool holds(const char *list, const char *name)
{
	size_t n;

	for (; *list; list += n + (list[n] != '\0')) {
		n = strcspn(list, ",");
		if (option_is(name, list, MIN(n, strcspn(list, "@"))))
			return true;
	}
	return false;
}

/* Add METHOD[0..LENGTH) to the patterns to trace. */
static int add_method(struct options *o, const char *method, size_t length, struct error *err)
{
	size_t used = strlen(o->instrument);

	if (used + length + 2 > sizeof(o->instrument))
		return error_set(err, EINVAL, "the patterns of methods are too long together");
	snprintf(o->instrument + used, sizeof(o->instrument) - used, "%s%.*s", used ? ";" : "", (int)length, method);
	return 0;
}

/* "pkg.Class.method:50ms" */
static int finish_trace(struct options *o, struct error *err)
{
	const char *colon = strrchr(o->trace, ':');
	size_t length = strlen(o->trace);
	int rc;

	o->latency = o->latency ? o->latency : 1;
	if (colon && isdigit((unsigned char)colon[1])) {
		length = (size_t)(colon - o->trace);
		if (option_time(colon + 1, false, &o->latency) || !o->latency)
			return error_set(err, EINVAL, "trace: '%s' is no time; write METHOD:50ms", colon + 1);
	}
	rc = add_method(o, o->trace, length, err);
	memset(o->trace, 0, sizeof(o->trace)); /* as if never said */
	return rc;
}

/* An event that is a Java method: its calls are counted. */
static int finish_method(struct options *o, struct error *err)
{
	int rc;

	if (strchr(o->event, ','))
		return error_set(err, EINVAL, "event: the calls of a Java method are counted by themselves, without "
				 "other events: %s", o->event);
	rc = add_method(o, o->event, strlen(o->event), err);
	strcpy(o->event, "cpu");
	o->interval = 0; /* every call is counted */
	return rc;
}

/* Whether LIST has an event that is no other's but a Java method's. */
static bool has_method(const char *list)
{
	char item[sizeof(((struct options *)0)->event)];
	size_t n;

	for (; *list; list += n + (list[n] != '\0')) {
		n = strcspn(list, ",");
		snprintf(item, sizeof(item), "%.*s", (int)n, list);
		if (strchr(item, '.') && !strchr(item, '@') && !option_is_event(item))
			return true;
	}
	return false;
}

int option_finish_events(struct options *o, bool event_said, struct error *err)
{
	const struct {
		const char *name;
		uint64_t said;
	} timed[] = {{"wall", o->wall}, {"lock", o->lock}};
	int rc = o->trace[0] ? finish_trace(o, err) : 0;
	size_t i;

	if (rc == 0 && has_method(o->event))
		rc = finish_method(o, err);
	for (i = 0; rc == 0 && i < ARRAY_LEN(timed); i++) {
		if (!timed[i].said || holds(o->event, timed[i].name))
			continue;
		if (!event_said)
			o->event[0] = '\0';
		event_said = true;
		rc = option_add_event(timed[i].name, o, err);
	}
	return rc ? rc : option_check_interval(o, err);
}
