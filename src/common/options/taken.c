/*
 * taken.c - which options each command takes: what its help lists. The words of all commands are read by one parser,
 * as async-profiler's launcher reads them, so most commands let pass what does not concern them; those that read files
 * refuse it, for --interval or --duration behind convert is a mistake.
 */
#include <errno.h>
#include <string.h>

#include "common/options/option_table.h"

#define BIT(group) (1u << OPTIONS_##group)
#define MESSAGES "quiet verbose loglevel log version help "
#define ATTACH "attach-timeout libpath "
/* said when a session begins, and of no effect later */
#define BEGINS "timeout loop last on-oom on-signal stream stream-format thread-names "
#define FILES "event filter file force mode output json total samples lines title simple dot norm sig ann lib " \
	"include exclude minwidth reverse inverted width height " MESSAGES

static const struct {
	const char *command;
	unsigned groups;
	const char *more, *less; /* names, a blank behind each */
} takers[] = {
	{"record", BIT(SAMPLING) | BIT(TRACING) | BIT(OUTPUT), ATTACH MESSAGES, ""},
	{"trace", BIT(TRACING) | BIT(OUTPUT), "duration live " ATTACH MESSAGES, "owners show "},
	{"start", BIT(SAMPLING) | BIT(TRACING) | BIT(OUTPUT), ATTACH MESSAGES, "duration "},
	{"resume", BIT(SAMPLING) | BIT(TRACING) | BIT(OUTPUT), ATTACH MESSAGES, "duration "},
	{"stop", BIT(OUTPUT), ATTACH MESSAGES, BEGINS},
	{"dump", BIT(OUTPUT), ATTACH MESSAGES, BEGINS},
	{"status", 0, ATTACH MESSAGES, ""},
	{"list", 0, ATTACH MESSAGES, ""},
	{"metrics", 0, ATTACH MESSAGES, ""},
	{"version", 0, ATTACH MESSAGES, ""},
	{"stream", BIT(SAMPLING), "file force mode include exclude stream-format thread-names " ATTACH MESSAGES, ""},
	{"top", BIT(SAMPLING), "once " ATTACH MESSAGES, ""},
	{"memory", 0, "watch duration json output nmt attach-timeout " MESSAGES, ""},
	{"doctor", 0, "json output libpath " MESSAGES, ""},
	{"selftest", 0, "java duration json output libpath " MESSAGES, ""},
	{"convert", BIT(CONVERTING), "threads tail latency " FILES, ""},
	{"diff", BIT(CONVERTING), "tail latency " FILES, "diff "},
	{"clean", 0, MESSAGES, ""},
	{"ps", 0, MESSAGES, ""},
	{"help", 0, "help ", ""},
};

static bool holds(const char *list, const char *name)
{
	size_t n;

	for (; *list; list += n + (list[n] != '\0')) {
		n = strcspn(list, " ");
		if (option_is(name, list, n))
			return true;
	}
	return false;
}

bool option_is_taken(const char *command, const struct option *p)
{
	size_t i;

	for (i = 0; p->name && i < ARRAY_LEN(takers); i++)
		if (strcmp(takers[i].command, command) == 0)
			return holds(takers[i].more, p->name) ||
			       (takers[i].groups >> p->group & 1 && !holds(takers[i].less, p->name));
	return false;
}

int option_refuse_in_files(const struct option *p, const char *spelled, struct error *err)
{
	if (p->when != WHEN_NOW || p->kind == OPTION_IGNORED || option_is_taken("convert", p))
		return 0;
	return error_set(err, EINVAL, "%s: convert and diff read files, and this option is for sessions; leave it "
			 "out ('jstrobe help convert' lists their options)", spelled);
}
