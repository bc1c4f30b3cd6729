/*
 * calls_tree.c - a trace's tree in the order in which people read it, and the names in it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profile/model/calls_tree.h"

static void sum_up(const struct calls *c, uint64_t *worth)
{
	uint32_t i;

	for (i = 0; i < c->node_count; i++)
		worth[i] = c->timed ? c->nodes[i].total.wall : c->nodes[i].count;
	for (i = c->node_count - 1; !c->timed && i > 0; i--)
		worth[c->nodes[i].parent] += worth[i];
}

struct order {
	const struct calls *c;
	const uint64_t *worth;
};

static int by_parent_and_worth(const void *a, const void *b, void *arg)
{
	const struct order *o = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct calls_node *n = &o->c->nodes[x], *m = &o->c->nodes[y];

	if (n->parent != m->parent)
		return n->parent < m->parent ? -1 : 1;
	if (o->worth[x] != o->worth[y])
		return o->worth[x] < o->worth[y] ? 1 : -1;
	return x < y ? -1 : x > y;
}

/*
 * SORTED holds siblings side by side, by their parents: from there depth first into ORDER. NEXT and SIZE are zeroed
 * places for node_count: where the next child of a node goes, and how many nodes its branch has.
 */
static void go_down(const struct calls *c, const uint32_t *sorted, uint32_t *next, uint32_t *size, uint32_t *order)
{
	uint32_t i;

	for (i = c->node_count; i-- > 1;)
		size[c->nodes[i].parent] += ++size[i];
	/* parents come before their children, so the place of a node is known when those below it get theirs */
	for (i = 0; i + 1 < c->node_count; i++) {
		uint32_t at = sorted[i], *place = &next[c->nodes[at].parent];

		order[*place] = at;
		next[at] = *place + 1;
		*place += size[at];
	}
}

int calls_worth_build(struct calls_worth *w, const struct calls *c)
{
	uint32_t *sorted = calloc(c->node_count * 3ul, sizeof(*sorted)), i;
	struct order o = {.c = c};

	w->of_node = calloc(c->node_count, sizeof(*w->of_node));
	w->order = calloc(c->node_count, sizeof(*w->order));
	if (!sorted || !w->of_node || !w->order) {
		free(sorted);
		return -ENOMEM;
	}
	sum_up(c, w->of_node);
	o.worth = w->of_node;
	for (i = 1; i < c->node_count; i++)
		sorted[i - 1] = i;
	qsort_r(sorted, c->node_count - 1, sizeof(*sorted), by_parent_and_worth, &o);
	go_down(c, sorted, sorted + c->node_count, sorted + 2ul * c->node_count, w->order);
	free(sorted);
	return 0;
}

void calls_worth_free(struct calls_worth *w)
{
	free(w->of_node);
	free(w->order);
}

/* ---- one tree of many ---- */

bool calls_merge_begin(struct calls_merge *m)
{
	struct calls_node *root = VECTOR_PUSH(&m->nodes);

	if (root)
		root->method = CALLS_ROOT;
	return root;
}

uint32_t calls_merge_place(struct calls_merge *m, uint32_t parent, uint32_t method, uint32_t thread)
{
	uint32_t key = method == CALLS_THREAD ? CALLS_THREAD - 1 - thread : method;
	bool fresh;
	uint32_t *at = map_put(&m->places, (uint64_t)parent << 32 | key, &fresh);
	struct calls_node *made = at && fresh ? VECTOR_PUSH(&m->nodes) : NULL;

	if (!at || (fresh && !made))
		return 0;
	if (fresh) {
		*at = (uint32_t)m->nodes.count - 1;
		made->method = method;
		made->thread = thread;
		made->parent = parent;
		made->depth = m->nodes.items[parent].depth + 1;
	}
	return *at;
}

/* ---- names ---- */

bool *calls_overloads(const struct calls *c)
{
	bool *overloads = calloc(c->method_count + 1ul, sizeof(*overloads));
	struct strings names = {.bytes = NULL};
	struct map first = {.slots = NULL};
	uint32_t i;

	for (i = 0; overloads && i < c->method_count; i++) {
		const struct calls_method *m = &c->methods[i];
		uint32_t class_name = strings_add(&names, m->class_name, strlen(m->class_name)), *at;
		uint32_t name = strings_add(&names, m->name, strlen(m->name));
		bool fresh;

		at = names.failed ? NULL : map_put(&first, (uint64_t)class_name << 32 | name, &fresh);
		if (!at)
			break;
		if (fresh)
			*at = i;
		else
			overloads[i] = overloads[*at] = true;
	}
	if (overloads && i < c->method_count) {
		free(overloads);
		overloads = NULL;
	}
	strings_free(&names);
	map_free(&first);
	return overloads;
}

void calls_name(const struct calls *c, const bool *overloads, uint32_t method, struct buffer *out)
{
	const struct calls_method *m = &c->methods[method];
	const char *end = overloads && overloads[method] ? strchr(m->type, ')') : NULL;

	buffer_printf(out, "%s.%s", m->class_name, m->name);
	if (end)
		buffer_append(out, m->type, (size_t)(end + 1 - m->type));
}

void calls_node_name(const struct calls *c, const bool *overloads, const struct calls_node *n, struct buffer *out)
{
	if (n->method == CALLS_THREAD)
		buffer_printf(out, "[%s]", c->threads[n->thread].name);
	else
		calls_name(c, overloads, n->method, out);
}
