/*
 * command_help.c - the page of one command: what it is for and what people use of it, so short that it is read.
 */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "common/base/buffer.h"

static const struct {
	const char *name, *arguments;
} commands[] = {
#define COMMAND(name, arguments, help) {#name, arguments},
#include "cli/commands.def"
};

struct example {
	const char *line, *what;
};

static const struct page {
	const char *command, *question, *options, *result;
	struct example examples[3];
} pages[] = {
#define HELP(command, question, options, result, a, what_a, b, what_b, c, what_c)                                      \
	{#command, question, options, result, {{a, what_a}, {b, what_b}, {c, what_c}}},
#define SHORT(commands, option, text)
#include "cli/command_help.def"
};

static const struct {
	const char *commands, *option, *text;
} shorts[] = {
#define HELP(command, question, options, result, a, what_a, b, what_b, c, what_c)
#define SHORT(commands, option, text) {commands, #option, text},
#include "cli/command_help.def"
};

/* Whether LIST, names apart by blanks, has NAME[0..N). */
static bool is_in(const char *list, const char *name, size_t n)
{
	size_t length;

	for (; *list; list += length + (list[length] != '\0')) {
		length = strcspn(list, " ");
		if (length == n && memcmp(list, name, n) == 0)
			return true;
	}
	return false;
}

/* What stands behind OPTION; NULL: what the table of options says. */
static const char *short_of(const char *command, const char *option)
{
	const char *text = NULL;
	size_t i;

	for (i = 0; i < ARRAY_LEN(shorts); i++) {
		if (strcmp(shorts[i].option, option) != 0)
			continue;
		if (is_in(shorts[i].commands, command, strlen(command)))
			return shorts[i].text;
		if (!shorts[i].commands[0])
			text = shorts[i].text;
	}
	return text;
}

/* "[OPTIONS] PID|NAME, or [OPTIONS] -- java ...": a line each. */
static void put_synopsis(const char *name, const char *arguments, struct buffer *out)
{
	const char *other;

	while ((other = strstr(arguments, ", or "))) {
		buffer_printf(out, "jstrobe %s %.*s\n", name, (int)(other - arguments), arguments);
		arguments = other + strlen(", or ");
	}
	buffer_printf(out, "jstrobe %s%s%s\n", name, *arguments ? " " : "", arguments);
}

/* Whether the command takes options that its page does not show. */
static bool has_more(const struct page *p)
{
	struct buffer rest = BUFFER_INIT;
	bool more;

	options_help_of(p->command, p->options, &rest);
	more = rest.length != 0;
	buffer_free(&rest);
	return more;
}

static void put_options(const struct page *p, struct buffer *out)
{
	const char *list = p->options;
	char name[32];
	size_t n;

	buffer_puts(out, "\nOptions:\n");
	for (; *list; list += n + (list[n] != '\0')) {
		n = strcspn(list, " ");
		snprintf(name, sizeof(name), "%.*s", (int)n, list);
		options_help_row(p->command, name, short_of(p->command, name), out);
	}
	if (has_more(p))
		buffer_printf(out, "  All that it takes: jstrobe help %s --all. One: jstrobe help --%.*s\n",
			      p->command, (int)strcspn(p->options, " "), p->options);
}

static void put_examples(const struct page *p, struct buffer *out)
{
	size_t i, line = 0, what = 0;
	bool apart;

	for (i = 0; i < ARRAY_LEN(p->examples); i++) {
		line = MAX(line, strlen(p->examples[i].line));
		what = MAX(what, strlen(p->examples[i].what));
	}
	apart = line + what + 4 > OPTIONS_HELP_COLUMNS;
	buffer_puts(out, "\nExamples:\n");
	for (i = 0; i < ARRAY_LEN(p->examples); i++)
		buffer_printf(out, "  %-*s%s%s\n", apart ? 0 : (int)line, p->examples[i].line,
			      apart ? "\n      " : "  ", p->examples[i].what);
}

static const struct page *page_of(const char *command)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(pages); i++)
		if (strcmp(pages[i].command, command) == 0)
			return &pages[i];
	return NULL;
}

const char *cli_help_question(const char *command)
{
	const struct page *p = page_of(command);

	return p ? p->question : "";
}

static void put_exit_codes(struct buffer *out)
{
	buffer_puts(out, "\nExit codes: 0 done, 1 profiling failed, 2 wrong usage, 3 cannot attach, 130 aborted;\n"
			 "with -- the program's own.\n");
}

bool cli_help_command(const char *name, bool all, struct buffer *out)
{
	const struct page *p = page_of(name);
	size_t i;

	if (!p)
		return false;
	for (i = 0; i < ARRAY_LEN(commands); i++)
		if (strcmp(commands[i].name, name) == 0)
			put_synopsis(name, commands[i].arguments, out);
	buffer_printf(out, "  %s\n", p->question);
	put_options(p, out);
	if (all && has_more(p)) {
		buffer_puts(out, "\nOther options that it takes.\n\n");
		options_help_of(name, p->options, out);
	}
	put_examples(p, out);
	buffer_puts(out, "\nResult:\n  ");
	options_put_lines(p->result, 2, out);
	put_exit_codes(out);
	return true;
}
