/*
 * What a JVM was started with: the main class and the switches that matter to
 * attaching and sampling, as HotSpot reads them: JAVA_TOOL_OPTIONS, then the
 * command line (with JDK_JAVA_OPTIONS before it), then _JAVA_OPTIONS; the last
 * word counts. What the JVM says of itself (perfdata.c) goes before its
 * command line, which can hide options in argument files.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/attach/process.h"

#define TEXT_MAX (256 * 1024)

/* Options of the launcher whose value is the next argument. */
static const char *const with_value[] = {
	"-cp", "-classpath", "--class-path", "-p", "--module-path", "--upgrade-module-path",
	"--add-modules", "--limit-modules", "--add-reads", "--add-exports", "--add-opens",
	"--patch-module", "--enable-native-access", "--source", NULL,
};

/* What each switch sets. */
static const struct {
	const char *option;
	size_t field;
	bool value;
} switches[] = {
#define F(name) offsetof(struct process_java, name)
	{"-Xrs", F(reduced_signals), true},
	{"-XX:+ReduceSignalUsage", F(reduced_signals), true},
	{"-XX:-ReduceSignalUsage", F(reduced_signals), false},
	{"-XX:+DisableAttachMechanism", F(attach_disabled), true},
	{"-XX:-DisableAttachMechanism", F(attach_disabled), false},
	{"-XX:+EnableDynamicAgentLoading", F(agents_on), true},
	{"-XX:+EnableDynamicAgentLoading", F(agents_off), false},
	{"-XX:-EnableDynamicAgentLoading", F(agents_off), true},
	{"-XX:-EnableDynamicAgentLoading", F(agents_on), false},
	{"-XX:+DebugNonSafepoints", F(debug_positions), true},
	{"-XX:-DebugNonSafepoints", F(debug_positions), false},
#undef F
};

static void read_switch(const char *option, struct process_java *java)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(switches); i++)
		if (strcmp(option, switches[i].option) == 0)
			*((bool *)java + switches[i].field) = switches[i].value;
}

/* Options apart by blanks. */
static void read_words(const char *text, struct process_java *java)
{
	char *copy = strdup(text), *word, *rest;

	for (word = copy ? strtok_r(copy, " \t\n\"'", &rest) : NULL; word;
	     word = strtok_r(NULL, " \t\n\"'", &rest))
		read_switch(word, java);
	free(copy);
}

/* The options in the environment variable NAME of ENVIRON[0..LENGTH). */
static void read_environment(const char *environ, size_t length, const char *name,
			     struct process_java *java)
{
	size_t n = strlen(name);
	const char *entry;

	for (entry = environ; entry < environ + length; entry += strlen(entry) + 1)
		if (strncmp(entry, name, n) == 0 && entry[n] == '=')
			read_words(entry + n + 1, java);
}

static bool takes_value(const char *option)
{
	size_t i;

	for (i = 0; with_value[i]; i++)
		if (strcmp(option, with_value[i]) == 0)
			return true;
	return false;
}

/* Walk over the launcher's arguments up to the main class. */
static void read_arguments(const char *args, size_t length, struct process_java *java)
{
	const char *arg = args, *end = args + length;

	for (arg += strlen(arg) + 1; arg < end; arg += strlen(arg) + 1) {
		bool module = strcmp(arg, "-m") == 0 || strcmp(arg, "--module") == 0;

		if (arg[0] != '-' && arg[0] != '@') {
			snprintf(java->main, sizeof(java->main), "%s", arg);
			return;
		}
		if (strncmp(arg, "--module=", 9) == 0) {
			snprintf(java->main, sizeof(java->main), "%s", arg + 9);
			return;
		}
		if (module || takes_value(arg))
			arg += strlen(arg) + 1;
		else
			read_switch(arg, java);
		if (arg >= end)
			return; /* the value is missing */
		if (module) {
			snprintf(java->main, sizeof(java->main), "%s", arg);
			return;
		}
	}
}

bool process_is_launcher(pid_t pid, const char *argv0)
{
	char exe[PATH_MAX], path[64];
	const char *slash;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	n = readlink(path, exe, sizeof(exe) - 1);
	if (n < 0)
		n = snprintf(exe, sizeof(exe), "%s", argv0);
	exe[MIN((size_t)n, sizeof(exe) - 1)] = '\0';
	slash = strrchr(exe, '/');
	slash = slash ? slash + 1 : exe;
	return strncmp(slash, "java", 4) == 0 &&
	       (slash[4] == '\0' || strncmp(slash + 4, " (deleted)", 10) == 0);
}

/* The command line, which belongs to the launcher or to a program with a JVM inside. */
static void read_command_line(pid_t pid, char *text, size_t size, struct process_java *java)
{
	ssize_t n = process_read(pid, "cmdline", text, size);
	const char *slash;

	if (n <= 0)
		return;
	if (process_is_launcher(pid, text)) {
		read_arguments(text, (size_t)n, java);
	} else { /* a program with a JVM inside goes by its own name */
		slash = strrchr(text, '/');
		snprintf(java->main, sizeof(java->main), "%s", slash ? slash + 1 : text);
	}
}

void process_java(pid_t pid, const struct process_status *s, struct process_java *java)
{
	char *text = malloc(TEXT_MAX), *environ = malloc(TEXT_MAX);
	struct process_perfdata *own = malloc(sizeof(*own));
	ssize_t n;

	memset(java, 0, sizeof(*java));
	strcpy(java->main, "?");
	if (!text || !environ || !own)
		goto out;
	n = MAX(process_read(pid, "environ", environ, TEXT_MAX), (ssize_t)0);
	read_environment(environ, (size_t)n, "JAVA_TOOL_OPTIONS", java);
	read_environment(environ, (size_t)n, "JDK_JAVA_OPTIONS", java);
	read_command_line(pid, text, TEXT_MAX, java);
	if (process_perfdata(pid, s, own)) {
		read_words(own->arguments, java);
		memcpy(java->version, own->version, sizeof(java->version));
		if (own->main[0])
			snprintf(java->main, sizeof(java->main), "%s", own->main);
	}
	read_environment(environ, (size_t)n, "_JAVA_OPTIONS", java);
out:
	free(text);
	free(environ);
	free(own);
}
