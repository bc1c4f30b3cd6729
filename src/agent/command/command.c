#include "agent/command/command.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/jvm/log.h"
#include "agent/command/control_thread.h"
#include "agent/command/lent.h"
#include "agent/command/pending_output.h"
#include "agent/command/schedule.h"
#include "agent/session/session.h"
#include "agent/session/streams.h"
#include "agent/command/trigger.h"
#include "agent/sources/cpu/perf_transfer.h"
#include "agent/tracing/tracing.h"
#include "common/base/buffer.h"
#include "common/base/error.h"
#include "common/base/knob.h"
#include "common/os/os.h"

static struct {
	struct command_owner *_Atomic owner; /* whose session runs; NULL: no one's */
	struct command_owner *data;  /* whose data are kept, for as long as the conversation goes on */
	_Atomic pid_t pid;           /* of the owner, once that knows that it is */
} shared;

/* ---- who owns what ---- */

static void set_owner(struct command_owner *owner)
{
	shared.owner = owner;
	if (!owner)
		atomic_store(&shared.pid, 0);
}

void command_show_owner(const struct command_owner *owner)
{
	if (shared.owner == owner)
		atomic_store(&shared.pid, owner->pid);
	/* ended meanwhile? */
	if (shared.owner != owner && atomic_load(&shared.pid) == owner->pid)
		atomic_store(&shared.pid, 0);
}

pid_t command_owner_pid(void)
{
	return atomic_load(&shared.pid);
}

bool command_owner_is_gone(const struct command_owner *o)
{
	struct pollfd p = {.fd = o->sock, .events = POLLRDHUP};

	return poll(&p, 1, 0) > 0 && (p.revents & (POLLRDHUP | POLLHUP | POLLERR));
}

/* A session whose command is gone ends here and now, and not only when that has been noticed. */
static int check_owner(const struct command_owner *from, struct error *err)
{
	struct command_owner *owner = shared.owner;

	if (owner && owner != from && command_owner_is_gone(owner))
		command_abandon(owner);
	owner = shared.owner;
	if (!owner || owner == from)
		return 0;
	return error_set(err, EBUSY, "the session belongs to a running 'jstrobe record' (pid %d); "
			 "stop that one", (int)owner->pid);
}

void command_abandon(struct command_owner *owner)
{
	struct error ignored;

	/* a stream of our own session tells of all its samples; one of another's ends where it is */
	if (shared.owner == owner) {
		set_owner(NULL);
		pending_nothing();
		schedule_end();
		trigger_end();
		session_stop(&ignored);
	}
	session_leave(owner);
	if (shared.data == owner) {
		shared.data = NULL;
		session_forget();
	}
	command_note_result();
}

/* ---- places ---- */

void command_forget_place(struct command_place *p)
{
	int *const all[] = {&p->output, &p->stream, &p->perf};
	size_t i;

	for (i = 0; i < ARRAY_LEN(all); i++) {
		if (*all[i] >= 0)
			close(*all[i]);
		*all[i] = -1;
	}
	p->path[0] = '\0';
}

/* Whether the result goes to a file that we make: an option string says so, or the command's message. */
static bool has_path(const struct command *c)
{
	return c->place->output < 0 && c->options->file[0];
}

static bool has_place(const struct command *c)
{
	return c->place->output >= 0 || has_path(c);
}

/* Where the result shall go, as the command said. */
static void name_place(struct command *c)
{
	struct command_place *p = c->place;

	if (p->output >= 0)
		pending_to_file(c->options, p->output, p->path);
	else if (has_path(c))
		pending_to_path(c->options);
	p->output = -1;
}

/* ---- start ---- */

/* What can be refused before anything is touched. */
static int check_start(struct command *c, struct error *err)
{
	struct options *o = c->options;
	int rc = check_owner(c->from, err);

	/* a conversation's options name no file: what is there is the command's own business */
	if (c->from)
		strcpy(o->file, c->place->output < 0 ? c->place->path : "");
	if (rc == 0)
		rc = session_may_begin(o, err);
	if (rc == 0)
		rc = schedule_check(o, has_place(c), err);
	if (rc == 0)
		rc = has_path(c) ? pending_check_path(o, err) : pending_check_format(o, err);
	return rc;
}

static int begin(const struct options *o, bool resume, struct buffer *notes, struct error *err)
{
	int rc, file = -1;

	rc = pending_open(o, resume, &file, err);
	if (rc == 0)
		rc = resume ? session_resume(o, file, notes, err) : session_start(o, file, notes, err);
	return rc;
}

