/*
 * What a command can ask of the agent, and who owns the session it started.
 *
 * A session started with `owner` belongs to its conversation: when the command
 * is gone the session is stopped and its data are forgotten. When the JVM ends
 * first, the thread that runs VMDeath writes the result and sends ENDED.
 */
#include "agent/talk_commands.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/lent.h"
#include "agent/log.h"
#include "agent/owed.h"
#include "agent/schedule.h"
#include "agent/session.h"
#include "agent/trace.h"
#include "agent/streams.h"
#include "agent/trigger.h"
#include "engine/engine.h"

static struct {
	struct talk *owner; /* whose session runs; NULL: nobody's */
	struct talk *data;  /* whose data are kept, for as long as the conversation goes on */
	bool vm_dead;       /* the JVM must not be touched any more */
} shared;

/* ---- commands --------------------------------------------------------------- */

static pid_t owner_pid(void)
{
	return shared.owner ? shared.owner->peer : 0;
}

void talk_forget_places(struct talk *t)
{
	if (t->output >= 0)
		close(t->output);
	if (t->folder >= 0)
		close(t->folder);
	if (t->stream >= 0)
		close(t->stream);
	if (t->perf >= 0)
		close(t->perf);
	t->output = t->folder = t->stream = t->perf = -1;
}

static bool has_hung_up(const struct talk *t)
{
	struct pollfd p = {.fd = t->sock, .events = POLLRDHUP};

	return poll(&p, 1, 0) > 0 && (p.revents & (POLLRDHUP | POLLHUP | POLLERR));
}

static int check_owner(const struct talk *t, struct error *err)
{
	if (!shared.owner || shared.owner == t)
		return 0;
	if (has_hung_up(shared.owner))
		return error_set(err, EAGAIN, "the session of a 'jstrobe record' that was killed (pid %d) "
				 "is being ended; try again in a second", (int)shared.owner->peer);
	return error_set(err, EBUSY, "the session belongs to a running 'jstrobe record' (pid %d); "
			 "stop that one", (int)shared.owner->peer);
}

int talk_check_free(struct error *err)
{
	return check_owner(NULL, err);
}

bool talk_jvm_is_gone(void)
{
	return shared.vm_dead;
}

void talk_disown(void)
{
	shared.owner = shared.data = NULL;
}

/* The command's folder must take a new file from us; better said now than after the session. */
static int check_folder(const struct talk *t, struct error *err)
{
	if (t->folder < 0 || faccessat(t->folder, ".", W_OK | X_OK, AT_EACCESS) == 0)
		return 0;
	return error_set(err, errno, "the target (uid %d) cannot write into the folder of %s: %s; "
			 "choose another folder, or leave -f to 'jstrobe stop'", (int)geteuid(),
			 t->name, strerror(errno));
}

/* Where the result shall go, as the command said. */
static void name_place(struct talk *t, const struct options *o)
{
	if (t->output >= 0)
		owed_to_file(o, t->output);
	else if (t->folder >= 0)
		owed_to_folder(o, t->folder, t->name);
	t->output = t->folder = -1;
}

/* The stream goes with the session that runs, whoever began it. -EAGAIN: none does. */
static int join(const struct options *o, struct buffer *answer, struct error *err)
{
	int rc = session_join(o, err);

	if (rc == 0) {
		talk_put_status(answer, owner_pid());
		buffer_puts(answer, "joined=1\n");
	}
	return rc;
}

static int start(struct talk *t, const struct options *o, struct buffer *answer,
		 struct error *err)
{
	struct buffer notes = BUFFER_INIT;
	struct error ignored;
	int rc = check_owner(t, err), file = -1;

	if (rc == 0)
		rc = check_folder(t, err);
	if (rc == 0)
		rc = schedule_check(o, t->folder >= 0, err);
	if (rc)
		return rc;
	name_place(t, o);
	rc = owed_open(o, &file, err);
	if (rc == 0)
		rc = o->action == ACTION_RESUME ? session_resume(o, file, &notes, err)
						: session_start(o, file, &notes, err);
	talk_say_buffer(t, CONTROL_NOTE, &notes);
	if (rc) {
		owed_cancel();
		return rc;
	}
	shared.data = shared.owner = o->owner ? t : NULL;
	owed_confirm(o->action == ACTION_RESUME);
	talk_put_status(answer, owner_pid());
	log_as(o);
	rc = schedule_begin(o, err);
	if (rc == 0)
		rc = trigger_begin(o, err);
	if (rc) {
		session_stop(&ignored);
		shared.owner = shared.data = NULL;
		owed_nothing();
	}
	return rc;
}

/* What has happened to threads since the start and was not said yet. */
static void say_notes(struct talk *t)
{
	struct buffer notes = BUFFER_INIT;

	session_notes(&notes);
	talk_say_buffer(t, CONTROL_NOTE, &notes);
}

