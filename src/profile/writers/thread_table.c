/*
 * thread_table.c - threads by how much of the profile is theirs, each with its hottest method: what -t adds to texts
 * that sum up methods. Normal code.
 */
#include "profile/writers/text.h"

#include <errno.h>
#include <stdlib.h>

#include "common/base/decimal.h"
#include "common/base/map.h"
#include "common/base/vector.h"
#include "profile/model/askers.h"
#include "profile/model/frame_name.h"
#include "profile/model/human.h"
#include "profile/model/profile_unit.h"
#include "profile/writers/writers.h"

/* What a thread has, or a method of it. */
struct sum {
	uint32_t thread, name;
	uint64_t value;
};

struct sums {
	struct map places; /* thread and name → 1 + index */
	VECTOR(struct sum) list;
};

static bool add(struct sums *s, uint32_t thread, uint32_t name, uint64_t value)
{
	uint32_t *place = map_put(&s->places, (uint64_t)thread << 32 | name, NULL);
	struct sum *fresh;

	if (!place)
		return false;
	if (!*place) {
		fresh = VECTOR_PUSH(&s->list);
		if (!fresh)
			return false;
		*fresh = (struct sum){thread, name, 0};
		*place = (uint32_t)s->list.count;
	}
	s->list.items[*place - 1].value += value;
	return true;
}

/* The most first, then in the order of threads and names. */
static int compare(const void *left, const void *right)
{
	const struct sum *a = left, *b = right;

	if (a->value != b->value)
		return a->value < b->value ? 1 : -1;
	return a->thread != b->thread ? a->thread < b->thread ? -1 : 1 : a->name < b->name ? -1 : a->name > b->name;
}

/* Of waits the program's method says more than the JDK's in which all wait. */
static uint32_t method_of(const struct profile *p, const struct profile_stack *s)
{
	uint32_t top = s->frames[s->depth - 1];

	return p->weight_kind == WEIGHT_WALL ? asker_caller(p, s, s->depth, top) : top;
}

static bool sum_up(const struct profile *p, const struct name_table *names, bool by_weight, struct sums *threads,
		   struct sums *methods)
{
	uint32_t i;

	for (i = 0; i < p->stack_count; i++) {
		const struct profile_stack *s = &p->stacks[i];
		uint32_t name = s->depth ? names->of_frame[method_of(p, s)] : names->no_frames;
		uint64_t value = by_weight ? s->weight : s->samples;

		if (s->thread == PROFILE_NO_THREAD)
			continue;
		if (!add(threads, s->thread, 0, value) || !add(methods, s->thread, name, value))
			return false;
	}
	return true;
}

static void put_row(struct buffer *out, const struct profile *p, const struct name_table *names,
		    const struct sum *thread, const struct sum *hottest, bool by_weight)
{
	uint64_t all = by_weight ? p->weight_stored : p->stored;

	buffer_printf(out, "%6s%%", decimal(percent_of(thread->value, all), 2).text);
	buffer_putc(out, ' '); /* as in the table of methods */
	human_right(out, human_amount(thread->value, by_weight ? p->weight_kind : WEIGHT_COUNT).text, 9);
	buffer_puts(out, "  ");
	frame_name_thread(out, &p->threads[thread->thread], STYLE_TEXT);
	buffer_printf(out, "  %s (%s%% of it)\n", name_text(names, hottest->name),
		      decimal(percent_of(hottest->value, thread->value), 0).text);
}

static void put_rows(struct buffer *out, const struct profile *p, const struct name_table *names,
		     const struct sums *threads, const struct sums *methods, bool by_weight, uint32_t limit)
{
	size_t i, m;

	buffer_printf(out, " share%%  %8s  thread and its hottest method\n",
		      !by_weight ? "samples" : profile_is_time(p) ? "time" : profile_unit(p));
	for (i = 0; i < threads->list.count && i < limit; i++) {
		/* sorted as well: the first of the thread is its hottest */
		for (m = 0; methods->list.items[m].thread != threads->list.items[i].thread;)
			m++;
		put_row(out, p, names, &threads->list.items[i], &methods->list.items[m], by_weight);
	}
	if (threads->list.count > limit)
		buffer_printf(out, "         and %s more threads\n", human_count(threads->list.count - limit).text);
	buffer_putc(out, '\n');
}

int thread_table(struct buffer *out, const struct profile *p, const struct name_table *names,
		 bool by_weight, uint32_t limit)
{
	struct sums threads = {0}, methods = {0};
	bool whole = sum_up(p, names, by_weight, &threads, &methods);

	if (whole && threads.list.count) {
		qsort(threads.list.items, threads.list.count, sizeof(struct sum), compare);
		qsort(methods.list.items, methods.list.count, sizeof(struct sum), compare);
		put_rows(out, p, names, &threads, &methods, by_weight, limit);
	}
	map_free(&threads.places);
	map_free(&methods.places);
	free(threads.list.items);
	free(methods.list.items);
	return whole ? 0 : -ENOMEM;
}