static int start(struct command *c, struct error *err)
{
	const struct options *o = c->options;
	bool resume = o->action == ACTION_RESUME;
	struct error ignored;
	int rc = check_start(c, err);

	if (rc)
		return rc;
	while (KNOB(strcmp(o->engine_fail, "control") == 0))
		os_sleep(600 * NS_PER_S);
	name_place(c);
	rc = trigger_begin(o, pending_is_named(resume), err);
	if (rc == 0)
		rc = begin(o, resume, &c->notes, err);
	if (rc == 0) {
		if (control_is_last())
			rc = error_set(err, ESHUTDOWN, "the JVM is ending");
		else if (control_called_off())
			rc = error_set(err, ECANCELED, "called off: who asked for the session is gone");
		if (rc == 0)
			rc = schedule_begin(o, err);
		if (rc == 0)
			rc = session_confirm(err);
		if (rc == 0)
			rc = pending_confirm(resume, err);
		if (rc)
			session_stop(&ignored);
	}
	if (rc) {
		schedule_end();
		trigger_end();
		pending_cancel();
		return rc;
	}
	set_owner(o->owner ? c->from : NULL);
	shared.data = shared.owner;
	log_as(o);
	command_note_result();
	command_put_status(&c->answer);
	return 0;
}

/* The stream goes with the session that runs, no matter what started it. -EAGAIN: none does. */
static int join(struct command *c, struct error *err)
{
	int rc = session_join(c->options, err);

	if (rc == 0) {
		command_put_status(&c->answer);
		buffer_puts(&c->answer, "joined=1\n");
	}
	return rc;
}

static int start_or_join(struct command *c, struct error *err)
{
	struct command_place *p = c->place;
	int rc;

	streams_offer(p->stream, c->from);
	transfer_offer(p->perf);
	p->stream = p->perf = -1;
	rc = c->options->join ? join(c, err) : -EAGAIN;
	if (rc == -EAGAIN)
		rc = start(c, err);
	streams_offer(-1, NULL);
	transfer_offer(-1);
	return rc;
}

/* ---- stop and dump ---- */

/* How the result shall look: as said at the start, then as said in TEXT. */
static int result_options(const char *text, char separator, bool to_file, struct options *o, struct error *err)
{
	const struct options *said = session_options();

	if (said)
		*o = *said;
	o->action = ACTION_NONE;
	o->patterns_old = true;
	o->file[0] = o->timeout[0] = o->loop[0] = '\0';
	if (to_file)
		o->format[0] = '\0';
	if (options_parse_agent(o, text, separator, err))
		return -err->code;
	/* that of a file is told by its name */
	if (!o->format[0] && !to_file)
		strcpy(o->format, "hot");
	return 0;
}

/* Whether this command says itself where the result goes. */
static bool is_named(const struct command *c)
{
	return c->place->output >= 0 || (!c->from && c->options->file[0]);
}

/* A session runs, or the last one's data are there still: a stop with a place takes those, and *ENDED is true. */
static int check_data(const struct command *c, bool stop, bool *ended, struct error *err)
{
	struct session_status s;

	memset(&s, 0, sizeof(s));
	session_get_status(&s);
	*ended = !s.running;
	if (s.running || (s.has_data && (!stop || is_named(c))))
		return 0;
	return error_set(err, ENOENT, "Profiler is not active: no session runs in this process%s", s.has_data ?
			 "; 'jstrobe dump' writes the result of the last one" :
			 "; 'jstrobe start' or 'jstrobe record' begins one");
}

static int write_result(const struct command *c, const struct options *o, struct format_told *told, struct error *err)
{
	if (c->place->output >= 0)
		return pending_write_file(o, c->place->output, told, err);
	if (!c->from && o->file[0])
		return pending_write_path(o, NULL, err);
	/* one who says no place and asks through the JVM wants none */
	if (!c->from && !pending_name()[0])
		return 0;
	return pending_write(o, told, err);
}

/* The session stops: nothing of it is to come any more, but for its result. */
static int end_session(struct error *err)
{
	int rc = session_stop(err);

	set_owner(NULL);
	if (rc)
		return rc;
	schedule_end();
	trigger_end();
	return 0;
}

/* Its result has been written: nothing is owed. */
static void settle(void)
{
	pending_nothing();
	session_close_recording();
	command_note_result();
}

