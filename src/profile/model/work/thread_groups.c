#include "profile/model/work/thread_groups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buffer.h"
#include "common/base/vector.h"
#include "profile/model/frame_name.h"
#include "profile/model/work/unsure.h"

#define VIRTUAL "virtual threads"         /* all of them, where they are not kept apart */
#define VIRTUAL_ONE "virtual thread #"    /* one that has no name of its own */

struct grouping {
	const struct profile *p;
	struct thread_groups *to;
	uint32_t *of_frame;  /* frame → text of the group of virtual threads whose task it is, 0: not asked for yet */
	struct map by_text;  /* text → group + 1 */
	VECTOR(struct thread_group) groups;
};

static bool is_virtual(const struct profile_thread *t)
{
	return !t->tid && (strcmp(t->name, VIRTUAL) == 0 || strncmp(t->name, VIRTUAL_ONE, strlen(VIRTUAL_ONE)) == 0);
}

/* ---- virtual threads ---- */

/* "virtual threads: demo.Handler" of a frame of demo/Handler$$Lambda$14+0x0000000800c03000, in texts. */
static uint32_t name_task(struct grouping *g, const struct profile_frame *f)
{
	const char *lambda = strstr(f->class_name, "$$"), *hidden = strchr(f->class_name, '+');
	size_t n = lambda ? (size_t)(lambda - f->class_name) : hidden ? (size_t)(hidden - f->class_name) :
		   strlen(f->class_name), i;
	struct buffer text = BUFFER_INIT;
	uint32_t number = 0;

	buffer_puts(&text, VIRTUAL ": ");
	for (i = 0; i < n; i++)
		buffer_putc(&text, f->class_name[i] == '/' ? '.' : f->class_name[i]);
	if (text.failed)
		g->to->texts.failed = true;
	else
		number = strings_add(&g->to->texts, text.data, text.length);
	buffer_free(&text);
	return number;
}

static uint32_t task_of(struct grouping *g, const struct profile_stack *s)
{
	uint32_t i;

	for (i = 0; i < s->depth; i++) {
		const struct profile_frame *f = &g->p->frames[s->frames[i]];
		uint32_t *known = &g->of_frame[s->frames[i]];

		if (!f->class_name || !f->name || !*f->name || class_is_of_jdk(f->class_name))
			continue;
		if (!*known)
			*known = name_task(g, f);
		return *known;
	}
	return strings_add(&g->to->texts, VIRTUAL, strlen(VIRTUAL));
}

/* ---- sums ---- */

static struct thread_group *group_of(struct grouping *g, uint32_t text, uint32_t *number)
{
	uint32_t *slot = text ? map_put(&g->by_text, text, NULL) : NULL;
	struct thread_group *fresh;

	if (!slot)
		return NULL;
	if (!*slot) {
		fresh = VECTOR_PUSH(&g->groups);
		if (!fresh)
			return NULL;
		fresh->text = text;
		*slot = (uint32_t)g->groups.count;
	}
	*number = *slot - 1;
	return &g->groups.items[*number];
}

static void add(struct thread_group *group, const struct profile_stack *s, uint8_t activity, uint64_t unsure)
{
	group->unsure += unsure;
	group->samples += s->samples;
	group->weight += s->weight;
	group->by_activity[activity] += s->weight;
	group->samples_by_activity[activity] += s->samples;
}

/* Stack number I to the group of its thread. False: no memory. */
static bool add_stack(struct grouping *g, uint32_t i)
{
	const struct profile_stack *s = &g->p->stacks[i];
	uint8_t activity = g->to->activity[i];
	uint64_t unsure = activity == ACTIVITY_IDLE && idle_is_unsure(g->p, s) ? s->weight : 0;
	struct thread_group *group;
	uint32_t text, number;

	g->to->samples_by_activity[activity] += s->samples;
	g->to->by_activity[activity] += s->weight;
	g->to->unsure += unsure;
	g->to->of_stack[i] = NO_GROUP;
	if (s->thread == PROFILE_NO_THREAD)
		return true;
	text = is_virtual(&g->p->threads[s->thread]) ? task_of(g, s) : g->to->patterns[s->thread];
	group = group_of(g, text, &number);
	if (!group)
		return false;
	add(group, s, activity, unsure);
	g->to->of_stack[i] = number;
	g->to->of_thread[s->thread] = number;
	if (activity != ACTIVITY_IDLE)
		g->to->work[s->thread] += s->weight;
	return true;
}

