/*
 * One option and its value, checked and stored. Both parsers end here, so the
 * agent's string and the command line understand the same values and complain
 * in the same words.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "options/table.h"

static void *field(const struct option *option, struct options *o)
{
	return (char *)o + option->offset;
}

static int apply_text(const struct option *option, const char *name, const char *value,
		      struct options *o, struct error *err)
{
	if (strlen(value) >= option->size)
		return error_set(err, EINVAL, "%s: the value is too long (%zu bytes); at most %zu "
				 "are possible", name, strlen(value), option->size - 1);
	if (!*value)
		return error_set(err, EINVAL, "%s: the value is empty; give %s=%s", name, name,
				 option->arg);
	strcpy(field(option, o), value);
	return 0;
}

static int apply_time(const struct option *option, const char *name, const char *value,
		      struct options *o, struct error *err)
{
	bool minutes = option->kind == OPTION_DURATION;
	char min[32], max[32];
	uint64_t ns = 0;
	int rc = option_time(value, minutes, &ns);

	option_time_text(option->min, min, sizeof(min));
	option_time_text(option->max, max, sizeof(max));
	if (rc == -EINVAL)
		return error_set(err, EINVAL, "%s: '%s' is not a time; write it like %s", name,
				 value, minutes ? "30, 0.5, 500ms or 2m" : "10ms, 100us or 1s");
	if (rc || ns < option->min || ns > option->max)
		return error_set(err, EINVAL, "%s: %s is out of range; use a time from %s to %s "
				 "(a bare number is in %s)", name, value, min, max, minutes ?
				 "seconds" : "nanoseconds");
	memcpy(field(option, o), &ns, sizeof(ns));
	return 0;
}

static int apply_count(const struct option *option, const char *name, const char *value,
		       struct options *o, struct error *err)
{
	uint64_t n = 0;
	uint32_t stored;
	int rc;

	if (option->kind == OPTION_DEPTH && strchr(value, '/'))
		return error_set(err, EINVAL, "not available yet: %s=N/M; use %s=N", name, name);
	rc = option_count(value, &n);
	if (rc == -EINVAL)
		return error_set(err, EINVAL, "%s: '%s' is not a whole number", name, value);
	if (rc || n < option->min || n > option->max)
		return error_set(err, EINVAL, "%s: %s is out of range; use a number from %llu to "
				 "%llu", name, value, (unsigned long long)option->min,
				 (unsigned long long)option->max);
	stored = (uint32_t)n;
	if (option->size == sizeof(stored))
		memcpy(field(option, o), &stored, sizeof(stored));
	return 0;
}

static int apply_event(const struct option *option, const char *value, struct options *o,
		       struct error *err)
{
	const char *names[64], *near;
	const struct option_event *e;
	size_t n = 0;

	for (e = option_events; e->name; e++) {
		if (strcmp(e->name, value) == 0)
			break;
		if (n + 1 < ARRAY_LEN(names))
			names[n++] = e->name;
	}
	if (e->name && e->when != WHEN_LATER) {
		strcpy(field(option, o), value);
		return 0;
	}
	names[n] = NULL;
	near = e->name ? NULL : options_nearest(value, names);
	if (near)
		return error_set(err, EINVAL, "unknown event: %s (did you mean %s?)", value, near);
	/* methods, probes and counters by name: async-profiler has them, jstrobe will */
	if (e->name || strpbrk(value, ".:/"))
		return error_set(err, EINVAL, "not available yet: %s; events are cpu, ctimer and "
				 "itimer", value);
	return error_set(err, EINVAL, "unknown event: %s; use cpu, ctimer or itimer", value);
}

/* "-e cpu,alloc" works in async-profiler because what follows the comma is an option again. */
static int apply_event_list(const struct option *option, const char *value, struct options *o,
			    struct error *err)
{
	const char *comma = strchr(value, ',');
	char first[64];
	int rc;

	if (!comma)
		return apply_event(option, value, o, err);
	snprintf(first, sizeof(first), "%.*s", (int)(comma - value), value);
	rc = apply_event(option, first, o, err);
	return rc ? rc : options_parse_agent(o, comma + 1, ',', err);
}

static int apply_format_word(const struct option *option, const char *name, const char *value,
			     struct options *o, struct error *err)
{
	bool flat = strcmp(option->word, "flat") == 0;
	bool traces = strcmp(option->word, "traces") == 0;
	const char *other = flat ? "traces" : traces ? "flat" : "-";
	uint64_t n = 0;

	if (value && (flat || traces)) {
		if (apply_count(option, name, value, o, err))
			return -EINVAL;
		option_count(value, &n);
		*(flat ? &o->flat : &o->traces) = (uint32_t)n;
	}
	/* flat and traces together are the text format */
	if (strcmp(o->format, other) == 0)
		strcpy(o->format, "text");
	else
		snprintf(o->format, sizeof(o->format), "%s", option->word);
	return 0;
}

