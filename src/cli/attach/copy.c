/*
 * Putting the agent library where the target can load it.
 *
 * A container has a file system of its own, and its /tmp is anybody's: what is loaded from there
 * runs as the JVM's user. So each folder on the way is opened without following links and has to
 * belong to root or to the JVM's user, and to be writable by no other user; the file as well, and it
 * has to be ours byte for byte. A new copy is written under another name and then linked to its
 * own, which fails where anything is there already: nothing is ever overwritten, and no half of a
 * copy is ever seen. The copy is made as the JVM's user, who could make one himself: the folder may be a mount that
 * leads to the host, where root must not write.
 */
#include "cli/attach/copy.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "cli/attach/attach.h"
#include "cli/attach/root.h"
#include "common/base/buffer.h"
#include "common/base/hash.h"
#include "common/control/control.h"

#define COPY_MAX (64 << 20) /* more is no copy of the agent */

const char *const copy_places[] = {"/tmp", "/var/tmp", "/dev/shm", "/run", NULL};

/* The library as it is here. */
struct ours {
	const char *bytes;
	size_t size;
	dev_t device;
	ino_t inode;
	char hash[COPY_HASH];
};

/* FNV-1a: only a name, for contents are compared whole. */
static void write_hash(uint64_t hash, char name[COPY_HASH])
{
	snprintf(name, COPY_HASH, "%016llx", (unsigned long long)hash);
}

int copy_hash(int fd, char hash[COPY_HASH], size_t *size)
{
	uint64_t so_far = HASH_BEGIN;
	char bytes[65536];
	ssize_t n;

	*size = 0;
	while ((n = read(fd, bytes, sizeof(bytes))) > 0 && *size <= COPY_MAX) {
		so_far = hash_bytes(so_far, bytes, (size_t)n);
		*size += (size_t)n;
	}
	write_hash(so_far, hash);
	return n < 0 ? -errno : *size > COPY_MAX ? -EFBIG : 0;
}

static int read_ours(const char *library, struct ours *o, struct error *err)
{
	int fd = open(library, O_RDONLY | O_CLOEXEC);
	void *bytes = MAP_FAILED;
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0)
		bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		error_set(err, errno, "the agent library %s cannot be read: %s; give another with "
			  "--libpath", library, error_text(errno));
	if (fd >= 0)
		close(fd);
	if (bytes == MAP_FAILED)
		return -err->code;
	*o = (struct ours){bytes, (size_t)st.st_size, st.st_dev, st.st_ino, ""};
	write_hash(hash_bytes(HASH_BEGIN, o->bytes, o->size), o->hash);
	return 0;
}

static unsigned long mount_flags(int fd)
{
	struct statvfs fs;

	return fstatvfs(fd, &fs) ? 0 : fs.f_flag;
}

/* ---- whom to trust ---------------------------------------------------------------- */

/*
 * Whether we would let a JVM of user UID load what lies at ST (a file or folder): it belongs to
 * root or to that user, and no other user can write to it.
 */
static bool is_trusted(const struct stat *st, uid_t uid)
{
	return (st->st_uid == 0 || st->st_uid == uid) && (st->st_mode & 022) == 0;
}

static int distrust(const struct stat *st, const char *what, struct error *err)
{
	char user[64];

	if (st->st_mode & 022 && S_ISDIR(st->st_mode))
		return error_set(err, EPERM, "%s can be written to by others, so the agent is not "
				 "loaded from there; remove it, or make it mode 755", what);
	return error_set(err, EPERM, "%s belongs to %s (uid %u), neither root nor the JVM's user, so "
			 "the agent is not loaded from there; remove it", what,
			 user_name(st->st_uid, user, "another user"), (unsigned)st->st_uid);
}

int copy_folder(int parent, const char *name, uid_t uid, bool make, const char *what,
		struct error *err)
{
	bool made = make && mkdirat(parent, name, 0700) == 0;
	struct stat st;
	int fd;

	if (make && !made && errno != EEXIST)
		return error_set(err, errno, "%s cannot be made: %s", what, error_text(errno));
	fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT && !make)
		return -ENOENT;
	if (fd < 0)
		return error_set(err, EPERM, "%s is no folder that jstrobe has made (%s); remove it",
				 what, error_text(errno));
	if (fstat(fd, &st) == 0 && is_trusted(&st, uid) &&
	    (!made || fchmod(fd, 0755) == 0))
		return fd;
	distrust(&st, what, err);
	close(fd);
	return -EPERM;
}

