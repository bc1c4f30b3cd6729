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

#include "agent/log.h"
#include "agent/owed.h"
#include "agent/schedule.h"
#include "agent/session.h"
#include "agent/trace.h"
#include "agent/streams.h"
#include "agent/trigger.h"

#define SEND_MS 2000

static struct {
	struct talk *owner; /* whose session runs; NULL: nobody's */
	struct talk *data;  /* whose data are kept, for as long as the conversation goes on */
	bool vm_dead;       /* the JVM must not be touched any more */
} shared;

/* ---- answers ---------------------------------------------------------------- */

static void say(struct talk *t, enum control_type type, const char *text)
{
	struct error lost;

	/* a command that is gone is noticed at the next receive */
	control_send_text(t->sock, type, text, SEND_MS, &lost);
}

void talk_fail(struct talk *t, enum control_type type, const struct error *why)
{
	char text[640];

	snprintf(text, sizeof(text), "code=%d\nreason=%s\n", why->code, why->text);
	say(t, type, text);
}

static void say_buffer(struct talk *t, enum control_type type, struct buffer *b)
{
	struct error lost;
	size_t at, n;

	for (at = 0; at < b->length; at += n) {
		n = MIN(b->length - at, (size_t)CONTROL_MAX);
		if (control_send(t->sock, type, b->data + at, n, -1, SEND_MS, &lost))
			break;
	}
	buffer_free(b);
}

static void put_stream_status(const struct session_status *s, struct buffer *b)
{
	buffer_printf(b, "streams=%u\nstreamed=%llu\ndropped=%llu\n", s->streams, (unsigned long long)s->streamed,
		      (unsigned long long)s->dropped);
}

static void put_status(struct buffer *b)
{
	struct session_status s;
	const struct options *o = session_options();

	memset(&s, 0, sizeof(s));
	session_get_status(&s);
	buffer_printf(b, "running=%d\nhas_data=%d\nevent=%s\nengine=%s\ninterval=%llu\n", s.running,
		      s.has_data, s.event ? s.event : "", s.engine ? s.engine : "",
		      (unsigned long long)s.interval);
	buffer_printf(b, "running_for=%llu\ntaken=%llu\nstored=%llu\nlost=%llu\noutside=%llu\n",
		      (unsigned long long)s.running_for, (unsigned long long)s.taken,
		      (unsigned long long)s.stored, (unsigned long long)s.lost,
		      (unsigned long long)s.outside);
	buffer_printf(b, "threads=%u\nthreads_perf=%u\nthreads_timer=%u\nthreads_refused=%u\n"
		      "queue_bytes=%llu\n", s.threads, s.threads_perf, s.threads_timer, s.threads_refused,
		      (unsigned long long)s.queue_bytes);
	buffer_printf(b, "owed=%s\nowner=%d\nformat=%s\nversion=%s\n", owed_name(),
		      shared.owner ? (int)shared.owner->peer : 0, o ? o->format : "",
		      JSTROBE_VERSION);
	if (s.streams || s.streamed || s.dropped)
		put_stream_status(&s, b);
	if (s.last)
		buffer_printf(b, "last=%llu\nring_bytes=%llu\n", (unsigned long long)s.last,
			      (unsigned long long)s.ring_bytes);
	if (s.recording)
		buffer_printf(b, "recording=%llu\nunwritten=%llu\n", (unsigned long long)s.recording,
			      (unsigned long long)s.unwritten);
}

/* Texts for people carry the loss line themselves; it costs a second look at all the data. */
static bool tells_losses(const struct options *how)
{
	static const char *const texts[] = {"hot", "text", "flat", "traces", "calltree", "loss"};
	struct session_status s;
	size_t i = 0;

	memset(&s, 0, sizeof(s));
	session_get_status(&s);
	while (i < ARRAY_LEN(texts) && strcmp(texts[i], how->format) != 0)
		i++;
	return i < ARRAY_LEN(texts) && s.taken > 0;
}

/* The line that says what happened to the samples. */
static void put_loss_line(const struct options *how, struct buffer *b)
{
	struct buffer line = BUFFER_INIT;
	struct options o = *how;
	struct error ignored;
	size_t n;

	if (tells_losses(how))
		return;
	strcpy(o.format, "loss");
	if (session_dump(&o, &line, &ignored) == 0 && line.length) {
		const char *end = memchr(line.data, '\n', line.length);

		n = end ? (size_t)(end - line.data) : line.length;
		buffer_printf(b, "loss=%.*s\n", (int)n, line.data);
	}
	buffer_free(&line);
}

/* ---- commands --------------------------------------------------------------- */

void talk_forget_places(struct talk *t)
{
	if (t->output >= 0)
		close(t->output);
	if (t->folder >= 0)
		close(t->folder);
	if (t->stream >= 0)
		close(t->stream);
	t->output = t->folder = t->stream = -1;
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
		put_status(answer);
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
	say_buffer(t, CONTROL_NOTE, &notes);
	if (rc) {
		owed_cancel();
		return rc;
	}
	shared.data = shared.owner = o->owner ? t : NULL;
	owed_confirm(o->action == ACTION_RESUME);
	put_status(answer);
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
	say_buffer(t, CONTROL_NOTE, &notes);
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
	put_status(answer);
	rc = write_result(t, &o, err);
	/* after a failure to write, the data are still there for another try */
	if (rc)
		return rc;
	put_loss_line(&o, answer);
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
	struct options o;
	struct error err;
	int rc;

	options_init(&o);
	rc = options_parse_agent(&o, text, '\n', &err);
	switch (rc ? ACTION_NONE : o.action) {
	case ACTION_START:
	case ACTION_RESUME:
		streams_offer(t->stream, t);
		t->stream = -1;
		rc = o.join ? join(&o, &answer, &err) : -EAGAIN;
		if (rc == -EAGAIN)
			rc = start(t, &o, &answer, &err);
		streams_offer(-1, NULL);
		break;
	case ACTION_STOP:
	case ACTION_DUMP:
		rc = stop_or_dump(t, text, o.action == ACTION_STOP, &answer, &err);
		break;
	case ACTION_STATUS:
		put_status(&body);
		say_buffer(t, CONTROL_STATUS, &body);
		break;
	case ACTION_LIST:
		session_list_events(&body);
		say_buffer(t, CONTROL_TEXT, &body);
		break;
	case ACTION_METRICS:
		session_metrics(&body);
		say_buffer(t, CONTROL_TEXT, &body);
		break;
	case ACTION_VERSION:
		say(t, CONTROL_TEXT, JSTROBE_VERSION "\n");
		break;
	case ACTION_NONE:
		if (!rc)
			rc = error_set(&err, EINVAL, "the command says nothing to do");
		break;
	}
	talk_forget_places(t);
	buffer_putc(&answer, '\0');
	if (rc)
		talk_fail(t, CONTROL_FAILED, &err);
	else
		say(t, CONTROL_DONE, answer.data ? answer.data : "");
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
		put_status(&answer);
		rc = owed_write(&o, &err);
	}
	if (rc == 0)
		put_loss_line(&o, &answer);
	owed_nothing();
	session_close_recording();
	buffer_putc(&answer, '\0');
	if (rc)
		talk_fail(t, CONTROL_ENDED, &err);
	else
		say(t, CONTROL_ENDED, answer.data ? answer.data : "");
	buffer_free(&answer);
}
