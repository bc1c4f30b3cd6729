/*
 * top_profile.h - what the screen shows, as a profile of one event: so that it is summed up as results are.
 */
#ifndef JSTROBE_CLI_LIVE_TOP_PROFILE_H
#define JSTROBE_CLI_LIVE_TOP_PROFILE_H

#include "cli/live/top.h"
#include "profile/model/profile.h"

struct top_profile {
	struct profile profile; /* threads: those of the window, in their order */
	struct profile_frame *frames;
	struct profile_stack *stacks;
	struct profile_thread *threads;
	struct profile_waits *locks, *holders;
	uint32_t *lists;
	char *texts;
};

/*
 * Make T of what M shows of event number EVENT. 0 or -ENOMEM; free in both cases. It borrows of M, which must not take
 * in anything meanwhile.
 */
int top_profile_make(struct top_profile *t, const struct top_model *m, unsigned event);
void top_profile_free(struct top_profile *t);

#endif
