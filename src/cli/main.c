/*
 * jstrobe, the command: reads the command line and calls the subcommand's file.
 *
 * Without a subcommand it is called as async-profiler's launcher is: options
 * and a pid, or an action and a pid; then "record" is meant. By the name
 * jfrconv it is async-profiler's converter: "convert" is meant.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/reading.h"
#include "common/base/buffer.h"

static const struct {
	const char *name;
	int (*run)(struct cli *cli);
} commands[] = {
#define COMMAND(name, arguments, help) {#name, cli_##name},
#include "cli/commands.def"
	{"collect", cli_record},
};

/* Words of async-profiler's launcher that have no counterpart yet. */
static const char *const later[] = {"jcmd", "threaddump", "dumpheap", "inspectheap"};

static int find_command(const char *word)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(commands); i++)
		if (strcmp(commands[i].name, word) == 0)
			return (int)i;
	return -1;
}

static int usage(const char *text)
{
	console_error("%s", text);
	console_say("Try 'jstrobe help'.");
	return CLI_USAGE;
}

/* Words that other tools have for what is done here by another one. */
static const struct {
	const char *word, *instead;
} elsewhere[] = {
	{"report", "'jstrobe convert FILE' shows a result"},
	{"view", "'jstrobe convert FILE' shows a result"},
	{"show", "'jstrobe convert FILE' shows a result"},
	{"attach", "'jstrobe record PID' attaches and samples"},
	{"profile", "'jstrobe record PID' samples"},
};

static int unknown_command(const char *word)
{
	const char *names[ARRAY_LEN(commands) + 1] = {NULL}, *near;
	char text[256];
	size_t i;

	for (i = 0; i < ARRAY_LEN(elsewhere); i++)
		if (strcmp(word, elsewhere[i].word) == 0) {
			snprintf(text, sizeof(text), "unknown command: %s; %s", word, elsewhere[i].instead);
			return usage(text);
		}
	for (i = 0; i < ARRAY_LEN(commands); i++)
		names[i] = commands[i].name;
	near = options_nearest(word, names);
	snprintf(text, sizeof(text), "unknown command: %.100s%s%s%s", word,
		 near ? " (did you mean " : "", near ? near : "", near ? "?)" : "");
	return usage(text);
}

/* Which command the words mean; moves past its name. -1: none of ours. */
static int choose(struct cli *cli)
{
	int which;

	if (cli->as_jfrconv)
		return find_command("convert");
	if (cli->word_count == 0)
		return find_command("record");
	which = find_command(cli->words[0]);
	/* "1234 stop" is how some write it, and "1234 load FILE true OPTIONS" */
	if (which < 0 && (cli->word_count == 2 || (cli->word_count > 2 && strcmp(cli->words[1], "load") == 0)) &&
	    find_command(cli->words[1]) >= 0) {
		char *target = cli->words[0];

		cli->words[0] = cli->words[1];
		cli->words[1] = target;
		which = find_command(cli->words[0]);
	}
	if (which >= 0) {
		cli->words++;
		cli->word_count--;
		return which;
	}
	return cli->word_count == 1 || cli->program ? find_command("record") : -1;
}

/* The command's own name: "collect" is another of record. */
static const char *name_of(int which)
{
	return commands[which].run == cli_record ? "record" : commands[which].name;
}

/* Commands that have one form of output, whatever is asked for. */
static bool has_one_form(const char *command)
{
	static const char *const names[] = {"top", "metrics", "clean"};
	size_t i;

	for (i = 0; i < ARRAY_LEN(names); i++)
		if (strcmp(names[i], command) == 0)
			return true;
	return false;
}

/* Whether the command that is meant, WHICH, takes all options that were given. */
static int check_options(const struct cli *cli, int which, struct error *err)
{
	if (cli->at_door)
		return options_check_taken_at_door(&cli->options, cli->as_jfrconv, err);
	return options_check_taken(&cli->options, name_of(which), err);
}

/* BAD: why the words could not be read; that an option has no place there matters more. */
static int wrong_words(struct cli *cli, const struct error *bad)
{
	int which = choose(cli);
	struct error err;

	if (which >= 0 && check_options(cli, which, &err))
		return usage(err.text);
	return usage(bad->text);
}

