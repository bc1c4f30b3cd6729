/*
 * dialogue.c - `jstrobe` alone, in a terminal: which JVM, and what of it? It ends in a command line, which is shown, so
 * that one can say it the next time, and run.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/attach/attach.h"
#include "cli/cli.h"

#define TRIES 3 /* wrong answers in a row that are taken for slips */
#define MOST_WORDS 8

static const struct {
	const char *name, *what;
	const char *words[MOST_WORDS]; /* of the command, before the pid */
} things[] = {
	{"cpu", "where it spends CPU time, for 30 s", {"record", "-e", "cpu", "-d", "30"}},
	{"wall", "what its threads do and wait for, for 30 s", {"record", "-e", "wall", "-t", "-d", "30"}},
	{"lock", "waits for Java locks, and who held them, for 30 s", {"record", "-e", "lock", "-d", "30"}},
	{"alloc", "what allocates Java objects, for 30 s", {"record", "-e", "alloc", "-d", "30"}},
	{"top", "hot methods, threads and waits, live", {"top"}},
};

/* The number 1 to COUNT of an answer to WHAT, or of the thing with that NAME; 0: none, it is to be left. */
static size_t ask(const char *what, size_t count, bool named)
{
	char line[32], *end;
	unsigned long n;
	size_t i;
	int tries;

	for (tries = 0; tries < TRIES; tries++) {
		if (!console_ask_for(line, sizeof(line), "%s [1-%zu, Enter: nothing] ", what, count) || !line[0] ||
		    strcmp(line, "q") == 0)
			return 0;
		for (i = 0; named && i < ARRAY_LEN(things); i++)
			if (strcmp(line, things[i].name) == 0)
				return i + 1;
		n = strtoul(line, &end, 10);
		if (end != line && !*end && n >= 1 && n <= count)
			return n;
		console_say("'%s' is no number from 1 to %zu", line, count);
	}
	return 0;
}

/* The JVM that is meant; 0: none. */
static pid_t ask_jvm(const struct attach_jvms *jvms)
{
	size_t i, n;

	console_say("    %7s  %-10s %s", "PID", "JDK", "MAIN");
	for (i = 0; i < jvms->count; i++)
		console_say("%3zu %7d  %-10s %s", i + 1, (int)jvms->items[i].pid, jvms->items[i].jdk,
			    jvms->items[i].main);
	n = ask("Which JVM?", jvms->count, false);
	return n ? jvms->items[n - 1].pid : 0;
}

static size_t ask_thing(void)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(things); i++)
		console_say("%3zu %-6s %s", i + 1, things[i].name, things[i].what);
	return ask("What?", ARRAY_LEN(things), true);
}

/* Say the command, and become it. Returns when that fails. */
static int run(size_t thing, pid_t pid)
{
	char number[16], line[128] = "jstrobe";
	char *argv[MOST_WORDS + 3] = {(char *)"jstrobe", NULL};
	size_t n = 1;

	snprintf(number, sizeof(number), "%d", (int)pid);
	for (; n <= MOST_WORDS && things[thing].words[n - 1]; n++)
		argv[n] = (char *)things[thing].words[n - 1];
	argv[n] = number;
	for (n = 1; argv[n]; n++)
		snprintf(line + strlen(line), sizeof(line) - strlen(line), " %s", argv[n]);
	console_say("%s", line);
	execv("/proc/self/exe", argv);
	console_error("%s cannot be run: %s", line, error_text(errno));
	return CLI_FAILED;
}

int cli_dialogue(bool *none)
{
	struct attach_jvms jvms;
	struct error err;
	size_t thing = 0;
	pid_t pid;

	*none = false;
	if (attach_list(&jvms, &err)) {
		console_error("%s", err.text);
		return CLI_FAILED;
	}
	*none = jvms.count == 0;
	pid = *none ? 0 : ask_jvm(&jvms);
	attach_list_free(&jvms);
	if (pid)
		thing = ask_thing();
	return thing ? run(thing - 1, pid) : CLI_ABORTED;
}
