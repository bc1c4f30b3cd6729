/*
 * calls_data.c - a trace for programs: JSON (docs/reference/json.md explains each key) and collapsed stacks.
 */
#include <inttypes.h>

#include "common/base/decimal.h"
#include "profile/model/calls.h"

#define SCHEMA 1

const char *const calls_wait_words[CALLS_WAITS] = {"sleep", "wait", "park", "monitor", "io"};

static void put_times(const struct calls_times *self, const struct calls_times *total, struct buffer *out)
{
	buffer_printf(out, "\"total_wall\": %" PRIu64 ", \"self_wall\": %" PRIu64 ", \"total_cpu\": %" PRIu64
		      ", \"self_cpu\": %" PRIu64, total->wall, self->wall, total->cpu, self->cpu);
}

/* How long the method on top waited, by what for. */
static void put_waits(const struct calls_times *self, struct buffer *out)
{
	unsigned i;

	buffer_puts(out, ", \"waits\": {");
	for (i = 0; i < CALLS_WAITS; i++)
		buffer_printf(out, "%s\"%s\": %" PRIu64, i ? ", " : "", calls_wait_words[i], self->waits[i]);
	buffer_putc(out, '}');
}

static void put_spread(const struct calls_spread *s, struct buffer *out)
{
	static const char *const keys[] = {"min", "p50", "p99", "max"};
	const uint64_t values[] = {s->min, s->p50, s->p99, s->max};
	unsigned i;

	buffer_printf(out, ", \"timed\": %" PRIu64, s->timed);
	for (i = 0; i < ARRAY_LEN(keys); i++)
		if (s->timed)
			buffer_printf(out, ", \"%s\": %" PRIu64, keys[i], values[i]);
		else
			buffer_printf(out, ", \"%s\": null", keys[i]);
}

static void put_methods(const struct calls *c, struct buffer *out)
{
	uint32_t i;

	buffer_puts(out, "  \"methods\": [");
	for (i = 0; i < c->method_count; i++) {
		const struct calls_method *m = &c->methods[i];

		buffer_puts(out, i ? ",\n    {\"class\": " : "\n    {\"class\": ");
		buffer_json(out, m->class_name);
		buffer_puts(out, ", \"name\": ");
		buffer_json(out, m->name);
		buffer_puts(out, ", \"signature\": ");
		buffer_json(out, m->type);
		buffer_printf(out, ", \"invocations\": %" PRIu64 ", \"stamps\": %" PRIu64 ", ", m->count, m->stamps);
		put_times(&m->self, &m->total, out);
		buffer_printf(out, ", \"mean\": %" PRIu64, m->count ? m->total.wall / m->count : 0);
		put_spread(&m->spread, out);
		put_waits(&m->self, out);
		buffer_printf(out, ", \"error\": %" PRIu64 ", \"since_ns\": %" PRIu64 "}", m->error, m->since);
	}
	buffer_puts(out, "\n  ],\n");
}

static void put_tree(const struct calls *c, struct buffer *out)
{
	uint32_t i;

	buffer_puts(out, "  \"tree\": [");
	for (i = 1; i < c->node_count; i++) {
		const struct calls_node *n = &c->nodes[i];

		buffer_printf(out, "%s\n    {\"node\": %" PRIu32 ", \"parent\": %" PRIu32 ", \"%s\": %" PRIu32
			      ", \"invocations\": %" PRIu64 ", ", i > 1 ? "," : "", i, n->parent,
			      n->method == CALLS_THREAD ? "thread" : "method",
			      n->method == CALLS_THREAD ? n->thread : n->method, n->count);
		put_times(&n->self, &n->total, out);
		if (calls_waited(&n->self))
			put_waits(&n->self, out);
		buffer_putc(out, '}');
	}
	buffer_puts(out, "\n  ],\n");
}

