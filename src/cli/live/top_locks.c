/*
 * top_locks.c - tables of `jstrobe top` of waits: locks that held threads up, and who had them.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/live/top_profile.h"
#include "cli/live/top_tables.h"
#include "profile/model/human.h"
#include "profile/model/work/contention.h"
#include "profile/views/short_name.h"

#define PLACE 36 /* columns of a method beside a lock */
#define CONCLUDED "concluded from wall time: who had a lock is likely, not sure; + measures waits"

/* ---- waits of the overview ---- */

int top_waits(struct top_table *t, const struct top_model *m, const struct top_view *v)
{
	struct map places = {0};
	char more[512];
	size_t i;

	(void)v;
	top_table_column(t, "WAITED", 9, TOP_MS, 0);
	top_table_column(t, "COUNT", 8, TOP_COUNT, 0);
	t->name_head = "LOCK, LAST HOLDER";
	for (i = 0; i < m->shown.locks.count; i++) {
		const struct top_lock *l = &m->shown.locks.items[i];
		uint32_t *slot = map_put(&places, l->class, NULL);
		struct top_row *row;

		if (slot && !*slot && top_table_row(t, strings_get(&m->strings, l->class), NULL))
			*slot = (uint32_t)t->rows.count;
		if (!slot || !*slot)
			break;
		row = &t->rows.items[*slot - 1];
		row->values[0] += l->time;
		row->values[1] += l->waits + l->open;
		if (!l->owner || row->more)
			continue;
		snprintf(more, sizeof(more), ", %.500s", strings_get(&m->strings, l->owner));
		row->more = strings_add(&t->texts, more, strlen(more));
	}
	map_free(&places);
	return i < m->shown.locks.count ? -ENOMEM : 0;
}

/* ---- locks ---- */

/* "java.util.concurrent.locks.ReentrantLock$NonfairSync@1a", "ReentrantLock", "a monitor, or several" */
static void put_name(struct buffer *out, const struct contention *c, const struct contended *r)
{
	const char *slash = r->lock ? strrchr(r->lock, '/') : NULL;

	if (r->of_class)
		buffer_puts(out, name_text(&c->names, r->place));
	else if (r->lock)
		buffer_puts(out, slash ? slash + 1 : r->lock);
	else
		buffer_puts(out, r->blocked * 2 > r->weight ? "a monitor" : "a lock");
	if (r->identity)
		buffer_printf(out, "@%llx", (unsigned long long)r->identity);
	if (r->several)
		buffer_puts(out, ", or several");
}

/* Where it is asked for, what who had it did, and who waits. */
static void put_more(struct buffer *out, const struct contention *c, const struct contended *r)
{
	const struct thread_groups *g = &c->work->groups;

	if (r->asked_in != NO_NAME_OF) {
		buffer_puts(out, "  in ");
		short_name(out, name_text(&c->names, r->asked_in), PLACE);
	}
	if (r->method != NO_NAME_OF) {
		buffer_printf(out, "; %s had it in ", r->owner ? r->owner : "a thread");
		short_name(out, name_text(&c->names, r->method), PLACE);
	}
	if (r->group != NO_GROUP)
		buffer_printf(out, "; waited for by %s", thread_group_name(g, &g->groups[r->group]));
}

static int put_locks(struct top_table *t, const struct profile *p, struct work *w)
{
	struct contention c;
	int rc = contention_find(&c, p, w);
	uint32_t i;

	for (i = 0; rc == 0 && i < c.count; i++) {
		struct buffer name = BUFFER_INIT, more = BUFFER_INIT;
		struct top_row *row;

		put_name(&name, &c, &c.rows[i]);
		put_more(&more, &c, &c.rows[i]);
		buffer_putc(&name, '\0');
		buffer_putc(&more, '\0');
		row = name.failed || more.failed ? NULL : top_table_row(t, name.data, more.data);
		if (row) {
			row->values[0] = c.rows[i].weight;
			row->values[1] = c.rows[i].samples;
		} else {
			rc = -ENOMEM;
		}
		buffer_free(&name);
		buffer_free(&more);
	}
	contention_free(&c);
	return rc;
}

int top_locks(struct top_table *t, const struct top_model *m, const struct top_view *v)
{
	unsigned waits = top_event_of(m, WEIGHT_WAIT);
	unsigned event = waits < TOP_EVENTS ? waits : top_event_of(m, WEIGHT_WALL);
	struct work w;
	struct top_profile p;
	int rc;

	top_table_column(t, "WAITED", 10, TOP_TIME, 0);
	top_table_column(t, waits < TOP_EVENTS ? "WAITS" : "SAMPLES", 9, TOP_COUNT, 0);
	t->name_head = "LOCK";
	if (event == TOP_EVENTS)
		return 0;
	if (event != waits)
		snprintf(t->note, sizeof(t->note), "%s", CONCLUDED);
	rc = top_profile_make(&p, m, event);
	if (rc == 0) {
		rc = work_of(&w, &p.profile, v->namer);
		if (rc == 0)
			rc = put_locks(t, &p.profile, &w);
		work_free(&w);
	}
	top_profile_free(&p);
	return rc;
}
