/*
 * top_groups.c - tables of `jstrobe top` of threads: each, and those that are of a kind, with what they did.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/live/top_profile.h"
#include "cli/live/top_tables.h"
#include "profile/model/human.h"
#include "profile/model/work/thread_groups.h"

/* A letter for each state, in the order of thread_states.def. */
static const char letters[THREAD_STATES + 1] = "?RrBPWSNH";

/* ---- threads ---- */

/* What a thread did, TOP_BAR letters long. */
static void put_bar(const struct top_thread *t, char bar[TOP_BAR + 1])
{
	uint64_t all = 0, sum = 0;
	unsigned s, at = 0;

	for (s = 0; s < THREAD_STATES; s++)
		all += t->wall[s];
	for (s = 0; s < THREAD_STATES && all; s++) {
		sum += t->wall[s];
		while (at < (uint64_t)((double)sum * TOP_BAR / (double)all + 0.5) && at < TOP_BAR)
			bar[at++] = letters[s];
	}
	memset(bar + at, '.', TOP_BAR - at);
	bar[TOP_BAR] = '\0';
}

int top_threads(struct top_table *t, const struct top_model *m, const struct top_view *v)
{
	size_t i;

	(void)v;
	top_table_column(t, "CPU", 6, TOP_SHARE, m->shown.span);
	top_table_column(t, "STATES", TOP_BAR + 2, TOP_BARS, 0);
	t->name_head = "THREAD";
	for (i = 0; i < m->shown.threads.count; i++) {
		const struct top_thread *thread = &m->shown.threads.items[i];
		struct top_row *row = top_table_row(t, strings_get(&m->strings, thread->name), NULL);

		if (!row)
			return -ENOMEM;
		row->values[0] = thread->cpu;
		row->values[1] = thread->wall[THREAD_RUNNING] + thread->wall[THREAD_RUNNABLE];
		put_bar(thread, row->bar);
	}
	return 0;
}

/* ---- groups ---- */

/* One that was idle all the time is counted, in the note, and not shown. */
struct idle {
	uint64_t threads, groups;
};

static void note_idle(struct top_table *t, const struct idle *idle)
{
	if (idle->groups)
		snprintf(t->note, sizeof(t->note), "%s thread%s in %s group%s %s idle all the time; i shows them",
			 human_count(idle->threads).text, human_plural(idle->threads),
			 human_count(idle->groups).text, human_plural(idle->groups),
			 idle->threads == 1 ? "was" : "were");
}

/* The groups of EVENT, TOP_EVENTS: there are none. 0 or -ENOMEM; free both in all cases. */
static int groups_of(struct thread_groups *g, struct top_profile *p, const struct top_model *m, unsigned event,
		     const struct top_view *v)
{
	int rc;

	memset(g, 0, sizeof(*g));
	memset(p, 0, sizeof(*p));
	if (event >= m->event_count)
		return 0;
	rc = top_profile_make(p, m, event);
	return rc ? rc : thread_groups_build(g, &p->profile, v->namer);
}

/* The row of the group called NAME, made if need be. NULL: no memory. */
static struct top_row *row_of(struct top_table *t, struct map *rows, const char *name)
{
	uint32_t text = strings_add(&t->texts, name, strlen(name));
	uint32_t *slot = map_put(rows, text, NULL);

	if (slot && !*slot && top_table_row(t, name, NULL))
		*slot = (uint32_t)t->rows.count;
	return slot && *slot ? &t->rows.items[*slot - 1] : NULL;
}

/* What GROUP did most besides waiting for work. */
static uint32_t put_most(struct top_table *t, const struct thread_group *group)
{
	unsigned a, most = 0;
	char text[64];

	for (a = 1; a < ACTIVITIES; a++)
		if (a != ACTIVITY_IDLE && group->by_activity[a] > group->by_activity[most])
			most = a;
	if (!group->by_activity[most])
		return 0;
	snprintf(text, sizeof(text), "  %s %s", activity_names[most].head,
		 human_percent(group->by_activity[most], group->weight).text);
	return strings_add(&t->texts, text, strlen(text));
}

enum { GROUP_CPU, GROUP_THREADS, GROUP_WORK };