int copy_place(const struct root *root, const char *place, struct error *err)
{
	int fd = root_open(root, place, O_RDONLY | O_DIRECTORY);
	struct stat st;

	if (fd < 0)
		return error_set(err, -fd, "%s: %s", place, error_text(-fd));
	if (fstat(fd, &st) == 0 && (!(st.st_mode & 022) || st.st_mode & S_ISVTX))
		return fd;
	close(fd);
	return error_set(err, EACCES, "%s: anybody may rename what lies there (it has no sticky "
			 "bit)", place);
}

/* ---- the file ---------------------------------------------------------------------- */

int copy_file(int folder, const char *name)
{
	int fd = openat(folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC), rc;
	char itself[64];
	struct stat st;

	if (fd < 0)
		return -errno;
	/* no device, whose opening alone can do something; no pipe */
	snprintf(itself, sizeof(itself), "/proc/self/fd/%d", fd);
	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		rc = -EPERM;
	else if ((rc = open(itself, O_RDONLY | O_NONBLOCK | O_CLOEXEC)) < 0)
		rc = -errno;
	close(fd);
	return rc;
}

/* Whether the file has our bytes. By reading: a mapped file that is truncated kills the process that reads it. */
static bool is_equal(int fd, const struct ours *o)
{
	char bytes[65536];
	size_t at = 0;
	ssize_t n;

	while ((n = read(fd, bytes, sizeof(bytes))) > 0) {
		if ((size_t)n > o->size - at || memcmp(bytes, o->bytes + at, (size_t)n) != 0)
			return false;
		at += (size_t)n;
	}
	return n == 0 && at == o->size;
}

/* Is the library in FOLDER ours? 0, -ENOENT: there is none, or the error. */
static int verify(int folder, const struct ours *o, uid_t uid, const char *what, struct error *err)
{
	int fd = copy_file(folder, COPY_LIBRARY);
	struct stat st;
	bool equal;

	if (fd == -ENOENT)
		return fd;
	if (fd < 0)
		return error_set(err, EPERM, "%s/" COPY_LIBRARY " is no file that jstrobe has made (%s); remove it",
				 what, error_text(-fd));
	if (fstat(fd, &st) || !is_trusted(&st, uid)) {
		distrust(&st, what, err);
		close(fd);
		return -EPERM;
	}
	equal = is_equal(fd, o);
	close(fd);
	return equal ? 0 : error_set(err, EPERM, "%s/" COPY_LIBRARY " is not the agent of this jstrobe: it was changed "
				     "or cut short; remove it", what);
}

static int write_all(int fd, const struct ours *o)
{
	int rc = buffer_write(fd, o->bytes, o->size);

	return rc ? rc : fchmod(fd, 0755) ? -errno : 0;
}

/* Make the copy in FOLDER; -EEXIST: another process was faster. */
static int write_copy(int folder, const struct ours *o, const char *what, struct error *err)
{
	char aside[sizeof(COPY_ASIDE) + CONTROL_TOKEN_LENGTH], token[CONTROL_TOKEN_LENGTH + 1];
	int fd, rc;

	if (control_token(token, err))
		return -err->code;
	snprintf(aside, sizeof(aside), COPY_ASIDE "%s", token);
	fd = openat(folder, aside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0700);
	if (fd < 0)
		return error_set(err, errno, "%s: no copy of the agent can be made: %s", what,
				 error_text(errno));
	rc = write_all(fd, o);
	close(fd);
	if (rc == 0 && linkat(folder, aside, folder, COPY_LIBRARY, 0))
		rc = -errno;
	unlinkat(folder, aside, 0);
	if (rc && rc != -EEXIST)
		return error_set(err, -rc, "%s: the copy of the agent (%zu KB) cannot be written: %s",
				 what, o->size / 1024 + 1, error_text(-rc));
	return rc;
}

/* Whether FOLDER, called WHAT, would take what is still to be made of the copy. */
static int check_room(int folder, const struct ours *o, const char *what, struct error *err)
{
	struct statvfs fs;

	if (faccessat(folder, ".", W_OK | X_OK, AT_EACCESS))
		return error_set(err, errno, "%s cannot be made: %s", what, error_text(errno));
	if (fstatvfs(folder, &fs) == 0 && (uint64_t)fs.f_bavail * fs.f_frsize < o->size)
		return error_set(err, ENOSPC, "%s: the copy of the agent (%zu KB) cannot be written: %s", what,
				 o->size / 1024 + 1, error_text(ENOSPC));
	return 0;
}

