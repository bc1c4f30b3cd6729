/*
 * The two grammars: the agent's list of name[=value], and the command's
 * -x value, --name value, --name=value.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/options/option_table.h"

/* The option of the agent's string, or of the command, that NAME may be a slip of; NULL: none is near. */
static const char *near_one(const char *name, bool agent)
{
	const char *names[256];
	const struct option *p;
	size_t n = 0;

	for (p = option_table; p->kind && n + 1 < ARRAY_LEN(names); p++) {
		const char *candidate = agent ? p->agent : p->name;

		if (candidate && (p->when == WHEN_NOW || p->when == WHEN_LATER))
			names[n++] = candidate;
	}
	names[n] = NULL;
	return options_nearest(name, names);
}

static int unknown(const char *name, const char *spelled, bool agent, struct error *err)
{
	const char *near = near_one(name, agent);

	if (near)
		return error_set(err, EINVAL, "unknown option: %s (did you mean %s%s?)", spelled,
				 agent ? "" : "--", near);
	return error_set(err, EINVAL, "unknown option: %s; 'jstrobe help options' lists them",
			 spelled);
}

_Static_assert(sizeof(((struct options *)0)->given) == 4 * sizeof(uint64_t), "room for 256 rows");

static void note_given(const struct option *p, struct options *o)
{
	size_t row = (size_t)(p - option_table);

	if (row / 64 < ARRAY_LEN(o->given))
		o->given[row / 64] |= 1ull << (row % 64);
}

/* Handle one item NAME[=VALUE] of an agent's string. */
static int agent_item(struct options *o, const char *name, const char *value, struct error *err)
{
	const struct option *p;
	const char *near;

	for (p = option_table; p->kind; p++)
		if (option_is_called(p->agent, name, strlen(name))) {
			/* behind the command's -o: "-o flat,threads" */
			if (p->name)
				note_given(p, o);
			if (!o->lenient || p->when != WHEN_LATER)
				return option_apply(p, p->agent, value, o, err);
			option_note(o, "not available yet: %s; it is left out", p->agent);
			return 0;
		}
	/* the command's word for the format is taken as well */
	for (p = option_table; p->kind; p++)
		if (p->kind == OPTION_FORMAT && strcmp(name, "format") == 0)
			return option_apply(p, name, value, o, err);
	if (option_is_event(name) && !value)
		return error_set(err, EINVAL, "unknown option: %s; an event is event=%s", name, name);
	near = near_one(name, true);
	if (!o->lenient)
		return unknown(name, name, true, err);
	option_note(o, near ? "unknown option: %s (did you mean %s?); it is left out"
			    : "unknown option: %s; it is left out", name, near);
	return 0;
}

/*
 * An event after the first, in a list apart by commas; a tracepoint's filter may hold '=', and so may an event of a
 * source, behind its name and a slash: "some=/path" is an option, if none that we know.
 */
static bool adds_event(const struct options *o, const char *item)
{
	const struct option *p;
	size_t n = strcspn(item, "=");

	if (item[n] && strcspn(item, "/:") > n)
		return false;

	for (p = option_table; p->kind; p++)
		if (option_is_called(p->agent, item, n) && p->kind != OPTION_EVENT_WORD)
			return false;
	return o->event_said && (option_is_event(item) || option_is_method(item));
}

/* With `strict` a note is an error: what it says first. */
static int refuse_notes(const struct options *o, struct error *err)
{
	if (!o->strict || !o->notes[0])
		return 0;
	return error_set(err, EINVAL, "%.*s (strict)", (int)strcspn(o->notes, "\n"), o->notes);
}

