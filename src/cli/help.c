/*
 * jstrobe help: made from the tables of commands, options, events and formats.
 */
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "cli/cli.h"
#include "format/format.h"

static const struct {
	const char *name, *arguments, *help;
} commands[] = {
#define COMMAND(name, arguments, help) {#name, arguments, help},
#include "cli/commands.def"
};

static const char *const examples =
	"Examples:\n"
	"  jstrobe record -d 10 -f flame.html 1234     a flame graph of process 1234\n"
	"  jstrobe record MyServer                     the hottest methods, until 60 s or Ctrl-C\n"
	"  jstrobe record -f cpu.json -- java -jar app.jar\n"
	"  jstrobe start 1234; sleep 30; jstrobe stop -f out.collapsed 1234\n";

static void overview(struct buffer *out)
{
	size_t i;

	buffer_puts(out, "jstrobe " JSTROBE_VERSION " - a profiler for HotSpot JVMs\n\nUsage: "
		    "jstrobe COMMAND [OPTIONS] PID|NAME\n\nCommands:\n");
	for (i = 0; i < ARRAY_LEN(commands); i++)
		buffer_printf(out, "  %-9s %s\n", commands[i].name, commands[i].help);
	buffer_printf(out, "\nWithout a command: record. 'jstrobe help COMMAND' and 'jstrobe help "
		      "options' say more.\n\n%s", examples);
}

static void exit_codes(struct buffer *out)
{
	buffer_puts(out, "\nExit codes: 0 done, 1 profiling failed, 2 wrong usage, 3 cannot "
		    "attach, 130 aborted;\nwith -- the program's own.\n");
}

bool cli_help_command(const char *name, struct buffer *out)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(commands); i++) {
		if (strcmp(commands[i].name, name) != 0)
			continue;
		buffer_printf(out, "jstrobe %s %s\n  %s\n\n", name, commands[i].arguments,
			      commands[i].help);
		options_help(out);
		exit_codes(out);
		return true;
	}
	return false;
}

static void agent_topic(struct buffer *out)
{
	buffer_puts(out,
		    "The agent without the command, from the JVM's first instruction:\n"
		    "  java "
		    "-agentpath:/path/libjstrobe.so=start,event=cpu,interval=1ms,file=out.html "
		    "...\n"
		    "or in a running JVM (jcmd wants the inner quotes):\n"
		    "  jcmd PID JVMTI.agent_load /path/libjstrobe.so '\"start,event=cpu\"'\n"
		    "  jcmd PID JVMTI.agent_load /path/libjstrobe.so "
		    "'\"stop,file=/tmp/out.html\"'\n\n"
		    "Options are NAME or NAME=VALUE with commas between them; the first is the "
		    "action:\n"
		    "start, resume, stop, dump, status, list or version. Relative files lie in the "
		    "program's\nworking folder. A mistake never stops the JVM, unless 'strict' is "
		    "among "
		    "the options.\n'jstrobe help --markdown' prints all names.\n");
}

static bool completion(const char *shell, struct buffer *out)
{
	struct options_word words[ARRAY_LEN(commands) + 1] = {{NULL, NULL}};
	size_t i;

	for (i = 0; i < ARRAY_LEN(commands); i++)
		words[i] = (struct options_word){commands[i].name, commands[i].help};
	return options_completion(shell, words, out) == 0;
}

/* WORD and, where it takes one, the word after it. */
static bool topic(const char *word, const char *next, struct buffer *out)
{
	const struct format *f;

	if (strcmp(word, "options") == 0) {
		options_help(out);
	} else if (strcmp(word, "events") == 0) {
		options_events(out);
	} else if (strcmp(word, "formats") == 0) {
		for (f = formats; f->name; f++)
			buffer_printf(out, "%-11s %s\n", f->name, f->help);
	} else if (strcmp(word, "agent") == 0) {
		agent_topic(out);
	} else if (strcmp(word, "--markdown") == 0) {
		options_markdown(out);
	} else if (strcmp(word, "--completion") == 0) {
		return completion(next ? next : "bash", out);
	} else if (strcmp(word, "--man") == 0) {
		return cli_man(next, out);
	} else if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
		return cli_help_command("help", out);
	} else {
		return cli_help_command(word, out);
	}
	return true;
}

int cli_help(struct cli *cli)
{
	struct buffer out = BUFFER_INIT;
	const char *words[32], *near;
	size_t i;

	if (cli->word_count == 0) {
		overview(&out);
		return cli_print(&out);
	}
	if (topic(cli->words[0], cli->word_count > 1 ? cli->words[1] : NULL, &out))
		return cli_print(&out);
	for (i = 0; i < ARRAY_LEN(commands); i++)
		words[i] = commands[i].name;
	words[i++] = "options";
	words[i++] = "events";
	words[i++] = "formats";
	words[i++] = "agent";
	words[i] = NULL;
	if (strcmp(cli->words[0], "--completion") == 0 || strcmp(cli->words[0], "--man") == 0) {
		console_error("help %s: there is none for '%s'; say %s", cli->words[0],
			      cli->words[1], strcmp(cli->words[0], "--man") ? "bash, zsh or fish" :
			      "jstrobe or agent");
		return CLI_USAGE;
	}
	near = options_nearest(cli->words[0], words);
	console_error("no help on '%s'%s%s%s", cli->words[0], near ? " (did you mean " : "",
		      near ? near : "", near ? "?)" : "");
	return CLI_USAGE;
}
