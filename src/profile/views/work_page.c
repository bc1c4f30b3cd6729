/*
 * work_page.c - the member `work` of the page's data, for web/work.js:
 *
 *   locks       sentences about the locks that held threads up; lockRows: lock_page.h
 *   activities  [head, meaning] of each
 *   groups      [name, threads, idle ones, [samples of each activity], [weight of each]]
 *   idle        sentences about the threads that waited all the time
 *   threads     [samples, weight] that were not idle, in the order of the page's threads
 */
#include "profile/views/work_page.h"

#include <errno.h>
#include <stdlib.h>

#include "common/base/json_writer.h"
#include "profile/views/idle_text.h"
#include "profile/views/lock_page.h"

static int put_locks(struct json_writer *to, const struct profile *p, struct work *w)
{
	struct buffer text = BUFFER_INIT;
	struct contention c;
	int rc = contention_find(&c, p, w);
	uint32_t i, count = rc ? 0 : contention_worth(&c);

	json_array(to, "locks");
	for (i = 0; i < count; i++) {
		text.length = 0;
		contention_put(&text, &c, &c.rows[i]);
		json_put_text(to, NULL, buffer_text(&text, to->out));
	}
	json_end(to);
	if (rc == 0)
		rc = lock_page_put(to, p, &c);
	buffer_free(&text);
	contention_free(&c);
	return rc;
}

static void put_activities(struct json_writer *to)
{
	unsigned a;

	json_array(to, "activities");
	for (a = 0; a < ACTIVITIES; a++) {
		json_array(to, NULL);
		json_put_text(to, NULL, activity_names[a].head);
		json_put_text(to, NULL, activity_names[a].meaning);
		json_end(to);
	}
	json_end(to);
}

static void put_idle(struct json_writer *to, const struct profile *p, const struct work *w)
{
	struct buffer text = BUFFER_INIT;
	int unsure;

	json_array(to, "idle");
	for (unsure = 0; unsure < 2; unsure++) {
		text.length = 0;
		if (idle_sentence(&text, p, w, unsure))
			json_put_text(to, NULL, buffer_text(&text, to->out));
	}
	json_end(to);
	buffer_free(&text);
}

static void put_sums(struct json_writer *to, const uint64_t *sums)
{
	unsigned a;

	json_array(to, NULL);
	for (a = 0; a < ACTIVITIES; a++)
		json_put_number(to, NULL, sums[a]);
	json_end(to);
}

static void put_groups(struct json_writer *to, const struct thread_groups *g)
{
	uint32_t i;

	json_array(to, "groups");
	for (i = 0; i < g->count; i++) {
		const struct thread_group *group = &g->groups[i];

		json_array(to, NULL);
		json_put_text(to, NULL, thread_group_name(g, group));
		json_put_number(to, NULL, group->threads);
		json_put_number(to, NULL, group->idle);
		put_sums(to, group->samples_by_activity);
		put_sums(to, group->by_activity);
		json_end(to);
	}
	json_end(to);
}

static int put_threads(struct json_writer *to, const struct profile *p, const struct work *w)
{
	uint64_t *samples = calloc((size_t)p->thread_count + 1, sizeof(*samples));
	uint32_t i;

	if (!samples)
		return -ENOMEM;
	for (i = 0; i < w->profile.stack_count; i++)
		if (w->stacks[i].thread != PROFILE_NO_THREAD)
			samples[w->stacks[i].thread] += w->stacks[i].samples;
	json_array(to, "threads");
	for (i = 0; i < p->thread_count; i++) {
		json_array(to, NULL);
		json_put_number(to, NULL, samples[i]);
		json_put_number(to, NULL, w->groups.work[i]);
		json_end(to);
	}
	json_end(to);
	free(samples);
	return 0;
}

int work_page(struct json_writer *to, const struct profile *p, struct work *w)
{
	int rc;

	json_object(to, "work");
	rc = put_locks(to, p, w);
	put_activities(to);
	put_groups(to, &w->groups);
	put_idle(to, p, w);
	if (rc == 0)
		rc = put_threads(to, p, w);
	json_end(to);
	return rc;
}
