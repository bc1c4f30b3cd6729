/*
 * page_data.c - a profile as one compact JSON object for web/data.js.
 *
 * Names stand in a table of strings, the tree in one base64 string of bytes, its nodes in
 * depth-first order without the root:
 *
 *   head     bits 0-2 kind, 3 `kinds` follow, 4 `self` follows, 5-7 up: how many levels the node
 *            stands above a child of the one before it (7: 7 + the number that follows)
 *   [up]     varint
 *   name     varint, index into `names`
 *   [kinds]  a byte with a bit for each kind that was seen, and a varint of samples for each bit
 *   [self]   varint samples, varint ns
 *
 * Varints are LEB128. A page of 100,000 stacks is a few MB this way and opens at once.
 */
#include "profile/writers/page/page_data.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profile/model/loss_line.h"
#include "profile/model/sorted.h"
#include "profile/writers/page/page_put.h"
#include "profile/writers/prune.h"
#include "profile/writers/writers.h"

/* ---- the tree ---- */

/* What the writer needs to know of a node. */
struct node {
	uint64_t kinds[FRAME_KINDS]; /* samples seen in each */
	uint64_t self, self_weight;
	uint8_t kind;   /* the most frequent one */
	bool mixed;     /* there are others */
};

static struct node node_of(const struct sorted *s, uint32_t from, uint32_t depth)
{
	struct sorted_range r = sorted_range(s, from, depth);
	struct node n = {.self = r.self_samples, .self_weight = r.self_weight};
	uint32_t i;

	n.kind = sorted_kind(s, from, depth - 1);
	for (i = r.from; i < r.to; i++) {
		uint8_t kind = sorted_kind(s, i, depth - 1);

		n.kinds[kind] += s->profile->stacks[s->items[i].stack].samples;
		n.mixed |= kind != n.kind;
		if (n.kinds[kind] > n.kinds[n.kind])
			n.kind = kind;
	}
	return n;
}

static void put_kinds(struct page_bytes *e, const struct node *n)
{
	unsigned mask = 0, k;

	for (k = 0; k < FRAME_KINDS; k++)
		if (n->kinds[k])
			mask |= 1u << k;
	page_byte(e, mask);
	for (k = 0; k < FRAME_KINDS; k++)
		if (n->kinds[k])
			page_varint(e, n->kinds[k]);
}

static void put_node(struct page_bytes *e, const struct node *n, uint32_t name, uint32_t up)
{
	unsigned head = n->kind;

	if (n->mixed)
		head |= PAGE_HEAD_KINDS;
	if (n->self || n->self_weight)
		head |= PAGE_HEAD_SELF;
	page_node(e, head, up, name);
	if (head & PAGE_HEAD_KINDS)
		put_kinds(e, n);
	if (head & PAGE_HEAD_SELF) {
		page_varint(e, n->self);
		page_varint(e, n->self_weight);
	}
}

static void put_tree(struct buffer *out, const struct sorted *s)
{
	struct page_bytes e = {.out = out};
	uint32_t i, level, before = 0;
	uint64_t nodes = 0;

	buffer_puts(out, "\"tree\":\"");
	for (i = 0; i < s->count; i++) {
		uint32_t depth = sorted_depth(s, i);

		for (level = s->items[i].shared; level < depth; level++) {
			struct node n = node_of(s, i, level + 1);

			put_node(&e, &n, sorted_name(s, i, level), before - level);
			before = level + 1;
			nodes++;
		}
	}
	page_bytes_end(&e);
	buffer_puts(out, "\",\n");
	page_number(out, "nodes", nodes);
}

/* Which names the tree has: a filter may leave only some. NULL when out of memory. */
static bool *used_names(const struct sorted *s)
{
	bool *used = calloc((size_t)s->names.count + 1, sizeof(*used));
	uint32_t i, level;

	for (i = 0; used && i < s->count; i++)
		for (level = s->items[i].shared; level < sorted_depth(s, i); level++)
			used[sorted_name(s, i, level)] = true;
	return used;
}

static int put_names(struct buffer *out, const struct sorted *s)
{
	const struct name_table *names = &s->names;
	bool *used = used_names(s);
	uint32_t i;

	if (!used)
		return -ENOMEM;
	buffer_puts(out, "\"names\":[");
	for (i = 0; i < names->count; i++) {
		buffer_puts(out, i ? ",\n" : "\n");
		page_json(out, used[i] ? name_text(names, i) : "");
	}
	free(used);
	buffer_puts(out, "],\n\"nameTypes\":\"");
	for (i = 0; i < names->count; i++)
		buffer_putc(out, (char)('0' + names->names[i].type));
	/* few names are native, so their libraries are pairs of name and library */
	buffer_puts(out, "\",\n\"libraries\":[");
	for (i = 0; i < names->count; i++) {
		if (!names->names[i].library)
			continue;
		buffer_printf(out, "%u,", i);
		page_json(out, names->names[i].library);
		buffer_puts(out, ",\n");
	}
	buffer_puts(out, "0,\"\"],\n");
	return 0;
}