/* Have the copy in PLACE; PATH names it. Without MAKE nothing is made, and the answer is whether it could be. */
static int copy_into(const struct attach_target *t, const char *place, const struct ours *o, bool make,
		     char path[PATH_MAX], struct error *err)
{
	char what[PATH_MAX], top[32];
	const char *names[] = {top, JSTROBE_VERSION, o->hash};
	int parent = copy_place(&t->root, place, err), fd = -1, rc;
	size_t i, at;

	if (parent < 0)
		return parent;
	if (mount_flags(parent) & (ST_NOEXEC | ST_RDONLY)) {
		rc = error_set(err, ENOEXEC, "%s is mounted %s", place,
			       mount_flags(parent) & ST_NOEXEC ? "noexec" : "read-only");
		close(parent);
		return rc;
	}
	snprintf(top, sizeof(top), COPY_FOLDER, (unsigned)t->uid);
	snprintf(path, PATH_MAX, "%s/%s/" JSTROBE_VERSION "/%s/" COPY_LIBRARY, place, top, o->hash);
	at = (size_t)snprintf(what, sizeof(what), "/proc/%d/root%s", (int)t->pid, place);
	for (i = 0; i < ARRAY_LEN(names); i++) {
		at += (size_t)snprintf(what + at, sizeof(what) - at, "/%s", names[i]);
		fd = copy_folder(parent, names[i], t->uid, make, what, err);
		rc = fd == -ENOENT && !make ? check_room(parent, o, what, err) : fd;
		close(parent);
		if (fd < 0)
			return rc;
		parent = fd;
	}
	rc = verify(fd, o, t->uid, what, err);
	if (rc == -ENOENT)
		rc = make ? write_copy(fd, o, what, err) : check_room(fd, o, what, err);
	if (rc == -EEXIST)
		rc = verify(fd, o, t->uid, what, err);
	close(fd);
	return rc;
}

/* The same as the JVM's user, who can also load it then. */
static int place_copy(const struct attach_target *t, const char *place, const struct ours *o, bool make,
		      char path[PATH_MAX], struct error *err)
{
	struct user_former former;
	int rc = user_become(&t->root.user, &former, err);

	if (rc == 0)
		rc = copy_into(t, place, o, make, path, err);
	user_return(&former);
	return rc;
}

/* ---- the door ------------------------------------------------------------------------ */

/* Whether the JVM's user finds our very file under the same name, and may execute it. */
static bool is_visible(const struct attach_target *t, const char *library, const struct ours *o)
{
	struct stat st;
	int fd = root_read(&t->root, library);
	bool same = fd >= 0 && fstat(fd, &st) == 0 && st.st_dev == o->device &&
		    st.st_ino == o->inode && !(mount_flags(fd) & ST_NOEXEC);

	if (fd >= 0)
		close(fd);
	return same;
}

bool attach_is_copy(const char *library)
{
	const char *top = strstr(library, "/jstrobe-");

	if (!top)
		return false;
	top += strlen("/jstrobe-");
	top += strspn(top, "0123456789");
	return strncmp(top, "/" JSTROBE_VERSION "/", strlen("/" JSTROBE_VERSION "/")) == 0;
}

int attach_library(const struct attach_target *t, const char *library, bool make, char path[PATH_MAX],
		   bool *copied, struct error *err)
{
	char reasons[300] = "";
	const char *const *place;
	struct ours ours;
	size_t at = 0;
	int rc = read_ours(library, &ours, err);

	if (rc)
		return rc;
	*copied = !is_visible(t, library, &ours);
	snprintf(path, PATH_MAX, "%s", library);
	for (place = copy_places; *copied && *place; place++) {
		rc = place_copy(t, *place, &ours, make, path, err);
		if (rc == 0 || rc == -EPERM) /* done; or hostile, which a person must hear */
			break;
		if (at < sizeof(reasons))
			at += (size_t)snprintf(reasons + at, sizeof(reasons) - at, "%s%s", at ?
					       "; " : "", err->text);
	}
	munmap((void *)(uintptr_t)ours.bytes, ours.size);
	if (*copied && !*place)
		rc = error_set(err, EACCES, "process %d has its own file system (a container?), and "
			       "no folder there takes a copy of the agent: %s. Give it a writable one "
			       "that is not noexec, or say with --libpath where the library lies in it",
			       (int)t->pid, reasons);
	return rc;
}
