/*
 * One option and its value, checked and stored. Both parsers end here, so the
 * agent's string and the command line understand the same values and complain
 * in the same words.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/options/apply.h"

static int apply_text(const struct option *option, const char *name, const char *value,
		      struct options *o, struct error *err)
{
	if (strlen(value) >= option->size)
		return error_set(err, EINVAL, "%s: the value is too long (%zu bytes); at most %zu "
				 "are possible", name, strlen(value), option->size - 1);
	if (!*value)
		return error_set(err, EINVAL, "%s: the value is empty; give %s=%s", name, name,
				 option->arg);
	strcpy(apply_field(option, o), value);
	return 0;
}

/* Each of them is one line more. */
static int apply_trace(const struct option *option, const char *name, const char *value, struct options *o,
		       struct error *err)
{
	size_t used = strlen(o->trace);

	if (!*value || used + 1 + strlen(value) >= option->size)
		return error_set(err, EINVAL, "%s: %s; give %s=%s, in at most %zu bytes together", name,
				 *value ? "the methods are too long" : "the value is empty", name, option->arg,
				 option->size - 1);
	snprintf(o->trace + used, option->size - used, "%s%s", used ? "\n" : "", value);
	return 0;
}

static int apply_time(const struct option *option, const char *name, const char *value,
		      struct options *o, struct error *err)
{
	bool minutes = option->kind == OPTION_DURATION;
	char min[32], max[32];
	uint64_t ns = 0;
	int rc = option_time(value, minutes, &ns);

	/* jfrconv's --latency 10 is 10 ms, and 0 any */
	if (rc == 0 && o->converting && apply_field(option, o) == (void *)&o->latency)
		ns = !ns ? 1 : value[strspn(value, "0123456789.")] ? ns : ns * NS_PER_MS;
	option_time_text(option->min, min, sizeof(min));
	option_time_text(option->max, max, sizeof(max));
	if (rc == -EINVAL)
		return error_set(err, EINVAL, "%s: '%s' is not a time; write it like %s", name,
				 value, minutes ? "30, 0.5, 500ms or 2m" : "10ms, 100us or 1s");
	if (rc || ns < option->min || ns > option->max)
		return error_set(err, EINVAL, "%s: %s is out of range; use a time from %s to %s "
				 "(a bare number is in %s)", name, value, min, max, minutes ?
				 "seconds" : "nanoseconds");
	memcpy(apply_field(option, o), &ns, sizeof(ns));
	return 0;
}

static int apply_size(const struct option *option, const char *name, const char *value,
		      struct options *o, struct error *err)
{
	char min[32], max[32];
	uint64_t bytes = 0;
	int rc = option_size(value, &bytes);

	option_size_text(option->min, min, sizeof(min));
	option_size_text(option->max, max, sizeof(max));
	if (rc == -EINVAL)
		return error_set(err, EINVAL, "%s: '%s' is not a size; write it like 64m or 1g", name, value);
	if (rc || bytes < option->min || bytes > option->max)
		return error_set(err, EINVAL, "%s: %s is out of range; use a size from %s to %s (a bare number is in "
				 "bytes)", name, value, min, max);
	memcpy(apply_field(option, o), &bytes, sizeof(bytes));
	return 0;
}

static int said_twice(const char *name, struct error *err)
{
	return error_set(err, EINVAL, "%s: the interval is said twice, and differently; remove one of the two", name);
}

static int apply_interval(const struct option *option, const char *name, const char *value,
			  struct options *o, struct error *err)
{
	uint64_t n = 0;
	int rc = option_interval(value, &n);
	bool is_size = rc == -EINVAL && option_size(value, &n) == 0;

	if (rc == -EINVAL && !is_size)
		return error_set(err, EINVAL, "%s: '%s' is not a time or number of events; write it like 10ms, 100us "
				 "or 1000", name, value);
	if ((rc && !is_size) || n < 1 || n > option->max)
		return error_set(err, EINVAL, "%s: %s is out of range; use a time from 50us to 100s, "
					 "or with an event that is "
				 "not CPU time a number of events", name, value);
	if (o->period_said && o->period_said != n)
		return said_twice(name, err);
	memcpy(apply_field(option, o), &n, sizeof(n));
	if (option_size(value, &o->interval_bytes))
		o->interval_bytes = OPTIONS_ALL;
	o->interval_is_size = is_size;
	return 0;
}

int apply_count(const struct option *option, const char *name, const char *value,
		       struct options *o, struct error *err)
{
	size_t length = strlen(value);
	char number[32];
	uint64_t n = 0;
	uint32_t stored;
	int rc;

