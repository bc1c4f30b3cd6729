#include "cli/surroundings/surroundings_look.h"

#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/attach/process.h"
#include "common/os/os.h"

#define STAT_SIZE 1024

/* These are as they are at the moment, not so far. */
static const enum surrounding now[] = {AROUND_cpus, AROUND_threads, AROUND_interpreted_only,
				       AROUND_debugger, AROUND_debug_build, AROUND_java_agents,
				       AROUND_deadlocked, AROUND_deadlock_thread, AROUND_deadlock_owner};

static bool is_now(unsigned which)
{
	unsigned i;

	for (i = 0; i < ARRAY_LEN(now); i++)
		if (now[i] == which)
			return true;
	return false;
}

static uint64_t ticks_ns(uint64_t ticks)
{
	long second = sysconf(_SC_CLK_TCK);

	return ticks * (NS_PER_S / (uint64_t)(second > 0 ? second : 100));
}

static void look_at_process(struct surroundings *s, pid_t pid)
{
	unsigned long long minor, major, user, system;
	char text[STAT_SIZE];
	const char *p = process_read(pid, "stat", text, sizeof(text)) > 0 ? strrchr(text, ')') : NULL;
	cpu_set_t set;
	long threads;

	/* state ppid pgrp session tty tpgid flags minflt cminflt majflt cmajflt utime stime … num_threads */
	if (p && sscanf(p + 1, " %*c %*d %*d %*d %*d %*d %*u %llu %*u %llu %*u %llu %llu %*d %*d %*d %*d %ld",
			&minor, &major, &user, &system, &threads) == 5) {
		around_set(s, AROUND_minor_faults, minor);
		around_set(s, AROUND_major_faults, major);
		around_set(s, AROUND_cpu, ticks_ns(user + system));
		around_set(s, AROUND_cpu_system, ticks_ns(system));
		around_set(s, AROUND_threads, (uint64_t)threads);
	}
	if (sched_getaffinity(pid, sizeof(set), &set) == 0)
		around_set(s, AROUND_cpus, (uint64_t)CPU_COUNT(&set));
}

static void look_at_io(struct surroundings *s, pid_t pid)
{
	static const struct {
		const char *key;
		enum surrounding which;
	} lines[] = {{"rchar:", AROUND_read_bytes}, {"wchar:", AROUND_written_bytes}, {"syscr:", AROUND_read_calls},
		     {"syscw:", AROUND_write_calls}};
	char text[STAT_SIZE];
	const char *at;
	unsigned i;

	if (process_read(pid, "io", text, sizeof(text)) <= 0)
		return;
	for (i = 0; i < ARRAY_LEN(lines); i++) {
		at = strstr(text, lines[i].key);
		if (at)
			around_set(s, lines[i].which, strtoull(at + strlen(lines[i].key), NULL, 10));
	}
}

static void look_at_machine(struct surroundings *s)
{
	uint64_t busy, all, steal;

	if (os_machine_times(&busy, &all, &steal))
		return;
	around_set(s, AROUND_machine_all, ticks_ns(all));
	around_set(s, AROUND_machine_busy, ticks_ns(busy - steal));
	around_set(s, AROUND_steal, ticks_ns(steal));
}

/* How long each thread wanted a CPU so far: the second number of its schedstat. */
static void look_at_threads(struct look *l, pid_t pid)
{
	char path[64], name[64], text[128];
	unsigned long long delay;
	struct dirent *e;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	while (tasks && (e = readdir(tasks))) {
		uint32_t *low;
		uint64_t tid = strtoull(e->d_name, NULL, 10);

		snprintf(name, sizeof(name), "task/%llu/schedstat", (unsigned long long)tid);
		if (!tid || process_read(pid, name, text, sizeof(text)) <= 0 || sscanf(text, "%*u %llu", &delay) != 1)
			continue;
		/* in µs, the low part: between two looks fewer than 71 minutes of waiting pass */
		low = map_put(&l->delays, tid, NULL);
		l->with_threads |= low != NULL; /* a kernel without schedstat says nothing */
		if (low)
			*low = (uint32_t)(delay / NS_PER_US);
	}
	if (tasks)
		closedir(tasks);
}

void look_take(struct look *l, pid_t pid, bool threads)
{
	*l = (struct look){.at = os_monotonic()};
	look_at_process(&l->totals, pid);
	look_at_io(&l->totals, pid);
	look_at_machine(&l->totals);
	look_at_groups(&l->groups, pid);
	look_at_jvm(&l->totals, pid, threads);
	if (threads)
		look_at_threads(l, pid);
}

void look_free(struct look *l)
{
	map_free(&l->delays);
	*l = (struct look){.at = 0};
}

/* How long threads wanted a CPU between the looks. */
static uint64_t delays(const struct look *before, const struct look *after)
{
	uint64_t sum = 0, span = (after->at - before->at) / NS_PER_US; /* µs */
	uint32_t i, waited;

	for (i = 0; i < after->delays.capacity; i++) {
		const struct map_slot *slot = &after->delays.slots[i];
		const uint32_t *then = slot->used ? map_get(&before->delays, slot->key) : NULL;

		if (!slot->used)
			continue;
		/* a thread that is new has waited all of it meanwhile; one with a number that was taken anew, too */
		waited = slot->value - (then ? *then : 0);
		sum += MIN(waited <= span || !then ? waited : slot->value, span);
	}
	return sum * NS_PER_US;
}

/* What their control groups' quotas did to them. */
static void take_quota(const struct look *before, const struct look *after, struct surroundings *s)
{
	struct look_group g;

	if (!look_group_between(&before->groups, &after->groups, &g))
		return;
	around_set(s, AROUND_cpu_limit, g.limit);
	around_set(s, AROUND_throttled, g.throttled);
	around_set(s, AROUND_throttles, g.throttles);
	around_set(s, AROUND_quota_periods, g.periods);
}

void look_difference(const struct look *before, const struct look *after, struct surroundings *s)
{
	unsigned i;

	*s = (struct surroundings){.known = 0};
	if (!before->at || !after->at || !around_known(&after->totals, AROUND_cpu))
		return;
	for (i = 0; i < SURROUNDINGS; i++) {
		uint64_t then = before->totals.value[i], value = after->totals.value[i];

		/* what a short look left out is as it was */
		if (is_now(i) && (around_known(&after->totals, i) || around_known(&before->totals, i)))
			around_set(s, i, around_known(&after->totals, i) ? value : then);
		else if (!is_now(i) && around_known(&after->totals, i) && around_known(&before->totals, i))
			around_set(s, i, value - MIN(then, value));
	}
	take_quota(before, after, s);
	around_set(s, AROUND_span, after->at - before->at);
	if (before->with_threads && after->with_threads)
		around_set(s, AROUND_run_delay, delays(before, after));
}
