/*
 * jstrobe record: one session from beginning to end, of a running JVM or of a
 * program that we start.
 *
 * The session is ours: the agent ends it when our socket closes, whatever
 * became of us. The result's file is open from the start, so that the agent
 * can write it even when the JVM ends before we ask.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/compose.h"
#include "cli/live/trace_live.h"
#include "cli/replace.h"
#include "cli/report.h"
#include "cli/result.h"
#include "cli/surroundings/surroundings_look.h"
#include "cli/talk/agent.h"
#include "cli/talk/apart.h"
#include "cli/talk/launch.h"
#include "cli/talk/signs.h"
#include "common/base/decimal.h"
#include "common/control/control.h"
#include "common/os/os.h"

#define DEFAULT_DURATION (60 * NS_PER_S)
#define TICK_MS 1000
#define START_MS 120000
#define HURRY (10 * NS_PER_S)

struct recording {
	struct cli *cli;
	struct agent agent;
	struct result result;
	struct launch launch; /* pid 0: the JVM ran before */
	struct trace_live *live; /* NULL: nothing is shown meanwhile */
	int signals;
	int interrupts;       /* requests to end, in a recording of a running JVM */
	uint64_t began;       /* ns; 0: sampling has not begun */
	pid_t looked_at;      /* the process around which one looks; 0: none */
	struct look before, latest;
};

/* Take the signals that have come: ours to obey, or the program's to pass on. */
static void take_signals(struct recording *r)
{
	bool from_terminal;
	int sig;

	while ((sig = signals_next(r->signals, &from_terminal)) != 0) {
		if (!launch_signal(&r->launch, sig, from_terminal) && sig != SIGCHLD)
			r->interrupts++;
	}
	r->agent.hurried = r->interrupts > 0;
}

/* ---- the session ------------------------------------------------------------------ */

/* The JVM that was started and has called; 0: not known. */
static pid_t caller(const struct recording *r)
{
	struct error ignored;
	pid_t pid;
	uid_t uid;

	return control_peer(r->agent.sock, &pid, &uid, &ignored) ? 0 : pid;
}

/* What is there to be looked at may be gone when the session ends: threads are many, and looked at at the end alone. */
static void look_again(struct recording *r, bool threads)
{
	struct look fresh;

	if (!r->before.at)
		return;
	look_take(&fresh, r->looked_at, threads);
	if (threads)
		look_at_deadlock(&fresh.totals, r->looked_at);
	if (!around_known(&fresh.totals, AROUND_cpu)) {
		look_free(&fresh);
		return;
	}
	look_free(&r->latest);
	r->latest = fresh;
}

/*
 * Whether what goes on around the samples is put behind what the agent has written: into a recording of the session
 * alone, from its begin to its end.
 */
static bool keeps_surroundings(const struct recording *r)
{
	const struct options *o = &r->cli->options;

	return strcmp(r->result.format, "jfr") == 0 && !r->result.packed && !o->instrument[0] && !o->last &&
	       !o->jfrsync[0];
}

static int begin(struct recording *r, struct error *err)
{
	struct options asked = r->cli->options;
	int rc;

	r->result.packed = compose_is_ours(&r->agent, &asked);
	rc = compose_of_session(&r->result, &r->agent, &asked, err);
	if (rc)
		return rc;
	rc = result_open(&r->result, target_is_apart(&r->agent.target), err);
	if (rc)
		return rc;
	if (r->result.packed)
		compose_ask(&asked, &r->cli->options);
	asked.action = ACTION_START;
	asked.owner = true;
	asked.color = result_colour(&r->result);
	rc = agent_send_file(&r->agent, r->result.given, r->result.file, err);
	if (rc == 0)
		rc = agent_obey(&r->agent, &asked, START_MS, err);
	while (rc == -EINTR) {
		take_signals(r);
		/* what has come by now counts: the session may have begun */
		rc = agent_listen(&r->agent, r->interrupts ? 0 : START_MS, err);
		if (rc == -ETIMEDOUT && r->interrupts)
			return error_set(err, EINTR, "interrupted while the session began");
	}
	if (rc)
		return rc;
	r->began = os_monotonic();
	r->looked_at = r->agent.target.pid ? r->agent.target.pid : caller(r);
	r->result.pid = (int)r->looked_at;
	if ((r->result.packed || keeps_surroundings(r)) && r->looked_at)
		look_take(&r->before, r->looked_at, true);
	return result_begun(&r->result, err);
}

