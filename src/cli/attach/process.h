/*
 * process.h - what /proc tells of a process. Inner header of what works in it: attach/,
 * doctor/, transfer.c.
 */
#ifndef JSTROBE_CLI_ATTACH_PROCESS_H
#define JSTROBE_CLI_ATTACH_PROCESS_H

#include <limits.h>
#include <sys/types.h>

#include "cli/attach/root.h"
#include "common/base/base.h"
#include "common/base/error.h"

struct process_status {
	char state; /* R S D T t Z X */
	pid_t tgid, nspid;
	uid_t uid;
	gid_t gid;
	gid_t groups[USER_GROUPS];
	unsigned group_count;
	uint64_t caught, ignored; /* signals as bits, signal 1 = bit 0 */
	uint64_t capabilities;    /* effective ones as bits */
	unsigned threads;
	unsigned pending, pending_limit; /* signals of the user that wait, and may */
	pid_t tracer;             /* pid of its debugger; 0 = none */
	int seccomp;              /* 2 = a filter */
};

/* Kinds of VM by the libraries that are mapped. */
enum process_vm { PROCESS_NO_VM, PROCESS_HOTSPOT, PROCESS_OPENJ9 };

/* NUL-terminated contents of /proc/PID/NAME in BYTES[SIZE], cut if too long; length or -errno. */
ssize_t process_read(pid_t pid, const char *name, char *bytes, size_t size);
/* The same of the process whose folder PROC is open (struct identity). */
ssize_t process_read_at(int proc, const char *name, char *bytes, size_t size);
/* All of the file NAME in the open folder PROC, a `status`, to be freed; NULL, and *N is -errno, or 0: it is empty. */
char *process_status_text(int proc, const char *name, ssize_t *n);
/* What /proc/PID/status, TEXT, says; TEXT is changed. -ESRCH: it says nothing. */
int process_status_parse(char *text, pid_t pid, struct process_status *s);
/* -ESRCH: no such process. */
int process_status(pid_t pid, struct process_status *s);
/* Which VM is in PID; LIBJVM gets the path of libjvm.so. -EACCES: not ours to see. */
int process_vm(pid_t pid, enum process_vm *vm, char libjvm[PATH_MAX]);

/* Whether PID may have the file with DEVICE and INODE mapped, by a path that ends in SUFFIX, "/folder/file". */
struct process_file {
	const char *suffix;
	dev_t device;
	ino_t inode;
};
bool process_may_have_mapped(pid_t pid, const struct process_file *file);

/* The thread of PID, by its number here, of which IS(pid, number, arg) holds first; 0: of none. */
pid_t process_find_thread(pid_t pid, bool (*is)(pid_t pid, pid_t number, const void *arg), const void *arg);

/* Whether it has the thread that every HotSpot JVM has; others' processes show that much of them. */
bool process_has_vm_thread(pid_t pid);

/* Whether its JVM seems to be at a safepoint, or on the way to one, all through 0.3 s, which this takes. */
bool process_at_safepoint(pid_t pid);

/* What the launcher's command line and the environment's options say. */
struct process_java {
	char main[256];       /* main class, jar, or "?" */
	char version[48];     /* "1.8.0_402", as the JVM itself says; "" = it does not */
	bool reduced_signals; /* -Xrs */
	bool attach_disabled; /* -XX:+DisableAttachMechanism */
	bool agents_on, agents_off; /* EnableDynamicAgentLoading, if it was said */
	bool debug_positions; /* -XX:+DebugNonSafepoints */
};
void process_java(pid_t pid, const struct process_status *s, struct process_java *java);
/* Whether PID runs the JDK's launcher, "java"; its executable cannot always be seen: then ARGV0 says. */
bool process_is_launcher(pid_t pid, const char *argv0);

/* What the JVM itself says in its performance data; "" = not told. */
struct process_perfdata {
	char main[256];
	char version[48];
	char arguments[8192]; /* options, apart by blanks */
};
/* False if there are none (-XX:-UsePerfData, or another user's file). */
bool process_perfdata(pid_t pid, const struct process_status *s, struct process_perfdata *p);
/* Call FN for each number there; none if there are none. */
void process_perf_numbers(pid_t pid, const struct process_status *s,
			  void (*fn)(const char *name, uint64_t value, void *arg), void *arg);
/* True if the open file FD is a regular file of user UID or root. */
bool process_owned_by(int fd, uid_t uid);
/* The version that the file `release`, TEXT, tells, into OUT; false if it tells none. */
bool process_release(const char *text, char *out, size_t size);
/*
 * The JDK's version: from the file `release` near LIBJVM; else (Debian's JDK 8 has none that tells) what the JVM has
 * TOLD itself, "" = nothing; else "8" by the folders that only it and older ones have; else "?".
 */
void process_jdk(pid_t pid, const char *libjvm, const char *told, char *out, size_t size);

/* The files that a process has mapped. */

/*
 * Call FN for each mapping of a file in the memory map on FD, which is closed, until it returns false: PATH, and OLD if
 * the file was deleted or replaced since. 0 or -errno; -EFBIG, -ETIME: the map has no end.
 */
int maps_each(int fd, bool (*fn)(const char *path, bool old, void *arg), void *arg);
/* The same for process PID, with paths as it sees them. */
int maps_of(pid_t pid, bool (*fn)(const char *path, bool old, void *arg), void *arg);
/* The last part of PATH. */
const char *maps_name(const char *path);

#endif
