/*
 * stream_ndjson.c - a live stream as JSON, an object a line. docs/reference/stream.md explains each key, and
 * docs/reference/stream.schema.json is what tests hold it against.
 *
 * Keys are only added; a change of meaning raises STREAM_SCHEMA. What is not known is left out.
 */
#include <errno.h>
#include <stdlib.h>

#include "common/base/json_writer.h"
#include "common/words/io_fields.h"
#include "profile/model/context_text.h"
#include "profile/model/frame_name.h"
#include "profile/model/lasting_names.h"
#include "profile/writers/stream/stream_records.h"

/* A line begins: what it is, and of when. */
static struct json_writer begin(struct buffer *out, const char *kind, uint64_t time)
{
	struct json_writer w = JSON_WRITER(out, JSON_LINE);

	json_object(&w, NULL);
	json_put_text(&w, "kind", kind);
	json_put_number(&w, "time", time);
	return w;
}

static void put_known(struct json_writer *w, const char *key, uint64_t value)
{
	if (value)
		json_put_number(w, key, value);
}

/* An event's objects in a list under "events"; ITEM puts what comes behind its name. */
static void put_events(struct json_writer *w, const struct stream_event *events, uint32_t count,
		       void (*item)(struct json_writer *w, const struct stream_event *e))
{
	uint32_t i;

	json_array(w, "events");
	for (i = 0; i < count; i++) {
		json_object(w, NULL);
		json_put_text(w, "event", events[i].name);
		item(w, &events[i]);
		json_end(w);
	}
	json_end(w);
}

static void put_event_facts(struct json_writer *w, const struct stream_event *e)
{
	json_put_number(w, "interval", e->interval);
	json_put_texts(w, {"unit", weight_kind_names[e->weight_kind].unit},
		       {"of", weight_kind_names[e->weight_kind].of});
}

static void header(struct buffer *out, const struct stream_header *h)
{
	struct json_writer w = begin(out, "header", h->time);

	json_put_numbers(&w, {"schema", STREAM_SCHEMA}, {"realtime_offset", h->real_offset}, {"pid", (uint64_t)h->pid},
			 {"cpus", h->cpus});
	json_put_texts(&w, {"main_class", h->main_class}, {"jdk", h->jdk}, {"jstrobe", JSTROBE_VERSION});
	put_events(&w, h->events, h->event_count, put_event_facts);
	json_end(&w);
}

static void thread(struct buffer *out, const struct stream_thread *t)
{
	struct json_writer w = begin(out, "thread", t->time);

	json_put_number(&w, "tid", (uint64_t)t->tid);
	put_known(&w, "java_id", t->java_id);
	json_put_text(&w, "name", t->name);
	if (t->ended)
		json_put_bool(&w, "ended", true);
	json_end(&w);
}

/* The frames of S with lasting names, in L; NULL: out of memory. What a lambda calls is known where S says it. */
static const struct profile_frame *lasting_frames(const struct stream_stack *s, struct lasting_names *l)
{
	uint32_t *places = malloc(((size_t)s->depth + 1) * sizeof(*places)), i;
	struct profile_stack stack = {.frames = places, .depth = s->depth, .samples = 1};
	int rc = -ENOMEM;

	for (i = 0; places && i < s->depth; i++)
		places[i] = s->depth - 1 - i;
	if (places)
		rc = lasting_names_build(l, &(struct profile){
			.frames = s->frames, .frame_count = s->depth, .stacks = &stack, .stack_count = 1});
	free(places);
	return rc ? NULL : l->frames;
}

/* Root first, as in docs/reference/json.md. */
static void put_frames(struct json_writer *w, const struct stream_stack *s)
{
	struct lasting_names names = {.frames = NULL};
	const struct profile_frame *frames = s->lasting ? lasting_frames(s, &names) : s->frames;
	struct buffer name = BUFFER_INIT;
	uint32_t i;

	json_array(w, "frames");
	for (i = s->depth; i-- > 0;) {
		name.length = 0;
		frame_name_put(&name, frames ? &frames[i] : &s->frames[i], STYLE_JSON);
		json_put_text(w, NULL, buffer_text(&name, w->out));
	}
	json_end(w);
	buffer_free(&name);
	lasting_names_free(&names);
}

static void put_lines(struct json_writer *w, const struct stream_stack *s)
{
	uint32_t i;

	json_array(w, "lines");
	for (i = s->depth; i-- > 0;)
		json_put_number(w, NULL, (uint64_t)MAX(s->frames[i].line, 0));
	json_end(w);
}

static void stack(struct buffer *out, const struct stream_stack *s)
{
	struct json_writer w = begin(out, "stack", s->time);
	bool lines = false;
	uint32_t i;

	json_put_number(&w, "id", s->id);
	json_put_bool(&w, "complete", s->complete);
	put_frames(&w, s);
	json_array(&w, "kinds");
	for (i = s->depth; i-- > 0;) {
		json_put_text(&w, NULL, frame_kind_names[s->frames[i].kind].word);
		lines |= s->frames[i].line > 0;
	}
	json_end(&w);
	if (lines)
		put_lines(&w, s);
	json_end(&w);
}

