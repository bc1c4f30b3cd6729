/*
 * json.c - everything for programs; docs/reference/json.md explains each key.
 *
 * Keys are only added; a change of meaning raises SCHEMA.
 */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "profile/model/context_text.h"
#include "profile/model/frame_name.h"
#include "profile/model/loss_line.h"
#include "profile/model/methods.h"
#include "profile/writers/writers.h"

#define SCHEMA 1

static void put_number(struct buffer *out, const char *key, uint64_t value)
{
	buffer_printf(out, "\"%s\": %llu", key, (unsigned long long)value);
}

static void put_string(struct buffer *out, const char *key, const char *value)
{
	buffer_printf(out, "  \"%s\": ", key);
	buffer_json(out, value ? value : "");
	buffer_puts(out, ",\n");
}

static void put_top_number(struct buffer *out, const char *key, uint64_t value)
{
	buffer_puts(out, "  ");
	put_number(out, key, value);
	buffer_puts(out, ",\n");
}

/* A key and its number; a list of them ends with one without key. */
struct member {
	const char *key;
	uint64_t value;
};

static void put_numbers(struct buffer *out, const struct member *list)
{
	const char *separator = "";

	for (; list->key; list++, separator = ", ") {
		buffer_puts(out, separator);
		put_number(out, list->key, list->value);
	}
}

/* A line of the top object: numbers under a key. */
static void put_object(struct buffer *out, const char *key, const struct member *list)
{
	buffer_printf(out, "  \"%s\": {", key);
	put_numbers(out, list);
	buffer_puts(out, "},\n");
}

/* {"reason": n, ...} over a table of names. */
static void put_counters(struct buffer *out, const char *key, const struct counter_name *names,
			 const uint64_t *values, unsigned count)
{
	unsigned i;

	buffer_printf(out, "\"%s\": {", key);
	for (i = 0; i < count; i++) {
		buffer_puts(out, i ? ", " : "");
		put_number(out, names[i].name, values[i]);
	}
	buffer_putc(out, '}');
}

static void put_timing(struct buffer *out, const char *key, const struct profile_timing *t)
{
	put_object(out, key, (const struct member[]){{"count", t->count}, {"mean", t->mean}, {"p99", t->p99},
		   {"p999", t->p999}, {"max", t->max}, {NULL, 0}});
}

/* "2026-11-21T11:46:36.123Z" */
static void put_date(struct buffer *out, const char *key, uint64_t ns)
{
	time_t seconds = (time_t)(ns / NS_PER_S);
	char text[64] = "";
	struct tm tm;

	if (gmtime_r(&seconds, &tm))
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	buffer_printf(out, "  \"%s\": \"%s.%03uZ\",\n", key, text,
		      (unsigned)(ns % NS_PER_S / NS_PER_MS));
}

static void put_head(struct buffer *out, const struct profile *p)
{
	put_top_number(out, "schema", SCHEMA);
	put_string(out, "version", JSTROBE_VERSION);
	put_string(out, "event", p->event);
	put_string(out, "engine", p->engine);
	buffer_printf(out, "  \"pid\": %d,\n", p->pid);
	put_string(out, "main", p->main_class);
	put_string(out, "jdk", p->jdk);
	put_date(out, "started_at", p->started_at);
	put_top_number(out, "duration_ns", p->duration);
	if (p->gap)
		put_top_number(out, "gap_ns", p->gap);
	put_top_number(out, p->in_events ? "interval" : "interval_ns", p->interval);
	put_top_number(out, p->in_events ? "effective_interval" : "effective_interval_ns",
		       p->effective_interval);
	if (p->in_events)
		put_top_number(out, "counted", p->counted);
	put_top_number(out, "cpu_time_ns", p->cpu_time);
	put_top_number(out, "own_cpu_ns", p->own_cpu);
	put_top_number(out, "children_cpu_ns", p->children_cpu);
	if (p->told)
		put_string(out, "told", p->told);
}

static void put_samples(struct buffer *out, const struct profile *p)
{
	buffer_puts(out, "  \"samples\": {");
	put_numbers(out, (const struct member[]){{"taken", p->taken}, {"stored", p->stored},
		    {"complete", p->complete}, {"ambiguous", p->ambiguous}, {"left_out", p->left_out}, {NULL, 0}});
	buffer_puts(out, ", ");
	put_counters(out, "lost", loss_names, p->lost, LOSS_REASONS);
	buffer_puts(out, "},\n");
}

static void put_weight(struct buffer *out, const struct profile *p)
{
	buffer_printf(out, "  \"weight\": {\"unit\": \"%s\", ",
		      !p->in_events ? "ns" : p->unit ? p->unit : "events");
	put_numbers(out, (const struct member[]){{"total", p->weight_stored}, {"left_out", p->left_out_weight},
		    {"lost", loss_weight(p)}, {"unsampled", p->unsampled}, {NULL, 0}});
	buffer_puts(out, ", ");
	put_counters(out, "lost_by_reason", loss_names, p->lost_weight, LOSS_REASONS);
	buffer_puts(out, "},\n");
}