int options_parse_agent(struct options *o, const char *text, char separator, struct error *err)
{
	bool outer = !o->parsing, event_said;
	char *copy = strdup(text), *item = copy;
	struct error another, *to = err;
	int rc = 0, bad;

	if (!copy)
		return error_set(err, ENOMEM, "options: out of memory");
	o->parsing = true;
	if (outer) {
		o->lenient = separator == ',';
		o->notes[0] = '\0';
	}
	/* the first error counts, but what comes after it may say where errors go */
	while (item) {
		char *end = strchr(item, separator), *value;

		if (end)
			*end++ = '\0';
		if (adds_event(o, item)) {
			bad = option_add_event(item, o, to);
			if (bad && rc == 0) {
				rc = bad;
				to = &another;
			}
			item = end;
			continue;
		}
		value = strchr(item, '=');
		if (value)
			*value++ = '\0';
		bad = 0;
		if (*item)
			bad = agent_item(o, item, value, to);
		else if (value)
			bad = error_set(to, EINVAL, "unknown option: =%s; an option is NAME or "
					"NAME=VALUE", value);
		if (bad && rc == 0) {
			rc = bad;
			to = &another;
		}
		item = end;
	}
	free(copy);
	if (!outer)
		return rc;
	event_said = o->event_said;
	o->parsing = o->event_said = false;
	memset(o->given, 0, sizeof(o->given));
	rc = rc ? rc : option_finish_events(o, event_said, err);
	o->lenient = false;
	return rc ? rc : refuse_notes(o, err);
}

/*
 * "--wall 20ms": a time that may be left out. A bare number is one, too, unless it is the pid at the end; a word is
 * a profile unless it is the target.
 */
static bool takes_next(const struct option *p, char **argv, int left)
{
	size_t digits = left > 1 ? strspn(argv[1], "0123456789.") : 0;

	if (p->kind == OPTION_PROFILE)
		return left > 2 && argv[1][0] != '-';
	return option_has_interval(p) && digits && (argv[1][digits] || left > 2);
}

static int apply(const struct option *p, const char *spelled, const char *value, struct options *o, struct error *err)
{
	note_given(p, o);
	return option_apply(p, spelled, value, o, err);
}

/* "--name", "--name=value" or "--name value"; *USED counts the arguments taken. */
static int parse_long(struct options *o, char **argv, int left, int *used, struct error *err)
{
	const char *name = argv[0] + 2, *equals = strchr(name, '=');
	size_t n = equals ? (size_t)(equals - name) : strlen(name);
	const char *value = equals ? equals + 1 : NULL;
	const struct option *p = option_table;
	char spelled[64];

	snprintf(spelled, sizeof(spelled), "--%.*s", (int)n, name);
	while (p->kind && !option_is(p->name, name, n))
		p++;
	*used = 1;
	if (o->converting && !equals && option_is_family(name, n)) {
		note_given(p, o);
		return option_add_families(name, o, err);
	}
	if (!p->kind)
		return unknown(spelled + 2, spelled, false, err);
	if (!value && p->arg && (p->arg[0] != '[' || takes_next(p, argv, left)) && p->when != WHEN_LATER &&
	    left > 1) {
		value = argv[1];
		*used = 2;
	}
	return apply(p, spelled, value, o, err);
}

/* "-x", "-x value", "-xvalue", or several letters without values in one word. */
static int parse_short(struct options *o, char **argv, int left, int *used, struct error *err)
{
	const char *letter = argv[0] + 1;
	int rc = 0;

	for (*used = 1; rc == 0 && *letter; letter++) {
		const struct option *p = option_by_letter(o, *letter);
		const char *value = NULL;
		char spelled[3] = {'-', *letter, '\0'};

		if (!p)
			return unknown(argv[0] + 1, argv[0], false, err);
		if (p->arg && p->when != WHEN_LATER) {
			if (letter[1])
				value = letter + 1;
			else if (left > 1)
				value = argv[(*used)++];
			return apply(p, spelled, value, o, err);
		}
		rc = apply(p, spelled, NULL, o, err);
	}
	return rc;
}

int options_parse_command(struct options *o, int argc, char **argv, int *words, int *program,
			  struct error *err)
{
	int i = 0, used, rc = 0;
	bool event_said;

	*words = 0;
	*program = argc;
	o->parsing = true;
	while (i < argc && rc == 0) {
		if (strcmp(argv[i], "--") == 0) {
			*program = i + 1;
			break;
		}
		used = 1;
		if (argv[i][0] != '-' || argv[i][1] == '\0')
			argv[(*words)++] = argv[i];
		else if (argv[i][1] == '-')
			rc = parse_long(o, argv + i, argc - i, &used, err);
		else
			rc = parse_short(o, argv + i, argc - i, &used, err);
		i += used;
	}
	event_said = o->event_said;
	o->parsing = o->event_said = false;
	return rc ? rc : option_finish_events(o, event_said, err);
}
