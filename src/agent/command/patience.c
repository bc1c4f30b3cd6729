#include "agent/command/patience.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "agent/session/session.h"
#include "agent/threads/own_thread.h"
#include "agent/threads/records.h"
#include "common/os/os.h"

#define LOOK (50 * NS_PER_MS) /* a longer time between two looks: this thread did not run either */
#define SUSPECT (50 * NS_PER_MS)

void patience_begin(struct patience *p, const struct patience_limits *limits, pid_t (*thread)(void))
{
	memset(p, 0, sizeof(*p));
	p->limits = *limits;
	p->thread = thread;
	p->looked = os_monotonic();
}

/* The threads that work in a safepoint; they are among the first that a JVM begins. */
static void find_jvm(struct patience *p)
{
	DIR *d = opendir("/proc/self/task");
	struct dirent *e;
	char name[32];
	int looked = 0;

	p->knows_jvm = true;
	while (d && p->jvm_count < PATIENCE_THREADS && looked++ < 256 && (e = readdir(d))) {
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

/* The control thread, or those of ours that it waits for: looking whether they have ended is no progress of its own. */
static unsigned list_ours(const struct patience *p, pid_t *tids)
{
	pid_t waiting = own_thread_waiting();
	unsigned i, count = session_drains() ? records_own_list(tids) : 0;

	for (i = 0; waiting && i < count; i++)
		if (tids[i] == waiting)
			tids[i] = tids[--count];
	if (count)
		return count;
	tids[0] = p->thread();
	return tids[0] != 0;
}

/* Whether one of COUNT threads runs, or has since *CPU was noted. */
static bool get_on(const pid_t *tids, unsigned count, uint64_t *cpu)
{
	uint64_t sum = 0;
	bool runs = false;
	unsigned i;

	for (i = 0; i < count; i++) {
		if (tids[i] == os_gettid())
			continue;
		sum += os_thread_cpu(tids[i]);
		runs = runs || os_thread_runs(tids[i]);
	}
	runs = runs || sum != *cpu;
	*cpu = sum;
	return runs;
}

bool patience_lasts(struct patience *p)
{
	uint64_t now = os_monotonic(), slept = MIN(now - p->looked, LOOK);
	pid_t ours[RECORDS_OWN];
	unsigned count = list_ours(p, ours);
	/* none: it was begun, and does not run yet */
	bool on = !count || get_on(ours, count, &p->cpu);

	p->looked = now;
	p->waited += slept;
	p->stalled = on ? 0 : p->stalled + slept;
	if (p->stalled >= SUSPECT && !p->knows_jvm)
		find_jvm(p);
	on = on || (p->knows_jvm && get_on(p->jvm, p->jvm_count, &p->jvm_cpu));
	p->all_stalled = on ? 0 : p->all_stalled + slept;
	return p->all_stalled < p->limits.stalled && p->stalled < PATIENCE_JVM * p->limits.stalled &&
	       p->waited < p->limits.total;
}
