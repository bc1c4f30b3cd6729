/*
 * root.h - another process's file system, used with the rights of that process's user and no others. Inner header of
 * attach/.
 *
 * What lies below /proc/PID/root is that process's: its mounts may lead to folders of the host, which root could write
 * to and its user cannot. So root becomes its user for each step down there, and keeps no capability that it lacks.
 */
#ifndef JSTROBE_CLI_ATTACH_ROOT_H
#define JSTROBE_CLI_ATTACH_ROOT_H

#include <sys/types.h>

#include "common/base/error.h"

#define USER_GROUPS 64 /* of more we take the first ones: fewer rights than the process has do no harm */

/* A process's user. */
struct user {
	uid_t uid;  /* effective, as we see it */
	gid_t gid;
	gid_t groups[USER_GROUPS];
	unsigned group_count;
	uint64_t capabilities; /* effective; none if they are those of another user namespace than ours */
};

/* Another process's file system. */
struct root {
	int fd; /* the root folder (its mount namespace, its chroot); -1: none */
	struct user user;
};

/* Open that of process PID; 0 or -errno. Its folder is the one thing that is opened with our own rights. */
int root_of(pid_t pid, struct root *root);
/* Safe on one whose fd is -1. */
void root_close(struct root *root);
/*
 * Open PATH (from / on) as the process itself would, by its user's rights: links in it, which a hostile container may
 * have made, never lead out of its root. FLAGS as for open; a descriptor or -errno.
 */
int root_open(const struct root *root, const char *path, int flags);
/* Open PATH for reading if it is a regular file: no device, pipe or folder is opened meanwhile. */
int root_read(const struct root *root, const char *path);

/* Remove the file NAME in FOLDER, which lies below ROOT, by its user's rights. */
void root_unlink(const struct root *root, int folder, const char *name);

/* The user of PID; 0, or -ESRCH. */
int user_of(pid_t pid, struct user *user);

/* What user_return needs to bring the command's own user back. */
struct user_former {
	uid_t uid;
	gid_t gid;
	gid_t *groups; /* NULL: user and groups were not changed */
	int group_count;
	uint64_t capabilities;
	bool limited;  /* capabilities were taken away */
};
/*
 * Root becomes USER in all that concerns files, sockets and signals; other users stay what they are. No user keeps a
 * capability that USER lacks. It concerns the calling thread alone. Call user_return in any case.
 */
int user_become(const struct user *user, struct user_former *former, struct error *err);
void user_return(struct user_former *former);
/* The name of UID in NAME, OTHERWISE if /etc/passwd does not know it; NAME. */
const char *user_name(uid_t uid, char name[64], const char *otherwise);

#endif
