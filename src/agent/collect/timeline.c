#include "agent/collect/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "profile/model/times.h"

#define QUANTA 128ull          /* of a sample whose weight is hardly ever another one: so many to twice as many */
#define WINDOW 16384u          /* moments that are made fewer at a time */
#define LONGEST_BITS 42        /* 73 minutes */
#define OF_PLACE 64            /* bytes for each place, which takes about 40 itself */

void timeline_free(struct timeline *t)
{
	PAGED_FREE(&t->bytes);
	PAGED_FREE(&t->places);
	map_free(&t->by_place);
}

/* Memory was short: without some of it what is left would be no truth. */
static void give_up(struct timeline *t)
{
	timeline_free(t);
	t->off = true;
}

static bool has_room(struct timeline *t)
{
	while (t->bytes.room - t->bytes.count < TIMES_LONGEST)
		if (!paged_grow((void **)&t->bytes.items, &t->bytes.room, 1))
			return false;
	return true;
}

/* ---- fewer ---- */

static int by_time_and_place(const void *a, const void *b)
{
	const struct times_moment *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	return x->span < y->span ? -1 : x->span > y->span;
}

/* Write the COUNT moments of MANY, those of one step, place and span as one, behind T's last. False: no memory. */
static bool put_merged(struct timeline *t, struct times_moment *many, size_t count)
{
	size_t i, next;

	qsort(many, count, sizeof(*many), by_time_and_place);
	for (i = 0; i < count; i = next) {
		struct times_moment *m = &many[i];

		for (next = i + 1; next < count && by_time_and_place(m, &many[next]) == 0; next++) {
			m->samples += many[next].samples;
			m->beside += many[next].beside;
		}
		if (!has_room(t))
			return false;
		t->bytes.count += times_put(t->bytes.items + t->bytes.count, m, t->last);
		t->last = m->at;
	}
	return true;
}

/* Steps twice as long; false: no memory. */
static bool coarsen(struct timeline *t)
{
	struct times_moment *many = pages_alloc(WINDOW * sizeof(*many)), m = {.at = 0};
	struct timeline now = {.step_bits = t->step_bits + 1};
	const uint8_t *at = t->bytes.items, *end = at + t->bytes.count;
	bool ok = many != NULL;
	size_t count = 0;

	while (ok && times_next(&at, end, &m)) {
		many[count] = m;
		/* what ends in a step lasts into it */
		many[count].span = (m.at + m.span) / 2 - m.at / 2;
		many[count++].at /= 2;
		if (count == WINDOW) {
			ok = put_merged(&now, many, count);
			count = 0;
		}
	}
	ok = ok && put_merged(&now, many, count);
	pages_free(many, WINDOW * sizeof(*many));
	if (!ok) {
		PAGED_FREE(&now.bytes);
		return false;
	}
	PAGED_FREE(&t->bytes);
	memcpy(&t->bytes, &now.bytes, sizeof(t->bytes));
	t->step_bits = now.step_bits;
	t->last = now.last;
	return true;
}

/* So many fewer that the next one is not too many again. */
static bool shrink(struct timeline *t, size_t most)
{
	do
		if (!coarsen(t))
			return false;
	while (t->bytes.count > most / 2 && t->step_bits < LONGEST_BITS);
	return t->bytes.count <= most / 2;
}

/* ---- one more ---- */

/* The place of COUNT and THREAD, both + 1; that of an unknown one where there are too many. False: no memory. */
static bool find_place(struct timeline *t, size_t most, uint32_t count, uint32_t thread,
		       uint32_t *place)
{
	uint64_t key = (uint64_t)count << 32 | thread;
	uint32_t *slot = map_get(&t->by_place, key);
	struct profile_place *new;

	if (!slot && count && t->places.count >= most / OF_PLACE)
		return find_place(t, most, 0, 0, place);
	if (!slot)
		slot = map_put(&t->by_place, key, NULL);
	if (!slot)
		return false;
	if (!*slot) {
		new = PAGED_PUSH(&t->places);
		if (!new)
			return false;
		*new = (struct profile_place){count, thread};
		*slot = (uint32_t)t->places.count;
	}
	*place = *slot - 1;
	return true;
}

