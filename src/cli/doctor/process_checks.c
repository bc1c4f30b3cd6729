/*
 * process_checks.c - what lies in the process itself: its JVM, its place, who else is in it.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/attach/attach.h"
#include "cli/attach/root.h"
#include "cli/doctor/doctor.h"
#include "cli/talk/agent.h"
#include "cpu.h"

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
		finding_say(f, DOCTOR_PROBLEM, "its root folder cannot be reached: %s", error_text(-p->root_error));
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
	struct error err;

	/* what is in the way before has been said */
	if (p->target.pid && agent_check_tmp(&p->target, &err))
		finding_say(f, DOCTOR_PROBLEM, "%s", err.text);
}

void doctor_library(const struct patient *p, struct finding *f)
{
	char path[PATH_MAX];
	struct error err;
	bool copied;

	if (!p->target.pid)
		return;
	if (agent_library(&p->target, p->options, false, path, &copied, &err))
		finding_say(f, DOCTOR_PROBLEM, "%s", err.text);
	else if (copied)
		finding_say(f, DOCTOR_OK, "it does not see the agent where it lies here: a copy goes to %.200s in its "
			    "file system", path);
}

void doctor_libc(const struct patient *p, struct finding *f)
{
	if (attach_has_library(p->pid, "ld-musl-" CPU_MUSL ".so.1"))
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