static void show_progress(struct recording *r, uint64_t duration)
{
	struct error err;
	const char *s;
	char left[48];
	uint64_t ran = os_monotonic() - r->began;

	/* one that does not answer is not asked again and again */
	if (!console_shows_progress() || r->agent.talk.pending ||
	    agent_command(&r->agent, "status", TICK_MS, &err) || !r->agent.talk.status)
		return;
	s = r->agent.talk.status;
	if (duration)
		snprintf(left, sizeof(left), "%llu s left",
			 (unsigned long long)((duration - MIN(ran, duration)) / NS_PER_S));
	else
		snprintf(left, sizeof(left), "%llu s", (unsigned long long)(ran / NS_PER_S));
	if (r->cli->options.instrument[0]) {
		console_progress_part(ran, duration, "counting calls: %s, %llu calls, probes in %llu of %llu classes",
				      left, (unsigned long long)control_number(s, "taken"),
				      (unsigned long long)control_number(s, "trace_done"),
				      (unsigned long long)control_number(s, "trace_matched"));
		return;
	}
	console_progress_part(ran, duration, "sampling %s: %s, %llu samples, %llu lost", r->cli->options.event, left,
			      (unsigned long long)control_number(s, "taken"),
			      (unsigned long long)control_number(s, "lost"));
}

/* Nothing has come for a while. 0: it goes on. */
static int pass_time(struct recording *r, uint64_t duration, struct error *err)
{
	if (r->live)
		return trace_live_tick(r->live, &r->agent, err);
	look_again(r, false);
	show_progress(r, duration);
	return 0;
}

/* Let it run for DURATION ns (0: until something ends it). 0: it is time to stop. */
static int let_run(struct recording *r, uint64_t duration, struct error *err)
{
	uint64_t tick = r->live ? TRACE_LIVE_MS : TICK_MS;

	for (;;) {
		uint64_t ran = os_monotonic() - r->began, left;
		int rc;

		if (r->interrupts || (duration && ran >= duration))
			return 0;
		left = duration ? (duration - ran + NS_PER_MS - 1) / NS_PER_MS : tick;
		rc = agent_listen(&r->agent, (int)MIN(left, tick), err);
		if (rc == -ETIMEDOUT)
			rc = pass_time(r, duration, err);
		if (rc == -EINTR)
			take_signals(r);
		else if (rc)
			return rc == -ECANCELED ? 0 : rc;
		/* a program can end without its JVM: its last words have come by now */
		if (r->launch.ended && agent_listen(&r->agent, TICK_MS, err) == -ETIMEDOUT)
			return 0;
		if (r->agent.talk.ended)
			return -ESHUTDOWN;
	}
}

static pid_t pid_of(const struct recording *r)
{
	return r->agent.target.pid ? r->agent.target.pid : r->launch.pid;
}

/* A second has passed in which the agent said nothing. Whether the result that a signal asked for may yet come. */
static bool is_worth_waiting(struct recording *r, struct signs *signs, uint64_t waited)
{
	pid_t pid = pid_of(r);

	if (waited > HURRY || !signs_of_work(signs, pid, r->result.fd))
		return false;
	console_hint("waiting for the result of process %d; the signal once more ends without it", (int)pid);
	return true;
}

/*
 * Stop and have the result written. Without a signal that takes as long as it takes. If a signal has asked for it, or
 * comes meanwhile, it has to come on within a second, and has HURRY in all; another one ends at once.
 */