/* Each thread to the group that it was in. */
static void count_threads(struct grouping *g)
{
	uint32_t i;

	for (i = 0; i < g->p->thread_count; i++) {
		struct thread_group *group = &g->groups.items[g->to->of_thread[i]];

		if (g->to->of_thread[i] == NO_GROUP || strcmp(g->p->threads[i].name, VIRTUAL) == 0)
			continue;
		group->threads++;
		group->idle += !g->to->work[i];
		g->to->idle_threads += !g->to->work[i];
	}
}

/* ---- order ---- */

static int compare(const void *left, const void *right, void *arg)
{
	const struct thread_groups *g = arg;
	const struct thread_group *a = &g->groups[*(const uint32_t *)left], *b = &g->groups[*(const uint32_t *)right];
	uint64_t x = thread_group_work(a), y = thread_group_work(b);

	if (x != y)
		return x < y ? 1 : -1;
	if (a->weight != b->weight)
		return a->weight < b->weight ? 1 : -1;
	return strcmp(thread_group_name(g, a), thread_group_name(g, b));
}

static void renumber(uint32_t *numbers, uint32_t count, const uint32_t *now)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		if (numbers[i] != NO_GROUP)
			numbers[i] = now[numbers[i]];
}

/* The groups in their order. False: no memory. */
static bool put_in_order(struct thread_groups *g, const struct profile *p)
{
	uint32_t *order = malloc((g->count + 1) * sizeof(*order)), *now = malloc((g->count + 1) * sizeof(*now)), i;
	struct thread_group *sorted = calloc(g->count + 1, sizeof(*sorted));
	bool whole = order && now && sorted;

	for (i = 0; whole && i < g->count; i++)
		order[i] = i;
	if (whole)
		qsort_r(order, g->count, sizeof(*order), compare, g);
	for (i = 0; whole && i < g->count; i++) {
		sorted[i] = g->groups[order[i]];
		now[order[i]] = i;
		g->idle_groups += thread_group_work(&sorted[i]) == 0;
	}
	if (whole) {
		renumber(g->of_stack, p->stack_count, now);
		renumber(g->of_thread, p->thread_count, now);
		free(g->groups);
		g->groups = sorted;
	} else {
		free(sorted);
	}
	free(order);
	free(now);
	return whole;
}

static int fill(struct grouping *g, const struct thread_namer *namer)
{
	const struct profile *p = g->p;
	struct thread_groups *to = g->to;
	uint32_t i;
	int rc;

	to->of_stack = malloc(((size_t)p->stack_count + 1) * sizeof(*to->of_stack));
	to->of_thread = malloc(((size_t)p->thread_count + 1) * sizeof(*to->of_thread));
	to->activity = activity_of_stacks(p);
	to->patterns = calloc((size_t)p->thread_count + 1, sizeof(*to->patterns));
	g->of_frame = calloc((size_t)p->frame_count + 1, sizeof(*g->of_frame));
	to->work = calloc((size_t)p->thread_count + 1, sizeof(*to->work));
	if (!to->of_stack || !to->of_thread || !to->activity || !to->patterns || !g->of_frame || !to->work)
		return -ENOMEM;
	for (i = 0; i < p->thread_count; i++)
		to->of_thread[i] = NO_GROUP;
	rc = thread_patterns(p, namer, &to->texts, to->patterns);
	for (i = 0; rc == 0 && i < p->stack_count; i++)
		if (!add_stack(g, i))
			rc = -ENOMEM;
	if (rc)
		return rc;
	count_threads(g);
	to->groups = g->groups.items;
	to->count = (uint32_t)g->groups.count;
	g->groups.items = NULL;
	return put_in_order(to, p) ? 0 : -ENOMEM;
}

int thread_groups_build(struct thread_groups *to, const struct profile *p, const struct thread_namer *namer)
{
	struct grouping g = {.p = p, .to = to};
	int rc;

	memset(to, 0, sizeof(*to));
	rc = fill(&g, namer);
	map_free(&g.by_text);
	free(g.groups.items);
	free(g.of_frame);
	return rc;
}

void thread_groups_free(struct thread_groups *g)
{
	free(g->groups);
	free(g->of_thread);
	free(g->of_stack);
	free(g->activity);
	free(g->patterns);
	free(g->work);
	strings_free(&g->texts);
	memset(g, 0, sizeof(*g));
}