/* Of a number of BITS, for rounding. */
static uint64_t half(unsigned bits)
{
	return bits ? 1ull << (bits - 1) : 0;
}

/* The first one says what is usual; place 0 is the unknown one. */
static bool begin(struct timeline *t, const struct timeline_sample *s, size_t most)
{
	uint64_t one = s->even ? s->weight / s->samples : 0;
	uint32_t unknown;

	t->step_bits = TIMELINE_STEP_BITS;
	t->quantum_bits = one >= 2 * QUANTA ? (unsigned)__builtin_clzll(QUANTA) - (unsigned)__builtin_clzll(one) : 0;
	t->usual = (one + half(t->quantum_bits)) >> t->quantum_bits;
	return find_place(t, most, 0, 0, &unknown);
}

static bool put(struct timeline *t, const struct timeline_sample *s, size_t most)
{
	struct times_moment m = {.samples = s->samples};

	if ((!t->step_bits && !begin(t, s, most)) ||
	    !find_place(t, most, (uint32_t)s->count + 1, s->thread + 1, &m.place))
		return false;
	if (t->bytes.count + TIMES_LONGEST > most && !shrink(t, most))
		return false;
	m.at = s->at >> t->step_bits;
	m.span = ((s->at + s->span) >> t->step_bits) - m.at;
	m.beside = (int64_t)((s->weight + half(t->quantum_bits)) >> t->quantum_bits) -
		   (int64_t)(s->samples * t->usual);
	if (!has_room(t))
		return false;
	t->bytes.count += times_put(t->bytes.items + t->bytes.count, &m, t->last);
	t->last = m.at;
	return true;
}

void timeline_add(struct timeline *t, const struct timeline_sample *s, size_t most)
{
	if (!t->off && !put(t, s, most))
		give_up(t);
}

void timeline_renew(struct timeline *t, const uint32_t *now, size_t count, const uint32_t *threads)
{
	size_t i;

	map_free(&t->by_place);
	for (i = 0; i < t->places.count && !t->off; i++) {
		struct profile_place *p = &t->places.items[i];
		uint32_t *slot;

		p->stack = p->stack && p->stack <= count ? now[p->stack - 1] : 0;
		p->thread = p->stack && p->thread ? threads[p->thread - 1] : 0;
		slot = map_put(&t->by_place, (uint64_t)p->stack << 32 | p->thread, NULL);
		if (!slot)
			give_up(t);
		else if (!*slot)
			*slot = (uint32_t)i + 1;
	}
}

/* ---- what a result gets ---- */

bool timeline_view(const struct timeline *t, const uint32_t *stacks, const uint32_t *threads, struct profile *p)
{
	uint8_t *bytes = malloc(t->bytes.count + 1);
	struct profile_place *places = malloc((t->places.count + 1) * sizeof(*places));
	size_t i;

	p->times = bytes;
	p->time_places = places;
	if (!bytes || !places)
		return false;
	memcpy(bytes, t->bytes.count ? t->bytes.items : (const uint8_t *)"", t->bytes.count);
	for (i = 0; i < t->places.count; i++) {
		const struct profile_place *from = &t->places.items[i];
		uint32_t stack = from->stack ? stacks[from->stack - 1] : 0;

		places[i].stack = stack ? stack - 1 : PROFILE_NO_STACK;
		places[i].thread = stack && from->thread ? threads[from->thread - 1] : PROFILE_NO_THREAD;
	}
	p->time_bytes = (uint32_t)t->bytes.count;
	p->time_place_count = (uint32_t)t->places.count;
	p->time_step = t->step_bits ? 1ull << t->step_bits : 0;
	p->time_quantum = 1ull << t->quantum_bits;
	p->time_usual = t->usual;
	return true;
}

size_t timeline_bytes(const struct timeline *t)
{
	return t->bytes.room + map_bytes(&t->by_place) + t->places.room * sizeof(*t->places.items);
}
