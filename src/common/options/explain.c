/*
 * explain.c - all that there is to say of one option: `jstrobe help --interval`.
 */
#include <stdio.h>
#include <string.h>

#include "common/options/option_table.h"

#define VALUES_FROM 12 /* the column in which what is said of a heading begins */

/* "  default  10ms" */
static void put_item(const char *heading, const char *text, struct buffer *out)
{
	buffer_printf(out, "  %-*s", VALUES_FROM - 2, heading);
	options_put_lines(text, VALUES_FROM, out);
}

static void put_limits(const struct option *p, char *text, size_t size)
{
	char min[32], max[32];

	text[0] = '\0';
	if (!p->max)
		return;
	switch (p->kind) {
	case OPTION_TIME:
	case OPTION_DURATION:
	case OPTION_INTERVAL:
	case OPTION_TIMED_EVENT:
		option_time_text(p->min, min, sizeof(min));
		option_time_text(p->max, max, sizeof(max));
		break;
	case OPTION_SIZE:
	case OPTION_SIZED_EVENT:
		option_size_text(p->min, min, sizeof(min));
		option_size_text(p->max, max, sizeof(max));
		break;
	default:
		snprintf(min, sizeof(min), p->kind == OPTION_MODE ? "%llo" : "%llu", (unsigned long long)p->min);
		snprintf(max, sizeof(max), p->kind == OPTION_MODE ? "%llo" : "%llu", (unsigned long long)p->max);
	}
	snprintf(text, size, ", from %s to %s", min, max);
}

/* What the value can be. */
static void put_value(const struct option *p, struct buffer *out)
{
	char limits[96], text[256];

	if (!p->arg)
		return;
	put_limits(p, limits, sizeof(limits));
	snprintf(text, sizeof(text), "%s%s%s%s", p->arg, limits,
		 p->arg[0] == '[' ? "; it may be left out" : strchr(p->arg, '|') ? ": one of these words" : "",
		 p->kind == OPTION_EVENT ? "; 'jstrobe help events' lists them" :
		 p->kind == OPTION_FORMAT ? "; 'jstrobe help formats' lists them" : "");
	put_item("value", text, out);
}

/* "interval=N" */
static void put_agent(const struct option *p, struct buffer *out)
{
	char text[160];

	if (!p->agent)
		put_item("agent", "none: it is the command's own", out);
	else if (!p->arg)
		put_item("agent", p->agent, out);
	else {
		snprintf(text, sizeof(text), "%s%s%s", p->agent, p->arg[0] == '[' ? "[=" : "=",
			 p->arg + (p->arg[0] == '['));
		put_item("agent", text, out);
	}
}

static void put_takers(const struct option *p, struct buffer *out)
{
	struct buffer takers = BUFFER_INIT;

	option_put_takers(p, ", ", &takers);
	buffer_putc(&takers, '\0');
	if (p->name)
		put_item("taken by", takers.failed ? "" : takers.data, out);
	else if (p->kind == OPTION_FORMAT_WORD)
		put_item("taken as", "a word behind -o (--output)", out);
	else
		put_item("taken by", "the agent alone, in its string of options", out);
	buffer_free(&takers);
}

/* A letter that commands which read files have for something else, or for nothing. */
static void put_other_letter(const struct option *p, struct buffer *out)
{
	struct options files = {.converting = true};
	const struct option *other = p->letter ? option_by_letter(&files, p->letter) : NULL;
	char text[96];

	if (!other || other == p || !other->name)
		return;
	snprintf(text, sizeof(text), "behind convert and diff, -%c is short for --%s", p->letter, other->name);
	put_item("note", text, out);
}

static void explain(const struct option *p, struct buffer *out)
{
	if (p->letter)
		buffer_printf(out, "-%c%s", p->letter, p->name ? ", " : "");
	buffer_printf(out, "%s%s%s%s\n  ", p->name ? "--" : p->letter ? "" : p->agent, p->name ? p->name : "",
		      p->arg ? " " : "", p->arg ? p->arg : "");
	options_put_lines(option_text(p)->help, 2, out);
	buffer_putc(out, '\n');
	put_value(p, out);
	if (option_text(p)->initial)
		put_item("default", option_text(p)->initial, out);
	put_takers(p, out);
	put_agent(p, out);
	put_other_letter(p, out);
}

/* Whether people are told of P. Actions are commands. */
static bool is_public(const struct option *p)
{
	return p->when == WHEN_NOW && p->kind != OPTION_ACTION;
}

bool options_explain(const char *word, struct buffer *out)
{
	const char *name = strncmp(word, "--", 2) == 0 ? word + 2 : word;
	char letter = word[0] == '-' && word[1] != '-' && !word[2] ? word[1] : '\0';
	const struct option *p;
	bool found = false;

	for (p = option_table; p->kind; p++) {
		if (!is_public(p) || !(letter ? p->letter == letter : (p->name && strcmp(p->name, name) == 0) ||
				       (p->agent && name == word && strcmp(p->agent, name) == 0)))
			continue;
		if (found)
			buffer_putc(out, '\n');
		explain(p, out);
		found = true;
	}
	return found;
}

void options_put_names(struct buffer *out)
{
	const struct option *p;

	for (p = option_table; p->kind; p++)
		if (is_public(p))
			buffer_printf(out, "%s ", p->name ? p->name : p->agent);
}