static void put_threads(const struct calls *c, struct buffer *out)
{
	uint32_t i;

	buffer_puts(out, "  \"threads\": [");
	for (i = 0; i < c->thread_count; i++) {
		const struct calls_thread *t = &c->threads[i];

		buffer_puts(out, i ? ",\n    {\"name\": " : "\n    {\"name\": ");
		buffer_json(out, t->name);
		buffer_printf(out, ", \"id\": %" PRIu64 ", \"threads\": %" PRIu32 ", \"invocations\": %" PRIu64
			      ", \"wall\": %" PRIu64 ", \"cpu\": %" PRIu64,
			      t->id, t->threads, t->count, t->self.wall, t->self.cpu);
		put_waits(&t->self, out);
		buffer_putc(out, '}');
	}
	buffer_puts(out, "\n  ],\n");
}

static void put_skipped(const struct calls *c, struct buffer *out)
{
	uint32_t i;

	buffer_puts(out, "  \"skipped\": [");
	for (i = 0; i < c->skipped_count; i++) {
		buffer_puts(out, i ? ",\n    {\"name\": " : "\n    {\"name\": ");
		buffer_json(out, c->skipped[i].name);
		buffer_puts(out, ", \"reason\": ");
		buffer_json(out, c->skipped[i].reason);
		buffer_putc(out, '}');
	}
	buffer_puts(out, "\n  ],\n");
}

static void put_events(const struct calls *c, struct buffer *out)
{
	uint32_t i, k;

	buffer_puts(out, "  \"events\": [");
	for (i = 0; i < c->event_count; i++) {
		const struct calls_event *e = &c->events[i];
		const struct calls_stack *s = &c->stacks[e->stack];

		buffer_printf(out, "%s\n    {\"method\": %" PRIu32 ", \"started_at_ns\": %" PRIu64
			      ", \"duration\": %" PRIu64 ", \"thread\": ", i ? "," : "", e->method,
			      e->started_at, e->duration);
		buffer_json(out, e->thread);
		buffer_printf(out, ", \"thread_id\": %" PRIu64 ", \"truncated\": %s, \"stack\": [", e->thread_id,
			      s->truncated ? "true" : "false");
		for (k = 0; k < s->count; k++) {
			const struct calls_frame *f = &c->frames[s->frames[k]];
			struct buffer name = BUFFER_INIT;

			buffer_printf(&name, "%s.%s", f->class_name, f->name);
			if (f->line > 0)
				buffer_printf(&name, ":%d", f->line);
			buffer_puts(out, k ? ", " : "");
			buffer_json(out, buffer_text(&name, out));
			buffer_free(&name);
		}
		buffer_puts(out, "]}");
	}
	buffer_printf(out, "\n  ],\n  \"events_lost\": %" PRIu64 ",\n", c->events_lost);
}

static void put_entered(const struct calls *c, struct buffer *out)
{
	uint32_t i;

	buffer_puts(out, "  \"entered_before\": [");
	for (i = 0; i < c->entered_count; i++)
		buffer_printf(out, "%s\n    {\"method\": %" PRIu32 ", \"threads\": %" PRIu32 "}", i ? "," : "",
			      c->entered[i].method, c->entered[i].threads);
	buffer_puts(out, "\n  ],\n");
}

void calls_json(const struct calls *c, struct buffer *out)
{
	buffer_printf(out, "{\n  \"schema\": %d,\n  \"version\": \"" JSTROBE_VERSION "\",\n", SCHEMA);
	buffer_puts(out, "  \"timing\": ");
	buffer_json(out, c->timing);
	buffer_printf(out, ",\n  \"pid\": %d,\n  \"main\": ", c->pid);
	buffer_json(out, c->main_class);
	buffer_puts(out, ",\n  \"jdk\": ");
	buffer_json(out, c->jdk);
	buffer_printf(out, ",\n  \"duration_ns\": %" PRIu64 ",\n  \"period_ns\": %" PRIu64 ",\n", c->duration,
		      c->period);
	if (c->gap)
		buffer_printf(out, "  \"gap_ns\": %" PRIu64 ",\n", c->gap);
	buffer_printf(out, "  \"invocations\": %" PRIu64 ",\n  \"uncounted\": %" PRIu64 ",\n", c->count,
		      c->uncounted);
	buffer_printf(out, "  \"classes\": %" PRIu32 ",\n  \"classes_not_run\": %" PRIu32 ",\n", c->class_count,
		      c->not_run);
	buffer_printf(out, "  \"tree_bytes\": %" PRIu64 ",\n  \"probe_ns\": %s,\n  \"held_ns\": %" PRIu64 ",\n",
		      c->bytes, decimal(c->cost, 2).text, c->held);
	if (c->stamped_cost > 0)
		buffer_printf(out, "  \"budget\": %" PRIu32 ",\n  \"stamped\": %" PRIu64 ",\n  \"stamped_ns\": %s,\n",
			      c->budget, c->stamped, decimal(c->stamped_cost, 2).text);
	put_methods(c, out);
	put_tree(c, out);
	put_threads(c, out);
	put_events(c, out);
	put_entered(c, out);
	put_skipped(c, out);
	buffer_printf(out, "  \"skipped_more\": %" PRIu32 "\n}\n", c->skipped_more);
}

