/*
 * perfetto.c - a trace of Perfetto (protos/perfetto/trace, as PyPI's perfetto 0.59.1 has them): samples as StackSample,
 * a sequence of packets for each event, whose names, frames and stacks are interned when they are needed first; pauses,
 * spans and what threads did as slices of tracks. Nothing is kept of what is written, so memory is bounded by the
 * profile.
 *
 * All times are of the real-time clock, which the first packet makes the clock of the trace.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/hash.h"
#include "common/base/utf8.h"
#include "profile/exports/comments.h"
#include "profile/exports/export.h"
#include "profile/exports/perfetto_writer.h"
#include "profile/writers/protobuf.h"

enum { CLOCKS_CLOCK = 1, CLOCKS_PRIMARY };
enum { CLOCK_ID = 1, CLOCK_TIME };
enum { REAL_TIME = 1 }; /* of BuiltinClock */
enum { DEFAULTS_CLOCK = 58 };
enum { FLAG_CLEARED = 1, FLAG_NEEDS_STATE = 2 };
enum { TRACK_UUID = 1, TRACK_NAME, TRACK_PROCESS, TRACK_THREAD, TRACK_PARENT };
enum { PROCESS_PID = 1, PROCESS_NAME = 6, PROCESS_LABEL = 8 };
enum { THREAD_PID = 1, THREAD_TID, THREAD_CALLED = 5 };
enum { EVENT_ANNOTATION = 4, EVENT_TYPE = 9, EVENT_TRACK = 11, EVENT_CATEGORY = 22, EVENT_NAME };
enum { ANNOTATION_TEXT = 6, ANNOTATION_NAME = 10 };
enum { TYPE_BEGIN = 1, TYPE_END, TYPE_MOMENT };
enum { ATTRIBUTES_ATTRIBUTE = 1 };
enum { ATTRIBUTE_KEY = 1, ATTRIBUTE_TEXT = 3 };

/* Ids from here on are ours: of threads whose own is not known, or another's already. No kernel gives them. */
#define OWN_IDS (1u << 30)
/*
 * Without an id and a name: virtual threads, and others that a recording does not name. A profile does not say which of
 * them are the same, so that they are one here.
 */
#define NAMELESS "threads without a name"

void perfetto_text(struct perfetto *w, struct buffer *to, unsigned field, const char *text)
{
	w->text.length = 0;
	utf8_put(&w->text, text);
	w->failed |= w->text.failed != 0;
	if (!w->text.failed)
		proto_bytes(to, field, w->text.data, w->text.length);
}

/* A packet without a time is at the latest time that a reader has seen. */
static void end_packet(struct perfetto *w, uint32_t sequence)
{
	proto_number(&w->packet, PACKET_SEQUENCE, sequence);
	proto_number(&w->packet, PACKET_FLAGS, FLAG_NEEDS_STATE);
	proto_message(w->out, TRACE_PACKET, &w->packet);
}

void perfetto_end_packet_at(struct perfetto *w, uint32_t sequence, uint64_t time)
{
	proto_known_number(&w->packet, PACKET_TIME, time);
	end_packet(w, sequence);
}

void perfetto_begin_sequence(struct perfetto *w, uint32_t sequence, struct buffer *defaults)
{
	proto_number(&w->message, DEFAULTS_CLOCK, REAL_TIME);
	if (defaults)
		buffer_append(&w->message, defaults->data, defaults->length);
	proto_message(&w->packet, PACKET_DEFAULTS, &w->message);
	proto_number(&w->packet, PACKET_SEQUENCE, sequence);
	proto_number(&w->packet, PACKET_FLAGS, FLAG_CLEARED);
	proto_number(&w->packet, PACKET_FIRST, 1);
	proto_message(w->out, TRACE_PACKET, &w->packet);
}

/* ---- tracks ---- */

static void end_track(struct perfetto *w, uint64_t uuid, uint64_t parent)
{
	proto_number(&w->message, TRACK_UUID, uuid);
	proto_number(&w->message, TRACK_PARENT, parent);
	proto_message(&w->packet, PACKET_TRACK, &w->message);
	end_packet(w, PERFETTO_TRACKS);
}

uint64_t perfetto_track(struct perfetto *w, uint64_t parent, const char *name)
{
	perfetto_text(w, &w->message, TRACK_NAME, name);
	end_track(w, ++w->uuids, parent);
	return w->uuids;
}