	if (option->arg && strcmp(option->arg, "N/s") == 0 && length > 2 && length < sizeof(number) &&
	    strcmp(value + length - 2, "/s") == 0) {
		snprintf(number, sizeof(number), "%.*s", (int)length - 2, value);
		rc = option_count(number, &n);
	} else {
		rc = option_count(value, &n);
	}
	if (rc == -EINVAL)
		return error_set(err, EINVAL, "%s: '%s' is not a whole number", name, value);
	if (rc || n < option->min || n > option->max)
		return error_set(err, EINVAL, "%s: %s is out of range; use a number from %llu to "
				 "%llu", name, value, (unsigned long long)option->min,
				 (unsigned long long)option->max);
	stored = (uint32_t)n;
	if (option->size == sizeof(stored))
		memcpy(apply_field(option, o), &stored, sizeof(stored));
	return 0;
}

/* "N" or "N/M": of stacks deeper than N only the top M are kept. */
static int apply_depth(const struct option *option, const char *name, const char *value,
		       struct options *o, struct error *err)
{
	const char *slash = strchr(value, '/');
	uint64_t kept = 0;
	char first[32];
	int rc;

	snprintf(first, sizeof(first), "%.*s", (int)strcspn(value, "/"), value);
	rc = apply_count(option, name, first, o, err);
	if (rc)
		return rc;
	if (slash && (option_count(slash + 1, &kept) || kept < option->min || kept > o->depth))
		return error_set(err, EINVAL, "%s: %s: what follows the slash is a number from "
				 "%llu to %u, the frames to keep of deeper stacks", name, value,
				 (unsigned long long)option->min, o->depth);
	o->depth_kept = (uint32_t)kept;
	return 0;
}

static int apply_percent(const struct option *option, const char *name, const char *value,
			 struct options *o, struct error *err)
{
	uint32_t thousandths = 0;

	if (option_percent(value, &thousandths))
		return error_set(err, EINVAL, "%s: '%s' is no percentage; use a number from 0 to "
				 "100, as in %s=0.5", name, value, name);
	memcpy(apply_field(option, o), &thousandths, sizeof(thousandths));
	return 0;
}

static int apply_ratio(const struct option *option, const char *name, const char *value, struct options *o,
		       struct error *err)
{
	uint32_t thousandths = 0;

	if (option_ratio(value, &thousandths))
		return error_set(err, EINVAL, "%s: '%s' is no part of something; use 0%% to 100%%, or 0 to 1, as in "
				 "%s=10%%", name, value, name);
	thousandths++;
	memcpy(apply_field(option, o), &thousandths, sizeof(thousandths));
	return 0;
}

/*
 * Whether PATTERN has a * that would be a letter, and is meant as one for anything. Names of C++ alone have such
 * letters: "operator*", "f(char*, int)", "List<char*>". Regular expressions are jfrconv's; `convert` refuses them in
 * its own words.
 */
static bool has_star_inside(const char *pattern, const struct options *o)
{
	size_t n = strlen(pattern);
	const char *star = n > 2 ? strchr(pattern + 1, '*') : NULL;

	return star && star < pattern + n - 1 && !strpbrk(pattern, "(<") && !strstr(pattern, "operator") &&
	       !o->jfrconv && !(o->converting && star[-1] == '.');
}

static int apply_pattern(const struct option *option, const char *name, const char *value,
			 struct options *o, struct error *err)
{
	char *list = apply_field(option, o);
	size_t used;

	if (!*value || strchr(value, '\n'))
		return error_set(err, EINVAL, "%s: the pattern is empty or has a line break; write "
				 "it like java.util.* or *Lock*", name);
	if (has_star_inside(value, o))
		return error_set(err, EINVAL, "%s: '%s' has a * inside, which would match nothing; * stands for "
				 "anything at the begin or end alone, as in java.util.* or *Lock*", name, value);
	if (o->patterns_old)
		o->include[0] = o->exclude[0] = '\0';
	o->patterns_old = false;
	used = strlen(list);
	if (used + 1 + strlen(value) >= option->size)
		return error_set(err, EINVAL, "%s: the patterns are longer than %zu bytes together",
				 name, option->size - 1);
	snprintf(list + used, option->size - used, "%s%s", used ? "\n" : "", value);
	return 0;
}

static int apply_mode(const struct option *option, const char *name, const char *value,
		      struct options *o, struct error *err)
{
	size_t digits = strspn(value, "01234567");
	uint32_t mode = (uint32_t)strtoul(value, NULL, 8);

