#include "profile/views/hot_paths.h"

#include <errno.h>
#include <stdlib.h>

#include "profile/model/sorted.h"

#define SMALL 200      /* a branch below one in so many of all has no row, and hides no chain */
#define CHAIN_WHOLE 4  /* names of a chain that are all shown; of longer ones the first and the last two */
#define NAME_MOST 120  /* bytes of a name */
#define DEEPER 0.9

/* A row that may be chosen. */
struct candidate {
	struct sorted_range range; /* of its first frame */
	uint32_t parent, depth;
	double score;
};

struct choice {
	struct hot_paths *h;
	struct sorted sorted;
	VECTOR(struct candidate) open;
};

static uint64_t total_of(const struct hot_paths *h, const struct sorted_range *r)
{
	return h->by_weight ? r->weight : r->samples;
}

static uint64_t self_of(const struct hot_paths *h, const struct sorted_range *r)
{
	return h->by_weight ? r->self_weight : r->self_samples;
}

static bool is_small(const struct hot_paths *h, uint64_t part)
{
	return part < h->all / SMALL || !part;
}

/* The next child of R from item *I on, which moves behind it; false: there is none. */
static bool next_child(const struct sorted *s, const struct sorted_range *r, uint32_t *i, struct sorted_range *child)
{
	while (*i < r->to && sorted_depth(s, *i) <= r->depth)
		++*i;
	if (*i >= r->to)
		return false;
	*child = sorted_range(s, *i, r->depth + 1);
	*i = child->to;
	return true;
}

/* The one way on from R, if all but little takes it. */
static bool only_child(const struct choice *c, const struct sorted_range *r, struct sorted_range *only)
{
	struct sorted_range child;
	uint32_t i = r->from, count = 0;

	if (!is_small(c->h, self_of(c->h, r)))
		return false;
	while (next_child(&c->sorted, r, &i, &child))
		if (!is_small(c->h, total_of(c->h, &child))) {
			*only = child;
			count++;
		}
	return count == 1;
}

/* Append NAME, cut between characters where it is too long. */
static void put_name(struct buffer *out, const char *name)
{
	size_t n = strlen(name), keep = NAME_MOST;

	if (n <= NAME_MOST) {
		buffer_append(out, name, n);
		return;
	}
	while (keep && ((unsigned char)name[keep] & 0xc0) == 0x80)
		keep--;
	buffer_append(out, name, keep);
	buffer_puts(out, "…");
}

/* The names of item ITEM at the levels FROM to TO, that one included. */
static void put_chain(const struct choice *c, uint32_t item, uint32_t from, uint32_t to)
{
	struct buffer *out = &c->h->texts;
	uint32_t left_out = to - from + 1 > CHAIN_WHOLE ? to - from - 2 : 0, level;

	for (level = from; level <= to; level++) {
		if (level > from)
			buffer_puts(out, " → ");
		if (level == from + 1 && left_out) {
			buffer_printf(out, "(%u frames) → ", left_out);
			level += left_out;
		}
		put_name(out, sorted_text(&c->sorted, item, level));
	}
	buffer_putc(out, '\0');
}

/* The children of R are rows to choose from, below row PARENT. False: out of memory. */
static bool offer(struct choice *c, const struct sorted_range *r, uint32_t parent, uint32_t depth)
{
	double weight = 1;
	struct sorted_range child;
	uint32_t i = r->from, d;

	for (d = 0; d < depth; d++)
		weight *= DEEPER;
	while (next_child(&c->sorted, r, &i, &child)) {
		struct candidate *one;

		if (is_small(c->h, total_of(c->h, &child)))
			continue;
		one = VECTOR_PUSH(&c->open);
		if (!one)
			return false;
		*one = (struct candidate){child, parent, depth, weight * (double)total_of(c->h, &child)};
	}
	return true;
}

/* Make the best candidate a row. False: out of memory. */
static bool choose(struct choice *c, uint32_t depth)
{
	struct hot_paths *h = c->h;
	struct hot_path *row = VECTOR_PUSH(&h->rows);
	struct sorted_range last, next;
	struct candidate best;
	size_t i, at = 0;

	for (i = 1; i < c->open.count; i++)
		if (c->open.items[i].score > c->open.items[at].score)
			at = i;
	best = c->open.items[at];
	c->open.items[at] = c->open.items[--c->open.count];
	if (!row)
		return false;
	last = best.range;
	while (only_child(c, &last, &next))
		last = next;
	*row = (struct hot_path){best.parent, best.depth, total_of(h, &best.range), self_of(h, &last),
				 h->texts.length};
	put_chain(c, last.from, best.range.depth - 1, last.depth - 1);
	return best.depth >= depth || offer(c, &last, (uint32_t)h->rows.count - 1, best.depth + 1);
}

/* The children of PARENT in order of choice, each with what is below it. */
static uint32_t put_in_order(struct hot_paths *h, uint32_t parent, uint32_t at)
{
	uint32_t i = parent == HOT_PATHS_NO_PARENT ? 0 : parent + 1;

	for (; i < h->rows.count; i++)
		if (h->rows.items[i].parent == parent) {
			h->order[at] = i;
			at = put_in_order(h, i, at + 1);
		}
	return at;
}

static bool find(struct choice *c, const struct profile *p, uint32_t most, uint32_t depth)
{
	struct hot_paths *h = c->h;
	struct sorted_range root;

	if (sorted_build(&c->sorted, p, STYLE_TEXT, false))
		return false;
	if (!c->sorted.count)
		return true;
	root = sorted_range(&c->sorted, 0, 0);
	h->by_weight = root.weight != 0;
	h->all = total_of(h, &root);
	if (!offer(c, &root, HOT_PATHS_NO_PARENT, 0))
		return false;
	while (c->open.count && h->rows.count < most)
		if (!choose(c, depth))
			return false;
	h->order = calloc(h->rows.count + 1, sizeof(*h->order));
	if (h->order)
		put_in_order(h, HOT_PATHS_NO_PARENT, 0);
	return h->order && !h->texts.failed;
}

int hot_paths_find(struct hot_paths *h, const struct profile *p, uint32_t most, uint32_t depth)
{
	struct choice c = {.h = h};
	bool ok;

	*h = (struct hot_paths){.texts = BUFFER_INIT};
	ok = find(&c, p, most, depth);
	sorted_free(&c.sorted);
	free(c.open.items);
	return ok ? 0 : -ENOMEM;
}

void hot_paths_free(struct hot_paths *h)
{
	free(h->rows.items);
	free(h->order);
	buffer_free(&h->texts);
}

struct hot_paths_rest hot_paths_rest(const struct hot_paths *h, uint32_t count)
{
	struct hot_paths_rest rest = {h->all, 0};
	uint32_t i, k;

	for (i = 0; i < count; i++) {
		const struct hot_path *row = &h->rows.items[i];

		for (k = i + 1; k < count && h->rows.items[k].parent != i; k++)
			;
		rest.beside -= k < count ? row->self : row->total;
		rest.below += k < count ? 0 : row->total - row->self;
	}
	return rest;
}
