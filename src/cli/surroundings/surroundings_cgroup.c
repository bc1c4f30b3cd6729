/*
 * surroundings_cgroup.c - the CPU quotas of the process's control groups and how often they were used up. A group has
 * its own history: what passed between two looks is told group by group.
 */
#include <stdio.h>

#include "cli/attach/cgroup_path.h"
#include "cli/surroundings/surroundings_look.h"

/* Thousandths of a CPU; 0: no limit. */
static uint64_t limit_of(const struct cgroup_folder *folder)
{
	unsigned long long quota, period;
	char text[64], more[64];

	if (folder->version == 2) {
		if (!cgroup_read(folder, "cpu.max", text, sizeof(text)) || sscanf(text, "%llu %llu", &quota,
										  &period) != 2)
			return 0;
	} else if (!cgroup_read(folder, "cpu.cfs_quota_us", text, sizeof(text)) ||
		   !cgroup_read(folder, "cpu.cfs_period_us", more, sizeof(more)) || text[0] == '-' ||
		   sscanf(text, "%llu", &quota) != 1 || sscanf(more, "%llu", &period) != 1) {
		return 0;
	}
	return period ? quota * 1000 / period : 0;
}

static bool take_group(const struct cgroup_folder *folder, void *arg)
{
	struct look_groups *g = arg;
	struct look_group *group = g->count < LOOK_GROUPS ? &g->groups[g->count] : NULL;
	char text[2048];

	if (!group || !cgroup_read(folder, "cpu.stat", text, sizeof(text)))
		return false;
	*group = (struct look_group){
		.limit = limit_of(folder),
		.throttled = folder->version == 2 ? cgroup_value(text, "throttled_usec") * NS_PER_US :
			     cgroup_value(text, "throttled_time"),
		.throttles = cgroup_value(text, "nr_throttled"), .periods = cgroup_value(text, "nr_periods"),
	};
	g->count++;
	return true;
}

void look_at_groups(struct look_groups *g, pid_t pid)
{
	g->count = 0;
	cgroup_each(pid, "cpu", take_group, g);
}

static uint64_t since(uint64_t then, uint64_t value)
{
	return value - MIN(then, value);
}

/* Whether A tells more than B about why a program was stopped. */
static bool matters_more(const struct look_group *a, const struct look_group *b)
{
	if (a->throttled != b->throttled)
		return a->throttled > b->throttled;
	return a->limit && (!b->limit || a->limit < b->limit);
}

bool look_group_between(const struct look_groups *before, const struct look_groups *after, struct look_group *found)
{
	uint32_t i;

	*found = (struct look_group){.limit = 0};
	/* a process that was moved meanwhile has others */
	if (!after->count || before->count != after->count)
		return false;
	for (i = 0; i < after->count; i++) {
		const struct look_group *then = &before->groups[i], *now = &after->groups[i];
		struct look_group one = {now->limit, since(then->throttled, now->throttled),
					 since(then->throttles, now->throttles), since(then->periods, now->periods)};

		if (i == 0 || matters_more(&one, found))
			*found = one;
	}
	return true;
}