static void put_window(struct buffer *out, const struct profile_window *w)
{
	buffer_puts(out, "  \"window\": {\"begin\": ");
	buffer_json(out, w->begin);
	buffer_puts(out, ", \"end\": ");
	buffer_json(out, w->end);
	buffer_printf(out, ", \"watched\": %s, \"open\": %s, ", w->watched ? "true" : "false",
		      w->open ? "true" : "false");
	put_numbers(out, (const struct member[]){{"count", w->count}, {"total_ns", w->total},
		    {"longest_ns", w->longest}, {"pauses", w->pauses}, {NULL, 0}});
	buffer_puts(out, "},\n");
}

static void put_counts(struct buffer *out, const struct profile *p)
{
	put_samples(out, p);
	put_weight(out, p);
	buffer_printf(out, "  \"warns\": %s,\n", loss_is_bad(p) ? "true" : "false");
	if (p->window.begin)
		put_window(out, &p->window);
	put_object(out, "queues", (const struct member[]){{"bytes", p->queue_bytes},
		   {"increments", p->queue_increments}, {"max_capacity", p->queue_max_capacity},
		   {"max_fill", p->queue_max_fill}, {NULL, 0}});
	put_object(out, "armed", (const struct member[]){{"perf", p->threads_perf},
		   {"timer", p->threads_timer}, {"refused", p->threads_refused},
		   {"intervals_doubled", p->raised}, {"intervals_between_signals", p->stretched}, {NULL, 0}});
	if (p->merged.threads || p->merged.classes || p->merged.samples)
		put_object(out, "merged", (const struct member[]){{"threads", p->merged.threads},
			   {"classes", p->merged.classes}, {"samples", p->merged.samples}, {NULL, 0}});
	put_timing(out, "handler_ns", &p->handler);
	put_timing(out, "walk_ns", &p->walk);
	put_timing(out, "drain_ns", &p->drain);
	if (p->ends_unknown)
		return;
	buffer_puts(out, "  ");
	put_counters(out, "walk_ended_early", walk_end_names, p->ended_early, WALK_ENDS);
	buffer_puts(out, ",\n");
}

static int put_methods(struct buffer *out, const struct profile *p, unsigned style, bool by_weight)
{
	struct methods m;
	uint32_t i;
	int result = methods_build(&m, p, style & ~STYLE_LINES, by_weight);

	buffer_puts(out, "  \"methods\": [");
	for (i = 0; !result && i < m.count; i++) {
		const struct method *row = &m.rows[i];

		buffer_puts(out, i ? ",\n    {\"name\": " : "\n    {\"name\": ");
		buffer_json(out, name_text(&m.names, row->name));
		buffer_printf(out, ", \"type\": \"%s\", ",
			      frame_type_names[m.names.names[row->name].type]);
		put_numbers(out, (const struct member[]){{"self", row->self}, {"total", row->total},
			    {"self_weight", row->self_weight}, {"total_weight", row->total_weight}, {NULL, 0}});
		buffer_putc(out, '}');
	}
	buffer_puts(out, "\n  ],\n");
	methods_free(&m);
	return result;
}

static void put_threads(struct buffer *out, const struct profile *p)
{
	uint32_t i;

	buffer_puts(out, "  \"threads\": [");
	for (i = 0; i < p->thread_count; i++) {
		const struct profile_thread *t = &p->threads[i];

		buffer_puts(out, i ? ",\n    {" : "\n    {");
		put_number(out, "tid", t->tid);
		buffer_puts(out, ", \"name\": ");
		buffer_json(out, t->name);
		buffer_puts(out, ", ");
		put_numbers(out, (const struct member[]){{"samples", t->samples}, {"weight", t->weight}, {NULL, 0}});
		buffer_putc(out, '}');
	}
	buffer_puts(out, "\n  ],\n");
}

/* What threads worked for; stacks name it by its place here. */
static void put_contexts(struct buffer *out, const struct profile *p)
{
	uint32_t i;

	buffer_puts(out, "  \"contexts\": [");
	for (i = 0; i < p->trace_context_count; i++) {
		buffer_puts(out, i ? ",\n    {" : "\n    {");
		if (p->trace_contexts[i].others)
			buffer_puts(out, "\"others\": true");
		else
			trace_context_json(out, &p->trace_contexts[i], "");
		buffer_putc(out, '}');
	}
	buffer_puts(out, "\n  ],\n");
}

static void put_waits(struct buffer *out, const char *key, const struct profile_waits *w, uint32_t count, bool locks)
{
	uint32_t i;

	buffer_printf(out, "  \"%s\": [", key);
	for (i = 0; i < count; i++) {
		buffer_printf(out, "%s{\"%s\": ", i ? ",\n    " : "\n    ", locks ? "class" : "name");
		buffer_json(out, w[i].name);
		if (locks)
			buffer_printf(out, ", \"identity\": \"%x\", \"kind\": \"%s\"", w[i].identity,
				      lock_kind_names[w[i].kind].word);
		buffer_puts(out, ", ");
		put_numbers(out, (const struct member[]){{"waits", w[i].waits}, {"time_ns", w[i].time},
			    {"longest_ns", w[i].longest}, {"open", w[i].open}, {NULL, 0}});
		buffer_putc(out, '}');
	}
	buffer_puts(out, "\n  ],\n");
}

