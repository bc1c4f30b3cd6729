/*
 * stream_ndjson.c - a live stream as JSON, an object a line. docs/reference/stream.md explains each key, and
 * docs/reference/stream.schema.json is what tests hold it against.
 *
 * Keys are only added; a change of meaning raises STREAM_SCHEMA. What is not known is left out.
 */
#include <string.h>

#include "profile/model/context_text.h"
#include "profile/model/frame_name.h"
#include "profile/writers/stream/stream_records.h"

static void begin(struct buffer *out, const char *kind, uint64_t time)
{
	buffer_printf(out, "{\"kind\":\"%s\",\"time\":%llu", kind, (unsigned long long)time);
}

static void end(struct buffer *out)
{
	buffer_puts(out, "}\n");
}

static void put_number(struct buffer *out, const char *key, uint64_t value)
{
	buffer_printf(out, ",\"%s\":%llu", key, (unsigned long long)value);
}

static void put_known(struct buffer *out, const char *key, uint64_t value)
{
	if (value)
		put_number(out, key, value);
}

static void put_text(struct buffer *out, const char *key, const char *text)
{
	buffer_printf(out, ",\"%s\":", key);
	buffer_json(out, text ? text : "");
}

/* An event's objects in a list under "events"; ITEM puts what comes behind its name. */
static void put_events(struct buffer *out, const struct stream_event *events, uint32_t count,
		       void (*item)(struct buffer *out, const struct stream_event *e))
{
	uint32_t i;

	buffer_puts(out, ",\"events\":[");
	for (i = 0; i < count; i++) {
		buffer_puts(out, i ? ",{\"event\":" : "{\"event\":");
		buffer_json(out, events[i].name);
		item(out, &events[i]);
		buffer_putc(out, '}');
	}
	buffer_putc(out, ']');
}

static void put_event_facts(struct buffer *out, const struct stream_event *e)
{
	put_number(out, "interval", e->interval);
	put_text(out, "unit", e->in_events ? "events" : "ns");
	put_text(out, "of", e->in_events ? "events" : e->waits ? "wait" : e->wall ? "wall" : "cpu");
}

static void header(struct buffer *out, const struct stream_header *h)
{
	begin(out, "header", h->time);
	put_number(out, "schema", STREAM_SCHEMA);
	put_number(out, "realtime_offset", h->real_offset);
	put_number(out, "pid", (uint64_t)h->pid);
	put_number(out, "cpus", h->cpus);
	put_text(out, "main_class", h->main_class);
	put_text(out, "jdk", h->jdk);
	put_text(out, "jstrobe", JSTROBE_VERSION);
	put_events(out, h->events, h->event_count, put_event_facts);
	end(out);
}

static void thread(struct buffer *out, const struct stream_thread *t)
{
	begin(out, "thread", t->time);
	put_number(out, "tid", (uint64_t)t->tid);
	put_known(out, "java_id", t->java_id);
	put_text(out, "name", t->name);
	if (t->ended)
		buffer_puts(out, ",\"ended\":true");
	end(out);
}

/* Root first, as in docs/reference/json.md. */
static void put_frames(struct buffer *out, const struct stream_stack *s)
{
	struct buffer name = BUFFER_INIT;
	uint32_t i;

	for (i = s->depth; i-- > 0;) {
		name.length = 0;
		frame_name_put(&name, &s->frames[i], STYLE_JSON);
		buffer_putc(&name, '\0');
		buffer_json(out, name.failed ? "" : name.data);
		buffer_puts(out, i ? "," : "");
	}
	if (name.failed)
		out->failed = name.failed;
	buffer_free(&name);
}

static void stack(struct buffer *out, const struct stream_stack *s)
{
	bool lines = false;
	uint32_t i;

	begin(out, "stack", s->time);
	put_number(out, "id", s->id);
	buffer_printf(out, ",\"complete\":%s,\"frames\":[", s->complete ? "true" : "false");
	put_frames(out, s);
	buffer_puts(out, "],\"kinds\":[");
	for (i = s->depth; i-- > 0;) {
		buffer_printf(out, "\"%s\"%s", frame_kind_names[s->frames[i].kind].word, i ? "," : "");
		lines |= s->frames[i].line > 0;
	}
	buffer_putc(out, ']');
	if (lines) {
		buffer_puts(out, ",\"lines\":[");
		for (i = s->depth; i-- > 0;)
			buffer_printf(out, "%d%s", MAX(s->frames[i].line, 0), i ? "," : "");
		buffer_putc(out, ']');
	}
	end(out);
}