/* Names of programs stay within their frame and their line. */
static void put_thread(const char *name, struct buffer *out)
{
	buffer_putc(out, '[');
	for (; *name; name++)
		buffer_putc(out, *name == ';' ? ',' : (unsigned char)*name < ' ' ? ' ' : *name);
	buffer_putc(out, ']');
}

/* The way to node I, and below it what it waited for (or NULL). */
static void put_line(const struct calls *c, uint32_t i, const char *wait, uint64_t value, struct buffer *out)
{
	uint32_t path[256], depth;

	for (depth = 0; i && depth < ARRAY_LEN(path); i = c->nodes[i].parent)
		path[depth++] = i;
	if (i)
		buffer_puts(out, "[truncated];");
	while (depth-- > 0) {
		const struct calls_node *n = &c->nodes[path[depth]];

		if (n->method == CALLS_THREAD)
			put_thread(c->threads[n->thread].name, out);
		else
			buffer_printf(out, "%s.%s", c->methods[n->method].class_name, c->methods[n->method].name);
		buffer_puts(out, depth ? ";" : "");
	}
	if (wait)
		buffer_printf(out, ";[%s]", wait);
	buffer_printf(out, " %" PRIu64 "\n", value);
}

/* A call and the stack that it was made from. */
static void put_slow(const struct calls *c, const struct calls_event *e, bool by_thread, bool time, struct buffer *out)
{
	const struct calls_stack *s = &c->stacks[e->stack];
	uint32_t depth;

	if (by_thread) {
		put_thread(e->thread, out);
		buffer_putc(out, ';');
	}
	if (s->truncated)
		buffer_puts(out, "[truncated];");
	for (depth = s->count; depth-- > 0;) {
		const struct calls_frame *f = &c->frames[s->frames[depth]];

		buffer_printf(out, "%s.%s%s", f->class_name, f->name, depth ? ";" : "");
	}
	buffer_printf(out, " %" PRIu64 "\n", time ? e->duration : 1);
}

/* Calls that took at least so long, and of those that were not kept their number. */
static void put_slow_calls(const struct calls *c, bool time, struct buffer *out)
{
	bool by_thread = false;
	uint32_t i;

	for (i = 0; i < c->node_count; i++)
		by_thread = by_thread || c->nodes[i].method == CALLS_THREAD;
	for (i = 0; i < c->event_count; i++)
		put_slow(c, &c->events[i], by_thread, time, out);
	if (c->events_lost && !time)
		buffer_printf(out, "[not_kept] %" PRIu64 "\n", c->events_lost);
}

void calls_collapsed(const struct calls *c, bool time, struct buffer *out)
{
	uint32_t i, wait;

	if (calls_has_limit(c)) {
		put_slow_calls(c, time, out);
		return;
	}
	for (i = 1; i < c->node_count; i++) {
		uint64_t value = time ? c->nodes[i].self.wall : c->nodes[i].count;

		if (value)
			put_line(c, i, NULL, value, out);
		for (wait = 0; time && wait < CALLS_WAITS; wait++)
			if (c->nodes[i].self.waits[wait])
				put_line(c, i, calls_wait_words[wait], c->nodes[i].self.waits[wait], out);
	}
}
