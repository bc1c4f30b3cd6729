/*
 * identity.h - is that still the program that we looked at? Inner header of attach/ and transfer/.
 *
 * A number stands for one process after another, and a process runs one program after another: one that was an ordinary
 * user's JVM when it was looked at can have become a program with root's rights by exec, or ended, with its number
 * given away. What was seen is held by an open folder of /proc, which is that process's for ever, and by what the
 * kernel drew at its last exec.
 */
#ifndef JSTROBE_CLI_ATTACH_IDENTITY_H
#define JSTROBE_CLI_ATTACH_IDENTITY_H

#include <sys/types.h>

#include "common/base/base.h"

struct identity {
	pid_t pid;
	int proc; /* its folder in /proc; -1: none */
	uid_t uids[4];
	gid_t gids[4];
	uid_t keeper; /* whose its memory map is: root's if it may not be looked into (PR_SET_DUMPABLE) */
	uint64_t memory[4]; /* where the program lies: addresses that each exec draws anew */
};

/* Take down that of PID; 0, -ESRCH, or -EACCES: it is not ours to see. */
int identity_take(pid_t pid, struct identity *id);
/* The same process lives, and has neither had an exec nor changed its users since. False if that cannot be seen. */
bool identity_holds(const struct identity *id);
/* Safe on one whose proc is -1. */
void identity_close(struct identity *id);

#endif
