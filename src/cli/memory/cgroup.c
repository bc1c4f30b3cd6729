/*
 * cgroup.c - the memory limit that the process is under: the tightest of its control groups.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/attach/cgroup_path.h"
#include "cli/memory/resident.h"

#define V1_NONE (1ull << 60) /* "no limit" is the largest number of pages there */

/* A number, or UINT64_MAX for "max". */
static bool read_number(const struct cgroup_folder *folder, const char *name, uint64_t *value)
{
	char text[64];

	if (!cgroup_read(folder, name, text, sizeof(text)))
		return false;
	*value = strncmp(text, "max", 3) == 0 ? UINT64_MAX : strtoull(text, NULL, 10);
	if (*value >= V1_NONE)
		*value = UINT64_MAX;
	return true;
}

static uint64_t stat_of(const struct cgroup_folder *folder, const char *key)
{
	char text[8192];

	return cgroup_read(folder, "memory.stat", text, sizeof(text)) ? cgroup_value(text, key) : 0;
}

static bool take_group(const struct cgroup_folder *folder, void *arg)
{
	uint64_t limit = UINT64_MAX, used = 0, swap = UINT64_MAX, swapped = 0, file;
	bool two = folder->version == 2;
	struct memory_cgroup *g = arg;

	if (!read_number(folder, two ? "memory.current" : "memory.usage_in_bytes", &used))
		return false;
	read_number(folder, two ? "memory.max" : "memory.limit_in_bytes", &limit);
	if (limit >= g->limit && g->used)
		return true;
	read_number(folder, two ? "memory.swap.max" : "memory.memsw.limit_in_bytes", &swap);
	read_number(folder, two ? "memory.swap.current" : "memory.memsw.usage_in_bytes", &swapped);
	/* version 1 tells memory and swap together */
	if (!two) {
		swapped -= MIN(swapped, used);
		swap = swap == UINT64_MAX || limit == UINT64_MAX ? UINT64_MAX : swap - MIN(swap, limit);
	}
	file = stat_of(folder, two ? "inactive_file" : "total_inactive_file");
	*g = (struct memory_cgroup){folder->version, limit, used, file, swap, swapped};
	return used > 0;
}

void memory_read_cgroup(pid_t pid, struct memory_cgroup *g)
{
	*g = (struct memory_cgroup){.limit = UINT64_MAX};
	cgroup_each(pid, "memory", take_group, g);
	if (!g->used)
		g->version = 0;
}