static uint32_t pid_of(const struct profile *p)
{
	return p->pid > 0 ? (uint32_t)p->pid : 1;
}

static void put_process(struct perfetto *w, const struct profile *p, uint64_t uuid)
{
	proto_number(&w->inner, PROCESS_PID, pid_of(p));
	perfetto_text(w, &w->inner, PROCESS_NAME, *p->main_class ? p->main_class : "java");
	if (w->no_times)
		perfetto_text(w, &w->inner, PROCESS_LABEL, "no times: stacks stand one after the other");
	proto_message(&w->message, TRACK_PROCESS, &w->inner);
	end_track(w, uuid, 0);
}

static void put_thread(struct perfetto *w, const struct perfetto_task *t, const char *name)
{
	proto_number(&w->inner, THREAD_PID, t->pid);
	proto_number(&w->inner, THREAD_TID, t->tid);
	perfetto_text(w, &w->inner, THREAD_CALLED, name);
	proto_message(&w->message, TRACK_THREAD, &w->inner);
	end_track(w, t->uuid, 0);
}

/* Whether no other thread of the file has that id yet. */
static bool is_free(struct perfetto *w, uint32_t pid, uint32_t tid)
{
	const uint32_t id[] = {pid, tid};
	size_t known = w->ids.places.count;
	uint32_t number = lists_add(&w->ids, id, ARRAY_LEN(id));

	w->failed |= number == LISTS_FAILED;
	return number == known;
}

/* The one that KEY is of; *IS_NEW: the caller is to fill it in. NULL: no memory. */
static struct perfetto_task *find_task(struct perfetto *w, const uint32_t key[3], bool *is_new)
{
	uint32_t number = lists_add(&w->tasks, key, 3);
	struct perfetto_task *t;

	*is_new = number == w->of_task.count;
	if (number != LISTS_FAILED && !*is_new)
		return &w->of_task.items[number];
	t = number == LISTS_FAILED ? NULL : VECTOR_PUSH(&w->of_task);
	w->failed |= !t;
	return t;
}

static struct perfetto_task process_of(struct perfetto *w, const struct profile *p)
{
	const uint32_t key[] = {pid_of(p), 0, 0};
	bool is_new;
	struct perfetto_task *t = find_task(w, key, &is_new);

	if (!t)
		return (struct perfetto_task){.uuid = 0};
	if (is_new) {
		*t = (struct perfetto_task){++w->uuids, key[0], 0};
		put_process(w, p, t->uuid);
	}
	return *t;
}

struct perfetto_task perfetto_thread_called(struct perfetto *w, const struct profile *p, uint32_t tid,
					    const char *name)
{
	const uint32_t key[] = {pid_of(p), tid, strings_add(&w->names, name, strlen(name)) + 1};
	struct perfetto_task *t;
	bool is_new;

	process_of(w, p);
	w->failed |= w->names.failed;
	t = find_task(w, key, &is_new);
	if (!t)
		return (struct perfetto_task){.uuid = 0};
	if (is_new) {
		bool own = !tid || tid >= OWN_IDS || !is_free(w, key[0], tid);

		*t = (struct perfetto_task){++w->uuids, key[0], own ? OWN_IDS + (uint32_t)w->of_task.count : tid};
		put_thread(w, t, tid || *name ? name : NAMELESS);
	}
	return *t;
}

struct perfetto_task perfetto_thread(struct perfetto *w, const struct profile *p, uint32_t thread)
{
	const struct profile_thread *t = thread < p->thread_count ? &p->threads[thread] : NULL;

	return t ? perfetto_thread_called(w, p, t->tid, t->name) : process_of(w, p);
}

/* ---- slices ---- */

static void put_event(struct perfetto *w, unsigned type, uint64_t track, uint64_t time)
{
	proto_number(&w->message, EVENT_TYPE, type);
	proto_number(&w->message, EVENT_TRACK, track);
	proto_message(&w->packet, PACKET_EVENT, &w->message);
	perfetto_end_packet_at(w, PERFETTO_TRACKS, time);
}

static void put_named(struct perfetto *w, const char *category, const char *name)
{
	perfetto_text(w, &w->message, EVENT_CATEGORY, category);
	perfetto_text(w, &w->message, EVENT_NAME, name);
}

void perfetto_begin_slice(struct perfetto *w, uint64_t track, uint64_t time, const char *category, const char *name)
{
	put_named(w, category, name);
	put_event(w, TYPE_BEGIN, track, time);
}