static int finish(struct recording *r, struct error *err)
{
	struct options o = r->cli->options;
	struct signs signs = {0};
	uint64_t asked = os_monotonic();
	int interrupts = r->interrupts, rc;

	if (r->result.packed)
		compose_ask(&o, &r->cli->options);
	o.color = result_colour(&r->result);
	o.action = ACTION_STOP;
	o.owner = false;
	signs_of_work(&signs, pid_of(r), r->result.fd);
	report_pause(&o);
	rc = agent_tell(&r->agent, &o, AGENT_ANSWER_MS, err);
	while (rc == 0) {
		rc = agent_listen(&r->agent, interrupts ? TICK_MS : AGENT_ANSWER_MS, err);
		if (rc == -EINTR)
			take_signals(r);
		if (r->interrupts > interrupts && interrupts) {
			r->agent.owns = false; /* nor is its end waited for */
			return error_set(err, EINTR, "stopped without a result");
		}
		if (r->interrupts > interrupts) {
			/* its time was over when the signal came: what is being written is what was asked for */
			console_note("the result is being written; the signal once more ends without it");
			interrupts = r->interrupts;
			asked = os_monotonic();
		}
		if (rc == -ETIMEDOUT && interrupts && !is_worth_waiting(r, &signs, os_monotonic() - asked))
			return error_set(err, EINTR, "process %d does not answer; stopped without a result",
					 (int)pid_of(r));
		if (rc != -EINTR && (rc != -ETIMEDOUT || !interrupts))
			break;
		rc = 0;
	}
	if (rc == 0)
		r->agent.owns = false;
	return rc;
}

/* The JVM is gone, without a last word. */
static void keep_recorded(struct recording *r, struct error *err)
{
	char file[PATH_MAX];

	strcpy(file, r->result.file);
	if (result_keep(&r->result, signals_interrupts(), err) == 0)
		error_set(err, ECONNRESET, "process %d ended without a last word of the agent (killed or "
			  "crashed); %s holds what was recorded until a second before", (int)pid_of(r), file);
}

/* RC is how the session came to its end. Make its result visible. An exit code. */
static int conclude(struct recording *r, int rc, struct error *err)
{
	if (rc == -ESHUTDOWN && r->agent.talk.ended) {
		rc = 0;
		if (r->agent.talk.end_error.code) {
			*err = r->agent.talk.end_error;
			rc = -err->code;
		} else if (!r->launch.pid) {
			/* Its duration stands in the result: the news of the end come here some time later. */
			console_note("process %d ended; the result covers what it did until then", (int)pid_of(r));
		}
	} else if (rc == -ECONNRESET && r->began && r->result.grows) {
		keep_recorded(r, err);
	} else if (rc == -ECONNRESET && r->began) {
		error_set(err, ECONNRESET, "process %d ended without a last word of the agent (killed or "
			  "crashed, or right when profiling began); there is no result",
			  (int)pid_of(r));
	}
	if (rc == 0 && keeps_surroundings(r))
		rc = look_append(&r->result.around, r->latest.at, r->result.fd, err);
	if (rc == 0)
		rc = report_result(&r->agent, &r->cli->options, &r->result, "", err);
	if (rc)
		console_error("%s", err->text);
	if (rc == -EINTR)
		return CLI_ABORTED;
	return rc ? CLI_FAILED : CLI_DONE;
}

static int session(struct recording *r, uint64_t duration, struct error *err)
{
	int rc;

	if (r->cli->options.live)
		r->live = trace_live_begin(&r->cli->options);
	rc = let_run(r, duration, err);
	trace_live_end(r->live);
	console_progress("%s", "");
	if (rc == 0)
		look_again(r, true);
	look_difference(&r->before, &r->latest, &r->result.around);
	if (rc == 0)
		rc = finish(r, err);
	return conclude(r, rc, err);
}

/* ---- a running JVM ------------------------------------------------------------------ */

static int record_running(struct recording *r, struct error *err)
{
	struct options *o = &r->cli->options;
	const char *name;
	pid_t pid;
	int rc;

	if (cli_target(r->cli, &name, err)) {
		console_error("%s", err->text);
		return CLI_USAGE;
	}
	rc = attach_resolve(name, &pid, err);
	if (rc == 0 && result_find(&r->result, o, (int)pid, "hot", true, err)) {
		console_error("%s", err->text);
		return err->code == EINVAL ? CLI_USAGE : CLI_FAILED;
	}
	if (rc == 0)
		rc = agent_attach(&r->agent, pid, o, NULL, err);
	if (rc) {
		console_error("%s", err->text);
		return rc == -EINTR ? CLI_ABORTED : CLI_CANNOT_ATTACH;
	}
	rc = begin(r, err);
	if (rc)
		return conclude(r, rc, err);
	/* a flight recorder runs until Ctrl-C */
	return session(r, o->duration || o->last ? o->duration : DEFAULT_DURATION, err);
}