	if (!digits || value[digits] || digits > 4 || mode < option->min || mode > option->max)
		return error_set(err, EINVAL, "%s: '%s' is no mode of a file; write it like %s=640", name, value, name);
	memcpy(apply_field(option, o), &mode, sizeof(mode));
	return 0;
}

static int apply_signal(const struct option *option, const char *name, const char *value,
			struct options *o, struct error *err)
{
	const char *slash = strchr(value, '/');
	uint64_t other;
	char first[32];

	snprintf(first, sizeof(first), "%.*s", (int)strcspn(value, "/"), value);
	if (slash && (option_count(slash + 1, &other) || other < option->min || other > option->max))
		return error_set(err, EINVAL, "%s: '%s' is no pair of signals; write it like %s=27 "
				 "or %s=27/28", name, value, name, name);
	return apply_count(option, name, first, o, err);
}

/* Kept with ';' between the parts: a comma would end the option in an agent's string. */
static int apply_threads(const struct option *option, const char *name, const char *value,
			 struct options *o, struct error *err)
{
	char *text = apply_field(option, o), *p;

	/* no thread but those that the program adds itself */
	if (!value || !*value || strcmp(value, OPTIONS_NO_THREAD) == 0) {
		strcpy(text, OPTIONS_NO_THREAD);
		return 0;
	}
	if (!options_thread_listed(value, UINT32_MAX) || strlen(value) >= option->size)
		return error_set(err, EINVAL, "%s: '%s' is no list of threads of at most %zu "
				 "bytes; write it like 120-127,132,name:http-*,group:main", name, value,
				 option->size - 1);
	strcpy(text, value);
	for (p = text; *p; p++)
		if (*p == ',')
			*p = ';';
	return 0;
}

static int apply_moment(const struct option *option, const char *name, const char *value,
			struct options *o, struct error *err)
{
	struct options_moment m;
	char *text = apply_field(option, o);

	if (options_moment(value, NS_PER_S, NS_PER_S, &m) || strlen(value) >= option->size)
		return error_set(err, EINVAL, "%s: '%s' is no time; write it like 90, 10m, 1h or "
				 "12:30:00 (* for any hour or minute), at most a year", name,
				 value);
	/* 0 is never */
	strcpy(text, m.at ? value : "");
	return 0;
}

static int apply_period(const struct option *option, const char *name, const char *value, struct options *o,
			struct error *err)
{
	uint64_t ms = 0;

	if (option_count(value, &ms) || ms < option->min || ms > option->max)
		return error_set(err, EINVAL, "%s: '%s' is no number of milliseconds from 1 to %llu", name, value,
				 (unsigned long long)option->max);
	if (o->interval && o->interval != ms * NS_PER_MS)
		return said_twice(name, err);
	o->interval = o->period_said = ms * NS_PER_MS;
	o->interval_bytes = OPTIONS_ALL;
	o->interval_is_size = false;
	return 0;
}

/* 0 in the field is "not said" and 1 the default, see OPTIONS_ALL. */
static int apply_event_interval(const struct option *option, const char *name, const char *value, struct options *o,
				struct error *err)
{
	int (*apply_value)(const struct option *option, const char *name, const char *value, struct options *o,
			   struct error *err) = option->kind == OPTION_SIZED_EVENT ? apply_size : apply_time;
	uint64_t interval = 1;
	int rc = value && option->kind == OPTION_EVERY_EVENT ?
			 error_set(err, EINVAL, "%s takes no value; remove '=%s'", name, value) :
		 value ? apply_value(option, name, value, o, err) : 0;

	if (rc)
		return rc;
	if (value)
		memcpy(&interval, apply_field(option, o), sizeof(interval));
	interval = !value ? 1 : interval ? MAX(interval, 2) : OPTIONS_ALL;
	memcpy(apply_field(option, o), &interval, sizeof(interval));
	return 0;
}

static int apply_flag(const struct option *option, const char *name, const char *value,
		      struct options *o, struct error *err)
{
	if (value && strcmp(value, "true") != 0 && strcmp(value, "false") != 0)
		return error_set(err, EINVAL, "%s takes no value; remove '=%s'", name, value);
	*(bool *)apply_field(option, o) = !value || strcmp(value, "true") == 0;
	/* the last of the two counts */
	if (o->samples && option->offset == offsetof(struct options, samples))
		o->total = false;
	if (o->total && option->offset == offsetof(struct options, total))
		o->samples = false;
	return 0;
}

