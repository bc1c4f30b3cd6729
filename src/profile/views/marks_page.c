/*
 * marks_page.c - the member `marks` of the page's data, for web/marks.js: what stood beside the samples, and when.
 *
 *   names    of each [kind, name, count, sum, longest, parts, steps, estimated]; kind: enum mark_kind; parts and steps:
 *            pairs of a number and how many there are of it (profile_marks.h); estimated: all of that is
 *   threads  of each [tid, name], gcs: of each [name, cause]
 *   items    of each mark that is kept, in the order of time, five varints: name, µs since the one before, ns that it
 *            lasted, thread + 1 (0: not known), number in gcs + 1 (0: none); count: how many
 *   events   of each other type [type, count, ns, longest, first, last, field, sum, most, estimated]; the field is one
 *            in bytes, "" where there is none; estimated: ns and sum are
 *   rows     numbers that the JVM reports of itself again and again: rows_page.c
 */
#include "profile/views/marks_page.h"

#include "common/base/json_writer.h"
#include "profile/views/rows_page.h"
#include "profile/writers/page/page_put.h"

static void put_pairs(struct json_writer *w, const uint32_t *counts, uint32_t count)
{
	uint32_t i;

	json_array(w, NULL);
	for (i = 0; counts && i < count; i++) {
		if (!counts[i])
			continue;
		json_put_number(w, NULL, i);
		json_put_number(w, NULL, counts[i]);
	}
	json_end(w);
}

static void put_names(struct json_writer *w, const struct profile_marks *m)
{
	uint32_t i;

	json_array(w, "names");
	for (i = 0; i < m->name_count; i++) {
		const struct profile_mark_name *n = &m->names[i];

		json_array(w, NULL);
		json_put_number(w, NULL, n->kind);
		json_put_text(w, NULL, n->name);
		json_put_number(w, NULL, n->count);
		json_put_number(w, NULL, n->sum);
		json_put_number(w, NULL, n->longest);
		put_pairs(w, n->parts, PROFILE_MARK_PARTS);
		put_pairs(w, n->steps, PROFILE_MARK_STEPS);
		json_put_number(w, NULL, n->estimated);
		json_end(w);
	}
	json_end(w);
}

/* Lengths are hardly alike: to pack them would take longer than to read a recording, for little. */
static void put_items(struct json_writer *w, const struct profile_marks *m)
{
	struct page_bytes e = {.to = w, .key = "items", .bytes = BUFFER_INIT};
	uint64_t before = 0;
	uint32_t i;

	for (i = 0; i < m->item_count; i++) {
		const struct profile_mark *at = &m->items[i];

		page_varint(&e, at->name);
		page_varint(&e, at->at / NS_PER_US - before);
		page_varint(&e, at->duration);
		page_varint(&e, at->thread == PROFILE_NO_THREAD ? 0 : (uint64_t)at->thread + 1);
		page_varint(&e, at->gc);
		before = at->at / NS_PER_US;
	}
	page_bytes_end(&e);
	json_put_number(w, "count", m->item_count);
}

static void put_lists(struct json_writer *w, const struct profile_marks *m)
{
	uint32_t i;

	json_array(w, "threads");
	for (i = 0; i < m->thread_count; i++) {
		json_array(w, NULL);
		json_put_number(w, NULL, m->threads[i].tid);
		json_put_text(w, NULL, m->threads[i].name);
		json_end(w);
	}
	json_end(w);
	json_array(w, "gcs");
	for (i = 0; i < m->gc_count; i++) {
		json_array(w, NULL);
		json_put_text(w, NULL, m->gcs[i].name);
		json_put_text(w, NULL, m->gcs[i].cause);
		json_end(w);
	}
	json_end(w);
}

static void put_events(struct json_writer *w, const struct profile_marks *m)
{
	uint32_t i;

	json_array(w, "events");
	for (i = 0; i < m->event_count; i++) {
		const struct profile_other_event *e = &m->events[i];

		json_array(w, NULL);
		json_put_text(w, NULL, e->type);
		json_put_number(w, NULL, e->count);
		json_put_number(w, NULL, e->time);
		json_put_number(w, NULL, e->longest);
		json_put_number(w, NULL, e->first);
		json_put_number(w, NULL, e->last);
		json_put_text(w, NULL, e->number);
		json_put_number(w, NULL, e->number_sum);
		json_put_number(w, NULL, e->number_most);
		json_put_number(w, NULL, e->estimated);
		json_end(w);
	}
	json_end(w);
}

void marks_page_put(struct json_writer *w, const struct profile_marks *m)
{
	json_object(w, "marks");
	json_put_number(w, "duration", m->duration);
	put_names(w, m);
	put_items(w, m);
	put_lists(w, m);
	put_events(w, m);
	rows_page_put(w, m);
	json_end(w);
}
