/*
 * calls_data.c - a trace for programs: JSON (docs/reference/json.md explains each key) and collapsed stacks.
 */
#include <inttypes.h>

#include "common/base/decimal.h"
#include "common/base/json_writer.h"
#include "profile/model/calls.h"
#include "profile/writers/writers.h"

#define SCHEMA 1

const char *const calls_wait_words[CALLS_WAITS] = {"sleep", "wait", "park", "monitor", "io"};

static void put_times(struct json_writer *w, const struct calls_times *self, const struct calls_times *total)
{
	json_put_numbers(w, {"total_wall", total->wall}, {"self_wall", self->wall}, {"total_cpu", total->cpu},
			 {"self_cpu", self->cpu});
}

/* How long the method on top waited, by what for. */
static void put_waits(struct json_writer *w, const struct calls_times *self)
{
	unsigned i;

	json_object(w, "waits");
	for (i = 0; i < CALLS_WAITS; i++)
		json_put_number(w, calls_wait_words[i], self->waits[i]);
	json_end(w);
}

static void put_spread(struct json_writer *w, const struct calls_spread *s)
{
	static const char *const keys[] = {"min", "p50", "p99", "max"};
	const uint64_t values[] = {s->min, s->p50, s->p99, s->max};
	unsigned i;

	json_put_number(w, "timed", s->timed);
	for (i = 0; i < ARRAY_LEN(keys); i++)
		if (s->timed)
			json_put_number(w, keys[i], values[i]);
		else
			json_put_value(w, keys[i], "null");
}

static void put_method(struct json_writer *w, uint32_t i, const void *calls)
{
	const struct calls_method *m = &((const struct calls *)calls)->methods[i];

	json_put_texts(w, {"class", m->class_name}, {"name", m->name}, {"signature", m->type});
	json_put_numbers(w, {"invocations", m->count}, {"stamps", m->stamps});
	put_times(w, &m->self, &m->total);
	json_put_number(w, "mean", m->count ? m->total.wall / m->count : 0);
	put_spread(w, &m->spread);
	put_waits(w, &m->self);
	json_put_numbers(w, {"error", m->error}, {"since_ns", m->since});
}

/* Node 0 is the root, which is not written. */
static void put_node(struct json_writer *w, uint32_t i, const void *calls)
{
	const struct calls_node *n = &((const struct calls *)calls)->nodes[i + 1];
	bool thread = n->method == CALLS_THREAD;

	json_put_numbers(w, {"node", i + 1}, {"parent", n->parent},
			 {thread ? "thread" : "method", thread ? n->thread : n->method}, {"invocations", n->count});
	put_times(w, &n->self, &n->total);
	if (calls_waited(&n->self))
		put_waits(w, &n->self);
}

static void put_thread_json(struct json_writer *w, uint32_t i, const void *calls)
{
	const struct calls_thread *t = &((const struct calls *)calls)->threads[i];

	json_put_text(w, "name", t->name);
	json_put_numbers(w, {"id", t->id}, {"threads", t->threads}, {"invocations", t->count},
			 {"wall", t->self.wall}, {"cpu", t->self.cpu});
	put_waits(w, &t->self);
}

static void put_skipped(struct json_writer *w, uint32_t i, const void *calls)
{
	const struct calls *c = calls;

	json_put_texts(w, {"name", c->skipped[i].name}, {"reason", c->skipped[i].reason});
}

static void put_stack(struct json_writer *w, const struct calls *c, const struct calls_stack *s)
{
	struct buffer name = BUFFER_INIT;
	uint32_t i;

	json_put_bool(w, "truncated", s->truncated);
	json_array(w, "stack");
	for (i = 0; i < s->count; i++) {
		const struct calls_frame *f = &c->frames[s->frames[i]];

		name.length = 0;
		buffer_printf(&name, "%s.%s", f->class_name, f->name);
		if (f->line > 0)
			buffer_printf(&name, ":%d", f->line);
		json_put_text(w, NULL, buffer_text(&name, w->out));
	}
	json_end(w);
	buffer_free(&name);
}

static void put_event(struct json_writer *w, uint32_t i, const void *calls)
{
	const struct calls *c = calls;
	const struct calls_event *e = &c->events[i];

	json_put_numbers(w, {"method", e->method}, {"started_at_ns", e->started_at}, {"duration", e->duration});
	json_put_text(w, "thread", e->thread);
	json_put_number(w, "thread_id", e->thread_id);
	put_stack(w, c, &c->stacks[e->stack]);
}

static void put_entered(struct json_writer *w, uint32_t i, const void *calls)
{
	const struct calls *c = calls;

	json_put_numbers(w, {"method", c->entered[i].method}, {"threads", c->entered[i].threads});
}

static void put_head(struct json_writer *w, const struct profile *p)
{
	const struct calls *c = p->calls;

	json_put_number(w, "schema", SCHEMA);
	json_put_texts(w, {"version", JSTROBE_VERSION}, {"timing", p->engine});
	json_put_number(w, "pid", (uint64_t)p->pid);
	json_put_texts(w, {"main", p->main_class}, {"jdk", p->jdk});
	json_put_numbers(w, {"duration_ns", p->duration}, {"period_ns", p->interval});
	if (p->gap)
		json_put_number(w, "gap_ns", p->gap);
	json_put_numbers(w, {"invocations", c->count}, {"uncounted", c->uncounted}, {"classes", c->class_count},
			 {"classes_not_run", c->not_run}, {"tree_bytes", c->bytes});
	json_put_value(w, "probe_ns", decimal(c->cost, 2).text);
	json_put_number(w, "held_ns", c->held);
	if (c->stamped_cost > 0) {
		json_put_numbers(w, {"budget", c->budget}, {"stamped", c->stamped});
		json_put_value(w, "stamped_ns", decimal(c->stamped_cost, 2).text);
	}
}

void calls_json(const struct profile *p, const struct format_options *options, struct buffer *out)
{
	const struct calls *c = p->calls;
	struct json_writer w = JSON_WRITER(out, JSON_FILE);

	json_object(&w, NULL);
	put_head(&w, p);
	json_put_objects(&w, "methods", c->method_count, put_method, c);
	json_put_objects(&w, "tree", c->node_count - (c->node_count > 0), put_node, c);
	json_put_objects(&w, "threads", c->thread_count, put_thread_json, c);
	json_put_objects(&w, "events", c->event_count, put_event, c);
	json_put_number(&w, "events_lost", c->events_lost);
	json_put_objects(&w, "entered_before", c->entered_count, put_entered, c);
	json_put_objects(&w, "skipped", c->skipped_count, put_skipped, c);
	json_put_number(&w, "skipped_more", c->skipped_more);
	json_end(&w);
}

static void put_thread(const char *name, struct buffer *out)
{
	frame_name_thread(out, &(struct profile_thread){.name = name}, STYLE_COLLAPSED);
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

/*
 * One line a node: the methods from the root, then invocations, or with `total` its own wall-clock ns. With a limit one
 * line a call that took so long: its stack, then 1, or its ns.
 */
void calls_collapsed(const struct profile *p, const struct format_options *options, struct buffer *out)
{
	const struct calls *c = p->calls;
	bool time = options->total && c->timed;
	uint32_t i, wait;

	/* only calls from some length on were asked for, not all */
	if (c->latency > 1 && c->latency != UINT64_MAX) {
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
