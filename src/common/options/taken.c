/*
 * taken.c - which options each command takes: what its help lists, and all that it lets pass. The words of all commands
 * are read by one parser; what does not concern the command that they turn out to mean is refused by this table, with
 * the commands that it does concern. Nothing is ignored silently.
 */
#include <errno.h>
#include <string.h>

#include "common/base/knob.h"
#include "common/options/option_table.h"

#define BIT(group) (1u << OPTIONS_##group)
#define MESSAGES "quiet verbose loglevel log help "
#define ATTACH "attach-timeout libpath "
/* said when a session begins, and of no effect on what is asked of it later */
#define BEGINS "timeout loop last on-oom on-signal stream stream-format thread-names cpuevents jfr-alloc jfr-compat " \
	"chunksize chunktime maxsize jfropts noprops jfrsync "
#define RESULTS "event gc roots roots-pause "
/* of a result, which these have not */
#define NO_RESULT "gc roots roots-pause nativemem-live nativemem-peak tail live-min-gcs "
#define FILES "event filter file overwrite force mode output json total samples lines title simple dot norm " \
	"group idle sig ann lib include exclude minwidth reverse inverted width height cpu wall alloc live lock " \
	"nativemem nativemap nativelock trace no-norm no-times " MESSAGES
#define SESSIONS (BIT(SAMPLING) | BIT(TRACING) | BIT(OUTPUT) | BIT(TESTING))

static const struct {
	const char *command;
	unsigned groups;
	const char *more, *less; /* names, a blank behind each */
} takers[] = {
	{"record", SESSIONS, "live " ATTACH MESSAGES, ""},
	{"trace", BIT(TRACING) | BIT(OUTPUT) | BIT(TESTING), "duration live " ATTACH MESSAGES,
	 "owners show idle group no-times "},
	{"start", SESSIONS, ATTACH MESSAGES, "duration group "},
	{"resume", SESSIONS, ATTACH MESSAGES, "duration group "},
	{"stop", BIT(OUTPUT), RESULTS ATTACH MESSAGES, BEGINS},
	{"dump", BIT(OUTPUT), RESULTS ATTACH MESSAGES, BEGINS},
	{"status", 0, "json output " ATTACH MESSAGES, ""},
	{"list", 0, "json output " ATTACH MESSAGES, ""},
	{"metrics", 0, ATTACH MESSAGES, ""},
	{"version", 0, "version json output " ATTACH MESSAGES, ""},
	{"stream", BIT(SAMPLING) | BIT(TESTING), "file overwrite force mode lines include exclude stream-format "
	 "thread-names " ATTACH MESSAGES, NO_RESULT},
	{"top", BIT(SAMPLING) | BIT(TESTING), "once group idle " ATTACH MESSAGES, NO_RESULT},
	{"memory", 0, "watch duration json output nmt attach-timeout " MESSAGES, ""},
	{"doctor", 0, "json output libpath " MESSAGES, ""},
	{"selftest", 0, "java duration json output libpath " MESSAGES, ""},
	{"convert", BIT(CONVERTING), "threads tail latency " FILES, ""},
	{"diff", BIT(CONVERTING), "tail latency " FILES, "diff no-times "},
	{"explain", BIT(CONVERTING), "event output json include exclude lines " MESSAGES, "diff highlight "},
	{"mcp", 0, MESSAGES, ""},
	{"clean", 0, MESSAGES, ""},
	{"load", 0, "attach-timeout " MESSAGES, ""},
	{"ps", 0, "json output " MESSAGES, ""},
	{"help", 0, "help all ", ""},
};

bool option_is_named(const char *list, const char *name)
{
	size_t n;

	for (; *list; list += n + (list[n] != '\0')) {
		n = strcspn(list, " ");
		if (option_is(name, list, n))
			return true;
	}
	return false;
}

static bool takes(size_t i, const struct option *p)
{
	/* what builds for tests have beside: the tests say where it belongs */
	if (KNOBS && p->group == OPTIONS_TESTING)
		return true;
	return option_is_named(takers[i].more, p->name) ||
	       (takers[i].groups >> p->group & 1 && !option_is_named(takers[i].less, p->name));
}

bool option_is_taken(const char *command, const struct option *p)
{
	size_t i;

	for (i = 0; p->name && i < ARRAY_LEN(takers); i++)
		if (strcmp(takers[i].command, command) == 0)
			return takes(i, p);
	return false;
}

void option_put_takers(const struct option *p, const char *between, struct buffer *out)
{
	const char *separator = "";
	size_t i;

	for (i = 0; p->name && i < ARRAY_LEN(takers); i++) {
		if (!takes(i, p))
			continue;
		buffer_printf(out, "%s%s", separator, takers[i].command);
		separator = between;
	}
}

static int refuse(const char *command, const struct option *p, struct error *err)
{
	struct buffer others = BUFFER_INIT;

	option_put_takers(p, ", ", &others);
	buffer_putc(&others, '\0');
	error_set(err, EINVAL, "%s: --%s is not an option of %s; it belongs to %s", command, p->name, command,
		  others.failed ? "others" : others.data);
	buffer_free(&others);
	return -EINVAL;
}

int options_check_taken(const struct options *o, const char *command, struct error *err)
{
	const struct option *p;

	for (p = option_table; p->kind; p++)
		if (option_is_given(o, p) && !option_is_taken(command, p))
			return refuse(command, p, err);
	return 0;
}

/* What was refused there before, and nothing else: callers of async-profiler say all kinds of things. */
int options_check_taken_at_door(const struct options *o, bool jfrconv, struct error *err)
{
	const struct option *p;

	for (p = option_table; p->kind; p++) {
		if (!option_is_given(o, p))
			continue;
		if (!jfrconv && p->group == OPTIONS_CONVERTING)
			return error_set(err, EINVAL, "--%s: only 'jstrobe convert' and 'diff' know it", p->name);
		if (jfrconv && p->when == WHEN_NOW && p->kind != OPTION_IGNORED && strcmp(p->name, "version") != 0 &&
		    !option_is_taken("convert", p))
			return refuse("convert", p, err);
	}
	return 0;
}