static const struct option *format_word(const char *text, size_t n)
{
	const struct option *p;

	for (p = option_table; p->help; p++)
		if (p->group == OPTIONS_OUTPUT && option_is(p->agent, text, n) &&
		    (p->kind == OPTION_FORMAT_WORD || (p->kind == OPTION_NONE && !p->name)))
			return p;
	return NULL;
}

static int unknown_format(const char *word, struct error *err)
{
	const char *names[32], *near;
	const struct option *p;
	size_t n = 0;

	for (p = option_table; p->help && n + 1 < ARRAY_LEN(names); p++)
		if (p->kind == OPTION_FORMAT_WORD)
			names[n++] = p->agent;
	names[n] = NULL;
	near = options_nearest(word, names);
	if (near)
		return error_set(err, EINVAL, "unknown output format: %s (did you mean %s?)", word,
				 near);
	return error_set(err, EINVAL, "unknown output format: %s; 'jstrobe help formats' lists them",
			 word);
}

/* "-o flat=20,traces" or "-o collapsed,threads": format words first, any agent option after. */
static int apply_format_list(const char *value, struct options *o, struct error *err)
{
	size_t n = strcspn(value, ",=");
	const struct option *p = format_word(value, n);
	char word[32];

	snprintf(word, sizeof(word), "%.*s", (int)n, value);
	if (!p)
		return unknown_format(word, err);
	return options_parse_agent(o, value, ',', err);
}

static int apply_features(const char *value, struct options *o, struct error *err)
{
	static const char *const later[] = {"jnienv", "agct", "mixed", "vtable", "comptask",
					    "pcaddr"};
	size_t i;

	while (*value) {
		size_t n = strcspn(value, ",+");

		for (i = 0; i < ARRAY_LEN(later); i++)
			if (option_is(later[i], value, n))
				return error_set(err, EINVAL, "not available yet: features=%s",
						 later[i]);
		if (!option_is("stats", value, n))
			return error_set(err, EINVAL, "unknown feature: %.*s; there is "
					 "features=stats", (int)n, value);
		o->stats = true;
		value += n + (value[n] != '\0');
	}
	return 0;
}

static int apply_loglevel(const char *name, const char *value, struct options *o,
			  struct error *err)
{
	static const char *const levels[] = {"trace", "debug", "info", "warn", "error", "none"};
	size_t i = 0;

	while (i < ARRAY_LEN(levels) && strcmp(levels[i], value) != 0)
		i++;
	if (i == ARRAY_LEN(levels))
		return error_set(err, EINVAL, "%s: unknown level %s; use trace, debug, info, "
				 "warn, error or none", name, value);
	o->verbose = i < 2;
	o->quiet = i == 5;
	return 0;
}

static int apply_flag(const struct option *option, const char *name, const char *value,
		      struct options *o, struct error *err)
{
	if (value && strcmp(value, "true") != 0 && strcmp(value, "false") != 0)
		return error_set(err, EINVAL, "%s takes no value; remove '=%s'", name, value);
	*(bool *)field(option, o) = !value || strcmp(value, "true") == 0;
	return 0;
}

int option_apply(const struct option *option, const char *name, const char *value,
		 struct options *o, struct error *err)
{
	if (option->when == WHEN_LATER)
		return error_set(err, EINVAL, "not available yet: %s", name);
	if (!value && option->arg && option->arg[0] != '[')
		return error_set(err, EINVAL, "%s needs a value: %s", name, option->arg);
	switch (option->kind) {
	case OPTION_ACTION:
		o->action = option->action;
		return 0;
	case OPTION_FLAG:
		return apply_flag(option, name, value, o, err);
	case OPTION_TEXT:
		return apply_text(option, name, value, o, err);
	case OPTION_COUNT:
	case OPTION_DEPTH:
		return apply_count(option, name, value, o, err);
	case OPTION_TIME:
	case OPTION_DURATION:
		return apply_time(option, name, value, o, err);
	case OPTION_EVENT:
		return apply_event_list(option, value, o, err);
	case OPTION_EVENT_WORD:
		return apply_event(option, option->agent, o, err);
	case OPTION_FORMAT:
		return apply_format_list(value, o, err);
	case OPTION_FORMAT_WORD:
		return apply_format_word(option, name, value, o, err);
	case OPTION_FEATURES:
		return apply_features(value, o, err);
	case OPTION_LOGLEVEL:
		return apply_loglevel(name, value, o, err);
	case OPTION_NONE:
		break;
	}
	return error_set(err, EINVAL, "not available yet: %s", name);
}

int options_check_file(const char *file, struct error *err)
{
	const char *slash = strrchr(file, '/'), *dot = strrchr(slash ? slash : file, '.');
	const struct option *p;

	if (!dot)
		return 0;
	p = format_word(dot + 1, strlen(dot + 1));
	if (p && p->when == WHEN_LATER)
		return error_set(err, EINVAL, "not available yet: %s (the extension of %s); use "
				 ".html, .json, .collapsed or .txt, or -o FORMAT", p->agent, file);
	return 0;
}
