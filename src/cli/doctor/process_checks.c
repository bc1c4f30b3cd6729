/*
 * process_checks.c - what lies in the process itself: its JVM, its place, who else is in it.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "cpu.h"
#include "cli/attach/attach.h"
#include "cli/attach/root.h"
#include "cli/doctor/doctor.h"

#define COPY_BYTES (4u << 20) /* more than the library has */

void doctor_dynamic_agents(const struct patient *p, struct finding *f)
{
	if (p->java.agents_off) {
		finding_say(f, DOCTOR_PROBLEM, "it runs with -XX:-EnableDynamicAgentLoading, so the JVM refuses "
			    "agents");
		finding_remedy(f, "start it without, or with -agentpath:…/libjstrobe.so=start");
	} else if (p->feature >= 21 && !p->java.agents_on) {
		finding_say(f, DOCTOR_NOTE, "JDK %d prints a warning of its own when an agent is loaded (JEP 451)",
			    p->feature);
		finding_remedy(f, "-XX:+EnableDynamicAgentLoading hides it");
	}
}

static bool same_namespace(pid_t pid, const char *name)
{
	char path[64], ours[64], theirs[64];
	ssize_t a, b;

	snprintf(path, sizeof(path), "/proc/self/ns/%s", name);
	a = readlink(path, ours, sizeof(ours));
	snprintf(path, sizeof(path), "/proc/%d/ns/%s", (int)pid, name);
	b = readlink(path, theirs, sizeof(theirs));
	return a < 0 || b < 0 || (a == b && memcmp(ours, theirs, (size_t)a) == 0);
}

void doctor_namespaces(const struct patient *p, struct finding *f)
{
	static const char *const names[] = {"mnt", "pid", "net", "ipc", "user"};
	char others[64] = "";
	size_t i, n = 0;

	if (p->root_error) {
		finding_say(f, DOCTOR_PROBLEM, "its root folder cannot be reached: %s", strerror(-p->root_error));
		finding_remedy(f, "run jstrobe as its user or with CAP_SYS_PTRACE");
		return;
	}
	for (i = 0; i < ARRAY_LEN(names); i++)
		if (!same_namespace(p->pid, names[i]))
			n += (size_t)snprintf(others + n, sizeof(others) - n, "%s%s", n ? ", " : "", names[i]);
	if (n)
		finding_say(f, DOCTOR_OK, "in a container: other namespaces (%s), there its pid is %d", others,
			    (int)p->status.nspid);
}

void doctor_tmp(const struct patient *p, struct finding *f)
{
	struct statvfs st;
	int fd = p->root_error ? -1 : root_open(&p->root, "/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (p->root_error)
		return; /* namespaces has said it */
	if (fd < 0) {
		finding_say(f, DOCTOR_PROBLEM, "it has no /tmp (%s), where the JVM's attach socket is made",
			    strerror(-fd));
		finding_remedy(f, "make the folder, or start it with -agentpath:…/libjstrobe.so=start");
		return;
	}
	if (fstatvfs(fd, &st)) {
		finding_say(f, DOCTOR_NOTE, "its /tmp cannot be looked at: %s", strerror(errno));
	} else if (st.f_flag & ST_RDONLY) {
		finding_say(f, DOCTOR_PROBLEM, "its /tmp is read-only, where the JVM's attach socket is made");
		finding_remedy(f, "mount something writable there, or use -agentpath:…/libjstrobe.so=start");
	} else if ((uint64_t)st.f_bavail * st.f_frsize < COPY_BYTES) {
		finding_say(f, DOCTOR_NOTE, "its /tmp is full: %llu bytes free",
			    (unsigned long long)st.f_bavail * st.f_frsize);
		finding_remedy(f, "free some megabytes, if the library has to be copied there");
	} else if (st.f_flag & ST_NOEXEC) {
		finding_say(f, DOCTOR_NOTE, "its /tmp is mounted noexec: the library is copied to another folder");
	}
	close(fd);
}

void doctor_libc(const struct patient *p, struct finding *f)
{
	if (process_has_mapped(p->pid, "ld-musl-" CPU_MUSL ".so.1"))
		finding_say(f, DOCTOR_NOTE,
			    "its JVM is one for musl: the library loads there, but was never tried with one");
}

void doctor_debugger(const struct patient *p, struct finding *f)
{
	if (p->status.tracer)
		finding_say(f, DOCTOR_NOTE, "process %d debugs it: it answers only while that lets it run",
			    (int)p->status.tracer);
}

void doctor_safepoint(const struct patient *p, struct finding *f)
{
	if (!process_at_safepoint(p->pid))
		return;
	finding_say(f, DOCTOR_NOTE, "its VM thread works without a break: it stands at a safepoint or waits for "
		    "threads to reach one, and answers afterwards");
	finding_remedy(f, "try again later, or give --attach-timeout more than that lasts; --ttsp tells who is late");
}

void doctor_profilers(const struct patient *p, struct finding *f)
{
	static const char *const libraries[] = {
		"libasyncProfiler.so", "libyjpagent.so", "libjprofilerti.so",
		"liblagent.so", "libprofilerinterface.so",
	};
	char found[256] = "";
	size_t i, n = 0;

	for (i = 0; i < ARRAY_LEN(libraries); i++)
		if (attach_has_library(p->pid, libraries[i]))
			n += (size_t)snprintf(found + n, sizeof(found) - n, "%s%s", n ? ", " : "", libraries[i]);
	if (n) {
		finding_say(f, DOCTOR_NOTE, "other profilers are loaded: %s; while they sample, each costs time "
			    "and may be seen in the other's result", found);
		finding_remedy(f, "stop them first if the figures are to be exact");
	} else if (attach_has_old_library(p->pid, "libjstrobe.so")) {
		finding_say(f, DOCTOR_NOTE, "another build of jstrobe's agent is loaded; ours is loaded beside it");
	}
}

void doctor_signal_handlers(const struct patient *p, struct finding *f)
{
	static const struct {
		int number;
		const char *name;
	} ours[] = {{SIGSTKFLT, "SIGSTKFLT"}, {SIGPWR, "SIGPWR"}, {SIGVTALRM, "SIGVTALRM"}, {SIGUSR1, "SIGUSR1"}};
	bool itimer_taken = p->status.caught >> (SIGPROF - 1) & 1, one_free = false;
	size_t i;

	for (i = 0; i < ARRAY_LEN(ours); i++)
		one_free |= !((p->status.caught | p->status.ignored) >> (ours[i].number - 1) & 1);
	if (!one_free && !attach_has_library(p->pid, "libjstrobe.so")) {
		finding_say(f, DOCTOR_NOTE, "none of the signals that jstrobe samples by is free (SIGSTKFLT, "
			    "SIGPWR, SIGVTALRM, SIGUSR1)");
		finding_remedy(f, "--signal N with one that the program does not use");
	} else if (itimer_taken) {
		finding_say(f, DOCTOR_NOTE, "SIGPROF has a handler already: another profiler; -e itimer is "
			    "refused");
		finding_remedy(f, "the other engines do not need it");
	}
}

void doctor_debug_info(const struct patient *p, struct finding *f)
{
	if (p->java.debug_positions)
		return;
	finding_say(f, DOCTOR_OK, "code compiled before the session shows the nearest position the JVM has "
		    "(-XX:+DebugNonSafepoints is not set; jstrobe switches it on while it samples)");
}