/* ---- a program of our own ------------------------------------------------------------ */

static int start_program(struct recording *r, struct error *err)
{
	int rc = launch_fork(&r->launch, &r->agent, &r->cli->options, r->cli->program, err);

	if (rc)
		return rc;
	rc = result_find(&r->result, &r->cli->options, (int)r->launch.pid, "hot", true, err);
	if (rc) {
		launch_abandon(&r->launch);
		return rc;
	}
	return launch_go(&r->launch, r->cli->program[0], err);
}

#define WENT_ON (500 * NS_PER_MS) /* a script that has nothing more to do ends sooner */

/* The session of the JVM PID is over, with STATUS. A script may go on, with JVMs that come too late: say so. */
static int wait_for_program(struct recording *r, pid_t pid, int status)
{
	bool first = r->agent.talk.ended && pid > 0 && pid != r->launch.pid;
	uint64_t ended = os_monotonic(), more;
	int result = launch_wait(&r->launch, r->signals, status);

	more = os_monotonic() - ended;
	if (first && more > WENT_ON)
		console_note("the result is of JVM %d, the first of %s, which went on for %s s: JVMs that it started "
			     "later are not profiled; put 'jstrobe record -f FILE --' before the java that is meant",
			     (int)pid, r->cli->program[0], decimal((double)more / 1e9, 1).text);
	return result;
}

static int record_program(struct recording *r, struct error *err)
{
	int rc;

	if (r->cli->word_count) {
		console_error("record: either a JVM ('%s') or a program after --, not both",
			      r->cli->words[0]);
		return CLI_USAGE;
	}
	rc = start_program(r, err);
	if (rc) {
		console_error("%s", err->text);
		return rc == -EINVAL ? CLI_USAGE : CLI_FAILED;
	}
	rc = launch_greet(&r->launch, &r->agent, err);
	if (rc == 0)
		rc = begin(r, err);
	if (rc == 0) {
		pid_t pid = caller(r);

		return wait_for_program(r, pid, session(r, r->cli->options.duration, err));
	}
	if (rc == 1)
		launch_say_ended(&r->launch, r->cli->program, "result");
	else
		console_error("%s; the program runs unprofiled", err->text);
	agent_close(&r->agent);
	return launch_wait(&r->launch, r->signals, CLI_FAILED);
}

int cli_record(struct cli *cli)
{
	struct recording r = {.cli = cli, .result = RESULT_INIT};
	struct error err = {0};
	int rc;

	if (result_check_name(&cli->options, &err)) {
		console_error("%s", err.text);
		return CLI_USAGE;
	}
	if (options_check_beside(&cli->options, &err)) {
		console_error("%s: %s", cli->command, err.text);
		return CLI_USAGE;
	}
	if (cli->options.live && !cli->options.instrument[0]) {
		console_error("%s: --live shows the calls that `jstrobe trace` counts; for samples there is "
			      "`jstrobe top`", cli->command);
		return CLI_USAGE;
	}
	/* these end without us, as in async-profiler */
	if ((cli->options.timeout[0] || cli->options.loop[0]) && !cli->program)
		return cli_start(cli);
	if (cli->options.timeout[0] || cli->options.loop[0]) {
		console_error("record: --timeout and --loop are for a JVM that runs already; use -d, "
			      "or -agentpath with timeout or loop");
		return CLI_USAGE;
	}
	rc = replace_check_first(cli, &err);
	if (rc) {
		console_error("%s", err.text);
		return replace_exit_code(rc);
	}
	agent_init(&r.agent, -1);
	r.signals = signals_open(&err);
	if (r.signals < 0) {
		console_error("%s", err.text);
		return CLI_FAILED;
	}
	r.agent.wake = r.signals;
	rc = cli->program ? record_program(&r, &err) : record_running(&r, &err);
	agent_close(&r.agent);
	result_drop(&r.result);
	look_free(&r.before);
	look_free(&r.latest);
	return rc;
}
