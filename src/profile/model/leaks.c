#include "profile/model/leaks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/hash.h"
#include "common/base/square_root.h"
#include "profile/model/askers.h"

/* What is known of one place. */
struct place {
	struct leak leak;
	struct profile_growth growth;
};

struct finding {
	const struct profile *profile;
	struct place *places;
	uint32_t count;
	struct map by_names; /* class, place and caller → place + 1 */
};

/* Names of what stack S is about. False: it has not enough frames to say. */
static bool names_of(const struct profile *p, const struct name_table *names, const struct profile_stack *s,
		     struct leak *l)
{
	uint32_t depth = p->survivors && s->depth ? s->depth - 1 : s->depth, frame; /* behind a stack is the class */

	if (!depth)
		return false;
	l->class = p->survivors ? names->of_frame[s->frames[depth]] : LEAK_NO_CLASS;
	frame = p->survivors ? s->frames[depth - 1] : asker_place(p, s, depth);
	l->place = names->of_frame[frame];
	l->caller = names->of_frame[asker_caller(p, s, depth, frame)];
	return true;
}

static bool is_place(uint32_t number, const void *arg)
{
	const struct finding *f = ((const void *const *)arg)[0];
	const struct leak *wanted = ((const void *const *)arg)[1], *known = &f->places[number - 1].leak;

	return known->class == wanted->class && known->place == wanted->place && known->caller == wanted->caller;
}

static struct place *place_of(struct finding *f, const struct leak *l)
{
	const void *wanted[] = {f, l};
	uint64_t key = hash_mix(hash_mix((uint64_t)l->class << 32 | l->place) ^ l->caller);
	uint32_t *slot = map_intern(&f->by_names, key, is_place, wanted);

	if (!slot)
		return NULL;
	if (!*slot) {
		*slot = ++f->count;
		f->places[*slot - 1].leak = *l;
	}
	return &f->places[*slot - 1];
}

/* No heap grows so fast, but a file may say so: it is told in integers of 64 bits. */
#define MOST_AN_HOUR 1e18

/* What P grows by an hour, in a session whose halves are HALF hours; false: it may be chance. */
static bool grows(struct place *p, double half)
{
	unsigned less = p->growth.halves[0] > p->growth.halves[1];
	double error = 2 * square_root(p->growth.variance[less]), bytes = (double)p->growth.halves[less];

	p->leak.rate = MIN(bytes / half, MOST_AN_HOUR);
	p->leak.least = MIN((bytes - error) / half, MOST_AN_HOUR);
	p->leak.most = MIN((bytes + error) / half, MOST_AN_HOUR);
	p->leak.example = p->growth.example;
	return p->leak.least > 0;
}

static int fastest_first(const void *a, const void *b)
{
	const struct leak *x = a, *y = b;

	return x->rate < y->rate ? 1 : x->rate > y->rate ? -1 : 0;
}

static int sum_up(struct finding *f, const struct name_table *names)
{
	const struct profile *p = f->profile;
	uint32_t i;

	for (i = 0; i < p->stack_count; i++) {
		struct leak l = {.there = 0};
		struct place *place;

		if (!names_of(p, names, &p->stacks[i], &l))
			continue;
		place = place_of(f, &l);
		if (!place)
			return -ENOMEM;
		place->leak.there += p->stacks[i].weight;
		leaks_add_growth(&place->growth, &p->growth[i]);
	}
	return 0;
}

void leaks_grow(struct profile_growth *g, uint64_t weight, bool half)
{
	g->halves[half] += weight;
	g->variance[half] += (double)weight * (double)weight;
}

void leaks_add_growth(struct profile_growth *to, const struct profile_growth *g)
{
	int half;

	for (half = 0; half < 2; half++) {
		to->halves[half] += g->halves[half];
		to->variance[half] += g->variance[half];
	}
	if (g->example && (!to->example || g->since < to->since)) {
		to->example = g->example;
		to->since = g->since;
	}
}

const struct profile_chain *leaks_chain(const struct leaks *l, const struct leak *row, const struct profile *p)
{
	uint32_t i;

	for (i = 0; i < p->chain_count && row->class != LEAK_NO_CLASS; i++) {
		const struct profile_chain *c = &p->chains[i];

		if (strcmp(c->class, name_text(&l->names, row->class)) == 0 &&
		    strcmp(c->place, name_text(&l->names, row->place)) == 0 &&
		    strcmp(c->caller, name_text(&l->names, row->caller)) == 0)
			return c;
	}
	return NULL;
}

bool leaks_known(const struct profile *p)
{
	return p->growth && p->stacks == p->growth_of && p->growth_span;
}

/* Each place's chance is its own. */
static void add_up(struct leaks *l)
{
	double variance = 0, error;
	uint32_t i;

	for (i = 0; i < l->count; i++) {
		error = l->rows[i].rate - l->rows[i].least;
		l->rate += l->rows[i].rate;
		variance += error * error;
	}
	error = square_root(variance);
	l->least = l->rate - error;
	l->most = l->rate + error;
}

bool leaks_fill(const struct leaks *l, const struct profile *p, struct leaks_full *full)
{
	if (!p->survivors || !l->count || !p->heap_most || !p->counted || l->least <= 0)
		return false;
	full->free = p->heap_most - MIN(p->heap_most, p->counted);
	full->soonest = (double)full->free / l->most;
	full->latest = (double)full->free / l->least;
	return true;
}

int leaks_find(struct leaks *l, const struct profile *p)
{
	struct finding f = {.profile = p};
	int rc = -ENOMEM;
	uint32_t i;

	memset(l, 0, sizeof(*l));
	if (!leaks_known(p))
		return 0;
	if (name_table_build(&l->names, p, STYLE_TEXT))
		return -ENOMEM;
	f.places = calloc((size_t)p->stack_count + 1, sizeof(*f.places));
	l->rows = calloc((size_t)p->stack_count + 1, sizeof(*l->rows));
	if (f.places && l->rows)
		rc = sum_up(&f, &l->names);
	for (i = 0; rc == 0 && i < f.count; i++)
		if (grows(&f.places[i], (double)p->growth_span / 2 / 3.6e12))
			l->rows[l->count++] = f.places[i].leak;
	if (rc == 0) {
		qsort(l->rows, l->count, sizeof(*l->rows), fastest_first);
		add_up(l);
	}
	map_free(&f.by_names);
	free(f.places);
	return rc;
}

void leaks_free(struct leaks *l)
{
	name_table_free(&l->names);
	free(l->rows);
	memset(l, 0, sizeof(*l));
}