/* Names are quoted once, not for each of the many stacks that hold them. */
struct quoted {
	struct buffer text;
	size_t *offsets; /* of each frame, and the end */
};

static bool quote_one(uint32_t frame, const char *name, void *arg)
{
	struct quoted *q = arg;

	buffer_json(&q->text, name);
	q->offsets[frame + 1] = q->text.length;
	return !q->text.failed;
}

static int quote(struct quoted *q, const struct profile *p, unsigned style)
{
	int rc;

	buffer_init(&q->text, -1);
	q->offsets = calloc((size_t)p->frame_count + 1, sizeof(*q->offsets));
	if (!q->offsets)
		return -ENOMEM;
	rc = frame_name_each(p, style, quote_one, q);
	return rc || q->text.failed ? -ENOMEM : 0;
}

static void put_frames(struct buffer *out, const struct profile *p, const uint32_t *frames, uint32_t depth,
		       const struct quoted *q)
{
	uint32_t i, f;

	buffer_puts(out, "\"frames\": [");
	for (i = 0; i < depth; i++) {
		f = frames[i];
		buffer_puts(out, i ? ", " : "");
		buffer_append(out, q->text.data + q->offsets[f], q->offsets[f + 1] - q->offsets[f]);
	}
	buffer_puts(out, "], \"kinds\": [");
	for (i = 0; i < depth; i++)
		buffer_printf(out, "%s\"%s\"", i ? ", " : "", frame_kind_names[p->frames[frames[i]].kind].word);
	buffer_puts(out, "], ");
}

static void put_stack(struct buffer *out, const struct profile *p, const struct profile_stack *s,
		      const struct quoted *q)
{
	buffer_putc(out, '{');
	put_frames(out, p, s->frames, s->depth, q);
	put_numbers(out, (const struct member[]){{"samples", s->samples}, {"weight", s->weight}, {NULL, 0}});
	if (s->state != THREAD_NONE)
		buffer_printf(out, ", \"state\": \"%s\"", thread_state_names[s->state].word);
	if (s->thread != PROFILE_NO_THREAD) {
		buffer_puts(out, ", ");
		put_numbers(out, (const struct member[]){{"tid", p->threads[s->thread].tid}, {"thread", s->thread},
							 {NULL, 0}});
	}
	if (s->trace_context) {
		buffer_puts(out, ", ");
		put_number(out, "context", s->trace_context - 1);
	}
	buffer_putc(out, '}');
}

/* Stacks of those who held what others waited for. */
static void put_holders(struct buffer *out, const struct profile *p, const struct quoted *q)
{
	uint32_t i;

	buffer_puts(out, "  \"owner_stacks\": [");
	for (i = 0; i < p->holder_count; i++) {
		const struct profile_waits *w = &p->holders[i];

		buffer_puts(out, i ? ",\n    {\"name\": " : "\n    {\"name\": ");
		buffer_json(out, w->name);
		buffer_puts(out, ", ");
		put_frames(out, p, w->frames, w->depth, q);
		put_numbers(out, (const struct member[]){{"waits", w->waits}, {"time_ns", w->time},
			    {"longest_ns", w->longest}, {"open", w->open}, {NULL, 0}});
		buffer_putc(out, '}');
	}
	buffer_puts(out, "\n  ],\n");
}

void format_json(const struct profile *p, const struct format_options *options, struct buffer *out)
{
	/* the kinds stand beside the names */
	unsigned style = format_style(STYLE_JSON, options) & ~STYLE_ANNOTATE;
	struct quoted q = {.offsets = NULL};
	int result;
	uint32_t i;

	buffer_puts(out, "{\n");
	put_head(out, p);
	put_counts(out, p);
	result = put_methods(out, p, style, options->total);
	put_threads(out, p);
	if (p->per_trace_context)
		put_contexts(out, p);
	if (p->waits) {
		put_waits(out, "locks", p->locks, p->lock_count, true);
		put_waits(out, "owners", p->owners, p->owner_count, false);
	}
	if (!result)
		result = quote(&q, p, style);
	if (!result && p->waits)
		put_holders(out, p, &q);
	buffer_puts(out, "  \"stacks\": [");
	for (i = 0; !result && i < p->stack_count; i++) {
		buffer_puts(out, i ? ",\n    " : "\n    ");
		put_stack(out, p, &p->stacks[i], &q);
	}
	buffer_puts(out, "\n  ]\n}\n");
	if (result && !out->failed)
		out->failed = -result;
	free(q.offsets);
	buffer_free(&q.text);
}
