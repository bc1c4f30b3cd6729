/*
 * jstrobe status: does sampling run in a JVM, and how is it doing?
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/answers.h"
#include "cli/cli.h"
#include "cli/talk/agent.h"
#include "common/base/decimal.h"
#include "common/words/events.h"

/* What the agent's enum trace_phase calls "probes go". */
#define RESTORING 5

/* How far the changing of classes is. */
static void print_trace(const char *s)
{
	unsigned long long left = control_number(s, "trace_left");
	unsigned long long seconds = (control_number(s, "trace_left_ns") + NS_PER_S - 1) / NS_PER_S;
	char rest[96] = "";

	if (control_number(s, "trace_phase") == RESTORING) {
		console_out("  classes  lose their probes: %llu are left, about %llu s", left, seconds);
		return;
	}
	if (left)
		snprintf(rest, sizeof(rest), "; %llu are left now, about %llu s", left, seconds);
	console_out("  classes  %llu of %llu that match have probes%s%s",
		    (unsigned long long)control_number(s, "trace_done"),
		    (unsigned long long)control_number(s, "trace_matched"),
		    control_number(s, "trace_some") ? "; others get them when they are seen running" : "", rest);
}

/* Who ends the session, or where its result goes. */
static void print_owner(const char *s)
{
	char text[2400];

	if (control_number(s, "owner"))
		console_out("  owner    a running 'jstrobe record', pid %llu",
			    (unsigned long long)control_number(s, "owner"));
	else if (control_value(s, "owed", text, sizeof(text)) && text[0])
		console_out("  result   goes to %s", text);
}

/* A command that is being carried out, which was waited for in vain; the figures are those before it. */
static void print_work(const char *s)
{
	char work[64];

	if (control_value(s, "at_work", work, sizeof(work)) && work[0])
		console_out("  at work  '%s' is being carried out for %llu s", work,
			    (unsigned long long)(control_number(s, "at_work_for") / NS_PER_S));
}

/* The value of KEY of event number E. */
static uint64_t number_of(const char *s, const char *key, unsigned e)
{
	char name[32];

	snprintf(name, sizeof(name), "%s_%u", key, e);
	return control_number(s, name);
}

static const char *text_of(const char *s, const char *key, unsigned e, char *text, size_t size)
{
	char name[32];

	snprintf(name, sizeof(name), "%s_%u", key, e);
	text[0] = '\0';
	control_value(s, name, text, size);
	return text;
}

/* "a sample each 10 ms of CPU time" */
static void print_event(const char *s, unsigned e)
{
	char name[256], engine[32], of[16], each[64];
	uint64_t n = number_of(s, "interval", e);
	enum weight_kind kind;

	text_of(s, "event", e, name, sizeof(name));
	text_of(s, "engine", e, engine, sizeof(engine));
	text_of(s, "of", e, of, sizeof(of));
	kind = weight_kind_of(of);
	kind = kind == WEIGHT_KINDS ? WEIGHT_COUNT : kind; /* of a later agent */
	if (!weight_is_time(kind))
		snprintf(each, sizeof(each), "a sample each %llu %s", (unsigned long long)n,
			 weight_kind_names[kind].words);
	else if (!n)
		snprintf(each, sizeof(each), "each wait is a sample");
	else
		snprintf(each, sizeof(each), "a sample each %s ms %s", decimal_short((double)n / 1e6).text,
			 weight_kind_names[kind].words);
	console_out("  event    %s by %s, %s", name, engine, each);
}

static void print_events(const char *s)
{
	unsigned e, count = (unsigned)control_number(s, "events");
	char names[512] = "", engines[512] = "";

	for (e = 0; e < count; e++)
		print_event(s, e);
	if (count)
		return;
	/* an older agent does not tell them apart */
	control_value(s, "event", names, sizeof(names));
	control_value(s, "engine", engines, sizeof(engines));
	console_out("  event    %s by %s", names, engines);
}

