/*
 * command_status.c - what a command hears of the session: how it stands, what happened to its samples.
 */
#include "agent/command/command.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "agent/command/control_thread.h"
#include "agent/session/neighbours.h"
#include "agent/command/pending_output.h"
#include "agent/session/session.h"
#include "agent/tracing/tracing.h"

static void put_trace_status(const struct trace_progress *p, struct buffer *b)
{
	buffer_printf(b, "trace_phase=%d\ntrace_some=%d\ntrace_matched=%u\ntrace_done=%u\ntrace_left=%u\n"
		      "trace_left_ns=%llu\n", (int)p->phase, p->some, p->matched, p->done, p->left,
		      (unsigned long long)p->left_ns);
}

/* Each event, and by what its threads are sampled. */
static void put_events(const struct session_status *s, struct buffer *b)
{
	uint32_t e;

	buffer_printf(b, "events=%u\n", s->event_count);
	for (e = 0; e < s->event_count; e++) {
		const struct session_armed *a = &s->events[e];

		buffer_printf(b, "event_%u=%s\nengine_%u=%s\n", e, a->event, e, a->engine);
		buffer_printf(b, "of_%u=%s\ninterval_%u=%llu\n", e, a->of, e, (unsigned long long)a->interval);
		buffer_printf(b, "perf_%u=%u\ntimer_%u=%u\nrefused_%u=%u\n", e, a->perf, e, a->timer, e, a->refused);
	}
}

static void put_stream_status(const struct session_status *s, struct buffer *b)
{
	buffer_printf(b, "streams=%u\nstreamed=%llu\ndropped=%llu\n", s->streams, (unsigned long long)s->streamed,
		      (unsigned long long)s->dropped);
}

static struct {
	pthread_mutex_t lock; /* a leaf */
	char pending[2 * OPTIONS_FILE_MAX], format[16];
} noted = {.lock = PTHREAD_MUTEX_INITIALIZER};

void command_note_result(void)
{
	const struct options *o = session_options();

	pthread_mutex_lock(&noted.lock);
	snprintf(noted.pending, sizeof(noted.pending), "%s", pending_name());
	snprintf(noted.format, sizeof(noted.format), "%s", o ? o->format : "");
	pthread_mutex_unlock(&noted.lock);
}

void command_put_status(struct buffer *b)
{
	struct session_status s;
	bool fresh = session_get_status(&s);
	uint64_t since;
	const char *work = control_at_work(&since);

	buffer_printf(b, "running=%d\nhas_data=%d\nevent=%s\nengine=%s\ninterval=%llu\n", s.running,
		      s.has_data, s.event, s.engine,
		      (unsigned long long)s.interval);
	buffer_printf(b, "running_for=%llu\ntaken=%llu\nstored=%llu\nlost=%llu\noutside=%llu\nopen=%llu\n",
		      (unsigned long long)s.running_for, (unsigned long long)s.taken,
		      (unsigned long long)s.stored, (unsigned long long)s.lost,
		      (unsigned long long)s.outside, (unsigned long long)s.open);
	buffer_printf(b, "threads=%u\nthreads_perf=%u\nthreads_timer=%u\nthreads_refused=%u\n"
		      "queue_bytes=%llu\n", s.threads, s.threads_perf, s.threads_timer, s.threads_refused,
		      (unsigned long long)s.queue_bytes);
	put_events(&s, b);
	pthread_mutex_lock(&noted.lock);
	buffer_printf(b, "owed=%s\nowner=%d\nformat=%s\nversion=%s\n", noted.pending,
		      (int)command_owner_pid(), noted.format, JSTROBE_VERSION);
	pthread_mutex_unlock(&noted.lock);
	if (work && (!fresh || since > NS_PER_S))
		buffer_printf(b, "at_work=%s\nat_work_for=%llu\n", work, (unsigned long long)since);
	else if (s.ending_for)
		buffer_printf(b, "at_work=stop\nat_work_for=%llu\n", (unsigned long long)s.ending_for);
	neighbours_put(b);
	if (s.streams || s.streamed || s.dropped)
		put_stream_status(&s, b);
	if (s.trace.phase != TRACE_IDLE)
		put_trace_status(&s.trace, b);
	if (s.last)
		buffer_printf(b, "last=%llu\nring_bytes=%llu\n", (unsigned long long)s.last,
			      (unsigned long long)s.ring_bytes);
	if (s.recording)
		buffer_printf(b, "recording=%llu\nunwritten=%llu\n", (unsigned long long)s.recording,
			      (unsigned long long)s.unwritten);
}

/* Texts for people carry the loss line themselves. */
static bool tells_losses(const struct options *how)
{
	static const char *const texts[] = {"hot", "text", "flat", "traces", "calltree", "loss"};
	size_t i = 0;

	while (i < ARRAY_LEN(texts) && strcmp(texts[i], how->format) != 0)
		i++;
	return i < ARRAY_LEN(texts);
}

/* "loss=", and "loss_1=" and so on of the other events; of a trace only the first line. */
static void put_losses(const struct options *how, const struct format_told *told, struct buffer *b)
{
	const struct buffer *lines = &told->losses;
	const char *at = lines->data, *end;
	unsigned i;

	if (lines->failed || (tells_losses(how) && told->taken))
		return;
	for (i = 0; lines->length && (!i || !how->instrument[0]); i++) {
		end = memchr(at, '\n', (size_t)(lines->data + lines->length - at));
		if (!end)
			break;
		buffer_puts(b, "loss");
		if (i)
			buffer_printf(b, "_%u", i);
		buffer_printf(b, "=%.*s\n", (int)(end - at), at);
		at = end + 1;
	}
}

static void put_matched(const struct options *how, const struct format_told *told, struct buffer *b)
{
	struct buffer unmatched = BUFFER_INIT;

	if (told->filtered)
		buffer_printf(b, "left=%llu\nleft_of=%llu\n", (unsigned long long)told->left,
			      (unsigned long long)told->stored);
	if (!how->instrument[0] && !options_have_probes(how))
		return;
	buffer_printf(b, "probes=%u\n", trace_matched(&unmatched));
	if (unmatched.length)
		buffer_printf(b, "unmatched=%.*s\n", (int)unmatched.length, unmatched.data);
	buffer_free(&unmatched);
}

void command_put_result(const struct options *how, const struct format_told *told, struct buffer *b)
{
	put_losses(how, told, b);
	put_matched(how, told, b);
}
