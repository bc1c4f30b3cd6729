/*
 * May we attach? Each reason against it has its own sentence and remedy.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli/attach/attach.h"
#include "cli/attach/process.h"
#include "cli/attach/root.h"
#include "common/os/os.h"

#define CAP_BIT_SYS_PTRACE 19 /* linux/capability.h */
#define JUST_STARTED NS_PER_S /* so long the launcher may take until it has loaded the JVM */

static int check_state(pid_t pid, const struct process_status *s, struct error *err)
{
	if (s->tgid != pid)
		return error_set(err, EINVAL, "%d is a thread of process %d; give that number",
				 (int)pid, (int)s->tgid);
	if (s->state == 'Z' || s->state == 'X')
		return error_set(err, ESRCH, "process %d has ended already (it is a zombie)",
				 (int)pid);
	if (s->state == 'T' || s->state == 't')
		return error_set(err, EBUSY, "process %d is stopped (%s) and cannot answer; %s",
				 (int)pid, s->state == 't' ? "by a debugger" : "by a signal",
				 s->state == 't' ? "let the debugger continue it" :
						   "continue it with kill -CONT");
	return 0;
}

static int check_user(pid_t pid, const struct process_status *s, struct error *err)
{
	char owner[64];

	if (geteuid() == 0 || geteuid() == s->uid)
		return 0;
	return error_set(err, EPERM, "process %d belongs to %s (uid %u); run jstrobe as that user "
			 "or as root", (int)pid, user_name(s->uid, owner, "another user"),
			 (unsigned)s->uid);
}

/* What could help to see a process's memory map. */
static const char *rights_that_lack(void)
{
	struct process_status own;

	if (geteuid())
		return "run jstrobe as root";
	if (process_status(getpid(), &own) == 0 && !(own.capabilities >> CAP_BIT_SYS_PTRACE & 1))
		return "run jstrobe as that user, or give it CAP_SYS_PTRACE (docker --cap-add SYS_PTRACE, "
		       "kubectl debug --profile=general)";
	return "the system protects it even from root";
}

static int check_vm(pid_t pid, const struct process_status *s, struct error *err)
{
	char libjvm[PATH_MAX];
	enum process_vm vm;
	uint64_t until = os_monotonic() + JUST_STARTED;
	int rc = process_vm(pid, &vm, libjvm);

	/* a JVM that was started a moment ago has not loaded it yet */
	while (rc == 0 && vm == PROCESS_NO_VM && process_is_launcher(pid, "") && os_monotonic() < until) {
		os_sleep(10 * NS_PER_MS);
		rc = process_vm(pid, &vm, libjvm);
	}
	if (rc)
		return error_set(err, -rc, "process %d (uid %u): its memory map cannot be read: %s; %s", (int)pid,
				 (unsigned)s->uid, error_text(-rc), rights_that_lack());
	if (vm == PROCESS_OPENJ9)
		return error_set(err, ENOTSUP, "process %d runs OpenJ9; jstrobe profiles HotSpot "
				 "JVMs only", (int)pid);
	if (vm == PROCESS_NO_VM)
		return error_set(err, ENOTSUP, "process %d is no HotSpot JVM (it has no libjvm.so; "
				 "native images cannot be profiled); 'jstrobe ps' lists the JVMs",
				 (int)pid);
	return 0;
}

static int check_switches(pid_t pid, const struct process_status *s, struct error *err)
{
	struct process_java java;
	bool caught = s->caught >> (SIGQUIT - 1) & 1;

	process_java(pid, s, &java);
	if (java.attach_disabled)
		return error_set(err, EPERM, "process %d runs with -XX:+DisableAttachMechanism; "
				 "start it without, or with -agentpath:…/libjstrobe.so=start",
				 (int)pid);
	if (java.reduced_signals)
		return error_set(err, EPERM, "process %d runs with -Xrs, so the SIGQUIT by which "
				 "one attaches would kill it; start it without -Xrs, or with "
				 "-agentpath:…/libjstrobe.so=start", (int)pid);
	if (!caught)
		return error_set(err, EAGAIN, "process %d has no handler for SIGQUIT, so attaching "
				 "could kill it: it was started with -Xrs, or is just starting up "
				 "(then try again)", (int)pid);
	return 0;
}

const struct attach_precondition attach_preconditions[] = {
	{"state", "it runs", check_state},
	{"user", "it belongs to us, or we are root", check_user},
	{"vm", "it is a HotSpot JVM", check_vm},
	{"attach", "the JVM lets itself be attached to", check_switches},
	{NULL, NULL, NULL},
};

static int check_all(pid_t pid, const struct process_status *s, struct error *err)
{
	size_t i;
	int rc = 0;

	for (i = 0; attach_preconditions[i].name && !rc; i++)
		rc = attach_preconditions[i].check(pid, s, err);
	return rc;
}

static int open_root(struct attach_target *t, struct error *err)
{
	int rc = root_of(t->pid, &t->root);

	if (rc)
		return error_set(err, -rc, "process %d: its file system cannot be reached: %s; "
				 "run jstrobe with CAP_SYS_PTRACE", (int)t->pid, error_text(-rc));
	/* the number may be another process's by now */
	if (!attach_alive(t))
		return error_set(err, ESRCH, "process %d ended while we looked at it", (int)t->pid);
	/* else its users may be those of the program before */
	if (!identity_holds(&t->identity))
		return error_set(err, EAGAIN, "process %d became another program, or another user's, while we looked "
				 "at it; try again", (int)t->pid);
	return 0;
}

int attach_check(pid_t pid, int wake, struct attach_target *t, struct error *err)
{
	struct process_status s;

	*t = (struct attach_target)ATTACH_TARGET_INIT;
	t->pid = pid;
	t->wake = wake;
	/* first the handles, then the checks: what was checked is what gets the signal */
	t->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	identity_take(pid, &t->identity); /* what is in its way is in that of the checks, too */
	if (process_status(pid, &s))
		error_set(err, ESRCH, "there is no process %d; 'jstrobe ps' lists the JVMs",
			  (int)pid);
	else if (check_all(pid, &s, err) == 0 && open_root(t, err) == 0) {
		t->nspid = s.nspid;
		t->uid = t->root.user.uid;
		return 0;
	}
	attach_close(t);
	return -err->code;
}

void attach_close(struct attach_target *t)
{
	if (t->pidfd >= 0)
		close(t->pidfd);
	t->pidfd = -1;
	root_close(&t->root);
	identity_close(&t->identity);
}

bool attach_alive(const struct attach_target *t)
{
	struct pollfd p = {.fd = t->pidfd, .events = POLLIN};
	struct process_status s;

	if (t->pidfd >= 0)
		return poll(&p, 1, 0) == 0;
	return process_status(t->pid, &s) == 0 && s.state != 'Z' && s.state != 'X';
}

const char *attach_silence(const struct attach_target *t)
{
	struct process_status s = {0};

	process_status(t->pid, &s);
	if (s.state == 'T')
		return "it is stopped by a signal: continue it with kill -CONT";
	if (s.state == 't')
		return "it is stopped by a debugger";
	if (process_at_safepoint(t->pid))
		return "its VM thread works without a break: it stands at a safepoint or waits for threads to reach "
		       "one, and answers afterwards; try a longer --attach-timeout";
	return "it may be busy, swapped out or starting: try a longer --attach-timeout";
}