/* By what threads are sampled: of one event, or of each that arms single threads. */
static void print_threads(const char *s)
{
	unsigned long long known = control_number(s, "threads"), perf, timer, refused;
	unsigned e, count = (unsigned)control_number(s, "events");
	char name[256];

	if (count != 1)
		console_out("  threads  %llu known", known);
	for (e = 0; e < count; e++) {
		perf = number_of(s, "perf", e);
		timer = number_of(s, "timer", e);
		refused = number_of(s, "refused", e);
		if (count == 1)
			console_out("  threads  %llu known, %llu sampled by perf events, %llu by timers, "
				    "%llu by nothing", known, perf, timer, refused);
		else if (perf + timer + refused)
			console_out("           %s: %llu sampled by perf events, %llu by timers, %llu by nothing",
				    text_of(s, "event", e, name, sizeof(name)), perf, timer, refused);
	}
}

static void print(const char *s)
{
	char outside[64] = "";

	if (!control_number(s, "running")) {
		console_out("Profiler is not active%s", control_number(s, "has_data") ?
			    "; the last session's result can be dumped" : "");
		if (control_number(s, "trace_phase"))
			print_trace(s);
		return;
	}
	console_out("Profiling is running for %llu seconds",
		    (unsigned long long)(control_number(s, "running_for") / NS_PER_S));
	if (control_number(s, "trace_phase")) {
		console_out("  calls    %llu counted", (unsigned long long)control_number(s, "taken"));
		print_trace(s);
		print_owner(s);
		return;
	}
	print_events(s);
	if (control_number(s, "outside"))
		snprintf(outside, sizeof(outside), ", %llu outside the window",
			 (unsigned long long)control_number(s, "outside"));
	console_out("  samples  %llu taken, %llu stored, %llu of runs that go on, %llu lost%s",
		    (unsigned long long)control_number(s, "taken"), (unsigned long long)control_number(s, "stored"),
		    (unsigned long long)control_number(s, "open"),
		    (unsigned long long)control_number(s, "lost"), outside);
	print_threads(s);
	console_out("  queues   %llu bytes", (unsigned long long)control_number(s, "queue_bytes"));
	if (control_number(s, "last"))
		console_out("  recorder holds the last %s s in %llu bytes",
			    decimal((double)control_number(s, "last") / 1e9, 1).text,
			    (unsigned long long)control_number(s, "ring_bytes"));
	if (control_number(s, "streams") || control_number(s, "streamed"))
		console_out("  streams  %llu read now, %llu samples told, %llu dropped for slow readers",
			    (unsigned long long)control_number(s, "streams"),
			    (unsigned long long)control_number(s, "streamed"),
			    (unsigned long long)control_number(s, "dropped"));
	if (control_number(s, "recording"))
		console_out("  written  %llu bytes of recording, %llu samples are missing there",
			    (unsigned long long)control_number(s, "recording"),
			    (unsigned long long)control_number(s, "unwritten"));
	print_owner(s);
}

/* STATUS, NULL where process PID has no agent, as an object; an exit code. */
static int print_json(pid_t pid, const char *status)
{
	struct buffer out = BUFFER_INIT;

	answers_status(pid, status, &out);
	return cli_print(&out);
}

int cli_status(struct cli *cli)
{
	struct agent agent;
	struct error err = {0};
	bool json = cli->options.format[0];
	int rc = cli_check_json(cli, &err);

	if (rc) {
		console_error("%s", err.text);
		return CLI_USAGE;
	}
	rc = agent_open(&agent, cli, true, &err);
	if (rc == CLI_FAILED && err.code == ENOENT && json)
		return print_json(agent.target.pid, NULL);
	if (rc == CLI_FAILED && err.code == ENOENT) {
		console_out("Profiler is not active");
		return CLI_DONE;
	}
	if (rc)
		return rc;
	rc = agent_command(&agent, "status", 60000, &err);
	if (rc || !agent.talk.status)
		console_error("%s", rc ? err.text : "the agent gave no status");
	else if (json)
		print_json(agent.target.pid, agent.talk.status);
	else {
		print(agent.talk.status);
		print_work(agent.talk.status);
	}
	if (rc == 0 && agent.talk.status && !json)
		agent_hint_copies(&agent);
	rc = rc || !agent.talk.status;
	agent_close(&agent);
	return rc ? CLI_FAILED : CLI_DONE;
}
