/*
 * jstrobe help: made from the tables of commands, options, events and formats.
 */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/live/top_keys.h"
#include "common/base/buffer.h"
#include "profile/exports/exports.h"
#include "profile/findings/findings.h"
#include "profile/readers/jfr/event_sources.h"
#include "profile/writers/format.h"

static const struct {
	const char *name, *help;
} commands[] = {
#define COMMAND(name, arguments, help) {#name, help},
#include "cli/commands.def"
};

static const char *const examples =
	"Examples:\n"
	"  jstrobe record -d 10 -f flame.html 1234     a flame graph of process 1234\n"
	"  jstrobe record MyServer                     the hottest methods, until 60 s or Ctrl-C\n"
	"  jstrobe record -f cpu.json -- java -jar app.jar\n"
	"  jstrobe start 1234; sleep 30; jstrobe stop -f out.collapsed 1234\n";

/* ---- topics ---- */

static void agent_topic(struct buffer *out)
{
	buffer_puts(out,
		    "The agent without the command, from the JVM's first instruction:\n"
		    "  java -agentpath:/path/libjstrobe.so=start,event=cpu,interval=1ms,file=out.html ...\n"
		    "or in a running JVM (jcmd wants the inner quotes):\n"
		    "  jcmd PID JVMTI.agent_load /path/libjstrobe.so '\"start,event=cpu\"'\n"
		    "  jcmd PID JVMTI.agent_load /path/libjstrobe.so '\"stop,file=/tmp/out.html\"'\n\n"
		    "Options are NAME or NAME=VALUE with commas between them; the first is the action:\n"
		    "start, resume, stop, dump, status, list or version. Relative files lie in the program's\n"
		    "working folder. A mistake never stops the JVM, unless 'strict' is among the options.\n"
		    "'jstrobe help --markdown' prints all names.\n");
}

static void recipes_topic(struct buffer *out)
{
	buffer_puts(out,
		    "A service that runs\n"
		    "  jstrobe record -d 30 -f flame.html PID\n"
		    "A program from start to end\n"
		    "  jstrobe record -f flame.html -- java -jar app.jar\n"
		    "Every JVM of a build or a CI job, a file each (%p is the pid)\n"
		    "  JAVA_TOOL_OPTIONS=-agentpath:/path/libjstrobe.so=start,file=/tmp/build-%p.html mvn verify\n"
		    "Only the forks that run tests\n"
		    "  mvn test -DargLine=-agentpath:/path/libjstrobe.so=start,file=/tmp/test-%p.html\n"
		    "Tomcat\n"
		    "  CATALINA_OPTS=-agentpath:/path/libjstrobe.so=start,file=/tmp/tomcat.html catalina.sh run\n"
		    "Why does it take so long to reach a safepoint?\n"
		    "  jstrobe record --ttsp -i 100us -t -f ttsp.html PID\n"
		    "A container, from the host, as root\n"
		    "  jstrobe record -d 30 -f flame.html PID-ON-THE-HOST\n"
		    "More of them, with Gradle and Ant: docs/use/recipes.md\n");
}

static void problems_topic(struct buffer *out)
{
	buffer_puts(out,
		    "It cannot attach\n"
		    "  Same user as the JVM, or root. Not into -Xrs, -XX:+DisableAttachMechanism, or where a file\n"
		    "  /tmp/.java_pidPID of another user lies in the way: the message says which. -agentpath works\n"
		    "  everywhere ('jstrobe help agent').\n"
		    "No kernel frames, \"CPU timers are used instead\"\n"
		    "  As root: sysctl kernel.perf_event_paranoid=1, or a container with CAP_PERFMON and a seccomp\n"
		    "  profile that allows perf_event_open. The shares of Java methods are right without it.\n"
		    "Few samples\n"
		    "  A sample stands for an interval of CPU time: an idle process gives none; -i 1ms gives more.\n"
		    "Samples were lost\n"
		    "  The line under each result says how many, and why: docs/reference/counters.md.\n"
		    "No file\n"
		    "  With -agentpath the file is written when the JVM ends, not when it is killed by -9 or a crash.\n"
		    "  Relative names lie in the program's working folder; 'log=FILE' says where messages go.\n"
		    "Methods are missing, or lines are wrong\n"
		    "  Inlined code has exact positions only if compiled after the session began: -agentpath, or\n"
		    "  -XX:+UnlockDiagnosticVMOptions -XX:+DebugNonSafepoints. See docs/reference/jvm-flags.md.\n"
		    "\"WARNING: A JVM TI agent has been loaded dynamically\" in the program's output\n"
		    "  JDK 21+ prints it itself when something attaches: -XX:+EnableDynamicAgentLoading hides it.\n"
		    "More: 'jstrobe doctor PID', and docs/use/does-not-attach.md\n");
}

static void formats_topic(struct buffer *out)
{
	const struct format *f;

	for (f = formats; f->name; f++)
		if (*format_help(f))
			buffer_printf(out, "%-11s %s\n", f->name, format_help(f));
	buffer_puts(out, "\nWhat a file for another viewer cannot hold:\n");
	for (f = formats; f->name; f++)
		if (exports_lack(f->name))
			buffer_printf(out, "%-11s %s\n", f->name, exports_lack(f->name));
}

