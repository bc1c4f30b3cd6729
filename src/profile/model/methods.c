#include "profile/model/methods.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct order {
	const struct name_table *names;
	bool by_weight;
};

static int descending(uint64_t a, uint64_t b)
{
	return a < b ? 1 : a > b ? -1 : 0;
}

static int compare(const void *left, const void *right, void *arg)
{
	const struct method *a = left, *b = right;
	const struct order *order = arg;
	int c;

	c = order->by_weight ? descending(a->self_weight, b->self_weight)
			     : descending(a->self, b->self);
	if (!c)
		c = order->by_weight ? descending(a->total_weight, b->total_weight)
				     : descending(a->total, b->total);
	return c ? c : strcmp(name_text(order->names, a->name), name_text(order->names, b->name));
}

static void add_total(struct method *row, const struct profile_stack *s)
{
	row->total += s->samples;
	row->total_weight += s->weight;
	row->total_objects += s->objects;
}

/* Add one stack; SEEN holds for each name the last stack (+ 1) in which it was counted. */
static void add(struct methods *m, const struct profile_stack *s, uint32_t *seen, uint32_t number)
{
	uint32_t i, name = m->names.no_frames;

	for (i = 0; i < s->depth; i++) {
		name = m->names.of_frame[s->frames[i]];
		if (seen[name] == number)
			continue;
		seen[name] = number;
		add_total(&m->rows[name], s);
	}
	m->rows[name].self += s->samples;
	m->rows[name].self_weight += s->weight;
	m->rows[name].self_objects += s->objects;
	if (s->depth == 0)
		add_total(&m->rows[name], s);
}

int methods_build(struct methods *m, const struct profile *p, unsigned style, bool by_weight)
{
	struct order order = {&m->names, by_weight};
	uint32_t *seen, i;

	memset(m, 0, sizeof(*m));
	if (name_table_build(&m->names, p, style))
		return -ENOMEM;
	seen = calloc((size_t)m->names.count + 1, sizeof(*seen));
	m->rows = calloc((size_t)m->names.count + 1, sizeof(*m->rows));
	if (!seen || !m->rows) {
		free(seen);
		return -ENOMEM;
	}
	for (i = 0; i < m->names.count; i++)
		m->rows[i].name = i;
	for (i = 0; i < p->stack_count; i++)
		add(m, &p->stacks[i], seen, i + 1);
	free(seen);
	for (i = 0; i < m->names.count; i++) /* threads and unused names are no methods */
		if (m->rows[i].total || m->rows[i].total_weight)
			m->rows[m->count++] = m->rows[i];
	qsort_r(m->rows, m->count, sizeof(*m->rows), compare, &order);
	return 0;
}

void methods_free(struct methods *m)
{
	name_table_free(&m->names);
	free(m->rows);
	memset(m, 0, sizeof(*m));
}
