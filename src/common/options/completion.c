/*
 * Shell completion, made from the table: `jstrobe help --completion bash|zsh|fish`.
 *
 * Each script knows the commands, the options that each takes, which words an option's value can be, and asks
 * `jstrobe ps` for the JVMs that run. Before a command, and behind asprof and profiler.sh, it offers what record takes.
 */
#include <errno.h>
#include <string.h>

#include "common/options/option_table.h"

static const char levels[] = "trace debug info warn error none";
static const char modes[] = "no vm vmx fp dwarf";

/* The words that P's value can be, apart by blanks; "" if they cannot be listed. */
static void put_values(const struct option *p, struct buffer *out)
{
	const struct event_row *e;
	const struct option *f;
	const char *separator = "";

	if (p->kind == OPTION_LOGLEVEL)
		buffer_puts(out, levels);
	if (p->kind == OPTION_CSTACK)
		buffer_puts(out, modes);
	if (p->kind == OPTION_FEATURES)
		buffer_puts(out, "stats");
	for (e = event_rows; p->kind == OPTION_EVENT && e->name; e++) {
		if (!e->available)
			continue;
		buffer_printf(out, "%s%s", separator, e->name);
		separator = " ";
	}
	for (f = option_table; p->kind == OPTION_FORMAT && f->kind; f++) {
		if (f->kind != OPTION_FORMAT_WORD)
			continue;
		buffer_printf(out, "%s%s", separator, f->agent);
		separator = " ";
	}
}

static bool has_values(const struct option *p)
{
	return p->kind == OPTION_LOGLEVEL || p->kind == OPTION_CSTACK ||
	       p->kind == OPTION_FEATURES || p->kind == OPTION_EVENT || p->kind == OPTION_FORMAT;
}

static bool is_file(const struct option *p)
{
	return p->arg && (strcmp(p->arg, "FILE") == 0 || strcmp(p->arg, "PATH") == 0);
}

/* Options of the command line that are for everybody. */
static bool shown(const struct option *p)
{
	return p->when == WHEN_NOW && (p->name || p->letter);
}

#define WITHOUT_COMMAND "record"

static bool is_of_files(const char *command)
{
	return strcmp(command, "convert") == 0 || strcmp(command, "diff") == 0;
}

/* P's spellings with BETWEEN: "-e|--event". FILES: as commands that read files have them. */
static void put_spellings(const struct option *p, bool files, const char *between, struct buffer *out)
{
	char letter = option_letter(p, files);

	if (letter)
		buffer_printf(out, "-%c", letter);
	if (letter && p->name)
		buffer_puts(out, between);
	if (p->name)
		buffer_printf(out, "--%s", p->name);
}

/* TEXT inside single quotes of a shell, with a backslash before each of SPECIAL. */
static void put_quoted(const char *text, const char *special, struct buffer *out)
{
	for (; *text; text++) {
		if (*text == '\'')
			buffer_puts(out, "'\\'");
		else if (strchr(special, *text))
			buffer_putc(out, '\\');
		buffer_putc(out, *text);
	}
}

/* ---- bash ---- */

static void bash_values(struct buffer *out)
{
	const struct option *p;

	for (p = option_table; p->kind; p++) {
		if (!shown(p) || !p->arg || p->arg[0] == '[')
			continue;
		buffer_puts(out, "\t\t");
		put_spellings(p, false, "|", out);
		buffer_puts(out, ") ");
		if (has_values(p)) {
			buffer_puts(out, "COMPREPLY=($(compgen -W '");
			put_values(p, out);
			buffer_puts(out, "' -- \"$cur\")); ");
		} else if (is_file(p)) {
			buffer_puts(out, "compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < "
				    "<(compgen -f -- \"$cur\"); ");
		}
		buffer_puts(out, "return ;;\n");
	}
}

/* A branch for the options that COMMAND takes; LABEL: when it is the one. */
static void bash_options(const char *command, const char *label, struct buffer *out)
{
	const struct option *p;

	buffer_printf(out, "\t\t%s) words='", label);
	for (p = option_table; p->kind; p++) {
		if (!shown(p) || !option_is_taken(command, p))
			continue;
		put_spellings(p, is_of_files(command), " ", out);
		buffer_putc(out, ' ');
	}
	buffer_puts(out, "' ;;\n");
}

static void bash(const struct options_word *commands, struct buffer *out)
{
	const struct options_word *c;

	buffer_puts(out, "# bash completion for jstrobe, made by `jstrobe help --completion bash`\n"
			 "_jstrobe() {\n"
			 "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} i\n"
			 "\tCOMPREPLY=()\n"
			 "\tif [[ $cur == = ]]; then cur=\n"
			 "\telif [[ $prev == = ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
			 "\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
			 "\t\tif [[ ${COMP_WORDS[i]} == -- ]]; then\n"
			 "\t\t\tcompopt -o default 2>/dev/null\n"
			 "\t\t\t((i == COMP_CWORD - 1)) && COMPREPLY=($(compgen -c -- \"$cur\"))\n"
			 "\t\t\treturn\n"
			 "\t\tfi\n"
			 "\tdone\n"
			 "\tcase $prev in\n");
	bash_values(out);
	buffer_puts(out, "\tesac\n\tlocal words=\n\tif [[ $cur == -* ]]; then\n\t\tcase ${COMP_WORDS[1]} in\n");
	for (c = commands; c->name; c++)
		bash_options(c->name, c->name, out);
	bash_options(WITHOUT_COMMAND, "*", out);
	buffer_puts(out, "\t\tesac\n\t\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n\t\treturn\n\tfi\n"
			 "\t((COMP_CWORD == 1)) && words='");
	for (; commands->name; commands++)
		buffer_printf(out, "%s ", commands->name);
	buffer_puts(out, "'\n"
			 "\tCOMPREPLY=($(compgen -W \"$words $(\"${COMP_WORDS[0]}\" ps 2>/dev/null | "
			 "awk '$1 ~ /^[0-9]+$/ {print $1}')\" -- \"$cur\"))\n"
			 "}\n"
			 "complete -F _jstrobe jstrobe asprof profiler.sh\n");
}