/* ---- everything else ---- */

/* The kind of S's top frame, with what runs in libjvm as a kind of its own. */
static unsigned top_kind(const struct profile *p, const struct profile_stack *s)
{
	const struct profile_frame *top;

	if (!s->depth)
		return FRAME_OTHER;
	top = &p->frames[s->frames[s->depth - 1]];
	return frame_type(top) == TYPE_JVM ? FRAME_KINDS : top->kind;
}

/* [samples, ns] for each of these kinds. */
static void put_top_kinds(struct buffer *out, const struct profile *p)
{
	uint64_t samples[FRAME_KINDS + 1] = {0}, weight[FRAME_KINDS + 1] = {0};
	uint32_t i;

	for (i = 0; i < p->stack_count; i++) {
		const struct profile_stack *s = &p->stacks[i];
		unsigned kind = top_kind(p, s);

		samples[kind] += s->samples;
		weight[kind] += s->weight;
	}
	buffer_puts(out, "\"top\":[");
	for (i = 0; i <= FRAME_KINDS; i++)
		buffer_printf(out, "%s[%llu,%llu]", i ? "," : "", (unsigned long long)samples[i],
			      (unsigned long long)weight[i]);
	buffer_puts(out, "],\n");
}

static void put_threads(struct buffer *out, const struct profile *p)
{
	uint32_t i;

	buffer_puts(out, "\"threads\":[");
	for (i = 0; i < p->thread_count; i++) {
		const struct profile_thread *t = &p->threads[i];

		buffer_printf(out, "%s[%u,", i ? ",\n" : "", t->tid);
		page_json(out, t->name);
		buffer_printf(out, ",%llu,%llu]", (unsigned long long)t->samples,
			      (unsigned long long)t->weight);
	}
	buffer_puts(out, "],\n");
}

/* [[name, count, ns, meaning], ...] of the counters that are not 0. */
static void put_counters(struct buffer *out, const char *key, const struct counter_name *names,
			 const uint64_t *values, const uint64_t *weights, unsigned count)
{
	const char *separator = "";
	unsigned i;

	buffer_printf(out, "\"%s\":[", key);
	for (i = 0; i < count; i++) {
		if (!values[i])
			continue;
		buffer_printf(out, "%s[\"%s\",%llu,%llu,", separator, names[i].name,
			      (unsigned long long)values[i],
			      (unsigned long long)(weights ? weights[i] : 0));
		page_json(out, names[i].meaning);
		buffer_putc(out, ']');
		separator = ",";
	}
	buffer_puts(out, "],\n");
}

static void put_texts(struct buffer *out, const struct profile *p)
{
	struct buffer text = BUFFER_INIT;

	format_loss_line(p, &text);
	page_string(out, "loss", buffer_text(&text, out));
	text.length = 0;
	loss_details(&text, p);
	page_string(out, "details", buffer_text(&text, out));
	buffer_free(&text);
}

static void put_head(struct buffer *out, const struct profile *p,
		     const struct format_options *options)
{
	page_origin(out, &(struct page_origin){p->event, p->engine, p->main_class, p->jdk, p->pid, p->started_at,
					       p->duration, p->interval});
	page_flag(out, "inEvents", p->in_events);
	page_string(out, "unit", p->unit ? p->unit : p->event);
	page_number(out, "cpuTime", p->cpu_time);
	page_number(out, "taken", p->taken);
	page_number(out, "stored", p->stored);
	page_flag(out, "warn", loss_is_bad(p));
	page_flag(out, "byWeight", options->total);
	page_flag(out, "lines", options->lines);
	page_flag(out, "dots", options->dot);
	page_flag(out, "reverse", options->reverse);
	page_flag(out, "inverted", options->inverted);
	put_counters(out, "lost", loss_names, p->lost, p->lost_weight, LOSS_REASONS);
	put_counters(out, "ended", walk_end_names, p->ended_early, NULL, WALK_ENDS);
}

int page_data_put(struct buffer *out, const struct profile *p, const struct format_options *options,
		  const struct page_more *more)
{
	/* kinds are colours here, not suffixes */
	unsigned style = format_style(STYLE_PAGE, options) & ~STYLE_ANNOTATE;
	struct narrowed narrowed = {.lists = NULL};
	struct sorted s;
	int result = 0;

	if (options->minwidth > 0)
		result = prune_apply(&narrowed, p, options, style);
	buffer_puts(out, "{\n");
	put_head(out, p, options);
	put_texts(out, p);
	put_top_kinds(out, p);
	put_threads(out, p);
	memset(&s, 0, sizeof(s));
	if (!result)
		result = sorted_build(&s, narrowed.stacks ? &narrowed.profile : p, style,
				      format_by_thread(p, options));
	if (!result)
		result = put_names(out, &s);
	if (!result)
		put_tree(out, &s);
	if (!result && more)
		more->put(out, &s, more->arg);
	sorted_free(&s);
	prune_free(&narrowed);
	buffer_puts(out, "\"end\":true\n}\n");
	return result;
}