static int stop_or_dump(struct command *c, bool stop, struct error *err)
{
	struct format_told told = FORMAT_TOLD_INIT;
	struct options *o = lent_options(err);
	int rc = o ? 0 : -ENOMEM;
	bool ended = false;

	if (rc == 0 && stop)
		rc = check_owner(c->from, err);
	if (rc == 0)
		rc = result_options(c->text, c->separator, !c->from && c->options->file[0], o, err);
	if (rc == 0)
		rc = check_data(c, stop, &ended, err);
	if (rc == 0 && !c->from && o->file[0])
		rc = pending_check_path(o, err);
	if (rc == 0)
		session_notes(&c->notes);
	if (rc == 0 && stop && ended)
		buffer_puts(&c->notes, "the session had ended before; this is its result\n");
	if (rc == 0 && stop && !ended) {
		trace_by_thread(o->threads);
		if (o->collect_first)
			session_collect_heap();
		session_find_roots(o);
		rc = end_session(err);
	}
	if (rc == 0) {
		command_put_status(&c->answer);
		/* after a failure to write, the data are still there for another try */
		rc = write_result(c, o, c->from ? &told : NULL, err);
	}
	if (rc == 0 && c->from)
		command_put_result(o, &told, &c->answer);
	/* a round may have ended since the command asked where the result goes */
	if (rc == 0 && c->from && c->place->output < 0)
		buffer_printf(&c->answer, "result=%s\n", pending_name());
	if (rc == 0 && stop)
		settle();
	buffer_free(&told.losses);
	lent_back(o);
	return rc;
}

int command_carry_out(struct command *c, struct error *err)
{
	int rc;

	switch (c->options->action) {
	case ACTION_START:
		rc = options_check_beside(c->options, err);
		if (rc)
			break;
		/* fall through */
	case ACTION_RESUME:
		rc = start_or_join(c, err);
		break;
	case ACTION_STOP:
	case ACTION_DUMP:
		rc = stop_or_dump(c, c->options->action == ACTION_STOP, err);
		break;
	default:
		rc = error_set(err, EINVAL, "the command says nothing to do");
	}
	command_note_result();
	return rc;
}

/* ---- without a command ---- */

static int next_round(const struct options *o, struct error *err)
{
	struct buffer notes = BUFFER_INIT;
	struct error ignored;
	/* a full disk now may have room at the next round */
	int rc = pending_next(err);

	if (rc == 0)
		rc = begin(o, false, &notes, err);
	if (rc == 0) {
		rc = session_confirm(err);
		if (rc == 0)
			rc = pending_confirm(false, err);
		if (rc)
			session_stop(&ignored);
	}
	buffer_free(&notes);
	return rc;
}

bool command_round(const struct options *o, bool last, uint64_t *began)
{
	struct error err;
	bool written;
	int rc;

	if (!last)
		session_round_ends();
	session_goes_on(!last);
	rc = session_stop(&err);
	if (rc) {
		session_goes_on(false);
		if (rc != -ENOENT)
			log_error("%s", err.text);
		return false;
	}
	rc = !pending_name()[0] ? 0 : last ? pending_write(NULL, NULL, &err) : pending_keep(&err);
	written = rc == 0;
	if (rc)
		log_error("%s", err.text);
	session_close_recording();
	if (!last) {
		struct error why;
		int begun = next_round(o, &why);

		*began = os_monotonic();
		session_goes_on(false);
		if (begun == 0)
			command_note_result();
		rc = pending_write_kept(&err);
		written = written && rc == 0;
		if (rc)
			log_error("%s", err.text);
		if (begun == 0)
			return true;
		log_error("loop ends: %s", why.text);
		pending_cancel();
	}
	set_owner(NULL);
	trigger_end();
	/* what could not be written now is tried once more at the JVM's end; nothing goes under the next one's name */
	if (written)
		pending_nothing();
	command_note_result();
	return false;
}

bool command_is_idle(void)
{
	struct session_status s;

	return session_get_status(&s) && !s.running && !pending_name()[0] && !shared.owner;
}

struct command_owner *command_vm_death(struct buffer *answer, bool *failed, struct error *err)
{
	struct command_owner *owner = shared.owner;
	struct options *o = owner ? lent_options(err) : NULL;
	struct format_told told = FORMAT_TOLD_INIT;
	int rc;

	shared.data = NULL;
	/* the session may have been stopped already; its data are owed all the same */
	rc = end_session(err);
	if (owner) {
		if (rc == 0)
			rc = o ? result_options("", '\n', false, o, err) : -ENOMEM;
		if (rc == 0) {
			command_put_status(answer);
			rc = pending_write(o, &told, err);
		}
		if (rc == 0)
			command_put_result(o, &told, answer);
	} else {
		schedule_end();
		trigger_end();
		if (pending_name()[0] && pending_write(NULL, NULL, err))
			log_error("%s", err->text);
		rc = 0;
	}
	settle();
	buffer_free(&told.losses);
	lent_back(o);
	*failed = rc != 0;
	return owner;
}