static int run(struct cli *cli)
{
	struct buffer help = BUFFER_INIT;
	struct error err;
	size_t i;
	int which;

	if (cli->options.want_version && cli->word_count == 0)
		return cli_version(cli);
	for (i = 0; cli->word_count && !cli->as_jfrconv && i < ARRAY_LEN(later); i++)
		if (strcmp(cli->words[0], later[i]) == 0) {
			console_error("not available yet: %s", later[i]);
			return CLI_USAGE;
		}
	which = choose(cli);
	if (which < 0)
		return unknown_command(cli->words[0]);
	cli->command = name_of(which);
	if (cli->options.want_help) {
		cli_help_command(cli->command, cli->options.all, &help);
		return cli_print(&help);
	}
	if (check_options(cli, which, &err)) {
		console_error("%s", err.text);
		return CLI_USAGE;
	}
	if (cli->options.format[0] && has_one_form(cli->command)) {
		console_error("%s: its output has one form; remove --json or -o (for programs there are "
			      "`jstrobe metrics`, `jstrobe stream` and `jstrobe doctor --json`)", cli->command);
		return CLI_USAGE;
	}
	if (reading_groups(&cli->options, &err)) {
		console_error("%s", err.text);
		return CLI_USAGE;
	}
	return commands[which].run(cli);
}

/* RC, but that an answer which did not come out is a failure. A reader who has enough of it is none. */
static int finish(int rc)
{
	int why = console_out_failed();

	if (!why || why == EPIPE)
		return rc;
	console_error("the answer cannot be written to stdout: %s", error_text(why));
	return rc == CLI_DONE ? CLI_FAILED : rc;
}

/* Lines, each with its newline: what was read otherwise than it was said. */
static void say_notes(const char *notes)
{
	size_t n;

	for (; *notes; notes += n + (notes[n] != '\0')) {
		n = strcspn(notes, "\n");
		console_note("%.*s", (int)n, notes);
	}
}

/* The name by which the command was called. */
static const char *name_in(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Whether that is one of async-profiler's; ap-loader has asprof-4.5-linux-x64 and the like. */
static bool is_door(const char *name)
{
	return strncmp(name, "asprof", 6) == 0 || strcmp(name, "profiler.sh") == 0 || strcmp(name, "jfrconv") == 0;
}

/* async-profiler's jfrconv is a Java program and takes options for its JVM first: they mean nothing here. */
static bool is_for_jvm(const char *word)
{
	return (strncmp(word, "-X", 2) == 0 && word[2]) || strncmp(word, "-D", 2) == 0 || strncmp(word, "-J", 2) == 0 ||
	       strncmp(word, "-agent", 6) == 0;
}

/* What `help` says to these words; of the converter there is only one help. */
static int help(struct cli *cli, int argc, char **argv)
{
	static char *convert[] = {(char *)"convert", NULL};

	cli->words = cli->as_jfrconv ? convert : argv + MIN(argc, 2);
	cli->word_count = cli->as_jfrconv ? 1 : argc - MIN(argc, 2);
	return finish(cli_help(cli));
}

/* Not a word: in a terminal it is asked what is wanted. */
static int alone(struct cli *cli, int argc, char **argv)
{
	bool none = true;
	int rc = CLI_USAGE;

	if (!cli->at_door && console_is_dialogue())
		rc = cli_dialogue(&none);
	if (!none || rc == CLI_FAILED)
		return rc;
	help(cli, argc, argv);
	if (rc == CLI_ABORTED)
		console_note("no JVM runs that you may look at; 'jstrobe ps' says whose others are");
	return CLI_USAGE;
}

int main(int argc, char **argv)
{
	struct cli cli = {0};
	struct error err;
	int program;

	options_init(&cli.options);
	console_init(false, false);
	cli.as_jfrconv = argc > 0 && strcmp(name_in(argv[0]), "jfrconv") == 0;
	cli.at_door = argc > 0 && is_door(name_in(argv[0]));
	cli.options.no_norm = cli.at_door; /* what reads their results knows the names they have there */
	for (; cli.as_jfrconv && argc > 1 && is_for_jvm(argv[1]); argc--)
		argv++;
	if (argc < 2)
		return alone(&cli, argc, argv);
	/* before the options: help words are no JVM's business */
	if (strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0 ||
	    strcmp(argv[1], "-h") == 0)
		return help(&cli, argc, argv);
	cli.options.jfrconv = cli.as_jfrconv;
	cli.options.converting = cli.as_jfrconv || strcmp(argv[1], "convert") == 0 || strcmp(argv[1], "diff") == 0 ||
				 strcmp(argv[1], "explain") == 0;
	cli.words = argv + 1;
	if (options_parse_command(&cli.options, argc - 1, argv + 1, &cli.word_count, &program,
				  &err))
		return wrong_words(&cli, &err);
	if (program < argc - 1)
		cli.program = argv + 1 + program;
	else if (program == argc - 1 && strcmp(argv[argc - 1], "--") == 0)
		return usage("nothing follows --; give the program to run, as in -- java -jar "
			     "app.jar");
	console_init(cli.options.quiet, cli.options.verbose);
	/* async-profiler's callers know that a file is replaced */
	cli.options.overwrite |= cli.at_door;
	say_notes(cli.options.notes);
	return finish(run(&cli));
}
