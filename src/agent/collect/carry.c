#include "agent/collect/carry.h"
#include "agent/collect/aggregate.h"
#include "agent/collect/names/named_frames.h"
#include "common/base/hash.h"
#include "profile/model/lasting_names.h"

#include <stdlib.h>
#include <string.h>

static uint32_t *table(size_t count)
{
	return pages_alloc((count + 1) * sizeof(uint32_t));
}

static void drop_table(uint32_t *t, size_t count)
{
	pages_free(t, (count + 1) * sizeof(uint32_t));
}

bool carry_open(struct generation *g)
{
	const struct collector *old = &g->old;

	g->count.nodes = old->nodes.count;
	g->count.frames = old->frames.named.count;
	g->count.threads = old->threads.count;
	g->count.counts = old->stack_counts.count;
	g->nodes = table(g->count.nodes);
	g->frames[0] = table(g->count.frames);
	g->frames[1] = table(g->count.frames);
	g->threads = table(g->count.threads);
	g->sums = table(g->count.threads);
	g->counts = table(g->count.counts);
	return g->nodes && g->frames[0] && g->frames[1] && g->threads && g->sums && g->counts;
}

void carry_close(struct generation *g)
{
	drop_table(g->nodes, g->count.nodes);
	drop_table(g->frames[0], g->count.frames);
	drop_table(g->frames[1], g->count.frames);
	drop_table(g->threads, g->count.threads);
	drop_table(g->sums, g->count.threads);
	drop_table(g->counts, g->count.counts);
	map_free(&g->texts);
	map_free(&g->stacks);
	map_free(&g->ended);
}

/* ---- texts ---- */

uint32_t carry_known_text(const struct generation *g, uint32_t name)
{
	const uint32_t *now = name ? map_get(&g->texts, name) : NULL;

	return now ? *now : 0;
}

uint32_t carry_text(struct generation *g, uint32_t name)
{
	uint32_t now = carry_known_text(g, name), *slot;
	const char *text;

	if (!name || now)
		return now;
	text = strings_get(&g->old.frames.strings, name);
	now = strings_add(&g->c->frames.strings, text, strlen(text));
	slot = now ? map_put(&g->texts, name, NULL) : NULL;
	if (slot)
		*slot = now;
	return now;
}

/* ---- frames ---- */

size_t carry_count_hidden(const struct collector *c)
{
	size_t i, n = 0;

	for (i = 0; i < c->frames.named.count; i++) {
		uint32_t class_name = c->frames.named.items[i].class_name;
		const char *name = strings_get(&c->frames.strings, class_name);

		n += class_name && lasting_class_name(name, NULL);
	}
	return n;
}

/* The new name of CLASS, which is merged with those it has its name in common with. */
static uint32_t common_name(struct generation *g, uint32_t class_name, bool *other)
{
	const char *name = strings_get(&g->old.frames.strings, class_name);
	char *common = lasting_class_name(name, NULL) ? malloc(strlen(name) + 1) : NULL;
	uint32_t now;

	*other = common;
	if (!common)
		return carry_text(g, class_name);
	lasting_class_name(name, common);
	now = strings_add(&g->c->frames.strings, common, strlen(common));
	free(common);
	return now;
}

uint32_t carry_frame(struct generation *g, uint32_t frame, bool merged)
{
	const struct named_frame *from = &g->old.frames.named.items[frame];
	uint32_t *known = &g->frames[merged][frame];
	struct frames *to = &g->c->frames;
	struct named_frame n = *from;
	bool other = false;

	if (*known)
		return *known - 1;
	n.class_name = merged && from->class_name ? common_name(g, from->class_name, &other)
						  : carry_text(g, from->class_name);
	n.name = carry_text(g, from->name);
	n.signature = carry_text(g, from->signature);
	n.library = carry_text(g, from->library);
	n.late = false;
	*known = to->strings.failed ? 0 : frames_intern(to, &n) + 1; /* FRAMES_NO_MEMORY + 1 is 0 */
	if (!*known)
		return FRAMES_NO_MEMORY;
	to->named.items[*known - 1].late |= from->late;
	g->merged.classes += other;
	return *known - 1;
}

bool carry_has_frame(const struct generation *g, uint32_t frame)
{
	return g->frames[0][frame] || g->frames[1][frame];
}

/* ---- stacks ---- */

/* A new node like N, of the aggregate that is given up. 0 = out of memory. */
static uint32_t copy_node(struct generation *g, const struct node *n, bool merged)
{
	const uint32_t *list = &g->old.frame_list.items[n->first];
	uint32_t i, node = aggregate_stack_of(g->c, NULL, 0, n->end);

	for (i = 0; node && i < n->depth; i++)
		if (!aggregate_stack_push(g->c, node, carry_frame(g, list[i], merged), FRAME_NO_BCI))
			node = 0;
	return node;
}

uint32_t carry_node(struct generation *g, uint32_t node)
{
	const struct node *n = &g->old.nodes.items[node];
	struct collector *c = g->c;

	if (!node)
		return 0;
	if (!g->nodes[node]) {
		g->nodes[node] = copy_node(g, n, false);
		if (g->nodes[node])
			memcpy(&c->bcis.items[c->nodes.items[g->nodes[node]].first], &g->old.bcis.items[n->first],
			       n->depth * sizeof(*c->bcis.items));
	}
	return g->nodes[node] ? g->nodes[node] : g->rest;
}

static uint64_t hash_of(const struct collector *c, const struct node *n)
{
	return hash_list(hash_mix((uint64_t)n->depth << 8 | n->end), &c->frame_list.items[n->first], n->depth);
}

struct wanted {
	const struct collector *collector;
	const struct node *node;
};

static bool is_node(uint32_t number, const void *wanted)
{
	const struct wanted *w = wanted;
	const struct collector *c = w->collector;
	const struct node *m = &c->nodes.items[number], *n = w->node;

	return m->end == n->end && m->depth == n->depth &&
	       memcmp(&c->frame_list.items[m->first], &c->frame_list.items[n->first],
		      n->depth * sizeof(*c->frame_list.items)) == 0;
}

uint32_t carry_stack(struct generation *g, uint32_t node)
{
	uint32_t now = copy_node(g, &g->old.nodes.items[node], g->merges_hidden), *slot;
	struct collector *c = g->c;

	if (!now)
		return 0;
	slot = map_intern(&g->stacks, hash_of(c, &c->nodes.items[now]), is_node,
			  &(struct wanted){c, &c->nodes.items[now]});
	if (!slot)
		return 0;
	if (!*slot)
		return *slot = now;
	aggregate_stack_forget(c);
	return *slot;
}

/* ---- what sinks keep ---- */

void carry_event(struct generation *g, struct sink_event *e, struct sink_lock *l, struct sink_fields *f)
{
	e->node = carry_node(g, e->node);
	e->thread = carry_thread(g, e->thread);
	e->name = carry_text(g, e->name);
	if (f)
		f->class_name = carry_text(g, f->class_name);
	if (!l)
		return;
	l->class_name = carry_text(g, l->class_name);
	l->owner_name = carry_text(g, l->owner_name);
	l->owner_node = carry_node(g, l->owner_node);
	l->owner_thread = l->owner_thread ? carry_thread(g, l->owner_thread - 1) + 1 : 0;
}