static int put_groups(struct top_table *t, const struct thread_groups *cpu, const struct thread_groups *wall)
{
	struct map rows = {0};
	struct top_row *row = NULL;
	uint32_t i;

	for (i = 0; i < wall->count; i++) {
		const struct thread_group *group = &wall->groups[i];

		row = row_of(t, &rows, thread_group_name(wall, group));
		if (!row)
			break;
		row->values[GROUP_THREADS] = group->threads;
		row->values[GROUP_WORK] = thread_group_work(group);
		row->more = put_most(t, group);
	}
	for (i = 0; i < cpu->count && (row || !wall->count); i++) {
		const struct thread_group *group = &cpu->groups[i];

		row = row_of(t, &rows, thread_group_name(cpu, group));
		if (!row)
			break;
		row->values[GROUP_CPU] = group->weight;
		row->values[GROUP_THREADS] = MAX(row->values[GROUP_THREADS], (uint64_t)group->threads);
	}
	map_free(&rows);
	return row || (!wall->count && !cpu->count) ? 0 : -ENOMEM;
}

/* Rows of groups that only waited for work. */
static void leave_out_idle(struct top_table *t)
{
	struct idle idle = {0};
	size_t i, kept = 0;

	for (i = 0; i < t->rows.count; i++) {
		const struct top_row *row = &t->rows.items[i];

		if (row->values[GROUP_CPU] || row->values[GROUP_WORK]) {
			t->rows.items[kept++] = *row;
			continue;
		}
		idle.threads += row->values[GROUP_THREADS];
		idle.groups++;
	}
	t->rows.count = kept;
	note_idle(t, &idle);
}

int top_groups(struct top_table *t, const struct top_model *m, const struct top_view *v)
{
	unsigned of_wall = top_event_of(m, WEIGHT_WALL);
	struct thread_groups cpu, wall;
	struct top_profile cpu_profile, wall_profile;
	int rc = groups_of(&cpu, &cpu_profile, m, top_event_of(m, WEIGHT_CPU), v);
	int other = groups_of(&wall, &wall_profile, m, of_wall, v);

	top_table_column(t, "CPU", 7, TOP_SHARE, m->shown.span);
	top_table_column(t, "THREADS", 9, TOP_COUNT, 0);
	if (of_wall < TOP_EVENTS)
		top_table_column(t, "NOT IDLE", 10, TOP_TIME, 0);
	t->name_head = "THREADS CALLED";
	if (rc == 0)
		rc = other ? other : put_groups(t, &cpu, &wall);
	if (!v->idle)
		leave_out_idle(t);
	thread_groups_free(&cpu);
	thread_groups_free(&wall);
	top_profile_free(&cpu_profile);
	top_profile_free(&wall_profile);
	return rc;
}

/* ---- groups by what they did ---- */

static void put_activities(struct top_table *t, const struct thread_groups *g, bool idle)
{
	unsigned a;

	top_table_column(t, "NOT IDLE", 10, TOP_TIME, 0);
	top_table_column(t, "THREADS", 9, TOP_COUNT, 0);
	for (a = 0; a < ACTIVITIES; a++)
		if (g->by_activity[a] && (idle || a != ACTIVITY_IDLE))
			top_table_column(t, activity_names[a].head,
					 (unsigned)MAX(strlen(activity_names[a].head), (size_t)6) + 2, TOP_DASHED, 0);
	t->name_head = "THREADS CALLED";
}

static void put_values(struct top_row *row, const struct thread_groups *g, const struct thread_group *group, bool idle)
{
	unsigned a, c = 2;

	row->values[0] = thread_group_work(group);
	row->values[1] = group->threads;
	row->base = group->weight;
	for (a = 0; a < ACTIVITIES && c < TOP_COLUMNS; a++)
		if (g->by_activity[a] && (idle || a != ACTIVITY_IDLE))
			row->values[c++] = group->by_activity[a];
}

int top_wall(struct top_table *t, const struct top_model *m, const struct top_view *v)
{
	struct thread_groups g;
	struct top_profile p;
	struct idle idle = {0};
	int rc = groups_of(&g, &p, m, top_event_of(m, WEIGHT_WALL), v);
	uint32_t i;

	put_activities(t, &g, v->idle);
	for (i = 0; rc == 0 && i < g.count; i++) {
		const struct thread_group *group = &g.groups[i];
		struct top_row *row;

		if (!thread_group_work(group) && !v->idle) {
			idle.threads += group->threads;
			idle.groups++;
			continue;
		}
		row = top_table_row(t, thread_group_name(&g, group), NULL);
		if (row)
			put_values(row, &g, group, v->idle);
		else
			rc = -ENOMEM;
	}
	note_idle(t, &idle);
	thread_groups_free(&g);
	top_profile_free(&p);
	return rc;
}