static int apply(const struct option *option, const char *name, const char *value,
		 struct options *o, struct error *err)
{
	if (option->when == WHEN_LATER)
		return error_set(err, EINVAL, "not available yet: %s", name);
	/* Command and agent tell each other options one a line. */
	if (value && strchr(value, '\n'))
		return error_set(err, EINVAL, "%s: the value has a line break", name);
	if (!value && option->arg && option->arg[0] != '[' && option->kind != OPTION_THREADS)
		return error_set(err, EINVAL, "%s needs a value: %s", name, option->arg);
	switch (option->kind) {
	case OPTION_END:
		break;
	case OPTION_ACTION:
		o->action = option->action;
		return 0;
	case OPTION_FLAG:
		return apply_flag(option, name, value, o, err);
	case OPTION_TEXT:
		return apply_text(option, name, value, o, err);
	case OPTION_TRACE:
		return apply_trace(option, name, value, o, err);
	case OPTION_PROFILE:
		return apply_text(option, name, value ? value : "default", o, err);
	case OPTION_COUNT:
		return apply_count(option, name, value, o, err);
	case OPTION_DEPTH:
		return apply_depth(option, name, value, o, err);
	case OPTION_PERCENT:
		return apply_percent(option, name, value, o, err);
	case OPTION_RATIO:
		return apply_ratio(option, name, value, o, err);
	case OPTION_PATTERNS:
		return apply_pattern(option, name, value, o, err);
	case OPTION_CSTACK:
		return apply_cstack(option, name, value, o, err);
	case OPTION_WORD:
		return apply_word(option, name, value, o, err);
	case OPTION_MOMENT:
		return apply_moment(option, name, value, o, err);
	case OPTION_OMITTED:
		return apply_omitted(option, name, value, o, err);
	case OPTION_MODE:
		return apply_mode(option, name, value, o, err);
	case OPTION_SIGNAL:
		return apply_signal(option, name, value, o, err);
	case OPTION_THREADS:
		return apply_threads(option, name, value, o, err);
	case OPTION_IGNORED:
		return 0;
	case OPTION_TIME:
	case OPTION_DURATION:
		return apply_time(option, name, value, o, err);
	case OPTION_SIZE:
		return apply_size(option, name, value, o, err);
	case OPTION_INTERVAL:
		return apply_interval(option, name, value, o, err);
	case OPTION_EVENT:
		return o->converting ? option_add_families(value, o, err) :
				       option_events_apply(value, o, err);
	case OPTION_PERIOD_MS:
		return apply_period(option, name, value, o, err);
	case OPTION_TIMED_EVENT:
	case OPTION_SIZED_EVENT:
	case OPTION_EVERY_EVENT:
		return apply_event_interval(option, name, value, o, err);
	case OPTION_EVENT_WORD:
		return option_events_apply(option->agent ? option->agent : option->name, o, err);
	case OPTION_FORMAT:
		return apply_format_list(value, o, err);
	case OPTION_FORMAT_WORD:
		return apply_format_word(option, name, value, o, err);
	case OPTION_FEATURES:
		return apply_features(value, o, err);
	case OPTION_RATE_LIMIT:
		return apply_rate_limit(value, o, err);
	case OPTION_LOGLEVEL:
		return apply_loglevel(name, value, o, err);
	case OPTION_NONE:
		break;
	}
	return error_set(err, EINVAL, "not available yet: %s", name);
}

/* What async-profiler says of a wrong value; scripts look for it. */
static const struct {
	const char *agent, *words;
} known_words[] = {
	{"interval", "Invalid interval"}, {"timeout", "Invalid timeout"},
	{"loop", "Invalid loop duration"}, {"jstackdepth", "jstackdepth must be > 0"},
	{"signal", "signal must be > 0"},
};
static const char *const not_empty[] = {"event", "file", "loglevel"};

static const char *words_for(const struct option *option, const char *value, char *out, size_t size)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(known_words); i++)
		if (strcmp(known_words[i].agent, option->agent) == 0)
			return known_words[i].words;
	snprintf(out, size, "%s must not be empty", option->agent);
	for (i = 0; i < ARRAY_LEN(not_empty) && (!value || !*value); i++)
		if (strcmp(not_empty[i], option->agent) == 0)
			return out;
	return NULL;
}

int option_apply(const struct option *option, const char *name, const char *value,
		 struct options *o, struct error *err)
{
	int rc = apply(option, name, value, o, err);
	char text[sizeof(err->text)], buffer[64];
	const char *words;

	if (rc == 0 || !option->agent || option->when == WHEN_LATER)
		return rc;
	words = words_for(option, value, buffer, sizeof(buffer));
	if (!words)
		return rc;
	strcpy(text, err->text);
	return error_set(err, EINVAL, "%s: %s", words, text);
}
