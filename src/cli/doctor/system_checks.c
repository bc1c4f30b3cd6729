/*
 * system_checks.c - what the kernel and the limits of the process allow.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/attach/root.h"
#include "cli/doctor/doctor.h"
#include "cli/surroundings/surroundings_look.h"
#include "common/base/decimal.h"
#include "common/os/os.h"

#define DESCRIPTORS_MAX (1u << 20) /* more are not counted */

enum { CAP_BIT_SYS_ADMIN = 21, CAP_BIT_SYSLOG = 34, CAP_BIT_PERFMON = 38 }; /* linux/capability.h */

static bool can(const struct patient *p, int capability)
{
	return p->status.capabilities >> capability & 1;
}

static bool perf_unlimited(const struct patient *p)
{
	return can(p, CAP_BIT_PERFMON) || can(p, CAP_BIT_SYS_ADMIN);
}

static bool read_text(const char *path, char *text, size_t size)
{
	return process_read_at(AT_FDCWD, path, text, size) > 0;
}

/* The number in a file of one, -1 if it cannot be read. */
static long number_in(const char *path)
{
	char text[64];
	long number;

	return read_text(path, text, sizeof(text)) && sscanf(text, "%ld", &number) == 1 ? number : -1;
}

/* The soft limit called NAME in /proc/PID/limits; UINT64_MAX: unlimited or not known. */
static uint64_t limit(pid_t pid, const char *name)
{
	char text[4096], *line;
	size_t n = strlen(name);

	if (process_read(pid, "limits", text, sizeof(text)) <= 0)
		return UINT64_MAX;
	line = strstr(text, name);
	if (!line || strncmp(line + n + strspn(line + n, " "), "unlimited", 9) == 0)
		return UINT64_MAX;
	return strtoull(line + n, NULL, 10);
}

static unsigned descriptors(pid_t pid)
{
	struct dirent *entry;
	char path[64];
	unsigned n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	dir = opendir(path);
	while (dir && n < DESCRIPTORS_MAX && (entry = readdir(dir)))
		n += entry->d_name[0] != '.';
	if (dir)
		closedir(dir);
	return n;
}

void doctor_perf_events(const struct patient *p, struct finding *f)
{
	int paranoid = os_perf_paranoid();

	if (perf_unlimited(p) || paranoid <= 1)
		return;
	if (paranoid == 2)
		finding_say(f, DOCTOR_NOTE, "kernel.perf_event_paranoid is 2: stacks have no kernel frames");
	else
		finding_say(f, DOCTOR_NOTE, "kernel.perf_event_paranoid is %d: perf events are refused, -e cpu "
			    "samples by timers (ctimer), without kernel frames", paranoid);
	finding_remedy(f, "as root: jstrobe record --fdtransfer, sysctl kernel.perf_event_paranoid=1, or give the "
		       "process CAP_PERFMON");
}

void doctor_seccomp(const struct patient *p, struct finding *f)
{
	if (p->status.seccomp != 2)
		return;
	finding_say(f, DOCTOR_NOTE, "a seccomp filter is in force, as in most containers: where it refuses "
		    "perf_event_open, -e cpu samples by timers (ctimer)");
	finding_remedy(f, "for kernel frames: --fdtransfer, from outside, or allow perf_event_open in the container's "
		       "seccomp profile");
}

void doctor_kernel_symbols(const struct patient *p, struct finding *f)
{
	long restrict_level = number_in("/proc/sys/kernel/kptr_restrict");

	if (restrict_level <= 0 || (restrict_level == 1 && can(p, CAP_BIT_SYSLOG)))
		return;
	finding_say(f, DOCTOR_NOTE, "kernel.kptr_restrict is %ld: kernel frames have no names", restrict_level);
	finding_remedy(f, "as root: sysctl kernel.kptr_restrict=0");
}

void doctor_descriptors(const struct patient *p, struct finding *f)
{
	uint64_t most = limit(p->pid, "Max open files");
	unsigned open = descriptors(p->pid), threads = p->status.threads;

	if (open + 16 >= most) {
		finding_say(f, DOCTOR_PROBLEM, "it has %u of %llu descriptors open: it can open none for the agent",
			    open, (unsigned long long)most);
		finding_remedy(f, "prlimit --pid %d --nofile=%llu", (int)p->pid, (unsigned long long)most * 4);
	} else if ((uint64_t)open + threads + 64 > most) {
		finding_say(f, DOCTOR_NOTE, "%u descriptors open, %u threads, limit %llu: some threads will be "
			    "sampled by timers", open, threads, (unsigned long long)most);
		finding_remedy(f, "prlimit --pid %d --nofile=%u, or -e ctimer", (int)p->pid,
			    open + threads * 2 + 1024);
	}
}

void doctor_pending_signals(const struct patient *p, struct finding *f)
{
	unsigned most = p->status.pending_limit, used = p->status.pending, threads = p->status.threads;

	if (!most || (uint64_t)used + threads + 16 <= most)
		return;
	finding_say(f, DOCTOR_NOTE, "%u of its user's %u waiting signals are in use and it has %u threads: with -e "
		    "ctimer each needs one, those without are counted as refused", used, most, threads);
	finding_remedy(f, "prlimit --pid %d --sigpending=%u", (int)p->pid, used + threads * 2 + 1024);
}

void doctor_locked_memory(const struct patient *p, struct finding *f)
{
	long kb = number_in("/proc/sys/kernel/perf_event_mlock_kb");
	uint64_t most = limit(p->pid, "Max locked memory");
	uint64_t needed = (uint64_t)p->status.threads * 8192; /* a ring of two pages a thread */

	if (perf_unlimited(p) || kb < 0 || most == UINT64_MAX ||
	    needed <= (uint64_t)kb * 1024 * (uint64_t)os_cpus() + most)
		return;
	finding_say(f, DOCTOR_NOTE, "%u threads need %llu kB for perf events, %llu kB are allowed: the rest is "
		    "sampled by timers",
		    p->status.threads, (unsigned long long)needed / 1024,
		    (unsigned long long)((uint64_t)kb * (uint64_t)os_cpus() + most / 1024));
	finding_remedy(f, "as root: sysctl kernel.perf_event_mlock_kb=%llu", (unsigned long long)needed / 1024);
}

void doctor_cpu_quota(const struct patient *p, struct finding *f)
{
	struct look_groups now;
	struct look_group g;
	uint64_t limit, throttles;

	look_at_groups(&now, p->pid);
	if (!look_group_between(&(struct look_groups){.count = now.count}, &now, &g) || !g.limit)
		return;
	limit = g.limit;
	throttles = g.throttles;
	finding_say(f, throttles ? DOCTOR_NOTE : DOCTOR_OK, "it may use %s CPUs (cpu.max); it was throttled %llu "
		    "times so far", decimal((double)limit / 1000, 2).text, (unsigned long long)throttles);
	if (throttles)
		finding_remedy(f, "waiting for the quota is no CPU time: -e wall shows it");
}
