#include "profile/model/work/work.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int work_of(struct work *w, const struct profile *p, const struct thread_namer *namer)
{
	uint32_t i;
	int rc;

	memset(w, 0, sizeof(*w));
	rc = thread_groups_build(&w->groups, p, namer);
	w->profile = *p;
	w->profile.stack_count = 0;
	w->profile.stacks = w->stacks = calloc((size_t)p->stack_count + 1, sizeof(*w->stacks));
	if (rc || !w->stacks)
		return -ENOMEM;
	for (i = 0; i < p->stack_count; i++) {
		if (w->groups.activity[i] != ACTIVITY_IDLE) {
			w->stacks[w->profile.stack_count++] = p->stacks[i];
			continue;
		}
		w->idle += p->stacks[i].weight;
		w->idle_samples += p->stacks[i].samples;
	}
	w->parked_unseen = parked_unseen_in(p);
	w->profile.stored -= MIN(w->idle_samples, w->profile.stored);
	w->profile.weight_stored -= MIN(w->idle, w->profile.weight_stored);
	return 0;
}

void work_free(struct work *w)
{
	thread_groups_free(&w->groups);
	free(w->stacks);
	w->stacks = NULL;
}