/* How the result shall look: as said at the start, then as said now. */
static int result_options(const char *text, struct options *o, struct error *err)
{
	const struct options *said = session_options();

	options_init(o);
	if (said)
		*o = *said;
	o->action = ACTION_NONE;
	o->patterns_old = true;
	o->timeout[0] = o->loop[0] = '\0';
	if (options_parse_agent(o, text, '\n', err))
		return -err->code;
	if (!o->format[0])
		strcpy(o->format, "hot");
	return 0;
}

static int write_result(struct talk *t, const struct options *o, struct error *err)
{
	if (t->output >= 0)
		return owed_write_file(o, t->output, err);
	return owed_write(o, err);
}

static int stop_or_dump(struct talk *t, const char *text, bool stop, struct buffer *answer,
			struct error *err)
{
	struct session_status s;
	struct options o;
	int rc = stop ? check_owner(t, err) : 0;

	if (rc == 0)
		rc = result_options(text, &o, err);
	if (rc)
		return rc;
	memset(&s, 0, sizeof(s));
	session_get_status(&s);
	if (!s.running && (stop || !s.has_data))
		return error_set(err, ENOENT, "Profiler is not active: no session runs in this JVM%s", s.has_data ?
				 "; 'jstrobe dump' writes the result of the last one" :
				 "; 'jstrobe start' or 'jstrobe record' begins one");
	say_notes(t);
	if (stop) {
		trace_by_thread(o.threads);
		rc = session_stop(err);
		shared.owner = NULL;
		if (rc)
			return rc;
		schedule_end();
		trigger_end();
	}
	talk_put_status(answer, owner_pid());
	rc = write_result(t, &o, err);
	/* after a failure to write, the data are still there for another try */
	if (rc)
		return rc;
	talk_put_loss(&o, answer);
	if (stop) {
		owed_nothing();
		session_close_recording();
	}
	return 0;
}

void talk_abandon(struct talk *t)
{
	struct error ignored;

	/* a stream of our own session tells of all its samples; one of another's ends where it is */
	if (shared.owner == t) {
		shared.owner = NULL;
		owed_nothing();
		trigger_end();
		session_stop(&ignored);
	}
	session_leave(t);
	if (shared.data == t) {
		shared.data = NULL;
		session_forget();
	}
}

void talk_carry_out(struct talk *t, const char *text)
{
	struct buffer answer = BUFFER_INIT, body = BUFFER_INIT;
	struct error err;
	struct options *o = lent_options(&err);
	int rc = o ? options_parse_agent(o, text, '\n', &err) : -ENOMEM;

	switch (rc ? ACTION_NONE : o->action) {
	case ACTION_START:
	case ACTION_RESUME:
		streams_offer(t->stream, t);
		transfer_offer(t->perf);
		t->stream = t->perf = -1;
		rc = o->join ? join(o, &answer, &err) : -EAGAIN;
		if (rc == -EAGAIN)
			rc = start(t, o, &answer, &err);
		streams_offer(-1, NULL);
		transfer_offer(-1);
		break;
	case ACTION_STOP:
	case ACTION_DUMP:
		rc = stop_or_dump(t, text, o->action == ACTION_STOP, &answer, &err);
		break;
	case ACTION_STATUS:
		talk_put_status(&body, owner_pid());
		talk_say_buffer(t, CONTROL_STATUS, &body);
		break;
	case ACTION_LIST:
		session_list_events(&body);
		talk_say_buffer(t, CONTROL_TEXT, &body);
		break;
	case ACTION_METRICS:
		session_metrics(&body);
		talk_say_buffer(t, CONTROL_TEXT, &body);
		break;
	case ACTION_VERSION:
		talk_say(t, CONTROL_TEXT, JSTROBE_VERSION "\n");
		break;
	case ACTION_NONE:
		if (!rc)
			rc = error_set(&err, EINVAL, "the command says nothing to do");
		break;
	}
	lent_back(o);
	talk_forget_places(t);
	buffer_putc(&answer, '\0');
	if (rc)
		talk_fail(t, CONTROL_FAILED, &err);
	else
		talk_say(t, CONTROL_DONE, answer.data ? answer.data : "");
	buffer_free(&answer);
}

/* ---- the end of the JVM ----------------------------------------------------- */

void talk_vm_death(void)
{
	struct talk *t = shared.owner;
	struct buffer answer = BUFFER_INIT;
	struct options o;
	struct error err;
	int rc;

	shared.vm_dead = true;
	shared.data = NULL;
	if (!t)
		return;
	shared.owner = NULL;
	rc = session_stop(&err);
	if (rc == 0)
		rc = result_options("", &o, &err);
	if (rc == 0) {
		talk_put_status(&answer, owner_pid());
		rc = owed_write(&o, &err);
	}
	if (rc == 0)
		talk_put_loss(&o, &answer);
	owed_nothing();
	session_close_recording();
	buffer_putc(&answer, '\0');
	if (rc)
		talk_fail(t, CONTROL_ENDED, &err);
	else
		talk_say(t, CONTROL_ENDED, answer.data ? answer.data : "");
	buffer_free(&answer);
}
