/*
 * page_data.c - a profile as one compact JSON object for web/data.js.
 *
 * Names stand in a table of strings, the tree in one member of bytes (page_put.h), its nodes in
 * depth-first order without the root:
 *
 *   head     bits 0-2 kind, 3 `kinds` follow, 4 `self` follows, 5-7 up: how many levels the node
 *            stands above a child of the one before it (7: 7 + the number that follows)
 *   [up]     varint
 *   name     varint, index into `names`
 *   [kinds]  a byte with a bit for each kind that was seen, and a varint of samples for each bit
 *   [self]   varint samples, varint ns
 *
 * `objects` has a varint for each node, in the same order: what its own samples of objects stand for. `idle` has two:
 * of its own samples and weight those of waits for work.
 *
 * Varints are LEB128. A page of 100,000 stacks is a few MB this way and opens at once.
 */
#include "profile/writers/page/page_put.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profile/model/calls.h"
#include "profile/model/human.h"
#include "profile/model/leaks.h"
#include "profile/model/loss_line.h"
#include "profile/model/profile_unit.h"
#include "profile/model/sorted.h"
#include "profile/model/work/work.h"
#include "profile/writers/page/time_page.h"
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

static void put_tree(struct json_writer *w, const struct sorted *s, const struct format_options *options)
{
	struct page_bytes e = PAGE_BYTES(w, "tree", options);
	uint32_t i, level, before = 0;
	uint64_t nodes = 0;

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
	json_put_number(w, "nodes", nodes);
}

/* Of each node the objects that end there, in the order of the tree. */
static void put_objects(struct json_writer *w, const struct sorted *s, const struct format_options *options)
{
	struct page_bytes e = PAGE_BYTES(w, "objects", options);
	uint32_t i, level;

	for (i = 0; i < s->count; i++)
		for (level = s->items[i].shared; level < sorted_depth(s, i); level++)
			page_varint(&e, sorted_range(s, i, level + 1).self_objects);
	page_bytes_end(&e);
}

/* Of each node that begins at item FROM with DEPTH names, what of its own is idle, by ACTIVITY of the stacks. */
static void put_idle_of(struct page_bytes *e, const struct sorted *s, uint32_t from, uint32_t depth,
			const uint8_t *activity)
{
	uint64_t samples = 0, weight = 0;
	uint32_t i;

	/* what ends there stands in front of what goes on */
	for (i = from; i < s->count && (i == from || s->items[i].shared >= depth) && sorted_depth(s, i) == depth; i++) {
		const struct profile_stack *stack = &s->profile->stacks[s->items[i].stack];

		if (activity[s->items[i].stack] != ACTIVITY_IDLE)
			continue;
		samples += stack->samples;
		weight += stack->weight;
	}
	page_varint(e, samples);
	page_varint(e, weight);
}

