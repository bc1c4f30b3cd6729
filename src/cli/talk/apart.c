#include "cli/talk/apart.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "cli/attach/root.h"

static bool same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Whether PID and we have the same namespace of KIND; what cannot be seen is another. */
static bool shares(pid_t pid, const char *kind)
{
	char theirs[64], ours[64];
	struct stat a, b;

	snprintf(theirs, sizeof(theirs), "/proc/%d/ns/%s", (int)pid, kind);
	snprintf(ours, sizeof(ours), "/proc/self/ns/%s", kind);
	return stat(theirs, &a) == 0 && stat(ours, &b) == 0 && same(&a, &b);
}

bool target_is_apart(const struct attach_target *t)
{
	struct stat theirs, ours;

	if (!t->pid)
		return false;
	return t->root.fd < 0 || fstat(t->root.fd, &theirs) || stat("/", &ours) || !same(&theirs, &ours) ||
	       !shares(t->pid, "mnt") || !shares(t->pid, "user");
}

bool target_writes_to(const struct attach_target *t, const char *path, int folder)
{
	struct stat theirs, ours;
	struct user_former former = {0};
	struct error ignored;
	int fd = root_open(&t->root, path, O_PATH | O_DIRECTORY);
	bool yes;

	yes = fd >= 0 && fstat(fd, &theirs) == 0 && fstat(folder, &ours) == 0 && same(&theirs, &ours) &&
	      user_become(&t->root.user, &former, &ignored) == 0 &&
	      faccessat(fd, ".", W_OK | X_OK, AT_EACCESS) == 0;
	user_return(&former);
	if (fd >= 0)
		close(fd);
	return yes;
}

/*
 * No other user gets into FOLDER or may let others in: it is root's or ours. Where it has an ACL, the bits of its group
 * are the most that the ACL can give.
 */
static bool is_closed(int folder)
{
	struct stat st;

	return fstat(folder, &st) == 0 && (st.st_uid == 0 || st.st_uid == geteuid()) && !(st.st_mode & 0011);
}

int target_may_have_file_in(const struct attach_target *t, const struct output *place, const char *file,
			    struct error *err)
{
	struct statvfs fs;

	/* in another process's file system, a closed folder is closed for as long as that process likes */
	if (!target_is_apart(t) || (fstatvfs(place->folder, &fs) == 0 && fs.f_flag & ST_NOSUID) ||
	    (!place->foreign && is_closed(place->folder)))
		return 0;
	return error_set(err, EPERM, "-f %s: process %d is in a container, and root there could turn that file into a "
			 "program that runs as its owner here. Choose a folder of your own that no other user may "
			 "enter (mode 700) or one that is mounted nosuid, or leave -f to 'jstrobe stop %d'", file,
			 (int)t->pid, (int)t->pid);
}
