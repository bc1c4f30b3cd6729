#include "agent/collect/timeline.h"

#include <stdlib.h>
#include <string.h>

#define QUANTA 128ull          /* of a sample whose weight is hardly ever another one: so many to twice as many */
#define WINDOW 16384u          /* moments that are made fewer at a time */
#define LONGEST_BITS 42        /* 73 minutes */

void timeline_free(struct timeline *t)
{
	PAGED_FREE(&t->bytes);
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

static bool put(struct timeline *t, const struct times_moment *m)
{
	if (!has_room(t))
		return false;
	t->bytes.count += times_put(t->bytes.items + t->bytes.count, m, &t->last);
	t->last = *m;
	return true;
}

/* ---- all of them once more ---- */

static int compare(const struct times_moment *x, const struct times_moment *y)
{
	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	if (x->stack != y->stack)
		return x->stack < y->stack ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->span < y->span ? -1 : x->span > y->span;
}

/* The COUNT moments of MANY, behind which there is room for as many: qsort() would take it from the program's heap. */
static void sort(struct times_moment *many, size_t count)
{
	struct times_moment *sorted = many + count;
	size_t width, from, i, a, b;

	for (width = 1; width < count; width *= 2) {
		for (from = 0; from < count; from += 2 * width) {
			size_t middle = MIN(from + width, count), end = MIN(middle + width, count);

			for (i = a = from, b = middle; i < end; i++)
				sorted[i] = a < middle && (b == end || compare(&many[a], &many[b]) <= 0) ? many[a++]
													: many[b++];
		}
		memcpy(many, sorted, count * sizeof(*many));
	}
}

/* Write the COUNT moments of MANY, those of one step, stack, thread and span as one. False: no memory. */
static bool put_merged(struct timeline *t, struct times_moment *many, size_t count)
{
	size_t i, next;

	sort(many, count);
	for (i = 0; i < count; i = next) {
		struct times_moment *m = &many[i];

		for (next = i + 1; next < count && compare(m, &many[next]) == 0; next++) {
			m->samples += many[next].samples;
			m->beside += many[next].beside;
		}
		if (!put(t, m))
			return false;
	}
	return true;
}

typedef void change(struct times_moment *m, const void *arg);

/* Each moment of T as CHANGED, which gets ARG, makes it. False: no memory, T is as it was. */
static bool rewrite(struct timeline *t, change *changed, const void *arg)
{
	struct times_moment *many = pages_alloc(2 * WINDOW * sizeof(*many)), m = {.at = 0};
	struct timeline now = {.step_bits = t->step_bits};
	const uint8_t *at = t->bytes.items, *end = at + t->bytes.count;
	bool ok = many != NULL;
	size_t count = 0;

	while (ok && times_next(&at, end, &m)) {
		many[count] = m;
		changed(&many[count++], arg);
		if (count == WINDOW) {
			ok = put_merged(&now, many, count);
			count = 0;
		}
	}
	ok = ok && put_merged(&now, many, count);
	pages_free(many, 2 * WINDOW * sizeof(*many));
	if (!ok) {
		PAGED_FREE(&now.bytes);
		return false;
	}
	PAGED_FREE(&t->bytes);
	memcpy(&t->bytes, &now.bytes, sizeof(t->bytes));
	t->last = now.last;
	return true;
}

/* ---- fewer ---- */

/* In steps twice as long; what ends in a step lasts into it. */
static void halve(struct times_moment *m, const void *arg)
{
	(void)arg;
	m->span = (m->at + m->span) / 2 - m->at / 2;
	m->at /= 2;
}

/* So many fewer that the next one is not too many again. */
static bool shrink(struct timeline *t, size_t most)
{
	do {
		if (!rewrite(t, halve, NULL))
			return false;
		t->step_bits++;
	} while (t->bytes.count > most / 2 && t->step_bits < LONGEST_BITS);
	return t->bytes.count <= most / 2;
}

/* ---- one more ---- */

/* Of a number of BITS, for rounding. */
static uint64_t half(unsigned bits)
{
	return bits ? 1ull << (bits - 1) : 0;
}

/* The first one says what is usual. */
static void begin(struct timeline *t, const struct timeline_sample *s)
{
	uint64_t one = s->even ? s->weight / s->samples : 0;

	t->step_bits = TIMELINE_STEP_BITS;
	t->quantum_bits = one >= 2 * QUANTA ? (unsigned)__builtin_clzll(QUANTA) - (unsigned)__builtin_clzll(one) : 0;
	t->usual = (one + half(t->quantum_bits)) >> t->quantum_bits;
}

static bool add(struct timeline *t, const struct timeline_sample *s, size_t most)
{
	struct times_moment m = {.samples = s->samples, .stack = (uint32_t)s->count + 1, .thread = s->thread + 1};

	if (!t->step_bits)
		begin(t, s);
	if (t->bytes.count + TIMES_LONGEST > most && !shrink(t, most))
		return false;
	m.at = s->at >> t->step_bits;
	m.span = ((s->at + s->span) >> t->step_bits) - m.at;
	m.beside = (int64_t)((s->weight + half(t->quantum_bits)) >> t->quantum_bits) -
		   (int64_t)(s->samples * t->usual);
	return put(t, &m);
}

void timeline_add(struct timeline *t, const struct timeline_sample *s, size_t most)
{
	if (!t->off && !add(t, s, most))
		give_up(t);
}

/* All + 1, 0: it is gone. */
struct renewed {
	const uint32_t *stacks, *threads;
	size_t count;
};

static void renumber(struct times_moment *m, const void *arg)
{
	const struct renewed *n = arg;

	m->stack = m->stack && m->stack <= n->count ? n->stacks[m->stack - 1] : 0;
	m->thread = m->stack && m->thread ? n->threads[m->thread - 1] : 0;
}

void timeline_renew(struct timeline *t, const uint32_t *now, size_t count, const uint32_t *threads)
{
	if (t->bytes.count && !rewrite(t, renumber, &(struct renewed){now, threads, count}))
		give_up(t);
}

/* ---- what a result gets ---- */

bool timeline_view(const struct timeline *t, const struct timeline_numbers *numbers, struct profile *p)
{
	uint8_t *bytes = t->bytes.count ? malloc(t->bytes.count) : NULL;
	uint32_t *threads = t->bytes.count ? calloc(numbers->thread_count + 1, sizeof(*threads)) : NULL;
	size_t i;

	p->times = bytes;
	p->time_threads = threads;
	if (!t->bytes.count)
		return true;
	if (!bytes || !threads)
		return false;
	memcpy(bytes, t->bytes.items, t->bytes.count);
	for (i = 0; i < numbers->thread_count; i++)
		threads[i] = numbers->threads[i] + 1;
	p->time_bytes = (uint32_t)t->bytes.count;
	p->time_stacks = numbers->stacks;
	p->time_stack_count = (uint32_t)numbers->stack_count;
	p->time_thread_count = (uint32_t)numbers->thread_count;
	p->time_step = 1ull << t->step_bits;
	p->time_quantum = 1ull << t->quantum_bits;
	p->time_usual = t->usual;
	return true;
}

void timeline_view_free(struct profile *p)
{
	free((void *)(uintptr_t)p->times);
	free((void *)(uintptr_t)p->time_threads);
}

size_t timeline_bytes(const struct timeline *t)
{
	return t->bytes.room;
}
