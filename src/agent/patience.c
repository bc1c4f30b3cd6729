#include "agent/patience.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "agent/session.h"
#include "engine/engine.h"
#include "os/os.h"

#define LOOK (50 * NS_PER_MS) /* a longer time between two looks: this thread did not run either */
#define SUSPECT (50 * NS_PER_MS)

void patience_begin(struct patience *p, const struct control_limits *limits)
{
	memset(p, 0, sizeof(*p));
	p->limits = *limits;
	p->began = p->looked = os_monotonic();
}

/* The threads that work in a safepoint; they are among the first that a JVM begins. */
static void find_jvm(struct patience *p)
{
	DIR *d = opendir("/proc/self/task");
	struct dirent *e;
	char name[32];
	int looked = 0;

	p->knows_jvm = true;
	while (d && p->jvm_count < PATIENCE_JVM && looked++ < 256 && (e = readdir(d))) {
		pid_t tid = (pid_t)atoi(e->d_name);

		if (tid <= 0)
			continue;
		os_thread_name(tid, name, sizeof(name));
		if (strcmp(name, "VM Thread") == 0 || strncmp(name, "GC Thread", 9) == 0)
			p->jvm[p->jvm_count++] = tid;
	}
	if (d)
		closedir(d);
}

/* The control thread, and those of ours that it waits for. */
static unsigned list_ours(pid_t *tids)
{
	if (session_drains())
		return records_own_list(tids);
	tids[0] = control_thread_id();
	return tids[0] != 0;
}

/* Whether one of those that are waited for runs now; *CPU: what they used. */
static bool one_runs(struct patience *p, uint64_t *cpu)
{
	pid_t ours[RECORDS_OWN];
	unsigned i, count = list_ours(ours);
	bool runs = false;

	*cpu = 0;
	for (i = 0; i < count; i++) {
		if (ours[i] == os_gettid())
			continue;
		*cpu += os_thread_cpu(ours[i]);
		runs = runs || os_thread_runs(ours[i]);
	}
	if (p->stalled >= SUSPECT && !p->knows_jvm)
		find_jvm(p);
	for (i = 0; i < p->jvm_count; i++) {
		*cpu += os_thread_cpu(p->jvm[i]);
		runs = runs || os_thread_runs(p->jvm[i]);
	}
	return runs || !count; /* it was begun, and does not run yet */
}

bool patience_lasts(struct patience *p)
{
	uint64_t now = os_monotonic(), slept = MIN(now - p->looked, LOOK), cpu;
	bool on = one_runs(p, &cpu) || cpu != p->cpu;

	p->looked = now;
	p->cpu = cpu;
	p->stalled = on ? 0 : p->stalled + slept;
	return p->stalled < p->limits.stalled && now - p->began < p->limits.total;
}
