/*
 * kept_mark_names.c - numbers by length and by time are lists for the first names, and single ones for all others,
 * which mostly have few.
 */
#include "profile/readers/kept_mark_names.h"

#include <stdlib.h>

#include "common/base/wide.h"

#define LISTED (KEPT_MARK_NAMES + MARK_KINDS) /* names that have lists */

struct kept_mark_name *kept_mark_name(struct kept_mark_names *n, enum mark_kind kind, uint32_t text)
{
	uint64_t key = (uint64_t)kind << 32;
	struct kept_mark_name *name;
	uint32_t *slot;

	if (n->last_name && n->last_key == (key | text))
		return &n->items[n->last_name - 1];
	n->last_key = key | text;
	slot = map_get(&n->by_name, key | text);
	if (!slot && n->count >= KEPT_MARK_NAMES_READ)
		text = 0;
	if (!slot)
		slot = map_put(&n->by_name, key | text, NULL);
	n->last_name = slot ? *slot : 0;
	if (n->last_name)
		return &n->items[n->last_name - 1];
	name = slot ? VECTOR_PUSH(n) : NULL;
	n->failed |= !name;
	if (!name)
		return NULL;
	*name = (struct kept_mark_name){.kind = (uint8_t)kind, .text = text, .given_up = -1};
	*slot = n->last_name = (uint32_t)n->count;
	return name;
}

void kept_mark_count(struct kept_mark_names *n, const struct kept_mark_name *name, unsigned at, uint32_t more)
{
	size_t place = (size_t)(name - n->items);
	struct kept_mark_name *to = &n->items[place];
	bool step = at >= KEPT_MARK_STEP;
	uint32_t **list = step ? &to->steps : &to->parts, *slot;

	if (place >= LISTED) {
		slot = map_put(&n->single, (uint64_t)place * KEPT_MARK_NUMBERS + at, NULL);
		n->failed |= !slot;
		if (slot)
			*slot += more;
		return;
	}
	if (!*list)
		*list = calloc(step ? PROFILE_MARK_STEPS : PROFILE_MARK_PARTS, sizeof(**list));
	n->failed |= !*list;
	if (*list)
		(*list)[step ? at - KEPT_MARK_STEP : at] += more;
}

/* What FROM's lists say goes to TO of N. */
static void join_lists(struct kept_mark_names *n, const struct kept_mark_name *to, const struct kept_mark_name *from)
{
	unsigned i;

	for (i = 0; from->parts && i < PROFILE_MARK_PARTS; i++)
		if (from->parts[i])
			kept_mark_count(n, to, i, from->parts[i]);
	for (i = 0; from->steps && i < PROFILE_MARK_STEPS; i++)
		if (from->steps[i])
			kept_mark_count(n, to, KEPT_MARK_STEP + i, from->steps[i]);
}

/* FROM's marks are TO's of N. */
static void join_name(struct kept_mark_names *n, struct kept_mark_name *to, const struct kept_mark_name *from)
{
	to->count += from->count;
	to->sum = wide_add(to->sum, from->sum);
	to->longest = MAX(to->longest, from->longest);
	to->given_up = MAX(to->given_up, from->given_up);
	to->estimated |= from->estimated;
	join_lists(n, to, from);
}

/* The single numbers of FROM, whose names are those that PLACES leads to in M. */
static void join_single(struct kept_mark_names *n, const struct map *from, const uint32_t *places)
{
	uint32_t i;

	for (i = 0; i < from->capacity && !n->failed; i++) {
		const struct map_slot *s = &from->slots[i];

		if (s->used)
			kept_mark_count(n, &n->items[places[s->key / KEPT_MARK_NUMBERS]],
					(unsigned)(s->key % KEPT_MARK_NUMBERS), s->value);
	}
}

uint32_t *kept_mark_names_join(struct kept_mark_names *n, const struct kept_mark_names *from,
			       uint32_t (*text)(void *arg, uint32_t number), void *arg)
{
	uint32_t *places = calloc(from->count + 1, sizeof(*places));
	struct kept_mark_name *to;
	size_t i;

	n->failed |= !places;
	for (i = 0; i < from->count && !n->failed; i++) {
		const struct kept_mark_name *name = &from->items[i];

		to = kept_mark_name(n, name->kind, text(arg, name->text));
		if (!to)
			break;
		places[i] = (uint32_t)(to - n->items);
		join_name(n, to, name);
	}
	if (!n->failed)
		join_single(n, &from->single, places);
	return places;
}

/* ---- at the end ---- */

/* A name, and what orders it. */
struct order {
	const struct kept_mark_name *name;
	const char *text;
};

static int by_count(const void *a, const void *b)
{
	const struct order *x = a, *y = b;

	if (!x->name->text != !y->name->text)
		return x->name->text ? -1 : 1;
	if (x->name->count != y->name->count)
		return x->name->count > y->name->count ? -1 : 1;
	return x->name->kind != y->name->kind ? x->name->kind - y->name->kind : strcmp(x->text, y->text);
}

/* FROM of N becomes one of TO, called TEXT; PLACES gets where that is. */
static void take(struct kept_mark_names *n, struct kept_mark_names *to, const struct kept_mark_name *from,
		 uint32_t text, uint32_t *places)
{
	struct kept_mark_name *name = kept_mark_name(to, from->kind, text);

	if (!name)
		return;
	places[from - n->items] = (uint32_t)(name - to->items);
	join_name(to, name, from);
}

/*
 * Names of N that have most, in their order, as those of TO, and behind them one of each kind for all others, as which
 * those without a text count: what was cut before is not cut once more. PLACES: where each one's marks go.
 */
static void take_most(struct kept_mark_names *n, struct kept_mark_names *to, struct order *order, uint32_t *places)
{
	size_t i, most = 0;
	unsigned kind;

	qsort(order, n->count, sizeof(*order), by_count);
	while (most < MIN(n->count, (size_t)KEPT_MARK_NAMES) && order[most].name->text)
		most++;
	for (i = 0; i < most && !to->failed; i++)
		take(n, to, order[i].name, order[i].name->text, places);
	for (kind = 0; kind < MARK_KINDS; kind++)
		for (i = most; i < n->count && !to->failed; i++)
			if (order[i].name->kind == kind)
				take(n, to, order[i].name, 0, places);
}

uint32_t *kept_mark_names_cut(struct kept_mark_names *n, const struct strings *strings)
{
	struct order *order = malloc((n->count + 1) * sizeof(*order));
	uint32_t *places = calloc(n->count + 1, sizeof(*places));
	struct kept_mark_names most = {.failed = n->failed || !order || !places};
	size_t i;

	for (i = 0; order && i < n->count; i++)
		order[i] = (struct order){&n->items[i], strings_get(strings, n->items[i].text)};
	if (!most.failed)
		take_most(n, &most, order, places);
	if (!most.failed)
		join_single(&most, &n->single, places);
	free(order);
	kept_mark_names_free(n);
	*n = most;
	return places;
}

void kept_mark_names_free(struct kept_mark_names *n)
{
	size_t i;

	for (i = 0; i < n->count; i++) {
		free(n->items[i].parts);
		free(n->items[i].steps);
	}
	free(n->items);
	map_free(&n->by_name);
	map_free(&n->single);
	memset(n, 0, sizeof(*n));
}
