/*
 * thread_groups.h - threads by the kind of their names, and what each kind did: a line for a pool, not for each of its
 * workers.
 *
 * Groups are named by thread_pattern.h, those of virtual threads without a name of their own by their task's class: the
 * outermost method of the program on their stacks.
 */
#ifndef JSTROBE_MODEL_THREAD_GROUPS_H
#define JSTROBE_MODEL_THREAD_GROUPS_H

#include "common/base/strings.h"
#include "profile/model/work/activity.h"
#include "profile/model/work/thread_pattern.h"

#define NO_GROUP UINT32_MAX

struct thread_group {
	uint32_t text;    /* its name, thread_group_name */
	uint32_t threads; /* 0: not known, they are virtual and not kept apart */
	uint32_t idle;    /* of them that waited for work all the time */
	uint64_t samples, weight;
	uint64_t by_activity[ACTIVITIES]; /* weight */
	uint64_t unsure;                  /* weight of idle waits that may be for an answer, unsure.h */
	uint64_t samples_by_activity[ACTIVITIES];
};

struct thread_groups {
	struct thread_group *groups; /* what waited least for work first */
	uint32_t count;
	uint32_t idle_threads, idle_groups; /* … all the time; the groups come last */
	uint32_t *of_thread; /* thread → group, or NO_GROUP: it has no stacks; a virtual thread's last one */
	uint32_t *of_stack;  /* stack → group, or NO_GROUP: it has no thread */
	uint32_t *patterns;  /* thread → its name's pattern, in texts */
	uint64_t *work;      /* thread → weight of what it did besides waiting for work */
	uint8_t *activity;   /* stack → enum activity */
	uint64_t samples_by_activity[ACTIVITIES], by_activity[ACTIVITIES]; /* of all stacks */
	uint64_t unsure;     /* of all stacks, as of a group */
	struct strings texts;
};

/*
 * The groups of P, of which activity_is_known; without threads beside its stacks there are none, but activities are
 * there. NAMER as for thread_patterns. 0 or -ENOMEM; free in both cases. Normal code.
 */
int thread_groups_build(struct thread_groups *g, const struct profile *p, const struct thread_namer *namer);
void thread_groups_free(struct thread_groups *g);

static inline const char *thread_group_name(const struct thread_groups *g, const struct thread_group *group)
{
	return strings_get(&g->texts, group->text);
}
/* What GROUP did besides waiting for work. */
static inline uint64_t thread_group_work(const struct thread_group *group)
{
	return group->weight - group->by_activity[ACTIVITY_IDLE];
}
/* Whether most of GROUP's idle waits may be for an answer. */
static inline bool thread_group_is_unsure(const struct thread_group *group)
{
	return group->unsure && group->unsure >= group->by_activity[ACTIVITY_IDLE] / 2;
}

#endif