static void families_topic(struct buffer *out)
{
	const struct family *f;

	for (f = convert_families; f->name; f++)
		buffer_printf(out, "%-11s %s%s\n", f->name, f->help, f->main ? "" : " (only with -e)");
	buffer_puts(out, "and any event with a stack by its full name, as in -e jdk.ThreadStart; -e all is all "
		    "of the above\n");
}

static void words_topic(struct buffer *out)
{
	first_words(out, false);
}

static const struct {
	const char *name;
	void (*put)(struct buffer *out);
	const char *help;
} topics[] = {
	{"options", options_help, "all options of the command"},
	{"events", options_events, "what can be sampled"},
	{"formats", formats_topic, "what results can look like"},
	{"families", families_topic, "what convert finds in recordings"},
	{"words", words_topic, "what the words of a result mean"},
	{"agent", agent_topic, "without the command: -agentpath, jcmd"},
	{"recipes", recipes_topic, "command lines for builds, CI, Tomcat, containers"},
	{"problems", problems_topic, "what to do if something does not work"},
};

static void overview(struct buffer *out)
{
	size_t i;

	buffer_puts(out, "jstrobe " JSTROBE_VERSION " - a profiler for HotSpot JVMs\n\nUsage: "
		    "jstrobe COMMAND [OPTIONS] PID|NAME\n\nCommands:\n");
	for (i = 0; i < ARRAY_LEN(commands); i++)
		buffer_printf(out, "  %-9s %s\n", commands[i].name, commands[i].help);
	buffer_puts(out, "\nTopics, 'jstrobe help TOPIC':\n");
	for (i = 0; i < ARRAY_LEN(topics); i++)
		buffer_printf(out, "  %-9s %s\n", topics[i].name, topics[i].help);
	buffer_printf(out, "\nWithout a command: record. 'jstrobe help COMMAND' says more, 'jstrobe help "
		      "--OPTION' all about an option.\n\n%s", examples);
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
	size_t i;

	for (i = 0; i < ARRAY_LEN(topics); i++)
		if (strcmp(word, topics[i].name) == 0) {
			topics[i].put(out);
			return true;
		}
	if (strcmp(word, "--completion") == 0)
		return completion(next ? next : "bash", out);
	if (strcmp(word, "--man") == 0)
		return cli_man(next, out);
	if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
		return cli_help_command("help", false, out);
	if (strcmp(word, "--markdown") == 0) {
		if (next && strcmp(next, "findings") == 0)
			findings_markdown(out);
		else if (next && strcmp(next, "words") == 0)
			first_words(out, true);
		else if (next && strcmp(next, "top") == 0)
			top_keys_markdown(out);
		else
			options_markdown(out);
		return true;
	}
	return cli_help_command(word, next && strcmp(next, "--all") == 0, out) || options_explain(word, out);
}

/* The name of a command, a topic or an option that WORD may be a slip of, with its dashes; "": none is near. */
static void nearest(const char *word, char near[64])
{
	bool dashed = strncmp(word, "--", 2) == 0;
	struct buffer names = BUFFER_INIT;
	const char *words[512], *found;
	char *name, *rest;
	size_t i, n = 0;

	for (i = 0; !dashed && i < ARRAY_LEN(commands); i++)
		words[n++] = commands[i].name;
	for (i = 0; !dashed && i < ARRAY_LEN(topics); i++)
		words[n++] = topics[i].name;
	options_put_names(&names);
	buffer_putc(&names, '\0');
	name = names.failed ? NULL : strtok_r(names.data, " ", &rest);
	for (; name && n + 1 < ARRAY_LEN(words); name = strtok_r(NULL, " ", &rest))
		words[n++] = name;
	words[n] = NULL;
	found = options_nearest(dashed ? word + 2 : word, words);
	snprintf(near, 64, "%s%.60s", found && dashed ? "--" : "", found ? found : "");
	buffer_free(&names);
}

int cli_help(struct cli *cli)
{
	struct buffer out = BUFFER_INIT;
	char near[64];

	if (cli->word_count == 0) {
		overview(&out);
		return cli_print(&out);
	}
	if (topic(cli->words[0], cli->word_count > 1 ? cli->words[1] : NULL, &out))
		return cli_print(&out);
	if (strcmp(cli->words[0], "--completion") == 0 || strcmp(cli->words[0], "--man") == 0) {
		console_error("help %s: there is none for '%s'; say %s", cli->words[0],
			      cli->words[1], strcmp(cli->words[0], "--man") ? "bash, zsh or fish" :
			      "jstrobe or agent");
		return CLI_USAGE;
	}
	nearest(cli->words[0], near);
	console_error("no help on '%s'%s%s%s", cli->words[0], near[0] ? " (did you mean " : "", near,
		      near[0] ? "?)" : "; 'jstrobe help' lists commands and topics, 'jstrobe help options' all "
		      "options");
	return CLI_USAGE;
}