void perfetto_end_slice(struct perfetto *w, uint64_t track, uint64_t time)
{
	put_event(w, TYPE_END, track, time);
}

void perfetto_put_moment(struct perfetto *w, uint64_t track, uint64_t time, const char *category, const char *name)
{
	put_named(w, category, name);
	put_event(w, TYPE_MOMENT, track, time);
}

void perfetto_annotate(struct perfetto *w, const char *name, const char *value)
{
	perfetto_text(w, &w->inner, ANNOTATION_TEXT, value);
	perfetto_text(w, &w->inner, ANNOTATION_NAME, name);
	proto_message(&w->message, EVENT_ANNOTATION, &w->inner);
}

/* ---- the whole ---- */

/* The clock of the trace is that of its packets. */
static void put_clock(struct perfetto *w, const struct profile *p)
{
	proto_number(&w->inner, CLOCK_ID, REAL_TIME);
	proto_number(&w->inner, CLOCK_TIME, p->started_at);
	proto_message(&w->message, CLOCKS_CLOCK, &w->inner);
	proto_number(&w->message, CLOCKS_PRIMARY, REAL_TIME);
	proto_message(&w->packet, PACKET_CLOCKS, &w->message);
	end_packet(w, PERFETTO_TRACKS);
}

static void put_attribute(struct perfetto *w, const char *key, struct buffer *line)
{
	perfetto_text(w, &w->inner, ATTRIBUTE_KEY, key);
	perfetto_text(w, &w->inner, ATTRIBUTE_TEXT, buffer_text(line, &w->message));
	proto_message(&w->message, ATTRIBUTES_ATTRIBUTE, &w->inner);
	line->length = 0;
}

/* Who made it, of what, and what happened to the samples. */
static void put_attributes(struct perfetto *w, const struct profile *const *profiles, uint32_t count)
{
	struct buffer line = BUFFER_INIT, key = BUFFER_INIT;
	uint32_t i;

	comments_made(&line, profiles[0]);
	put_attribute(w, "jstrobe", &line);
	for (i = 0; i < count; i++) {
		key.length = 0;
		buffer_printf(&key, "jstrobe.samples.%s", profiles[i]->event);
		comments_samples(&line, profiles[i]);
		put_attribute(w, buffer_text(&key, &w->message), &line);
	}
	for (i = 0; i < count; i++)
		if (profiles[i]->marks)
			perfetto_say_left_out(&line, profiles[i]->marks);
	if (line.length)
		put_attribute(w, "jstrobe.marks", &line);
	proto_message(&w->packet, PACKET_ATTRIBUTES, &w->message);
	end_packet(w, PERFETTO_TRACKS);
	buffer_free(&line);
	buffer_free(&key);
}

static void free_all(struct perfetto *w)
{
	struct buffer *const buffers[] = {&w->packet, &w->message, &w->inner, &w->innermost, &w->text};
	size_t i;

	for (i = 0; i < ARRAY_LEN(buffers); i++)
		buffer_free(buffers[i]);
	strings_free(&w->names);
	lists_free(&w->tasks);
	lists_free(&w->ids);
	free(w->of_task.items);
}

void export_perfetto(const struct profile *const *profiles, uint32_t count, const struct format_options *options,
		     struct buffer *out)
{
	struct perfetto w = {.out = out, .packet = BUFFER_INIT, .message = BUFFER_INIT, .inner = BUFFER_INIT,
			     .innermost = BUFFER_INIT, .text = BUFFER_INIT};
	uint32_t i;

	/* no other trace that is opened beside this one has such tracks */
	w.uuids = hash_mix(profiles[0]->started_at ^ (uint64_t)profiles[0]->pid << 32) & 0x7fffffff00000000;
	for (i = 0; i < count; i++)
		w.no_times |= profiles[i]->stack_count && !profile_has_times(profiles[i]);
	perfetto_begin_sequence(&w, PERFETTO_TRACKS, NULL);
	put_clock(&w, profiles[0]);
	put_attributes(&w, profiles, count);
	process_of(&w, profiles[0]);
	for (i = 0; i < count && !w.failed && !out->failed; i++)
		perfetto_put_samples(&w, profiles[i], i, options);
	for (i = 0; i < count && !w.failed && !out->failed; i++)
		perfetto_put_marks(&w, profiles[i]);
	if (w.failed && !out->failed)
		out->failed = ENOMEM;
	free_all(&w);
}