/* NAME, which has slashes, as people write it. */
static void put_class(struct buffer *out, const char *name)
{
	struct buffer dotted = BUFFER_INIT;

	for (; *name; name++)
		buffer_putc(&dotted, *name == '/' ? '.' : *name);
	buffer_putc(&dotted, '\0');
	put_text(out, "class", dotted.failed ? "" : dotted.data);
	buffer_free(&dotted);
}

static void put_lock(struct buffer *out, const struct stream_lock *l)
{
	put_text(out, "lock", lock_kind_names[l->kind].word);
	if (l->class_name && *l->class_name)
		put_class(out, l->class_name);
	put_known(out, "id", l->identity);
	put_number(out, "duration", l->duration);
	if (l->open)
		buffer_puts(out, ",\"open\":true");
	put_known(out, "owner_tid", (uint64_t)l->owner_tid);
	put_known(out, "owner_java_id", l->owner_java_id);
	if (l->owner && *l->owner)
		put_text(out, "owner", l->owner);
	if (l->owner_stack)
		put_number(out, "owner_stack", l->owner_stack->id);
}

static void sample(struct buffer *out, const struct stream_sample *s, uint64_t real_offset)
{
	begin(out, s->lock ? "lock" : "sample", s->time);
	put_text(out, "event", s->event);
	put_number(out, "tid", (uint64_t)s->thread.tid);
	put_known(out, "java_id", s->thread.java_id);
	put_text(out, "thread", s->thread.name);
	put_number(out, "value", s->value);
	if (s->samples != 1 || s->span) {
		put_number(out, "samples", s->samples);
		put_number(out, "span", s->span);
	}
	if (s->state != THREAD_NONE)
		put_text(out, "state", thread_state_names[s->state].word);
	put_number(out, "stack", s->stack->id);
	if (s->lock)
		put_lock(out, s->lock);
	if (s->trace_context)
		trace_context_json(out, s->trace_context, ",");
	end(out);
}

static void drop(struct buffer *out, const struct stream_drop *d)
{
	begin(out, "drop", d->time);
	put_number(out, "since", d->since);
	put_number(out, "records", d->records);
	if (d->event) {
		put_text(out, "event", d->event);
		put_number(out, "samples", d->samples);
		put_number(out, "value", d->value);
	}
	end(out);
}

static void put_event_books(struct buffer *out, const struct stream_event *e)
{
	const char *separator = "";
	unsigned i;

	put_text(out, "engine", e->engine);
	put_number(out, "taken", e->taken);
	put_number(out, "stored", e->stored);
	put_number(out, "value", e->value);
	put_known(out, "open", e->open);
	put_number(out, "dropped", e->dropped);
	put_known(out, "left_out", e->left_out);
	buffer_puts(out, ",\"lost\":{");
	for (i = 0; i < LOSS_REASONS; i++)
		if (e->lost[i]) {
			buffer_printf(out, "%s\"%s\":%llu", separator, loss_names[i].name,
				      (unsigned long long)e->lost[i]);
			separator = ",";
		}
	buffer_putc(out, '}');
}

static void stats(struct buffer *out, const struct stream_stats *s)
{
	begin(out, "stats", s->time);
	put_number(out, "cpu_time", s->cpu_time);
	put_number(out, "own_cpu", s->own_cpu);
	put_number(out, "threads", s->threads);
	put_number(out, "queue_bytes", s->queue_bytes);
	put_number(out, "waiting", s->waiting);
	put_events(out, s->events, s->event_count, put_event_books);
	end(out);
}

const struct stream_writer stream_ndjson = {
	.name = "ndjson", .stacks_apart = true, .header = header, .thread = thread, .stack = stack,
	.sample = sample, .drop = drop, .stats = stats,
};