/* NAME, which has slashes, as people write it. */
static void put_class(struct json_writer *w, const char *key, const char *name)
{
	struct buffer dotted = BUFFER_INIT;

	for (; *name; name++)
		buffer_putc(&dotted, *name == '/' ? '.' : *name);
	json_put_text(w, key, buffer_text(&dotted, w->out));
	buffer_free(&dotted);
}

static void put_lock(struct json_writer *w, const struct stream_lock *l)
{
	json_put_text(w, "lock", lock_kind_names[l->kind].word);
	if (l->class_name && *l->class_name)
		put_class(w, "class", l->class_name);
	put_known(w, "id", l->identity);
	json_put_number(w, "duration", l->duration);
	if (l->open)
		json_put_bool(w, "open", true);
	put_known(w, "owner_tid", (uint64_t)l->owner_tid);
	put_known(w, "owner_java_id", l->owner_java_id);
	if (l->owner && *l->owner)
		json_put_text(w, "owner", l->owner);
	if (l->owner_stack)
		json_put_number(w, "owner_stack", l->owner_stack->id);
}

static void put_kind(struct json_writer *w, const char *key, uint64_t word)
{
	json_put_text(w, key, io_kind_names[io_kind_in(word)].word);
	if (io_flags_in(word) & IO_FLAG_IDLE)
		json_put_bool(w, "idle", true);
	if (io_flags_in(word) & IO_FLAG_OPEN)
		json_put_bool(w, "open", true);
}

/* The weight is `value`. */
static void put_fields(struct json_writer *w, const struct stream_fields *f)
{
	unsigned i;

	for (i = 0; i < f->list.count; i++) {
		const struct event_field *field = &f->list.items[i];

		if (field->kind == EVENT_FIELD_CLASS && *f->class_name)
			put_class(w, field->key, f->class_name);
		else if ((field->kind == EVENT_FIELD_FLAG || field->kind == EVENT_FIELD_OUTSIDE) && f->values[i])
			json_put_bool(w, field->key, true);
		else if (field->kind == EVENT_FIELD_NUMBER || field->kind == EVENT_FIELD_BYTES ||
			 field->kind == EVENT_FIELD_SIZE)
			json_put_number(w, field->key, f->values[i]);
		else if (field->kind == EVENT_FIELD_TARGET)
			json_put_text(w, field->key, f->class_name);
		else if (field->kind == EVENT_FIELD_OPERATION)
			json_put_text(w, field->key, io_operation_names[io_operation_in(f->values[i])]);
		else if (field->kind == EVENT_FIELD_TARGET_KIND)
			put_kind(w, field->key, f->values[i]);
	}
}

static void sample(struct buffer *out, const struct stream_sample *s, uint64_t real_offset)
{
	struct json_writer w = begin(out, s->lock ? "lock" : "sample", s->time);

	json_put_text(&w, "event", s->event);
	json_put_number(&w, "tid", (uint64_t)s->thread.tid);
	put_known(&w, "java_id", s->thread.java_id);
	json_put_text(&w, "thread", s->thread.name);
	json_put_number(&w, "value", s->value);
	if (s->samples != 1 || s->span)
		json_put_numbers(&w, {"samples", s->samples}, {"span", s->span});
	if (s->state != THREAD_NONE)
		json_put_text(&w, "state", thread_state_names[s->state].word);
	json_put_number(&w, "stack", s->stack->id);
	if (s->lock)
		put_lock(&w, s->lock);
	if (s->fields)
		put_fields(&w, s->fields);
	if (s->trace_context)
		trace_context_json(&w, s->trace_context);
	json_end(&w);
}

static void drop(struct buffer *out, const struct stream_drop *d)
{
	struct json_writer w = begin(out, "drop", d->time);

	json_put_numbers(&w, {"since", d->since}, {"records", d->records});
	if (d->event) {
		json_put_text(&w, "event", d->event);
		json_put_numbers(&w, {"samples", d->samples}, {"value", d->value});
	}
	json_end(&w);
}

static void put_event_counters(struct json_writer *w, const struct stream_event *e)
{
	unsigned i;

	json_put_text(w, "engine", e->engine);
	json_put_numbers(w, {"taken", e->taken}, {"stored", e->stored}, {"value", e->value});
	put_known(w, "open", e->open);
	json_put_number(w, "dropped", e->dropped);
	put_known(w, "left_out", e->left_out);
	json_object(w, "lost");
	for (i = 0; i < LOSS_REASONS; i++)
		put_known(w, loss_names[i].name, e->lost[i]);
	json_end(w);
}

static void stats(struct buffer *out, const struct stream_stats *s)
{
	struct json_writer w = begin(out, "stats", s->time);

	json_put_numbers(&w, {"cpu_time", s->cpu_time}, {"own_cpu", s->own_cpu}, {"threads", s->threads},
			 {"queue_bytes", s->queue_bytes}, {"waiting", s->waiting});
	put_events(&w, s->events, s->event_count, put_event_counters);
	json_end(&w);
}

const struct stream_writer stream_ndjson = {
	.name = "ndjson", .stacks_apart = true, .header = header, .thread = thread, .stack = stack,
	.sample = sample, .drop = drop, .stats = stats,
};
