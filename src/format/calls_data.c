/*
 * calls_data.c - a trace for programs: JSON (docs/json.md explains each key) and collapsed stacks.
 */
#include <inttypes.h>

#include "format/calls.h"

#define SCHEMA 1

const char *const calls_wait_words[CALLS_WAITS] = {"sleep", "wait", "park", "monitor", "io"};

static void put_times(const struct calls_times *self, const struct calls_times *total, struct buffer *out)
{
	buffer_printf(out, "\"total_wall\": %" PRIu64 ", \"self_wall\": %" PRIu64 ", \"total_cpu\": %" PRIu64
		      ", \"self_cpu\": %" PRIu64, total->wall, self->wall, total->cpu, self->cpu);
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
		buffer_printf(out, ", \"mean\": %" PRIu64 "}", m->count ? m->total.wall / m->count : 0);
	}
	buffer_puts(out, "\n  ],\n");
}

static void put_tree(const struct calls *c, struct buffer *out)
{
	uint32_t i;

	buffer_puts(out, "  \"tree\": [");
	for (i = 1; i < c->node_count; i++) {
		const struct calls_node *n = &c->nodes[i];

		buffer_printf(out, "%s\n    {\"node\": %" PRIu32 ", \"parent\": %" PRIu32 ", \"method\": %" PRIu32
			      ", \"invocations\": %" PRIu64 ", ", i > 1 ? "," : "", i, n->parent, n->method, n->count);
		put_times(&n->self, &n->total, out);
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
			      ", \"wall\": %" PRIu64 ", \"cpu\": %" PRIu64 "}",
			      t->id, t->threads, t->count, t->self.wall, t->self.cpu);
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

void calls_json(const struct calls *c, struct buffer *out)
{
	buffer_printf(out, "{\n  \"schema\": %d,\n  \"version\": \"" JSTROBE_VERSION "\",\n", SCHEMA);
	buffer_printf(out, "  \"timing\": \"%s\",\n  \"pid\": %d,\n  \"main\": ", c->timing, c->pid);
	buffer_json(out, c->main_class);
	buffer_puts(out, ",\n  \"jdk\": ");
	buffer_json(out, c->jdk);
	buffer_printf(out, ",\n  \"duration_ns\": %" PRIu64 ",\n  \"period_ns\": %" PRIu64 ",\n", c->duration,
		      c->period);
	buffer_printf(out, "  \"invocations\": %" PRIu64 ",\n  \"uncounted\": %" PRIu64 ",\n", c->count,
		      c->uncounted);
	buffer_printf(out, "  \"classes\": %" PRIu32 ",\n  \"tree_bytes\": %" PRIu64 ",\n  \"probe_ns\": %.2f,\n",
		      c->class_count, c->bytes, c->cost);
	put_methods(c, out);
	put_tree(c, out);
	put_threads(c, out);
	put_skipped(c, out);
	buffer_printf(out, "  \"skipped_more\": %" PRIu32 "\n}\n", c->skipped_more);
}

void calls_collapsed(const struct calls *c, bool time, struct buffer *out)
{
	uint32_t i, path[256], depth;

	for (i = 1; i < c->node_count; i++) {
		uint64_t value = time ? c->nodes[i].self.wall : c->nodes[i].count;
		uint32_t at = i;

		if (!value)
			continue;
		for (depth = 0; at && depth < 256; at = c->nodes[at].parent)
			path[depth++] = c->nodes[at].method;
		if (at)
			buffer_puts(out, "[truncated];");
		while (depth-- > 0)
			buffer_printf(out, "%s.%s%s", c->methods[path[depth]].class_name, c->methods[path[depth]].name,
				      depth ? ";" : "");
		buffer_printf(out, " %" PRIu64 "\n", value);
	}
}
