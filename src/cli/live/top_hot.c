/*
 * top_hot.c - tables of `jstrobe top` of places in the program: hot methods, and what allocates.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/live/top_profile.h"
#include "cli/live/top_tables.h"
#include "profile/model/human.h"
#include "profile/model/methods.h"
#include "profile/model/work/work.h"
#include "profile/views/program_methods.h"

/* ---- methods ---- */

static int put_methods(struct top_table *t, const struct profile *p)
{
	struct methods methods;
	struct buffer name = BUFFER_INIT;
	int rc = methods_build(&methods, p, STYLE_TEXT | STYLE_NORM, true);
	uint32_t i;

	if (rc == 0)
		rc = program_methods(&methods, p);

	top_table_column(t, "SELF", 6, TOP_SHARE, p->weight_stored);
	top_table_column(t, "TOTAL", 7, TOP_SHARE, p->weight_stored);
	t->name_head = "METHOD";
	for (i = 0; rc == 0 && i < methods.count; i++) {
		struct top_row *row;

		name.length = 0;
		program_methods_name(&name, name_text(&methods.names, methods.rows[i].name), methods.rows[i].called, 0);
		buffer_putc(&name, '\0');
		row = name.failed ? NULL : top_table_row(t, name.data, NULL);
		if (!row) {
			rc = -ENOMEM;
			break;
		}
		row->values[0] = methods.rows[i].self_weight;
		row->values[1] = methods.rows[i].total_weight;
	}
	buffer_free(&name);
	methods_free(&methods);
	return rc;
}

int top_methods(struct top_table *t, const struct top_model *m, const struct top_view *v)
{
	unsigned event = v->event < m->event_count ? v->event : m->main_event;
	struct top_profile p;
	struct work w = {.idle = 0};
	bool of_work;
	int rc;

	if (!m->event_count)
		return put_methods(t, &(struct profile){.event = "cpu"});
	rc = top_profile_make(&p, m, event);
	of_work = rc == 0 && !v->idle && activity_is_known(&p.profile);
	if (of_work)
		rc = work_of(&w, &p.profile, NULL);
	if (rc == 0)
		rc = put_methods(t, of_work ? &w.profile : &p.profile);
	if (w.idle)
		snprintf(t->note, sizeof(t->note), "waits for work are left out: %s of the time; i shows them",
			 human_percent(w.idle, p.profile.weight_stored).text);
	if (of_work)
		work_free(&w);
	top_profile_free(&p);
	return rc;
}

/* ---- allocations ---- */

/* The innermost Java method of S, whose innermost frame is a class: a name of NAMES, or no_frames. */
static uint32_t site_of(const struct profile *p, const struct profile_stack *s, const struct name_table *names)
{
	uint32_t i;

	for (i = s->depth; i-- > 0;) {
		const struct profile_frame *f = &p->frames[s->frames[i]];

		if (frame_is_method(f))
			return names->of_frame[s->frames[i]];
	}
	return names->no_frames;
}

/* The row of what is allocated of CLASS in SITE, both names. NULL: no memory. */
static struct top_row *place_of(struct top_table *t, struct map *places, const struct name_table *names,
				uint32_t class_name, uint32_t site)
{
	uint32_t *slot = map_put(places, (uint64_t)class_name << 32 | site, NULL);
	char more[1024] = "";

	if (!slot)
		return NULL;
	if (!*slot) {
		if (site != names->no_frames)
			snprintf(more, sizeof(more), "  in %.1000s", name_text(names, site));
		if (!top_table_row(t, name_text(names, class_name), more))
			return NULL;
		*slot = (uint32_t)t->rows.count;
	}
	return &t->rows.items[*slot - 1];
}

static int put_allocations(struct top_table *t, const struct profile *p)
{
	struct name_table names;
	struct map places = {0};
	int rc = name_table_build(&names, p, STYLE_TEXT | STYLE_NORM);
	uint32_t i;

	for (i = 0; rc == 0 && i < p->stack_count; i++) {
		const struct profile_stack *s = &p->stacks[i];
		uint32_t leaf = s->depth ? names.of_frame[s->frames[s->depth - 1]] : names.no_frames;
		struct top_row *row = place_of(t, &places, &names, leaf, site_of(p, s, &names));

		if (!row) {
			rc = -ENOMEM;
			break;
		}
		row->values[0] += s->weight;
		row->values[1] += s->weight;
		row->values[2] += s->samples;
	}
	map_free(&places);
	name_table_free(&names);
	return rc;
}

int top_alloc(struct top_table *t, const struct top_model *m, const struct top_view *v)
{
	unsigned event = top_event_of(m, WEIGHT_BYTES);
	struct top_profile p;
	int rc;

	(void)v;
	if (event == TOP_EVENTS)
		return 0;
	rc = top_profile_make(&p, m, event);
	top_table_column(t, "BYTES/s", 12, TOP_RATE, m->shown.span);
	top_table_column(t, "PART", 8, TOP_SHARE, p.profile.weight_stored);
	top_table_column(t, "SAMPLES", 9, TOP_COUNT, 0);
	t->name_head = "CLASS, METHOD";
	if (rc == 0)
		rc = put_allocations(t, &p.profile);
	top_profile_free(&p);
	return rc;
}
