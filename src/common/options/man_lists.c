/*
 * The lists of options and events for the manual pages, in the language of man(7).
 */
#include <string.h>

#include "common/options/option_table.h"

void options_man_text(const char *text, struct buffer *out)
{
	if (*text == '.' || *text == '\'')
		buffer_puts(out, "\\&");
	for (; *text; text++) {
		if (*text == '-')
			buffer_puts(out, "\\-");
		else if (*text == '\\')
			buffer_puts(out, "\\e");
		else
			buffer_putc(out, *text);
	}
}

void options_man_entry(const char *name, const char *arguments, const char *help, struct buffer *out)
{
	buffer_printf(out, ".TP\n\\fB%s\\fR%s", name, *arguments ? " " : "");
	options_man_text(arguments, out);
	buffer_putc(out, '\n');
	options_man_text(help, out);
	buffer_puts(out, ".\n");
}

/* A value's placeholder: in italics, brackets around what may be left out. */
static void put_value(const struct option *p, const char *before, struct buffer *out)
{
	bool open = p->arg[0] == '[';

	buffer_printf(out, "%s%s\\fI", open ? "[" : "", before);
	options_man_text(p->arg + open, out);
	buffer_puts(out, "\\fR");
}

/* NAME in bold, behind DASHES. */
static void put_name(const char *dashes, const char *name, struct buffer *out)
{
	buffer_printf(out, "\\fB%s", dashes);
	options_man_text(name, out);
	buffer_puts(out, "\\fR");
}

static void put_heading(const struct option *p, bool agent, struct buffer *out)
{
	buffer_puts(out, ".TP\n");
	if (!agent && p->letter)
		buffer_printf(out, "\\fB\\-%c\\fR%s", p->letter, p->name ? ", " : "");
	if (agent || p->name)
		put_name(agent ? "" : "\\-\\-", agent ? p->agent : p->name, out);
	if (p->arg)
		put_value(p, agent ? "=" : " ", out);
	buffer_putc(out, '\n');
}

static void put_option(const struct option *p, bool agent, struct buffer *out)
{
	put_heading(p, agent, out);
	options_man_text(option_text(p)->help, out);
	if (option_text(p)->initial) {
		buffer_puts(out, " (default ");
		options_man_text(option_text(p)->initial, out);
		buffer_putc(out, ')');
	}
	buffer_puts(out, ".\n");
	if (agent)
		return;
	buffer_puts(out, "Taken by ");
	option_put_takers(p, ", ", out);
	buffer_puts(out, ".\n");
}

void options_man(bool agent, struct buffer *out)
{
	const struct option *p;
	int group, last = -1;

	for (group = 0; group < OPTION_GROUPS; group++)
		for (p = option_table; p->kind; p++) {
			if ((int)p->group != group || p->when != WHEN_NOW ||
			    (agent ? !p->agent : !p->name && !p->letter))
				continue;
			if (last != group)
				buffer_printf(out, ".SS %s\n", option_group_names[group]);
			last = group;
			put_option(p, agent, out);
		}
}

void options_man_events(struct buffer *out)
{
	const struct event_row *e;

	for (e = event_rows; e->name; e++)
		if (e->available)
			options_man_entry(e->name, "", e->help, out);
}
