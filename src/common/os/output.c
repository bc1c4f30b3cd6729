/*
 * Making a result's file and giving it its name; opening what is no file.
 */
#include "common/os/output_hidden.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/base/proc_self.h"
#include "common/os/os.h"

#define TRIES 100
#define NO_REPLACE 1u /* RENAME_NOREPLACE: the C library of old systems has neither it nor renameat2 */
#define KEPT_OF_NAME 200 /* bytes, in names made from it */

/* 16 hex digits that cannot be guessed. What has such a name is made exclusively all the same. */
static void random_digits(char digits[HIDDEN_DIGITS + 1])
{
	uint64_t r;

	/* no libc before 2.25 has a function for it */
	if (syscall(SYS_getrandom, &r, sizeof(r), GRND_NONBLOCK) != sizeof(r))
		r = os_realtime() * 0x9e3779b97f4a7c15ull ^ (uint64_t)getpid() << 32;
	snprintf(digits, HIDDEN_DIGITS + 1, "%016llx", (unsigned long long)r);
}

size_t hidden_begin(const struct output *o, char begin[NAME_MAX + 1])
{
	return (size_t)snprintf(begin, NAME_MAX + 1, ".%.*s.", KEPT_OF_NAME, o->name);
}

/* A hidden name beside o->name. */
static void hidden_name(const struct output *o, char name[NAME_MAX + 1])
{
	size_t n = hidden_begin(o, name);
	char digits[HIDDEN_DIGITS + 1];

	random_digits(digits);
	snprintf(name + n, NAME_MAX + 1 - n, "%s" HIDDEN_END, digits);
}

