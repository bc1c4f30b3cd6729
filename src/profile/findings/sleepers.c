/*
 * sleepers.c - who sleeps in methods of a class while others wait there.
 *
 * Samples do not say for whom a thread waits that wants room in a queue, a permit or a latch. Who sleeps meanwhile in
 * the same class, in a method that those that wait have gone through, too, may be the one, or a timer: so it is said,
 * and nothing is concluded. Who shares no method with them has nothing to do with it, as a client in the same class.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/map.h"
#include "profile/findings/evidence.h"
#include "profile/model/frame_name.h"

#define LEAST_OF_TIME 2 /* a thread, or several together, slept for one part in so many */

static bool is_of_class(const struct profile_frame *f, const char *class_name)
{
	size_t n = strcspn(class_name, "$+");

	return frame_is_of_program(f) && strcspn(f->class_name, "$+") == n &&
	       strncmp(f->class_name, class_name, n) == 0;
}

/* The methods of the class that S has go to METHODS. False: no memory. */
static bool add_methods(const struct profile *p, const struct profile_stack *s, const char *class_name,
			struct map *methods)
{
	uint32_t i, *known;

	for (i = 0; i < s->depth; i++) {
		const struct profile_frame *f = &p->frames[s->frames[i]];

		if (!is_of_class(f, class_name))
			continue;
		known = map_put(methods, frame_method_hash(f), NULL);
		if (!known)
			return false;
		*known = 1;
	}
	return true;
}

static bool is_in(const struct profile *p, const struct profile_stack *s, const char *class_name,
		  const struct map *methods)
{
	uint32_t i;

	for (i = 0; i < s->depth; i++) {
		const struct profile_frame *f = &p->frames[s->frames[i]];

		if (is_of_class(f, class_name) && map_get(methods, frame_method_hash(f)))
			return true;
	}
	return false;
}

void advise_sleepers(struct profile_finding *f, const struct profile *p, const struct thread_groups *g,
		     const char *class_name, bool (*waits)(uint32_t i, const void *arg), const void *arg,
		     uint32_t besides)
{
	struct map methods = {0};
	uint64_t *weights = calloc((size_t)g->count + 1, sizeof(*weights));
	size_t length = strlen(f->advice);
	bool known = weights;
	uint32_t i, most;

	for (i = 0; known && i < p->stack_count; i++)
		if (waits(i, arg))
			known = add_methods(p, &p->stacks[i], class_name, &methods);
	for (i = 0; known && i < p->stack_count; i++)
		if (p->stacks[i].state == THREAD_SLEEPING && g->of_stack[i] != NO_GROUP && g->of_stack[i] != besides &&
		    is_in(p, &p->stacks[i], class_name, &methods))
			weights[g->of_stack[i]] += p->stacks[i].weight;
	most = weights ? heaviest(weights, g->count) : 0;
	if (weights && g->count && weights[most] >= p->duration / LEAST_OF_TIME)
		snprintf(f->advice + length, sizeof(f->advice) - length,
			 " Meanwhile %.60s slept %s in methods of that class.",
			 thread_group_name(g, &g->groups[most]), human_time(weights[most]).text);
	map_free(&methods);
	free(weights);
}
