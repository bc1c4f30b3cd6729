/*
 * memory_page.c - the member `memory` of the page's data, for web/memory.js. Classes and where their objects were made
 * are in the tree; this is what the tree does not say:
 *
 *   kept    it is there still: objects, or blocks that were not freed
 *   places  of native memory who asked for it: [place, for whom, samples, bytes]; placesMore: [others, their bytes]
 *   libraries  … and by library: [name, bytes]
 *   heap    [bytes in use at the last collection, bytes it may have]; 0: not known
 *   span    ns in which it is known what came and stayed; 0: it is not
 *   ages    of each class, or place of native memory, bytes that are there: [name, of the first half of that time, of
 *           the second]
 *   growth  what grew all the time: [class, place, for whom, bytes there, bytes an hour, at least, at most, how held]
 */
#include "profile/views/memory_page.h"

#include <errno.h>
#include <stdlib.h>

#include "common/base/json_writer.h"
#include "profile/model/askers.h"
#include "profile/model/frame_name.h"
#include "profile/model/leaks.h"
#include "profile/model/libraries.h"

#define ROWS 500u

/* Bytes that are there of one name, by when they came. */
struct age {
	uint32_t name;
	uint64_t halves[2];
};

static int put_places(struct json_writer *to, const struct profile *p, unsigned style)
{
	struct askers a;
	int rc = askers_find(&a, p, style);
	uint64_t rest = 0;
	uint32_t i, count = rc ? 0 : a.count;

	json_array(to, "places");
	for (i = 0; i < MIN(count, ROWS); i++) {
		json_array(to, NULL);
		json_put_text(to, NULL, name_text(&a.names, a.rows[i].place));
		json_put_text(to, NULL, a.rows[i].caller == a.rows[i].place ? "" :
			      name_text(&a.names, a.rows[i].caller));
		json_put_number(to, NULL, a.rows[i].samples);
		json_put_number(to, NULL, a.rows[i].weight);
		json_end(to);
	}
	json_end(to);
	for (; i < count; i++)
		rest += a.rows[i].weight;
	json_array(to, "placesMore");
	json_put_number(to, NULL, count - MIN(count, ROWS));
	json_put_number(to, NULL, rest);
	json_end(to);
	askers_free(&a);
	return rc;
}

static int put_libraries(struct json_writer *to, const struct profile *p)
{
	struct libraries l;
	int rc = libraries_find(&l, p);
	uint32_t i;

	json_array(to, "libraries");
	for (i = 0; rc == 0 && i < MIN(l.count, ROWS); i++) {
		json_array(to, NULL);
		json_put_text(to, NULL, l.rows[i].name);
		json_put_number(to, NULL, l.rows[i].weight);
		json_end(to);
	}
	json_end(to);
	libraries_free(&l);
	return rc;
}

static int most_first(const void *a, const void *b)
{
	const struct age *x = a, *y = b;
	uint64_t of_x = x->halves[0] + x->halves[1], of_y = y->halves[0] + y->halves[1];

	return of_x != of_y ? (of_x < of_y ? 1 : -1) : x->name < y->name ? -1 : x->name > y->name;
}

static int put_ages(struct json_writer *to, const struct profile *p, unsigned style)
{
	struct name_table names;
	int rc = name_table_build(&names, p, style);
	struct age *ages = rc ? NULL : calloc((size_t)names.count + 1, sizeof(*ages));
	uint32_t i, frame, count = 0;

	for (i = 0; ages && i < names.count; i++)
		ages[i].name = i;
	for (i = 0; ages && i < p->stack_count; i++) {
		const struct profile_stack *s = &p->stacks[i];

		if (!s->depth)
			continue;
		frame = p->survivors ? s->frames[s->depth - 1] : asker_place(p, s, s->depth);
		ages[names.of_frame[frame]].halves[0] += p->growth[i].halves[0];
		ages[names.of_frame[frame]].halves[1] += p->growth[i].halves[1];
	}
	json_array(to, "ages");
	if (ages && names.count)
		qsort(ages, names.count, sizeof(*ages), most_first);
	for (i = 0; ages && i < names.count && count < ROWS && ages[i].halves[0] + ages[i].halves[1]; i++, count++) {
		json_array(to, NULL);
		json_put_text(to, NULL, name_text(&names, ages[i].name));
		json_put_number(to, NULL, ages[i].halves[0]);
		json_put_number(to, NULL, ages[i].halves[1]);
		json_end(to);
	}
	json_end(to);
	rc = ages ? 0 : -ENOMEM;
	free(ages);
	name_table_free(&names);
	return rc;
}

static uint64_t whole(double bytes)
{
	return bytes > 0 ? (uint64_t)(bytes + 0.5) : 0;
}

static void put_leak(struct json_writer *to, const struct leaks *l, const struct leak *row, const struct profile *p)
{
	const struct profile_chain *chain = leaks_chain(l, row, p);

	json_array(to, NULL);
	json_put_text(to, NULL, row->class == LEAK_NO_CLASS ? "" : name_text(&l->names, row->class));
	json_put_text(to, NULL, name_text(&l->names, row->place));
	json_put_text(to, NULL, row->caller == row->place ? "" : name_text(&l->names, row->caller));
	json_put_number(to, NULL, row->there);
	json_put_number(to, NULL, whole(row->rate));
	json_put_number(to, NULL, whole(row->least));
	json_put_number(to, NULL, whole(row->most));
	json_put_text(to, NULL, chain ? chain->text : NULL);
	json_end(to);
}

static int put_growth(struct json_writer *to, const struct profile *p)
{
	struct leaks l;
	int rc = leaks_find(&l, p);
	uint32_t i;

	json_array(to, "growth");
	for (i = 0; rc == 0 && i < MIN(l.count, ROWS); i++)
		put_leak(to, &l, &l.rows[i], p);
	json_end(to);
	leaks_free(&l);
	return rc;
}

int memory_page_put(struct json_writer *to, const struct profile *p, const struct format_options *options)
{
	unsigned style = format_style(STYLE_PAGE, options) & ~STYLE_ANNOTATE;
	bool objects = !libraries_matter(p);
	int rc = 0;

	json_object(to, "memory");
	json_put_bool(to, "kept", p->survivors || p->unfreed);
	if (!objects)
		rc = put_places(to, p, style);
	if (!rc && !objects)
		rc = put_libraries(to, p);
	json_array(to, "heap");
	json_put_number(to, NULL, p->survivors ? p->counted : 0);
	json_put_number(to, NULL, p->survivors ? p->heap_most : 0);
	json_end(to);
	json_put_number(to, "span", leaks_known(p) ? p->growth_span : 0);
	if (!rc && leaks_known(p))
		rc = put_ages(to, p, style);
	if (!rc && leaks_known(p))
		rc = put_growth(to, p);
	json_end(to);
	return rc;
}
