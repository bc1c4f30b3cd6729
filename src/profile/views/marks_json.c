/*
 * marks_json.c - marks as readers/saved/saved_marks.c reads them again; docs/reference/json.md explains the keys.
 */
#include "profile/views/marks_json.h"

#include <errno.h>
#include <stdlib.h>

#include "common/base/json_writer.h"
#include "common/base/map.h"
#include "common/base/strings.h"
#include "profile/model/profile.h"

/*
 * Threads as they are told: those of one tid and name, as virtual threads without a name have, cannot be told apart
 * when they are read again, and so stand there once.
 */
struct told_threads {
	const struct profile_marks *marks;
	uint32_t *place;        /* of each of the marks' threads */
	uint32_t *first, count; /* of each place the first such thread */
};

/* Pairs of what I stands for and how many there are of it. */
static void put_pairs(struct json_writer *w, const char *key, const uint32_t *counts, uint32_t count,
		      uint64_t (*stands_for)(unsigned i))
{
	uint32_t i;

	if (!counts)
		return;
	json_array(w, key);
	for (i = 0; i < count; i++) {
		if (!counts[i])
			continue;
		json_put_number(w, NULL, stands_for(i));
		json_put_number(w, NULL, counts[i]);
	}
	json_end(w);
}

static uint64_t part(unsigned i)
{
	return i;
}

static void put_name(struct json_writer *w, uint32_t i, const void *marks)
{
	const struct profile_mark_name *n = &((const struct profile_marks *)marks)->names[i];

	json_put_texts(w, {"kind", mark_kind_word(n->kind)}, {"name", n->name});
	json_put_numbers(w, {"count", n->count}, {"sum_ns", n->sum}, {"longest_ns", n->longest});
	put_pairs(w, "parts", n->parts, PROFILE_MARK_PARTS, part);
	put_pairs(w, "lengths", n->steps, PROFILE_MARK_STEPS, mark_step_begin);
	if (n->estimated)
		json_put_bool(w, "estimated", true);
}

static bool tell_threads(struct told_threads *t, const struct profile_marks *m)
{
	struct strings names = {0};
	struct map seen = {0};
	uint32_t i, *slot, name;
	bool ok;

	*t = (struct told_threads){m, calloc((size_t)m->thread_count + 1, sizeof(uint32_t)),
				   calloc((size_t)m->thread_count + 1, sizeof(uint32_t)), 0};
	ok = t->place && t->first;
	for (i = 0; ok && i < m->thread_count; i++) {
		name = strings_add(&names, m->threads[i].name, strlen(m->threads[i].name));
		slot = names.failed ? NULL : map_put(&seen, (uint64_t)m->threads[i].tid << 32 | name, NULL);
		ok = slot != NULL;
		if (ok && !*slot) {
			t->first[t->count] = i;
			*slot = ++t->count;
		}
		t->place[i] = ok ? *slot - 1 : 0;
	}
	strings_free(&names);
	map_free(&seen);
	return ok;
}

static void put_thread(struct json_writer *w, uint32_t i, const void *told)
{
	const struct told_threads *all = told;
	const struct profile_mark_thread *t = &all->marks->threads[all->first[i]];

	json_put_number(w, "tid", t->tid);
	json_put_text(w, "name", t->name);
}

static void put_gc(struct json_writer *w, uint32_t i, const void *marks)
{
	const struct profile_mark_gc *gc = &((const struct profile_marks *)marks)->gcs[i];

	json_put_texts(w, {"name", gc->name}, {"cause", gc->cause});
}

/* The value of M in a column; NONE: null. */
#define NONE UINT64_MAX
typedef uint64_t column_value(const struct told_threads *t, const struct profile_mark *m);

static uint64_t at(const struct told_threads *t, const struct profile_mark *m)
{
	return m->at;
}

static uint64_t duration(const struct told_threads *t, const struct profile_mark *m)
{
	return MIN(m->duration, NONE - 1);
}

