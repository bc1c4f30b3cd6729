/*
 * root.h - another process's file system, and being another user. Inner header of attach/.
 */
#ifndef JSTROBE_CLI_ATTACH_ROOT_H
#define JSTROBE_CLI_ATTACH_ROOT_H

#include <sys/types.h>

#include "base/error.h"

/* The root folder of process PID (its mount namespace, its chroot): a descriptor or -errno. */
int root_of(pid_t pid);
/*
 * Open PATH (from / on) as a process with the root folder ROOT would: links in it, which a hostile
 * container may have made, never lead out of ROOT. FLAGS as for open; a descriptor or -errno.
 */
int root_open(int root, const char *path, int flags);

/* What user_return needs to bring the command's own user back. */
struct user_former {
	uid_t uid;
	gid_t gid;
	gid_t *groups; /* NULL: nothing was changed */
	int group_count;
};
/*
 * Root becomes UID and GID in all that concerns files and sockets; anybody else stays who he is.
 * Call user_return in any case.
 */
int user_become(uid_t uid, gid_t gid, struct user_former *former, struct error *err);
void user_return(struct user_former *former);
/* The name of UID in NAME, OTHERWISE if /etc/passwd does not know it; NAME. */
const char *user_name(uid_t uid, char name[64], const char *otherwise);

#endif
