/*
 * calls_groups.c - the methods of a trace by heat, and their sums by class and by package.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/vector.h"
#include "profile/model/calls_tree.h"

static int by_self(const void *a, const void *b)
{
	const struct calls_method *x = *(const struct calls_method *const *)a;
	const struct calls_method *y = *(const struct calls_method *const *)b;

	if (x->self.wall != y->self.wall)
		return x->self.wall < y->self.wall ? 1 : -1;
	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return x < y ? -1 : x > y;
}

const struct calls_method **calls_hottest(const struct calls *c)
{
	const struct calls_method **order = calloc(c->method_count + 1ul, sizeof(*order));
	uint32_t i;

	for (i = 0; order && i < c->method_count; i++)
		order[i] = &c->methods[i];
	if (order)
		qsort(order, c->method_count, sizeof(*order), by_self);
	return order;
}

/* "com.acme.Order$Line" → the same, or "com.acme" */
static uint32_t group_name(struct strings *names, const char *class_name, enum calls_level level)
{
	const char *dot = strrchr(class_name, '.');
	size_t length = level == CALLS_BY_CLASS ? strlen(class_name) : dot ? (size_t)(dot - class_name) : 0;

	return length ? strings_add(names, class_name, length) : strings_add(names, "(no package)", 12);
}

/* GROUP[method] for all methods, and the groups. -ENOMEM */
static int group_methods(struct calls_groups *g, const struct calls *c, enum calls_level level, uint32_t *group)
{
	VECTOR(struct calls_method) groups = {.items = NULL};
	struct map numbers = {.slots = NULL};
	bool whole = true;
	uint32_t i;

	/* texts move until all are there */
	for (i = 0; whole && i < c->method_count; i++)
		whole = (group[i] = group_name(&g->names, c->methods[i].class_name, level)) != 0;
	for (i = 0; whole && i < c->method_count; i++) {
		bool fresh;
		uint32_t *number = map_put(&numbers, group[i], &fresh);
		struct calls_method *made = number && fresh ? VECTOR_PUSH(&groups) : NULL;

		whole = number && (made || !fresh);
		if (made) {
			*made = (struct calls_method){
				.class_name = strings_get(&g->names, group[i]), .name = "", .type = ""};
			*number = (uint32_t)groups.count - 1;
		}
		group[i] = whole ? *number : 0;
	}
	g->calls.methods = groups.items;
	g->calls.method_count = (uint32_t)groups.count;
	map_free(&numbers);
	return whole ? 0 : -ENOMEM;
}

/* A node's group, UINT32_MAX: it is no method. */
static uint32_t group_of(const struct calls *c, const uint32_t *group, uint32_t node)
{
	uint32_t method = c->nodes[node].method;

	return method < c->method_count ? group[method] : UINT32_MAX;
}

static void sum_up(struct calls_groups *g, const struct calls *c, const uint32_t *group)
{
	uint32_t i, at, of;

	for (i = 1; i < c->node_count; i++) {
		const struct calls_node *n = &c->nodes[i];
		struct calls_method *sum;

		of = group_of(c, group, i);
		if (of == UINT32_MAX)
			continue;
		sum = &g->calls.methods[of];
		sum->count += n->count;
		sum->stamps += n->stamps;
		calls_times_add(&sum->self, &n->self);
		for (at = n->parent; at && group_of(c, group, at) != of; at = c->nodes[at].parent)
			;
		if (!at)
			calls_times_add(&sum->total, &n->total);
	}
}

int calls_groups_build(struct calls_groups *g, const struct calls *c, enum calls_level level)
{
	uint32_t *group = calloc(c->method_count + 1ul, sizeof(*group));
	int rc;

	memset(g, 0, sizeof(*g));
	g->calls = *c;
	g->calls.methods = NULL;
	g->calls.method_count = 0;
	rc = group ? group_methods(g, c, level, group) : -ENOMEM;
	if (rc == 0)
		sum_up(g, c, group);
	free(group);
	return rc;
}

void calls_groups_free(struct calls_groups *g)
{
	free(g->calls.methods);
	strings_free(&g->names);
}
