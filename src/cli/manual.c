/*
 * The manual pages, jstrobe(1) and jstrobe-agent(7): `jstrobe help --man [agent]`.
 */
#include <string.h>

#include "cli/cli.h"
#include "common/base/buffer.h"
#include "profile/writers/format.h"

static const struct {
	const char *name, *arguments, *help;
} commands[] = {
#define COMMAND(name, arguments, help) {#name, arguments, help},
#include "cli/commands.def"
};

/* BEGIN: what stands in front of the lists. */
static void put_begin(const char *name, int section, const char *what, const char *begin, struct buffer *out)
{
	buffer_printf(out, ".\\\" Made by `jstrobe help --man`.\n"
		      ".TH %s %d \"\" \"jstrobe %s\" \"Java profiling\"\n.SH NAME\n", name, section,
		      JSTROBE_VERSION);
	options_man_text(what, out);
	buffer_printf(out, "\n%s", begin);
}

static void put_commands(struct buffer *out)
{
	size_t i;

	buffer_puts(out, ".SH COMMANDS\nWithout one, \\fBrecord\\fR is meant.\n");
	for (i = 0; i < ARRAY_LEN(commands); i++) {
		options_man_entry(commands[i].name, commands[i].arguments, commands[i].help, out);
		options_man_text(cli_help_question(commands[i].name), out);
		buffer_putc(out, '\n');
	}
}

static void put_formats(struct buffer *out)
{
	const struct format *f;

	buffer_puts(out, ".SH FORMATS\nThe suffix of the result's file chooses one, "
		    "\\fB\\-\\-output\\fR wins over it.\n");
	for (f = formats; f->name; f++)
		if (*format_help(f))
			options_man_entry(f->name, "", format_help(f), out);
}

static void put_options(bool agent, struct buffer *out)
{
	buffer_puts(out, ".SH OPTIONS\n");
	options_man(agent, out);
	buffer_puts(out, ".SH EVENTS\n");
	options_man_events(out);
}

static void command_page(struct buffer *out)
{
	put_begin("JSTROBE", 1, "jstrobe - CPU profiler for HotSpot JVMs",
		  ".SH SYNOPSIS\n"
		  ".B jstrobe\n[\\fIcommand\\fR] [\\fIoptions\\fR] \\fIpid\\fR|\\fIname\\fR\n.br\n"
		  ".B jstrobe record\n[\\fIoptions\\fR] \\-\\- \\fBjava\\fR ...\n"
		  ".SH DESCRIPTION\n"
		  "Samples where the CPU time of a running JVM goes, and writes a flame graph, "
		  "stacks or a table of hot methods.\n"
		  "The JVM is given by its pid, its main class or its jar; \\fBjstrobe ps\\fR "
		  "lists those that run.\n"
		  "Called as \\fBasprof\\fR or \\fBprofiler.sh\\fR it is the same command: "
		  "command lines of async\\-profiler work.\n", out);
	put_commands(out);
	put_options(false, out);
	put_formats(out);
	buffer_puts(out, ".SH EXIT STATUS\n"
		    "0 done, 1 profiling failed, 2 wrong usage, 3 cannot attach, 130 aborted; "
		    "with \\-\\- the program's own.\n"
		    ".SH EXAMPLES\n.nf\n"
		    "jstrobe record \\-d 10 \\-f flame.html 1234\n"
		    "jstrobe record \\-i 1ms \\-f cpu.json \\-\\- java \\-jar app.jar\n"
		    "jstrobe start 1234; sleep 60; jstrobe stop \\-f all.html 1234\n"
		    ".fi\n.SH SEE ALSO\n.BR jstrobe\\-agent (7),\n.BR jcmd (1)\n");
}

static void agent_page(struct buffer *out)
{
	put_begin("JSTROBE-AGENT", 7, "jstrobe-agent - options of the agent libjstrobe.so",
		  ".SH SYNOPSIS\n"
		  ".B java \\-agentpath:\\fI/path/\\fRlibjstrobe.so=start,\\fIoptions\\fR ...\n"
		  ".br\n.B jcmd \\fIpid\\fB JVMTI.agent_load \\fI/path/\\fBlibjstrobe.so "
		  "\\(aq\\(dqstop,file=\\fIfile\\fB\\(dq\\(aq\n"
		  ".SH DESCRIPTION\n"
		  "The agent takes its options as one string, NAME or NAME=VALUE with commas "
		  "between them.\n"
		  "A mistake never stops the JVM, unless \\fBstrict\\fR is among the options.\n", out);
	put_options(true, out);
	buffer_puts(out, ".SH SEE ALSO\n.BR jstrobe (1)\n");
}

bool cli_man(const char *page, struct buffer *out)
{
	if (!page || strcmp(page, "jstrobe") == 0)
		command_page(out);
	else if (strcmp(page, "agent") == 0)
		agent_page(out);
	else
		return false;
	return true;
}