/* ---- zsh ---- */

static void zsh_option(const struct option *p, bool files, struct buffer *out)
{
	bool value = p->arg && p->arg[0] != '[' && !(files && option_is_family(p->name, strlen(p->name)));
	char letter = option_letter(p, files);
	unsigned i;

	for (i = 0; i < 2; i++) {
		if (i == 0 ? !letter : !p->name)
			continue;
		buffer_puts(out, "\t\t\t'");
		if (p->kind == OPTION_PATTERNS)
			buffer_putc(out, '*');
		if (i == 0)
			buffer_printf(out, "-%c%s[", letter, value ? "+" : "");
		else
			buffer_printf(out, "--%s%s[", p->name, value ? "=" : "");
		put_quoted(option_text(p)->help, "[]:\\", out);
		buffer_putc(out, ']');
		if (value) {
			buffer_putc(out, ':');
			put_quoted(p->arg, "[]:\\", out);
			buffer_puts(out, is_file(p) ? ":_files" : ":(");
			put_values(p, out);
			buffer_puts(out, is_file(p) ? "" : ")");
		}
		buffer_puts(out, "'\n");
	}
}

static void zsh_options(const char *command, const char *label, struct buffer *out)
{
	const struct option *p;

	buffer_printf(out, "\t\t%s) options=(\n", label);
	for (p = option_table; p->kind; p++)
		if (shown(p) && option_is_taken(command, p))
			zsh_option(p, is_of_files(command), out);
	buffer_puts(out, "\t\t) ;;\n");
}

static void zsh(const struct options_word *commands, struct buffer *out)
{
	const struct options_word *c;

	buffer_puts(out, "#compdef jstrobe asprof profiler.sh\n"
			 "# made by `jstrobe help --completion zsh`\n"
			 "_jstrobe() {\n\tlocal -a commands jvms options\n\tcommands=(\n");
	for (c = commands; c->name; c++) {
		buffer_printf(out, "\t\t'%s:", c->name);
		put_quoted(c->help, ":\\", out);
		buffer_puts(out, "'\n");
	}
	buffer_puts(out, "\t)\n"
			 "\tjvms=(${(f)\"$($words[1] ps 2>/dev/null | "
			 "awk '$1 ~ /^[0-9]+$/ {print $1 \":\" $2}')\"})\n"
			 "\tcase $words[2] in\n");
	for (c = commands; c->name; c++)
		zsh_options(c->name, c->name, out);
	zsh_options(WITHOUT_COMMAND, "*", out);
	buffer_puts(out, "\tesac\n"
			 "\t_arguments -s $options '1: :->first' '*: :->rest'\n"
			 "\tcase $state in\n"
			 "\t\tfirst) _describe command commands -- jvms ;;\n"
			 "\t\trest) _describe JVM jvms ;;\n"
			 "\tesac\n}\n"
			 "if [[ ${funcstack[1]} == _jstrobe ]]; then _jstrobe \"$@\"; "
			 "else compdef _jstrobe jstrobe asprof profiler.sh; fi\n");
}

/* ---- fish ---- */

/* When P is offered: behind the commands that take it, and before any if record does. */
static void fish_condition(const struct option *p, struct buffer *out)
{
	bool alone = option_is_taken(WITHOUT_COMMAND, p);

	buffer_printf(out, " -n '%s__fish_seen_subcommand_from ", alone ? "__fish_use_subcommand; or " : "");
	option_put_takers(p, " ", out);
	buffer_putc(out, '\'');
}

static void fish_option(const struct option *p, struct buffer *out)
{
	buffer_puts(out, "complete -c jstrobe");
	fish_condition(p, out);
	if (p->letter)
		buffer_printf(out, " -s %c", p->letter);
	if (p->name)
		buffer_printf(out, " -l %s", p->name);
	if (p->arg && p->arg[0] != '[')
		buffer_puts(out, is_file(p) ? " -r -F" : " -x");
	if (has_values(p)) {
		buffer_puts(out, " -a '");
		put_values(p, out);
		buffer_putc(out, '\'');
	}
	buffer_puts(out, " -d '");
	put_quoted(option_text(p)->help, "", out);
	buffer_puts(out, "'\n");
}

static void fish(const struct options_word *commands, struct buffer *out)
{
	const struct option *p;

	buffer_puts(out, "# fish completion for jstrobe, made by `jstrobe help --completion fish`\n"
			 "complete -c asprof -w jstrobe\ncomplete -c profiler.sh -w jstrobe\n"
			 "complete -c jstrobe -f -a \"(jstrobe ps 2>/dev/null | "
			 "string match -r '^\\\\s*[0-9]+' | string trim)\" -d JVM\n");
	for (; commands->name; commands++) {
		buffer_printf(out, "complete -c jstrobe -n __fish_use_subcommand -a %s -d '",
			      commands->name);
		put_quoted(commands->help, "", out);
		buffer_puts(out, "'\n");
	}
	for (p = option_table; p->kind; p++)
		if (shown(p))
			fish_option(p, out);
}

int options_completion(const char *shell, const struct options_word *commands, struct buffer *out)
{
	if (strcmp(shell, "bash") == 0)
		bash(commands, out);
	else if (strcmp(shell, "zsh") == 0)
		zsh(commands, out);
	else if (strcmp(shell, "fish") == 0)
		fish(commands, out);
	else
		return -EINVAL;
	return 0;
}
