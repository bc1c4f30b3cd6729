/*
 * attach.h - finding JVMs and getting the agent into one.
 *
 * Everything is read from /proc before anything is done, for the usual way of
 * attaching begins with a SIGQUIT, and that kills whatever is not a HotSpot JVM
 * with its handler in place. Single-threaded; the effective user may change for
 * a moment inside attach_load.
 */
#ifndef JSTROBE_CLI_ATTACH_ATTACH_H
#define JSTROBE_CLI_ATTACH_ATTACH_H

#include <limits.h>
#include <sys/types.h>

#include "cli/attach/identity.h"
#include "cli/attach/root.h"
#include "cli/attach/survey.h"
#include "common/base/buffer.h"
#include "common/base/error.h"
#include "common/base/vector.h"

struct attach_target {
	pid_t pid;    /* as we see it */
	pid_t nspid;  /* as the process sees itself */
	uid_t uid;    /* effective */
	int pidfd;    /* -1: the kernel has none */
	struct root root; /* its file system, and the user by whose rights it is used */
	struct identity identity; /* what was looked at */
	int wake;     /* waiting ends with -EINTR when this descriptor is readable; -1: none */
};

struct process_status;

/* What attach_check asks of a process, in its order; ended by a row without name. */
struct attach_precondition {
	const char *name, *asks;
	/* 0, or a negative errno with the reason and the remedy in ERR. */
	int (*check)(pid_t pid, const struct process_status *s, struct error *err);
};
extern const struct attach_precondition attach_preconditions[];

/*
 * Look at process PID and refuse it, with the reason and the remedy, if it is not a HotSpot JVM
 * that we may attach to without harming it. WAKE goes into the target.
 */
int attach_check(pid_t pid, int wake, struct attach_target *t, struct error *err);
/* A target that is none. */
#define ATTACH_TARGET_INIT {.pidfd = -1, .root.fd = -1, .identity.proc = -1, .wake = -1}
/* Release what attach_check opened; safe on ATTACH_TARGET_INIT. */
void attach_close(struct attach_target *t);
/* True while the process is there and no zombie. */
bool attach_alive(const struct attach_target *t);
/* Why the process may be silent: "is stopped ..." or a guess; static text. */
const char *attach_silence(const struct attach_target *t);
/* A copy of the agent that a process has mapped. */
struct attach_copy {
	char path[PATH_MAX]; /* as the process sees it */
	bool old;            /* the file was deleted or replaced since: the path does not lead to what is mapped */
};
/* Put the copies of the agent in PID, in the order of their addresses, into COPIES[MAX]; how many there are of them. */
size_t attach_copies(pid_t pid, struct attach_copy *copies, size_t max);

/* Whether the file PATH, whatever its name, has that in it by which copies of our library find each other. */
bool attach_is_agent_file(const char *path);
/* True if a file called LIBRARY (base name) is mapped in PID. */
bool attach_has_library(pid_t pid, const char *library);
/* The same for one that was deleted or replaced since: another build than the one on disk. */
bool attach_has_old_library(pid_t pid, const char *library);

/*
 * Where the target's user can load the agent LIBRARY (absolute path here) from, as the target sees
 * it: LIBRARY itself if it is the same file there, else a copy in /tmp/jstrobe-<uid>/<version>/ (or
 * another folder, where /tmp is noexec), which is made unless an equal one is there. *COPIED says
 * which. Nothing is ever overwritten. All of it is done with the target user's rights. Without MAKE nothing is made:
 * the answer is whether it could be.
 */
int attach_library(const struct attach_target *t, const char *library, bool make, char path[PATH_MAX],
		   bool *copied, struct error *err);
/* Whether the path LIBRARY is one of a copy of this version. */
bool attach_is_copy(const char *library);
/* What attach_clean found. */
struct attach_cleaned {
	unsigned removed;    /* copies of the agent */
	unsigned used;       /* copies that a process still has loaded, */
	pid_t user;          /* for example this one, */
	bool unsure;         /* which does not let itself be looked at, and so may have */
};
/* Remove the copies that attach_library made in PID's file system and that no process uses. */
int attach_clean(pid_t pid, struct attach_cleaned *cleaned, struct error *err);

/* What attach_load takes for "the copy of the agent that was loaded first", whatever became of its file (glibc). */
#define ATTACH_LOADED "jstrobe"

/*
 * Have the JVM load the agent LIBRARY (absolute path as the target sees it) with OPTIONS; one that is loaded already is
 * called again.
 * *REFUSED is set when the agent was loaded but its Agent_OnAttach returned an error.
 */
int attach_load(const struct attach_target *t, const char *library, const char *options,
		int timeout_ms, bool *refused, struct error *err);

/*
 * Have the JVM carry out COMMAND as its jcmd does ("VM.native_memory summary"); OUT gets what it answers. It works at a
 * thread of the JVM's own, and the JVM keeps its attach socket from then on.
 */
int attach_jcmd(const struct attach_target *t, const char *command, int timeout_ms, struct buffer *out,
		struct error *err);

/* One running JVM. */
struct attach_jvm {
	pid_t pid;
	uid_t uid;
	char jdk[48];    /* "17.0.15", "?" if unknown */
	char main[256];  /* main class or jar, "?" if unknown */
	pid_t nspid;     /* as it sees itself: another number in a container */
	bool unseen;     /* its threads are a JVM's, but we may not look at it */
};
struct attach_jvms {
	struct attach_jvm *items; /* that we may look at */
	size_t count, capacity;
	VECTOR(struct attach_jvm) unseen;
	struct survey_late late; /* processes that could not be looked at in time */
};

/* All JVMs, by pid; attach_list_free gives them back. */
int attach_list(struct attach_jvms *jvms, struct error *err);
void attach_list_free(struct attach_jvms *jvms);
/*
 * The process that TARGET means: a number, or a name: equal to a main class (with or without its
 * package) or jar, else contained in one. Several or none: an error that says which there are.
 */
int attach_resolve(const char *target, pid_t *pid, struct error *err);

#endif
