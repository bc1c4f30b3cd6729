/*
 * Walking another process's file system. /proc/PID/root leads there, but a link inside that begins
 * with / would then lead into our own file system: a container whose /tmp is a link to /etc must
 * not make root write into the host's /etc. The kernel can resolve a path inside a root (5.6);
 * before that, or where a seccomp filter does not know the call, no link is followed at all.
 */
#include "cli/attach/root.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int root_of(pid_t pid, struct root *root)
{
	char path[64];
	struct user again;
	int rc;

	snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
	root->fd = -1;
	rc = user_of(pid, &root->user);
	if (rc)
		return rc;
	root->fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root->fd < 0)
		return -errno;
	/* the folder must not be of one user and the rights of another */
	rc = user_of(pid, &again);
	if (rc == 0 && memcmp(&again, &root->user, sizeof(again)) != 0)
		rc = -EAGAIN;
	if (rc)
		root_close(root);
	return rc;
}

void root_close(struct root *root)
{
	if (root->fd >= 0)
		close(root->fd);
	root->fd = -1;
}

/* The same without links, one folder after the other. */
static int walk(int root, const char *path, int flags)
{
	char copy[PATH_MAX], *word, *next, *rest;
	int fd, at = dup(root);

	snprintf(copy, sizeof(copy), "%s", path);
	word = strtok_r(copy, "/", &rest);
	while (at >= 0 && word) {
		next = strtok_r(NULL, "/", &rest);
		if (strcmp(word, "..") == 0) {
			close(at);
			return -ELOOP;
		}
		fd = openat(at, word, O_CLOEXEC | O_NOFOLLOW |
			    (next ? O_PATH | O_DIRECTORY : flags));
		close(at);
		at = fd;
		word = next;
	}
	return at < 0 ? -errno : at;
}

static int resolve(int root, const char *path, int flags)
{
	struct open_how how = {
		.flags = (uint64_t)(flags | O_CLOEXEC), .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	int fd, tries = 0;

	/* -EAGAIN: folders were moved meanwhile, so the kernel cannot tell whether a ".." led out */
	do
		fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
	while (fd < 0 && errno == EAGAIN && ++tries < 100);
	if (fd >= 0)
		return fd;
	return errno == ENOSYS || errno == EPERM ? walk(root, path, flags) : -errno;
}

int root_open(const struct root *root, const char *path, int flags)
{
	struct user_former former;
	struct error err;
	int fd = user_become(&root->user, &former, &err);

	if (fd == 0)
		fd = resolve(root->fd, path, flags);
	user_return(&former);
	return fd;
}

int root_read(const struct root *root, const char *path)
{
	struct user_former former;
	char itself[64];
	struct stat st;
	struct error err;
	int fd = -1, place, rc = user_become(&root->user, &former, &err);

	place = rc ? rc : resolve(root->fd, path, O_PATH);
	rc = MIN(place, 0);
	if (place >= 0 && (fstat(place, &st) || !S_ISREG(st.st_mode)))
		rc = -EINVAL;
	snprintf(itself, sizeof(itself), "/proc/self/fd/%d", place);
	if (rc == 0 && (fd = open(itself, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) < 0)
		rc = -errno;
	if (place >= 0)
		close(place);
	user_return(&former);
	return rc ? rc : fd;
}

void root_unlink(const struct root *root, int folder, const char *name)
{
	struct user_former former;
	struct error err;

	if (user_become(&root->user, &former, &err) == 0)
		unlinkat(folder, name, 0);
	user_return(&former);
}
