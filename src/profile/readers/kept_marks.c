#include "profile/readers/kept_marks.h"

#include <stdlib.h>

#include "common/base/wide.h"
#include "profile/model/profile.h"
#include "profile/readers/read_aggregate.h"

#define FEWEST (KEPT_MARKS_MOST / KEPT_MARK_NAMES) /* that each name keeps before all are known */

static bool is_given_up(const struct kept_mark_name *name, uint64_t duration)
{
	return name->given_up >= 0 && duration <= (uint64_t)name->given_up;
}

/* A mark of NAME that begins AT is known by its part of the time alone. */
static void give_up(struct kept_marks *m, const struct kept_mark_name *name, int64_t at)
{
	uint64_t length = m->to > m->from ? (uint64_t)m->to - (uint64_t)m->from : 1;
	uint64_t after = at > m->from ? (uint64_t)at - (uint64_t)m->from : 0;

	kept_mark_count(&m->names, name,
			(unsigned)wide_scale(MIN(after, length - 1), PROFILE_MARK_PARTS, 0, length), 1);
}

/* How many each name may keep, so that there are KEPT_MARKS_MOST in all. */
static uint64_t quota_of(const struct kept_marks *m)
{
	uint64_t low = 0, high = m->items.count, middle, sum;
	size_t i;

	while (low < high) {
		middle = low + (high - low + 1) / 2;
		for (i = sum = 0; i < m->names.count; i++)
			sum += MIN(m->names.items[i].kept, middle);
		if (sum <= KEPT_MARKS_MOST)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

/* The number that NTH others of NUMBERS are at least as large as, or more: they change places. */
static uint64_t nth_largest(uint64_t *numbers, size_t count, size_t nth)
{
	size_t low = 0, high = count - 1, i, j;
	uint64_t pivot;

	while (low < high) {
		pivot = numbers[low + (high - low) / 2];
		for (i = low, j = high;; i++, j--) {
			while (numbers[i] > pivot)
				i++;
			while (numbers[j] < pivot)
				j--;
			if (i >= j)
				break;
			VECTOR_SWAP(&numbers[i], &numbers[j]);
		}
		if (nth <= j)
			high = j;
		else
			low = j + 1;
	}
	return numbers[nth];
}

/* The names that have more than QUOTA give up all but the longest. */
static bool limit_names(struct kept_marks *m, uint64_t quota)
{
	uint64_t *lengths = malloc((m->items.count + 1) * sizeof(*lengths));
	size_t *ends = malloc((m->names.count + 1) * sizeof(*ends)), i, at = 0;
	bool ok = lengths && ends;

	for (i = 0; ok && i < m->names.count; i++) {
		ends[i] = at;
		at += m->names.items[i].kept;
	}
	for (i = 0; ok && i < m->items.count; i++)
		lengths[ends[m->items.items[i].name]++] = m->items.items[i].duration;
	for (i = 0; ok && i < m->names.count; i++) {
		struct kept_mark_name *name = &m->names.items[i];

		if (name->kept <= quota)
			continue;
		at = nth_largest(lengths + ends[i] - name->kept, name->kept, quota);
		name->given_up = MAX(name->given_up, (int64_t)MIN(at, (uint64_t)INT64_MAX));
	}
	free(lengths);
	free(ends);
	m->failed |= !ok;
	return ok;
}

/* No name keeps fewer than LEAST for that. */
static void make_fewer(struct kept_marks *m, uint64_t least)
{
	struct kept_mark *items = m->items.items;
	size_t i, kept = 0;

	if (!limit_names(m, MAX(quota_of(m), least)))
		return;
	for (i = 0; i < m->items.count; i++) {
		struct kept_mark_name *name = &m->names.items[items[i].name];

		if (!is_given_up(name, items[i].duration)) {
			items[kept++] = items[i];
			continue;
		}
		name->kept--;
		give_up(m, name, items[i].at);
	}
	m->items.count = kept;
	m->full = MAX((size_t)2 * KEPT_MARKS_MOST, 2 * kept);
}

static void keep(struct kept_marks *m, struct kept_mark_name *name, const struct kept_mark *mark)
{
	struct kept_mark *new;

	if (is_given_up(name, mark->duration)) {
		give_up(m, name, mark->at);
		return;
	}
	new = VECTOR_PUSH(&m->items);
	m->failed |= !new;
	if (!new)
		return;
	*new = *mark;
	new->name = (uint32_t)(name - m->names.items);
	name->kept++;
	if (m->items.count > MAX((size_t)2 * KEPT_MARKS_MOST, m->full))
		make_fewer(m, FEWEST);
}

bool kept_marks_keep(struct kept_marks *m, enum mark_kind kind, uint32_t text, uint64_t duration)
{
	const struct kept_mark_name *name = kept_mark_name(&m->names, kind, text);

	return name && !is_given_up(name, duration);
}

struct kept_mark_name *kept_marks_said(struct kept_marks *m, enum mark_kind kind, uint32_t text, uint64_t count,
				       uint64_t sum, uint64_t longest)
{
	struct kept_mark_name *name = kept_mark_name(&m->names, kind, text);

	m->failed |= !name;
	if (!name)
		return NULL;
	name->count = wide_add(name->count, count);
	name->sum = wide_add(name->sum, sum);
	name->longest = MAX(name->longest, longest);
	return name;
}

void kept_marks_put(struct kept_marks *m, enum mark_kind kind, uint32_t text, const struct kept_mark *mark)
{
	struct kept_mark_name *name = kept_mark_name(&m->names, kind, text);

	m->failed |= !name;
	if (name)
		keep(m, name, mark);
}

void kept_marks_add(struct kept_marks *m, enum mark_kind kind, uint32_t text, const struct kept_mark *mark)
{
	struct kept_mark_name *name = kept_marks_said(m, kind, text, 1, mark->duration, mark->duration);

	if (!name)
		return;
	/* a span of less than a tick lasts no time, and is one of its name's spans all the same */
	if (mark->duration || kind != MARK_KIND_EVENT)
		kept_mark_count(&m->names, name, KEPT_MARK_STEP + mark_step(mark->duration), 1);
	keep(m, name, mark);
	m->failed |= m->names.failed;
}

void kept_marks_gc(struct kept_marks *m, const struct kept_gc *gc)
{
	uint32_t *slot = m->gcs.count < KEPT_MARK_GCS ? map_put(&m->by_gc, gc->id, NULL) : NULL;
	struct kept_gc *new = slot && !*slot ? VECTOR_PUSH(&m->gcs) : NULL;

	m->failed |= m->gcs.count < KEPT_MARK_GCS && (!slot || (!*slot && !new));
	if (!new)
		return;
	*new = *gc;
	*slot = (uint32_t)m->gcs.count;
}

void kept_marks_event(struct kept_marks *m, const struct other_event *event)
{
	uint32_t *slot = map_get(&m->by_event, event->type);
	struct other_event *to;

	if (!slot && m->events.count >= OTHER_EVENTS_READ) {
		m->types_left_out++;
		return;
	}
	if (!slot)
		slot = map_put(&m->by_event, event->type, NULL);
	if (slot && !*slot) {
		to = VECTOR_PUSH(&m->events);
		if (to)
			*to = (struct other_event){.type = event->type, .first = INT64_MAX, .last = INT64_MIN};
		*slot = (uint32_t)m->events.count;
	}
	m->failed |= !slot || !*slot;
	if (m->failed)
		return;
	to = &m->events.items[*slot - 1];
	to->number = to->number ? to->number : event->number;
	to->count += event->count;
	to->estimated |= event->estimated;
	to->time = wide_add(to->time, event->time);
	to->number_sum = wide_add(to->number_sum, event->number_sum);
	to->longest = MAX(to->longest, event->longest);
	to->number_most = MAX(to->number_most, event->number_most);
	to->first = MIN(to->first, event->first);
	to->last = MAX(to->last, event->last);
}

void kept_marks_row(struct kept_marks *m, enum mark_row row, int64_t at, uint64_t value)
{
	uint64_t length = m->to > m->from ? (uint64_t)m->to - (uint64_t)m->from : 1;

	if (!kept_rows_add(&m->rows, row, at > m->from ? (uint64_t)at - (uint64_t)m->from : 0, length, value))
		m->failed = true;
}

void kept_marks_join(struct kept_marks *m, const struct kept_marks *from,
		     uint32_t (*text)(void *arg, uint32_t number), void *arg, const uint32_t *threads)
{
	uint32_t *names = kept_mark_names_join(&m->names, &from->names, text, arg);
	size_t i;

	m->failed |= m->names.failed;
	for (i = 0; i < from->items.count && !m->failed; i++) {
		struct kept_mark mark = from->items.items[i];

		if (mark.thread != LISTS_FAILED)
			mark.thread = threads[mark.thread];
		keep(m, &m->names.items[names[mark.name]], &mark);
	}
	free(names);
	for (i = 0; i < from->gcs.count && !m->failed; i++)
		kept_marks_gc(m, &(struct kept_gc){from->gcs.items[i].id, text(arg, from->gcs.items[i].name),
						   text(arg, from->gcs.items[i].cause)});
	for (i = 0; i < from->events.count && !m->failed; i++) {
		struct other_event event = from->events.items[i];

		event.type = text(arg, event.type);
		event.number = event.number ? text(arg, event.number) : 0;
		kept_marks_event(m, &event);
	}
	m->types_left_out = MAX(m->types_left_out, from->types_left_out);
	m->failed |= from->failed || !kept_rows_join(&m->rows, &from->rows);
}

/* ---- as a profile has them ---- */

static uint64_t since(int64_t at, int64_t start)
{
	return at > start ? (uint64_t)at - (uint64_t)start : 0;
}

/* How long M lasts from START on; its name's numbers are of all its length. */
static uint64_t inside(const struct kept_mark *m, int64_t start)
{
	uint64_t before = m->at < start ? (uint64_t)start - (uint64_t)m->at : 0;

	return m->duration > before ? m->duration - before : 0;
}

static int by_time(const void *a, const void *b)
{
	const struct kept_mark *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	if (x->name != y->name)
		return x->name < y->name ? -1 : 1;
	return x->duration < y->duration ? -1 : x->duration > y->duration;
}

/* As they are drawn, from START on, in the order of time: threads and collections are numbered in it. */
static void sort_items(struct kept_marks *m, int64_t start)
{
	size_t i;

	for (i = 0; i < m->items.count; i++) {
		m->items.items[i].duration = inside(&m->items.items[i], start);
		m->items.items[i].at = MAX(m->items.items[i].at, start);
	}
	if (m->items.count)
		qsort(m->items.items, m->items.count, sizeof(*m->items.items), by_time);
}

static int by_count(const void *a, const void *b)
{
	const struct profile_other_event *x = a, *y = b;

	return x->count != y->count ? (x->count > y->count ? -1 : 1) : strcmp(x->type, y->type);
}

/* The number + 1 in the view of the kind of collection that GC was; 0: no memory. */
static uint32_t view_gc(const struct kept_gc *gc, struct map *seen, struct profile_mark_gc *to, uint32_t *count,
			const struct strings *strings)
{
	uint32_t *slot = map_put(seen, (uint64_t)gc->name << 32 | gc->cause, NULL);

	if (slot && !*slot) {
		to[*count] = (struct profile_mark_gc){strings_get(strings, gc->name), strings_get(strings, gc->cause)};
		*slot = ++*count;
	}
	return slot ? *slot : 0;
}

/* The number of the thread in the view, which has those alone that marks are of. */
static uint32_t view_thread(uint32_t thread, uint32_t *places, struct profile_mark_thread *to, uint32_t *count,
			    const struct strings *strings, const struct lists *threads)
{
	const uint32_t *words;
	uint32_t n;

	if (thread == LISTS_FAILED)
		return PROFILE_NO_THREAD;
	if (!places[thread]) {
		words = lists_get(threads, thread, &n);
		to[*count] = (struct profile_mark_thread){words[READ_THREAD_TID],
							  strings_get(strings, words[READ_THREAD_NAME])};
		places[thread] = ++*count;
	}
	return places[thread] - 1;
}

static bool view_items(struct kept_marks *m, struct profile_marks *view, const struct strings *strings,
		       const struct lists *threads, int64_t start)
{
	struct profile_mark *items = calloc(m->items.count + 1, sizeof(*items));
	struct profile_mark_thread *of = calloc(m->items.count + 1, sizeof(*of));
	struct profile_mark_gc *gcs = calloc(m->items.count + 1, sizeof(*gcs));
	uint32_t *places = calloc(threads->places.count + 1, sizeof(*places));
	struct map seen = {0};
	size_t i;

	sort_items(m, start);
	view->items = items;
	view->threads = of;
	view->gcs = gcs;
	for (i = 0; items && of && gcs && places && i < m->items.count; i++) {
		const struct kept_mark *from = &m->items.items[i];
		const uint32_t *gc = from->gc ? map_get(&m->by_gc, from->gc - 1) : NULL;

		items[i] = (struct profile_mark){since(from->at, start), from->duration, from->name,
						 view_thread(from->thread, places, of, &view->thread_count, strings,
							     threads),
						 gc ? view_gc(&m->gcs.items[*gc - 1], &seen, gcs, &view->gc_count,
							      strings) : 0};
		m->failed |= gc && !items[i].gc;
	}
	view->item_count = (uint32_t)i;
	map_free(&seen);
	free(places);
	return i == m->items.count;
}

static bool view_rest(const struct kept_marks *m, struct profile_marks *view, const struct strings *strings,
		      int64_t start)
{
	struct profile_mark_name *names = calloc(m->names.count + 1, sizeof(*names));
	struct profile_other_event *events = calloc(m->events.count + 1, sizeof(*events));
	size_t i;

	view->names = names;
	view->events = events;
	if (!names || !events)
		return false;
	for (i = 0; i < m->names.count; i++) {
		const struct kept_mark_name *n = &m->names.items[i];

		names[i] = (struct profile_mark_name){n->kind, strings_get(strings, n->text), n->count, n->sum,
						      n->longest, n->kept, n->parts, n->steps, n->estimated};
	}
	for (i = 0; i < m->events.count; i++) {
		const struct other_event *e = &m->events.items[i];

		events[i] = (struct profile_other_event){
			strings_get(strings, e->type), e->count, e->time, e->longest, since(e->first, start),
			since(e->last, start), e->number ? strings_get(strings, e->number) : NULL, e->number_sum,
			e->number_most, e->estimated};
	}
	if (m->events.count)
		qsort(events, m->events.count, sizeof(*events), by_count);
	for (i = 0; i < MARK_ROWS; i++)
		view->rows[i] = m->rows.parts[i];
	view->name_count = (uint32_t)m->names.count;
	view->event_count = (uint32_t)MIN(m->events.count, (size_t)OTHER_EVENTS_MOST);
	return true;
}

static void cut_names(struct kept_marks *m, const struct strings *strings)
{
	uint32_t *places = kept_mark_names_cut(&m->names, strings);
	size_t i;

	m->failed |= m->names.failed;
	for (i = 0; i < m->items.count && !m->failed; i++) {
		m->items.items[i].name = places[m->items.items[i].name];
		m->names.items[m->items.items[i].name].kept++;
	}
	free(places);
}

struct profile_marks *kept_marks_view(struct kept_marks *m, const struct strings *strings, const struct lists *threads,
				      int64_t start)
{
	struct profile_marks *view;

	if (!m->names.count && !m->events.count)
		return NULL;
	cut_names(m, strings);
	if (!m->failed)
		make_fewer(m, 0);
	if (m->failed)
		return NULL;
	view = calloc(1, sizeof(*view));
	m->failed |= !view;
	if (!view)
		return NULL;
	view->duration = m->to > m->from ? (uint64_t)m->to - (uint64_t)m->from : 0;
	if (view_items(m, view, strings, threads, start) && view_rest(m, view, strings, start) && !m->failed)
		return view;
	m->failed = true;
	kept_marks_view_free(view);
	return NULL;
}

void kept_marks_view_free(struct profile_marks *view)
{
	if (!view)
		return;
	free((void *)(uintptr_t)view->names);
	free((void *)(uintptr_t)view->items);
	free((void *)(uintptr_t)view->gcs);
	free((void *)(uintptr_t)view->threads);
	free((void *)(uintptr_t)view->events);
	free(view);
}

void kept_marks_free(struct kept_marks *m)
{
	kept_mark_names_free(&m->names);
	free(m->items.items);
	free(m->gcs.items);
	free(m->events.items);
	map_free(&m->by_gc);
	map_free(&m->by_event);
	kept_rows_free(&m->rows);
	memset(m, 0, sizeof(*m));
}