static uint64_t name(const struct told_threads *t, const struct profile_mark *m)
{
	return m->name;
}

static uint64_t thread(const struct told_threads *t, const struct profile_mark *m)
{
	return m->thread == PROFILE_NO_THREAD ? NONE : t->place[m->thread];
}

static uint64_t gc(const struct told_threads *t, const struct profile_mark *m)
{
	return m->gc ? m->gc - 1 : NONE;
}

static void put_column(struct json_writer *w, const char *key, const struct told_threads *t, column_value *value)
{
	const struct profile_marks *m = t->marks;
	uint64_t number;
	uint32_t i;

	json_array(w, key);
	for (i = 0; i < m->item_count; i++) {
		number = value(t, &m->items[i]);
		buffer_puts(w->out, i ? "," : "");
		if (number == NONE)
			buffer_puts(w->out, "null");
		else
			buffer_printf(w->out, "%llu", (unsigned long long)number);
	}
	json_end(w);
}

static void put_kept(struct json_writer *w, const struct told_threads *t)
{
	json_object(w, "kept");
	json_put_number(w, "count", t->marks->item_count);
	put_column(w, "at_ns", t, at);
	put_column(w, "duration_ns", t, duration);
	put_column(w, "name", t, name);
	put_column(w, "thread", t, thread);
	put_column(w, "gc", t, gc);
	json_end(w);
}

static void put_event(struct json_writer *w, uint32_t i, const void *marks)
{
	const struct profile_other_event *e = &((const struct profile_marks *)marks)->events[i];

	json_put_text(w, "type", e->type);
	json_put_numbers(w, {"count", e->count}, {"time_ns", e->time}, {"longest_ns", e->longest},
			 {"first_ns", e->first}, {"last_ns", e->last});
	if (e->number) {
		json_put_text(w, "field", e->number);
		json_put_numbers(w, {"bytes", e->number_sum}, {"most_bytes", e->number_most});
	}
	if (e->estimated)
		json_put_bool(w, "estimated", true);
}

/* ---- rows ---- */

/* Number NUMBER of all parts in which something was reported. */
static void put_parts(struct json_writer *w, const struct profile_mark_part *parts, unsigned number)
{
	unsigned i;

	json_array(w, mark_part_words()[number]);
	for (i = 0; i < PROFILE_MARK_PARTS; i++) {
		struct profile_mark_part part = parts[i];

		if (part.count)
			json_put_number(w, NULL, *mark_part_number(&part, number));
	}
	json_end(w);
}

static void put_rows(struct json_writer *w, const struct profile_marks *m)
{
	unsigned row, number;

	json_array(w, "rows");
	for (row = 0; row < MARK_ROWS; row++) {
		const struct profile_mark_part *parts = m->rows[row];

		if (!parts)
			continue;
		json_object(w, NULL);
		json_put_text(w, "row", mark_row_word(row));
		for (number = 0; number < MARK_PART_NUMBERS; number++)
			put_parts(w, parts, number);
		json_end(w);
	}
	json_end(w);
}

static void put_marks(struct json_writer *w, const struct told_threads *t)
{
	const struct profile_marks *m = t->marks;

	json_object(w, "marks");
	json_put_number(w, "duration_ns", m->duration);
	json_put_objects(w, "names", m->name_count, put_name, m);
	json_put_objects(w, "threads", t->count, put_thread, t);
	json_put_objects(w, "gcs", m->gc_count, put_gc, m);
	put_kept(w, t);
	json_put_objects(w, "events", m->event_count, put_event, m);
	put_rows(w, m);
	json_end(w);
}

void marks_json_put(struct json_writer *w, const struct profile_marks *m)
{
	struct told_threads threads;

	if (tell_threads(&threads, m))
		put_marks(w, &threads);
	else
		w->out->failed = ENOMEM;
	free(threads.place);
	free(threads.first);
}