static void put_idle(struct json_writer *w, const struct sorted *s, const uint8_t *activity,
		     const struct format_options *options)
{
	struct page_bytes e = PAGE_BYTES(w, "idle", options);
	uint32_t i, level;

	for (i = 0; i < s->count; i++)
		for (level = s->items[i].shared; level < sorted_depth(s, i); level++)
			put_idle_of(&e, s, i, level + 1, activity);
	page_bytes_end(&e);
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

static int put_names(struct json_writer *w, const struct sorted *s)
{
	const struct name_table *names = &s->names;
	bool *used = used_names(s);
	uint32_t i;

	if (!used)
		return -ENOMEM;
	json_array(w, "names");
	for (i = 0; i < names->count; i++)
		json_put_text(w, NULL, used[i] ? name_text(names, i) : "");
	json_end(w);
	free(used);
	json_begin_text(w, "nameTypes");
	for (i = 0; i < names->count; i++)
		buffer_putc(w->out, (char)('0' + names->names[i].type));
	json_end_text(w);
	/* few names are native, so their libraries are pairs of name and library */
	json_array(w, "libraries");
	for (i = 0; i < names->count; i++) {
		if (!names->names[i].library)
			continue;
		json_put_number(w, NULL, i);
		json_put_text(w, NULL, names->names[i].library);
	}
	json_end(w);
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
static void put_top_kinds(struct json_writer *w, const char *key, const struct profile *p)
{
	uint64_t samples[FRAME_KINDS + 1] = {0}, weight[FRAME_KINDS + 1] = {0};
	uint32_t i;

	for (i = 0; i < p->stack_count; i++) {
		const struct profile_stack *s = &p->stacks[i];
		unsigned kind = top_kind(p, s);

		samples[kind] += s->samples;
		weight[kind] += s->weight;
	}
	json_array(w, key);
	for (i = 0; i <= FRAME_KINDS; i++) {
		json_array(w, NULL);
		json_put_number(w, NULL, samples[i]);
		json_put_number(w, NULL, weight[i]);
		json_end(w);
	}
	json_end(w);
}

static void put_thread(struct json_writer *w, uint32_t tid, const char *name, uint64_t samples, uint64_t weight)
{
	json_array(w, NULL);
	json_put_number(w, NULL, tid);
	json_put_text(w, NULL, name);
	json_put_number(w, NULL, samples);
	json_put_number(w, NULL, weight);
	json_end(w);
}

static void put_threads(struct json_writer *w, const struct profile *p)
{
	const struct calls *c = p->calls;
	uint32_t i;

	json_array(w, "threads");
	for (i = 0; i < p->thread_count; i++)
		put_thread(w, p->threads[i].tid, p->threads[i].name, p->threads[i].samples, p->threads[i].weight);
	for (i = 0; c && i < c->thread_count; i++)
		put_thread(w, i, c->threads[i].name, c->threads[i].count, c->threads[i].self.wall);
	json_end(w);
}

/* [[name, count, ns, meaning], ...] of the counters that are not 0. */
static void put_counters(struct json_writer *w, const char *key, const struct counter_name *names,
			 const uint64_t *values, const uint64_t *weights, unsigned count)
{
	unsigned i;

	json_array(w, key);
	for (i = 0; i < count; i++) {
		if (!values[i])
			continue;
		json_array(w, NULL);
		json_put_text(w, NULL, names[i].name);
		json_put_number(w, NULL, values[i]);
		json_put_number(w, NULL, weights ? weights[i] : 0);
		json_put_text(w, NULL, names[i].meaning);
		json_end(w);
	}
	json_end(w);
}

static void put_texts(struct json_writer *w, const struct profile *p, const struct format_options *options)
{
	struct buffer text = BUFFER_INIT;

	if (p->calls) {
		calls_loss(p, options, &text);
	} else {
		if (p->left_out)
			buffer_printf(&text, "%s of %s samples shown, include or exclude left out the rest; ",
				      human_count(p->stored - p->left_out).text, human_count(p->stored).text);
		format_loss_line(p, &text);
		loss_line_hint(p, options, &text);
	}
	json_put_text(w, "loss", buffer_text(&text, w->out));
	text.length = 0;
	if (p->calls)
		calls_page_details(p->calls, &text);
	else
		loss_details(&text, p, options);
	json_put_text(w, "details", buffer_text(&text, w->out));
	buffer_free(&text);
}

/* Sentences about what grows: the title, each of the fastest, and what comes of it. */
static int put_leaks(struct json_writer *w, const struct profile *p)
{
	struct buffer text = BUFFER_INIT;
	struct leaks l;
	int rc = leaks_find(&l, p);
	uint32_t i;

	json_array(w, "leaks");
	if (rc == 0 && l.count) {
		leaks_put_title(&text, p);
		json_put_text(w, NULL, buffer_text(&text, w->out));
	}
	for (i = 0; rc == 0 && i < MIN(l.count, LEAKS_SHOWN); i++) {
		text.length = 0;
		leaks_put_row(&text, &l, &l.rows[i], "", "");
		if (leaks_chain(&l, &l.rows[i], p))
			buffer_puts(&text, ", ");
		leaks_put_chain(&text, &l, &l.rows[i], p);
		json_put_text(w, NULL, buffer_text(&text, w->out));
	}
	text.length = 0;
	if (rc == 0 && l.count > LEAKS_SHOWN)
		buffer_printf(&text, "and %u more", l.count - LEAKS_SHOWN);
	if (text.length)
		json_put_text(w, NULL, buffer_text(&text, w->out));
	if (rc == 0 && l.count && p->chains_told)
		json_put_text(w, NULL, p->chains_told);
	text.length = 0;
	if (rc == 0)
		leaks_put_full(&text, &l, p);
	if (text.length)
		json_put_text(w, NULL, buffer_text(&text, w->out));
	json_end(w);
	buffer_free(&text);
	leaks_free(&l);
	return rc;
}

/* How it is shown at first. */
static void put_view(struct json_writer *w, const struct profile *p, const struct format_options *options)
{
	const struct calls *c = p->calls;

	json_put_bool(w, "warn", c ? c->uncounted * 100 > c->count : loss_is_bad(p));
	json_put_bool(w, "byWeight", c ? c->timed : is_by_weight(p, options));
	json_put_bool(w, "lines", options->lines);
	json_put_bool(w, "dots", options->dot || c);
	json_put_bool(w, "reverse", options->reverse);
	json_put_bool(w, "inverted", options->inverted);
	if (options->tree)
		json_put_bool(w, "asTree", true);
	if (options->highlight)
		json_put_text(w, "highlight", options->highlight);
	json_put_bool(w, "kindsUnknown", p->kinds_unknown);
}

static void put_head(struct json_writer *w, const struct profile *p, const struct format_options *options)
{
	json_put_texts(w, {"version", JSTROBE_VERSION}, {"event", p->event}, {"engine", p->engine},
		       {"main", p->main_class}, {"jdk", p->jdk});
	json_put_numbers(w, {"pid", (uint64_t)p->pid}, {"startedMs", p->started_at / NS_PER_MS},
			 {"duration", p->duration}, {"interval", p->interval});
	json_put_bool(w, "inEvents", !profile_is_time(p));
	json_put_text(w, "unit", profile_is_time(p) ? p->event : profile_unit_shown(p));
	json_put_numbers(w, {"cpuTime", p->cpu_time}, {"taken", p->taken}, {"stored", p->stored});
	put_view(w, p, options);
	put_counters(w, "lost", loss_names, p->lost, p->lost_weight, LOSS_REASONS);
	put_counters(w, "ended", walk_end_names, p->ended_early, NULL, WALK_ENDS);
}

/* WORK: P's, NULL: not known. */
static int put_stacks(struct json_writer *w, const struct profile *p, const struct format_options *options,
		      const struct page_more *more, const struct work *work)
{
	/* kinds are colours here, not suffixes */
	unsigned style = format_style(STYLE_PAGE, options) & ~STYLE_ANNOTATE;
	struct narrowed narrowed = {.lists = NULL};
	struct sorted s = {.profile = NULL};
	int result = 0;

	if (options->minwidth > 0)
		result = prune_apply(&narrowed, p, options, style);
	if (!result)
		result = sorted_build(&s, narrowed.stacks ? &narrowed.profile : p, style,
				      format_by_thread(p, options));
	if (!result)
		result = put_names(w, &s);
	if (!result)
		put_tree(w, &s, options);
	if (!result && p->objects)
		put_objects(w, &s, options);
	if (!result && work && !narrowed.stacks)
		put_idle(w, &s, work->groups.activity, options);
	if (!result && !more && options->views)
		result = options->views->beside(w, p, options);
	/* of a tree that lacks some of P's stacks nothing is said */
	if (!result && !more && profile_has_times(p) && !narrowed.stacks)
		result = time_page_put(w, &s, work ? work->groups.activity : NULL, options);
	if (!result && more)
		more->put(w, &s, more->arg);
	sorted_free(&s);
	prune_free(&narrowed);
	return result;
}

int page_data_put(struct buffer *out, const struct profile *p, const struct format_options *options,
		  const struct page_more *more)
{
	struct json_writer w = JSON_WRITER(out, JSON_PAGE);
	bool known = !more && options->views && activity_is_known(p);
	struct work *work = known ? options->views->begin(p, options) : NULL;
	int result = known && !work ? -ENOMEM : 0;

	json_object(&w, NULL);
	put_head(&w, p, options);
	if (options->beside)
		options->beside->json(options->beside, &w);
	put_texts(&w, p, options);
	put_top_kinds(&w, "top", p);
	put_threads(&w, p);
	if (!result && work) {
		put_top_kinds(&w, "topWork", &work->profile);
		result = options->views->page(&w, p, work);
	}
	if (!result && leaks_known(p))
		result = put_leaks(&w, p);
	if (!result)
		result = p->calls ? calls_page_put(&w, p, options) : put_stacks(&w, p, options, more, work);
	if (!result && p->io_count)
		result = io_page_put(&w, p, options);
	json_put_bool(&w, "end", true);
	json_end(&w);
	if (known)
		options->views->end(work);
	return result;
}
