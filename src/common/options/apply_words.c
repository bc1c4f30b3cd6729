/*
 * apply_words.c - options whose values are words of a list: formats, features, modes, levels.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/ascii.h"
#include "common/options/apply.h"

int apply_cstack(const struct option *option, const char *name, const char *value,
			struct options *o, struct error *err)
{
	static const char *const modes[] = {"no", "vm", "vmx", "fp", "dwarf"};
	size_t i = 0;

	while (i < ARRAY_LEN(modes) && strcmp(modes[i], value) != 0)
		i++;
	if (i == ARRAY_LEN(modes) && !o->lenient)
		return error_set(err, EINVAL, "%s: unknown mode %s; use no, vm, vmx, fp or dwarf", name,
				 value);
	if (i == ARRAY_LEN(modes)) {
		option_note(o, "%s: unknown mode %s; it is vm", name, value);
		value = "vm";
	}
	strcpy(apply_field(option, o), value);
	return 0;
}

int apply_format_word(const struct option *option, const char *name, const char *value,
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

/* The format that TEXT[0..N) names; NULL: none. */
static const struct option *known_format(const char *text, size_t n)
{
	const struct option *p;

	for (p = option_table; p->kind; p++)
		if (p->kind == OPTION_FORMAT_WORD && option_is(p->agent, text, n))
			return p;
	return NULL;
}

static int unknown_format(const char *word, struct error *err)
{
	const char *names[32], *near;
	const struct option *p;
	size_t n = 0;

	for (p = option_table; p->kind && n + 1 < ARRAY_LEN(names); p++)
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
/* What jfrconv writes, and we do not. */
static bool is_of_jfrconv(const char *word)
{
	static const char *const words[] = {"heatmap"};
	size_t i;

	for (i = 0; i < ARRAY_LEN(words); i++)
		if (strcmp(words[i], word) == 0)
			return true;
	return false;
}

int apply_format_list(const char *value, struct options *o, struct error *err)
{
	size_t n = strcspn(value, ",=");
	const struct option *p = known_format(value, n);
	char word[32];

	snprintf(word, sizeof(word), "%.*s", (int)n, value);
	if (o->converting && is_of_jfrconv(word))
		return error_set(err, EINVAL, "--output: %s is not written here; async-profiler's converter makes it "
				 "of the same recording (java -jar jfr-converter.jar -o %s), or take html, json or "
				 "collapsed", word, word);
	if (!p)
		return unknown_format(word, err);
	return options_parse_agent(o, value, ',', err);
}

/* The field that holds the rate of EVENT[0..N); NULL: it has none. */
static uint32_t *rate_of(const char *event, size_t n, struct options *o)
{
	static const char *const cpu[] = {"cpu", "ctimer", "itimer", "cpu-clock", "task-clock"};
	size_t i;

	if (option_is("alloc", event, n) || option_is("live", event, n))
		return &o->rate;
	for (i = 0; i < ARRAY_LEN(cpu); i++)
		if (option_is(cpu[i], event, n))
			return &o->cpu_rate;
	return NULL;
}

/* "cpu:1000;alloc:200". What cannot be kept is not promised. */
int apply_rate_limit(const char *value, struct options *o, struct error *err)
{
	size_t n;

	for (; *value; value += n + (value[n] != '\0')) {
		size_t name;
		uint32_t *rate;
		char *end;
		unsigned long number;

		n = strcspn(value, ";+");
		name = strcspn(value, ":");
		number = name < n ? strtoul(value + name + 1, &end, 10) : 0;
		if (!number || number > 1000000 || end != value + n)
			return error_set(err, EINVAL, "ratelimit: '%.*s' is no EVENT:N; write "
					 "ratelimit=cpu:1000;alloc:200, with N from 1 to 1000000", (int)n, value);
		rate = rate_of(value, name, o);
		if (rate)
			*rate = (uint32_t)number;
		else if (o->lenient)
			option_note(o, "ratelimit: samples of %.*s are limited by its own interval or threshold; it is "
				    "left out", (int)name, value);
		else
			return error_set(err, EINVAL, "ratelimit: samples of %.*s are limited by its own interval or "
					 "threshold; a rate is there for cpu, ctimer, itimer, alloc and live",
					 (int)name, value);
	}
	return 0;
}

int apply_features(const char *value, struct options *o, struct error *err)
{
	static const char *const later[] = {"jnienv", "agct", "mixed", "vtable", "comptask",
					    "pcaddr"};
	size_t i;

	while (*value) {
		size_t n = strcspn(value, ",+");

		for (i = 0; i < ARRAY_LEN(later) && !option_is(later[i], value, n); i++)
			;
		if (option_is("stats", value, n))
			o->stats = true;
		else if (o->lenient)
			option_note(o, "%s: features=%.*s; it is left out",
				    i < ARRAY_LEN(later) ? "not available yet" : "unknown", (int)n, value);
		else if (i < ARRAY_LEN(later))
			return error_set(err, EINVAL, "not available yet: features=%s", later[i]);
		else
			return error_set(err, EINVAL, "unknown feature: %.*s; there is "
					 "features=stats", (int)n, value);
		value += n + (value[n] != '\0');
	}
	return 0;
}

int apply_omitted(const struct option *option, const char *name, const char *value, struct options *o,
		  struct error *err)
{
	if (strcmp(value, "mem") == 0)
		return 0;
	if (apply_count(option, name, value, o, err))
		return error_set(err, EINVAL, "%s: '%s' is neither mem nor a sum of 1, 2, 4, 8 and 16", name, value);
	return 0;
}

int apply_word(const struct option *option, const char *name, const char *value,
		      struct options *o, struct error *err)
{
	const char *word = option->arg;
	size_t n;

	for (; *word; word += n + (word[n] == '|')) {
		n = strcspn(word, "|");
		if (strlen(value) == n && strncmp(word, value, n) == 0) {
			strcpy(apply_field(option, o), value);
			return 0;
		}
	}
	return error_set(err, EINVAL, "%s: unknown word '%s'; use one of %s", name, value, option->arg);
}

int apply_loglevel(const char *name, const char *value, struct options *o,
			  struct error *err)
{
	static const char *const levels[] = {"trace", "debug", "info", "warn", "error", "none"};
	size_t i = 0;

	while (i < ARRAY_LEN(levels) && !ascii_equals(levels[i], value))
		i++;
	if (i == ARRAY_LEN(levels))
		return error_set(err, EINVAL, "%s: unknown level %s; use trace, debug, info, "
				 "warn, error or none", name, value);
	o->verbose = i < 2;
	o->quiet = i == 5;
	return 0;
}