/* A new file with a hidden name; its descriptor. */
static int make_hidden(struct output *o)
{
	int tries, fd = -1, rc = -EEXIST;

	output_remove_left(o);
	for (tries = 0; tries < TRIES && rc == -EEXIST; tries++) {
		hidden_name(o, o->aside);
		fd = openat(o->folder, o->aside, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		rc = fd < 0 ? -errno : output_lock(fd);
		if (rc && fd >= 0)
			close(fd);
	}
	if (rc)
		o->aside[0] = '\0';
	return rc ? rc : fd;
}

/* A new file without a name, where it can get one later; else a negative errno. */
static int make_nameless(struct output *o)
{
	char self[PROC_SELF_MAX];
	int fd = openat(o->folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd < 0)
		return -errno;
	proc_self_fd(self, fd);
	/* for the moment when it has the hidden name: there is no name yet that could go */
	output_lock(fd);
	if (faccessat(AT_FDCWD, self, F_OK, 0) == 0)
		return fd;
	close(fd);
	return -ENOTSUP;
}

static int open_new(struct output *o, struct error *err)
{
	int fd = o->flags & OUTPUT_HIDDEN ? -ENOTSUP : make_nameless(o);

	if (fd < 0)
		fd = make_hidden(o);
	if (fd < 0)
		return error_set(err, -fd, "%s: %s; %s", o->name, error_text(-fd), fd == -ENOSPC || fd == -EDQUOT ?
				 "free some space or choose another place" : "choose another place");
	if (o->mode && fchmod(fd, o->mode)) {
		error_set(err, errno, "%s: mode %o: %s", o->name, (unsigned)o->mode, error_text(errno));
		close(fd);
		if (o->aside[0])
			unlinkat(o->folder, o->aside, 0);
		o->aside[0] = '\0';
		return -err->code;
	}
	o->fd = fd;
	return 0;
}

int output_open_present(const struct output *o, int flags)
{
	struct stat st;
	int fd;

	if (!o->type || o->folder < 0)
		return -1;
	fd = openat(o->folder, o->name, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	/* a number can be used again */
	if (fd >= 0 && (fstat(fd, &st) || st.st_dev != o->device || st.st_ino != o->inode ||
			st.st_uid != o->owner || st.st_rdev != o->special ||
			(st.st_mode & S_IFMT) != o->type)) {
		close(fd);
		errno = ESTALE;
		fd = -1;
	}
	return fd;
}

static int open_special(struct output *o, struct error *err)
{
	o->fd = output_open_present(o, O_WRONLY);
	if (o->fd >= 0)
		return 0;
	return error_set(err, errno, "%s: cannot be opened: %s", o->name, errno == ENXIO ? "it has no reader yet" :
			 errno == ESTALE ? "it was just replaced by another" : error_text(errno));
}

/* What is open already: opened once more, as its mode belongs to all who have it; files and sockets cannot be. */
static int open_inherited(struct output *o, struct error *err)
{
	struct stat st;

	if (fstat(o->number, &st))
		return error_set(err, errno, "descriptor %d: %s; name a file", o->number, error_text(errno));
	o->type = st.st_mode & S_IFMT;
	o->fd = output_open_again(o->number, o->type);
	if (o->fd >= 0)
		return 0;
	o->shares = !S_ISREG(st.st_mode);
	o->fd = fcntl(o->number, F_DUPFD_CLOEXEC, 0);
	return o->fd < 0 ? error_set(err, errno, "descriptor %d: %s", o->number, error_text(errno)) : 0;
}

int output_make(struct output *o, struct error *err)
{
	switch (o->kind) {
	case OUTPUT_FILE:
		return open_new(o, err);
	case OUTPUT_SPECIAL:
		return open_special(o, err);
	case OUTPUT_OPEN:
		return open_inherited(o, err);
	case OUTPUT_NONE:
		break;
	}
	return error_set(err, EINVAL, "no place was named for the result");
}

/* ---- its name ---- */

/* Give the file without a name the hidden one. */
static int link_hidden(struct output *o)
{
	char self[PROC_SELF_MAX];
	int tries;

	proc_self_fd(self, o->fd);
	for (tries = 0; tries < TRIES; tries++) {
		hidden_name(o, o->aside);
		if (linkat(AT_FDCWD, self, o->folder, o->aside, AT_SYMLINK_FOLLOW) == 0)
			return 0;
		if (errno != EEXIST)
			break;
	}
	o->aside[0] = '\0';
	return -errno;
}

/* Where files without names cannot be linked after all (AppArmor): it becomes one that has a name. */
static int copy_hidden(struct output *o)
{
	struct output_limits limits = {.wake = -1};
	struct error ignored;
	uint64_t done;
	struct stat st;
	int nameless = o->fd, rc;

	rc = make_hidden(o);
	if (rc < 0)
		return rc;
	o->fd = rc;
	if (fstat(nameless, &st))
		return -errno;
	rc = output_copy(o, nameless, (uint64_t)st.st_size, &limits, &done, &ignored);
	if (rc == 0 && fchmod(o->fd, st.st_mode & 0777))
		rc = -errno;
	close(nameless);
	return rc;
}

/* "result-3f9c2a1b.html": the file stays under it when its own name is taken. */
static int take_other_name(struct output *o, int code, struct error *err)
{
	const char *dot = strrchr(o->name, '.');
	char digits[HIDDEN_DIGITS + 1], name[NAME_MAX + 1], wanted[NAME_MAX + 1];
	int stem;

	dot = dot && dot != o->name ? dot : o->name + strlen(o->name);
	stem = (int)MIN(dot - o->name, (ptrdiff_t)KEPT_OF_NAME);
	strcpy(wanted, o->name);
	random_digits(digits);
	snprintf(name, sizeof(name), "%.*s-%.8s%.20s", stem, o->name, digits, dot);
	/* not every file system has links; then the chance of one in four thousand million has to do */
	if (linkat(o->folder, o->aside, o->folder, name, 0) == 0)
		unlinkat(o->folder, o->aside, 0);
	else if (errno == EEXIST || renameat(o->folder, o->aside, o->folder, name))
		return error_set(err, code, "%s: %s; choose another place", wanted, error_text(code));
	o->aside[0] = '\0';
	strcpy(o->name, name);
	return error_set(err, code, "%s cannot be replaced (%s): the result is in %s beside it", wanted,
			 error_text(code), name);
}

/* Whether what has the name now is what was written: a folder without the sticky bit is anybody's. */
static int verify(const struct output *o, struct error *err)
{
	struct stat mine, there;

	if (fstat(o->fd, &mine) == 0 && fstatat(o->folder, o->name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
	    mine.st_dev == there.st_dev && mine.st_ino == there.st_ino)
		return 0;
	return error_set(err, ESTALE, "%s was replaced by another user at once; choose a folder of your own", o->name);
}

int output_sync(const struct output *o, struct error *err)
{
	/* EINVAL: no file system of that kind; EROFS: nothing was written */
	if (o->kind != OUTPUT_FILE || o->fd < 0 || fsync(o->fd) == 0 || errno == EINVAL || errno == EROFS)
		return 0;
	return error_set(err, errno, "%s: the result is not on the disk: %s; choose another place", o->name,
			 error_text(errno));
}

/* Give it its name, in place of what had it. */
static int take_name(const struct output *o)
{
	bool is_new = o->flags & OUTPUT_ASKED && !o->type;

	if (is_new && syscall(SYS_renameat2, o->folder, o->aside, o->folder, o->name, NO_REPLACE) == 0)
		return 0;
	if (is_new && errno == EEXIST)
		return -EEXIST;
	/* a file system or a kernel without that call takes this one, too */
	return renameat(o->folder, o->aside, o->folder, o->name) ? -errno : 0;
}

int output_publish(struct output *o, bool keep, struct error *err)
{
	int rc = 0;

	if (o->kind != OUTPUT_FILE || o->fd < 0)
		return 0;
	if (!o->aside[0])
		rc = link_hidden(o);
	if (rc && rc != -ENOSPC && rc != -EDQUOT)
		rc = copy_hidden(o);
	if (rc)
		return error_set(err, -rc, "%s: %s; choose another place", o->name, error_text(-rc));
	rc = take_name(o);
	if (rc && keep)
		return take_other_name(o, -rc, err);
	if (rc)
		return error_set(err, -rc, "%s: %s; choose another place", o->name, error_text(-rc));
	o->aside[0] = '\0';
	return verify(o, err);
}

int output_say(const char *what, const char *path, struct error *err)
{
	char text[sizeof(err->text)];
	bool named = strncmp(err->text, path, strlen(path)) == 0;

	strcpy(text, err->text);
	return error_set(err, err->code, "%s%s%s%s", what, named ? "" : path, named ? "" : ": ", text);
}

void output_drop(struct output *o)
{
	if (o->aside[0] && o->folder >= 0)
		unlinkat(o->folder, o->aside, 0);
	if (o->fd >= 0)
		close(o->fd);
	if (o->folder >= 0)
		close(o->folder);
	*o = (struct output)OUTPUT_INIT;
}

/* ---- a few bytes more ---- */

/* In a folder that others can write to, they can have given a file of ours a name that we take for another. */
static bool has_other_names(const struct output *o, int fd)
{
	struct stat st;

	return o->type && S_ISREG(o->type) && !(o->flags & OUTPUT_FORCE) && output_is_open_to_all(o) &&
	       (fstat(fd, &st) || st.st_nlink > 1);
}

int output_append(const char *path, unsigned flags, struct error *err)
{
	struct output o = OUTPUT_INIT;
	int fd, rc = output_find(&o, path, flags, err);

	if (rc)
		return rc;
	if (o.kind == OUTPUT_FILE && !o.type)
		fd = openat(o.folder, o.name, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
	else if (o.kind == OUTPUT_OPEN)
		fd = output_make(&o, err) ? -1 : fcntl(o.fd, F_DUPFD_CLOEXEC, 0);
	else
		fd = output_open_present(&o, O_WRONLY | O_APPEND);
	if (fd >= 0 && has_other_names(&o, fd)) {
		close(fd);
		fd = error_set(err, EPERM, "%s has other names as well, and lies in a folder that all can write to; "
			       "choose another name, or say --force", path);
	} else if (fd < 0) {
		fd = error_set(err, errno, "%s: %s", path, error_text(errno));
	}
	output_drop(&o);
	return fd;
}
