/*
 * work_view.c - what stands above the methods of a profile of wall time, or the locks of one of waits: what held
 * threads up, and groups of threads by what they did.
 */
#include "profile/views/gzip.h"
#include "profile/views/idle_text.h"
#include "profile/views/marks_json.h"
#include "profile/views/marks_page.h"
#include "profile/views/memory_page.h"
#include "profile/views/program_methods.h"
#include "profile/views/work_locks.h"
#include "profile/views/work_page.h"

#include <stdlib.h>

#include "common/base/decimal.h"
#include "common/base/json_writer.h"
#include "page_more.h"
#include "profile/model/human.h"
#include "profile/model/work/contention.h"

#define GROUPS 12
#define LEAST_OF_GROUP 200

static void put_share(struct buffer *out, uint64_t part, uint64_t whole, int width)
{
	struct decimal share = decimal(percent_of(part, whole), 1);

	if (!part)
		buffer_printf(out, "%*s", width, "-");
	else
		buffer_printf(out, "%*s%%", width - 1, share.text);
}

static int width_of(unsigned activity)
{
	return MAX((int)strlen(activity_names[activity].head), 6) + 2;
}

/* Which columns have something to say in the first COUNT groups. */
static unsigned columns_of(const struct thread_groups *g, uint32_t count)
{
	unsigned columns = 0, a;
	uint32_t i;

	for (i = 0; i < count; i++)
		for (a = 0; a < ACTIVITIES; a++)
			if (g->groups[i].by_activity[a])
				columns |= 1u << a;
	return columns;
}

/* IDLE: the first column is all of their time, idle waits as well. */
static void put_head(struct buffer *out, unsigned columns, bool idle)
{
	unsigned a;

	buffer_puts(out, idle ? "all time  threads" : "not idle  threads");
	for (a = 0; a < ACTIVITIES; a++)
		if (columns & 1u << a)
			buffer_printf(out, "%*s", width_of(a), activity_names[a].head);
	buffer_puts(out, "  threads called\n");
}

static void put_group(struct buffer *out, const struct thread_groups *g, const struct thread_group *group,
		      unsigned columns, bool idle)
{
	unsigned a;

	human_right(out, human_time(idle ? group->weight : thread_group_work(group)).text, 8);
	human_right(out, group->threads ? human_count(group->threads).text : "", 9);
	for (a = 0; a < ACTIVITIES; a++)
		if (columns & 1u << a)
			put_share(out, group->by_activity[a], group->weight, width_of(a));
	buffer_printf(out, "  %s\n", thread_group_name(g, group));
}

/* How many groups come first that did at least a LEAST_OF_GROUP of what all did. */
static uint32_t with_work(const struct thread_groups *g, uint64_t all)
{
	uint32_t count = 0;

	while (count < g->count && thread_group_work(&g->groups[count]) * LEAST_OF_GROUP > all)
		count++;
	return count;
}

static void put_groups(struct buffer *out, const struct profile *p, const struct work *w, uint32_t limit, bool idle)
{
	const struct thread_groups *g = &w->groups;
	uint32_t idle_groups = idle ? 0 : g->idle_groups, count = g->count - idle_groups, i;
	uint32_t shown = MIN(idle ? count : with_work(g, w->profile.weight_stored), limit);
	unsigned columns = columns_of(g, shown);

	if (shown)
		put_head(out, columns, idle);
	for (i = 0; i < shown; i++)
		put_group(out, g, &g->groups[i], columns, idle);
	if (count > shown)
		buffer_printf(out, "         and %s more group%s that did less\n", human_count(count - shown).text,
			      human_plural(count - shown));
	for (i = 0; i < 2 && idle_groups; i++)
		if (idle_sentence(out, p, w, i))
			buffer_putc(out, '\n');
	if (g->count)
		buffer_putc(out, '\n');
}

/* FIRST_TOLD: the first one is told of already. */
static int put_contention(struct buffer *out, const struct profile *p, struct work *w, bool first_told)
{
	struct contention c;
	int rc = contention_find(&c, p, w);
	uint32_t i, count = rc ? 0 : contention_worth(&c);

	for (i = first_told; i < count; i++) {
		contention_put(out, &c, &c.rows[i]);
		buffer_putc(out, '\n');
	}
	if (count > first_told)
		buffer_putc(out, '\n');
	contention_free(&c);
	return rc;
}

static struct work *begin(const struct profile *p, const struct format_options *options)
{
	struct work *w = malloc(sizeof(*w));

	if (w && work_of(w, p, options->namer) == 0) {
		if (options->vthreads)
			w->parked_unseen = PARKED_SEEN;
		return w;
	}
	if (w)
		work_free(w);
	free(w);
	return NULL;
}

static int above(struct buffer *out, const struct profile *p, struct work *w, const struct format_options *options)
{
	/* what wall time would conclude of locks is known better where the waits for them were recorded */
	bool known = p->weight_kind == WEIGHT_WALL && options->beside && options->beside->locks_recorded;
	int rc = known ? 0 : put_contention(out, p, w, options->beside && options->beside->tells_lock);

	if (rc == 0)
		put_groups(out, p, w, options->flat ? options->flat : GROUPS, options->idle);
	return rc;
}

static void below(struct buffer *out, const struct profile *p, const struct work *w)
{
	if (w->idle) {
		buffer_printf(out, "idle waits are left out: %s of the time",
			      human_percent(w->idle, p->weight_stored).text);
		idle_unsure_part(out, w, p->weight_stored);
		buffer_puts(out, "; --idle shows them\n");
	}
	if (w->parked_unseen)
		buffer_printf(out, "%s; --vthreads shows them\n", parked_unseen_text(w->parked_unseen));
	if (w->idle || w->parked_unseen)
		buffer_putc(out, '\n');
}

static void end(struct work *w)
{
	if (w)
		work_free(w);
	free(w);
}

static void put_group_json(struct json_writer *to, uint32_t i, const void *work)
{
	const struct thread_groups *g = &((const struct work *)work)->groups;
	const struct thread_group *group = &g->groups[i];
	unsigned a;

	json_put_text(to, "name", thread_group_name(g, group));
	json_put_numbers(to, {"threads", group->threads}, {"idle_threads", group->idle}, {"samples", group->samples},
			 {"weight", group->weight});
	json_object(to, "activity");
	for (a = 0; a < ACTIVITIES; a++)
		json_put_number(to, activity_names[a].key, group->by_activity[a]);
	json_end(to);
}

static int json(struct json_writer *to, const struct work *w, unsigned style)
{
	json_put_objects(to, "groups", w->groups.count, put_group_json, w);
	return program_methods_json(to, w, style);
}

static const char *activity(const struct work *w, uint32_t stack)
{
	return activity_names[w->groups.activity[stack]].key;
}

/* What stands beside P's samples, in a page's data or in a result in JSON. */
static int beside(struct json_writer *to, const struct profile *p, const struct format_options *options)
{
	if (to->layout != JSON_PAGE) {
		if (p->marks)
			marks_json_put(to, p->marks);
		return 0;
	}
	if (p->marks)
		marks_page_put(to, p->marks);
	return memory_page_is_of(p) ? memory_page_put(to, p, options) : 0;
}

const struct format_views views = {begin, above, below, json, activity, work_page, beside, gzip_pack, end,
				   program_methods, program_methods_name, work_locks, page_more};
