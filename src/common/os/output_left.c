/*
 * Hidden files that a killed process has left beside a result's name.
 *
 * Who writes one holds a lock on it (flock) from the moment it is made, which ends with the last process that has the
 * file open. So a hidden file of this user that can be locked has no writer any more, in whatever container or on
 * whatever machine that was: process numbers would say nothing of those. Where a file system has no such locks, nothing
 * is removed.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/os/output_hidden.h"

#define LOOKED_AT 10000 /* names in the folder: a result does not wait for more */

int output_lock(int fd)
{
	struct stat st;

	flock(fd, LOCK_EX | LOCK_NB);
	/* between being made and locked it looked like one that was left */
	return fstat(fd, &st) ? -errno : st.st_nlink ? 0 : -EEXIST;
}

static bool is_hidden_name(const char *name, const char *begin, size_t length)
{
	return strncmp(name, begin, length) == 0 && strspn(name + length, "0123456789abcdef") == HIDDEN_DIGITS &&
	       strcmp(name + length + HIDDEN_DIGITS, HIDDEN_END) == 0;
}

/* NAME in FOLDER, if it is a file of ours without a writer. */
static void remove_one(int folder, const char *name)
{
	const int flags = O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
	int fd = openat(folder, name, O_RDWR | flags); /* NFS locks only what can be written to */
	struct stat st, there;

	if (fd < 0 && errno == EACCES)
		fd = openat(folder, name, O_RDONLY | flags);
	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() && st.st_nlink == 1 &&
	    flock(fd, LOCK_EX | LOCK_NB) == 0 && fstatat(folder, name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
	    there.st_dev == st.st_dev && there.st_ino == st.st_ino)
		unlinkat(folder, name, 0);
	close(fd);
}

void output_remove_left(const struct output *o)
{
	char begin[NAME_MAX + 1];
	size_t length = hidden_begin(o, begin);
	int fd = openat(o->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), n;
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!folder && fd >= 0)
		close(fd);
	for (n = 0; folder && n < LOOKED_AT && (entry = readdir(folder)) != NULL; n++)
		if (is_hidden_name(entry->d_name, begin, length))
			remove_one(dirfd(folder), entry->d_name);
	if (folder)
		closedir(folder);
}
