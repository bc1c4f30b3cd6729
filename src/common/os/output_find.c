/*
 * The way to a place, folder by folder, and what may be done with what lies there.
 *
 * Each step is a descriptor (O_PATH), so a folder or link that is exchanged meanwhile is either the old or the new one,
 * never a mixture: what was judged is what is used.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "common/os/output.h"

#define MOST_LINKS 40
#define PROC_MAGIC 0x9fa0
#define DEVPTS_MAGIC 0x1cd1

struct walk {
	const char *path;      /* as given, for people */
	unsigned flags, links;
	int at;                /* the folder reached so far */
	bool foreign;          /* in another process's file system (/proc/PID/root): links there are not followed */
	char rest[PATH_MAX];   /* what is still to be walked */
};

static bool trusted(uid_t uid, unsigned flags)
{
	const char *sudo = flags & OUTPUT_SUDO && geteuid() == 0 ? getenv("SUDO_UID") : NULL;

	return uid == 0 || uid == geteuid() || (sudo && *sudo && strtoul(sudo, NULL, 10) == uid);
}

bool output_is_open_to_all(const struct output *o)
{
	struct stat st;

	return fstat(o->folder, &st) || st.st_mode & S_IWOTH || (st.st_mode & S_ISVTX && st.st_mode & S_IWGRP);
}

static int move_to(struct walk *w, int fd)
{
	if (fd < 0)
		return -errno;
	if (w->at >= 0)
		close(w->at);
	w->at = fd;
	return 0;
}

static int to_root(struct walk *w)
{
	return move_to(w, open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
}

/* The first word of what is left, into WORD, and whether it is the last; 0 = nothing is left. */
static size_t next_word(struct walk *w, char word[NAME_MAX + 1], bool *last)
{
	size_t slashes = strspn(w->rest, "/"), n = strcspn(w->rest + slashes, "/"), more;

	more = strspn(w->rest + slashes + n, "/");
	*last = !w->rest[slashes + n + more];
	if (n > NAME_MAX)
		return n;
	memcpy(word, w->rest + slashes, n);
	word[n] = '\0';
	/* "x/" is a folder */
	if (*last && more)
		*last = false;
	memmove(w->rest, w->rest + slashes + n, strlen(w->rest + slashes + n) + 1);
	return n;
}

static int fail(const struct walk *w, int code, struct error *err)
{
	const char *slash = strrchr(w->path, '/');

	if (code == ENOENT || code == ENOTDIR)
		return error_set(err, code, "%s: there is no folder %.*s; create it or choose another", w->path,
				 slash ? (int)MAX(slash - w->path, (ptrdiff_t)1) : 1, slash ? w->path : ".");
	return error_set(err, code, "%s: %s; choose another place", w->path, error_text(code));
}

/* A link called WORD, open as FD: what it says comes before what is left. */
static int follow(struct walk *w, int fd, const struct stat *st, const char *word, struct error *err)
{
	char text[PATH_MAX];
	ssize_t n;
	int rc;

	if (w->foreign || (!trusted(st->st_uid, w->flags) && !(w->flags & OUTPUT_FORCE)))
		return error_set(err, ELOOP, "%s: %s is a link of uid %u, who may let it lead anywhere; name what it "
				 "leads to, or say --force", w->path, word, (unsigned)st->st_uid);
	if (++w->links > MOST_LINKS)
		return fail(w, ELOOP, err);
	n = readlinkat(fd, "", text, sizeof(text) - 1);
	if (n <= 0)
		return fail(w, n < 0 ? errno : ENOENT, err);
	if ((size_t)n + 1 + strlen(w->rest) >= sizeof(w->rest))
		return fail(w, ENAMETOOLONG, err);
	memmove(w->rest + n, w->rest, strlen(w->rest) + 1);
	memcpy(w->rest, text, (size_t)n);
	rc = text[0] == '/' ? to_root(w) : 0;
	return rc ? fail(w, -rc, err) : 0;
}

/* /proc/PID/cwd and the like are no texts but doors. */
static bool is_door(const struct walk *w, const char *word)
{
	struct statfs fs;

	return fstatfs(w->at, &fs) == 0 && fs.f_type == PROC_MAGIC && strcmp(word, "self") != 0 &&
	       strcmp(word, "thread-self") != 0;
}

/* Go into the folder WORD. */
static int enter(struct walk *w, const char *word, struct error *err)
{
	int fd = openat(w->at, word, O_PATH | O_NOFOLLOW | O_CLOEXEC), rc;
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return fail(w, errno, err);
	if (S_ISLNK(st.st_mode) && is_door(w, word)) {
		close(fd);
		w->foreign = true;
		fd = openat(w->at, word, O_PATH | O_DIRECTORY | O_CLOEXEC);
		return fd < 0 ? fail(w, errno, err) : move_to(w, fd);
	}
	if (S_ISLNK(st.st_mode)) {
		rc = follow(w, fd, &st, word, err);
		close(fd);
		return rc;
	}
	if (S_ISDIR(st.st_mode))
		return move_to(w, fd);
	close(fd);
	return fail(w, ENOTDIR, err);
}

/*
 * A character device that is safe to write to: any /dev/null, and what lies in our own /dev. Elsewhere, a container's
 * root can have made it (CAP_MKNOD), and leads us to a device that is closed to it.
 */
static bool is_known_device(const struct output *o, const struct stat *st)
{
	struct stat folder, dev;
	struct statfs fs;

	if (!S_ISCHR(st->st_mode))
		return false;
	if (st->st_rdev == makedev(1, 3))
		return true;
	if (o->foreign || fstat(o->folder, &folder))
		return false;
	return (stat("/dev", &dev) == 0 && dev.st_dev == folder.st_dev && dev.st_ino == folder.st_ino) ||
	       (fstatfs(o->folder, &fs) == 0 && fs.f_type == DEVPTS_MAGIC);
}

/* What lies in FOLDER under a name is ST: may a result take its place, or go into it? */
static int judge(struct output *o, const struct stat *st, const char *path, struct error *err)
{
	bool force = o->flags & OUTPUT_FORCE;

	o->type = st->st_mode & S_IFMT;
	o->owner = st->st_uid;
	o->device = st->st_dev;
	o->inode = st->st_ino;
	o->special = st->st_rdev;
	if (o->flags & OUTPUT_SOCKET)
		return 0;
	if (S_ISDIR(st->st_mode))
		return error_set(err, EISDIR, "%s: this is a folder; add a file name", path);
	if (S_ISREG(st->st_mode)) {
		if (!force && !trusted(st->st_uid, o->flags) && output_is_open_to_all(o))
			return error_set(err, EPERM, "%s belongs to uid %u, in a folder that all can write to; choose "
					 "another name, or say --force", path, (unsigned)st->st_uid);
		return 0;
	}
	o->kind = OUTPUT_SPECIAL;
	if (force || is_known_device(o, st))
		return 0;
	if (o->flags & OUTPUT_FIFO && S_ISFIFO(st->st_mode) && trusted(st->st_uid, o->flags))
		return 0;
	if (o->flags & OUTPUT_FIFO && S_ISFIFO(st->st_mode))
		return error_set(err, EPERM, "%s is a FIFO of uid %u, who may read what goes into it; choose another "
				 "name, or say --force", path, (unsigned)st->st_uid);
	return error_set(err, EPERM, "%s is no file but a %s; choose another name, or say --force to write into it",
			 path, S_ISFIFO(st->st_mode) ? "FIFO" : S_ISSOCK(st->st_mode) ? "socket" : "device");
}

/* 0: the place was found; 1: a link has to be followed first. */
static int arrive(struct walk *w, struct output *o, const char *word, struct error *err)
{
	int fd = openat(w->at, word, O_PATH | O_NOFOLLOW | O_CLOEXEC), rc = 0;
	struct stat st;

	if (fd < 0 && errno != ENOENT)
		return fail(w, errno, err);
	if (fd >= 0 && fstat(fd, &st)) {
		rc = fail(w, errno, err);
	} else if (fd >= 0 && S_ISLNK(st.st_mode) && !(o->flags & OUTPUT_SOCKET)) {
		rc = is_door(w, word) ? fail(w, ELOOP, err) : follow(w, fd, &st, word, err);
		rc = rc ? rc : 1;
	} else {
		o->folder = w->at;
		o->foreign = w->foreign;
		o->kind = OUTPUT_FILE;
		w->at = -1;
		strcpy(o->name, word);
		if (fd >= 0)
			rc = judge(o, &st, w->path, err);
	}
	if (fd >= 0)
		close(fd);
	return rc;
}

static int walk(struct walk *w, struct output *o, struct error *err)
{
	char word[NAME_MAX + 1] = "";
	bool last;
	size_t n;
	int rc;

	for (;;) {
		n = next_word(w, word, &last);
		if (n > NAME_MAX)
			return fail(w, ENAMETOOLONG, err);
		if (n == 0 || (last && (strcmp(word, ".") == 0 || strcmp(word, "..") == 0)))
			return error_set(err, EISDIR, "%s: this is a folder; add a file name", w->path);
		if (strcmp(word, ".") == 0)
			continue;
		rc = last ? arrive(w, o, word, err) : enter(w, word, err);
		if (rc < 0 || (last && rc == 0))
			return rc;
	}
}

int output_inherited(const char *path)
{
	static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
	char *end;
	size_t i;
	long n;

	if (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0)
		return STDOUT_FILENO;
	if (strcmp(path, "/dev/stderr") == 0)
		return STDERR_FILENO;
	for (i = 0; i < ARRAY_LEN(folders); i++) {
		size_t length = strlen(folders[i]);

		if (strncmp(path, folders[i], length) != 0)
			continue;
		n = strtol(path + length, &end, 10);
		if (end != path + length && !*end && n >= 0 && n <= INT_MAX)
			return (int)n;
	}
	return -1;
}

int output_find(struct output *o, const char *path, unsigned flags, struct error *err)
{
	struct walk w = {.path = path, .flags = flags, .at = -1};
	mode_t mode = o->mode;
	int rc;

	*o = (struct output)OUTPUT_INIT;
	o->flags = flags;
	o->mode = mode;
	o->number = output_inherited(path);
	if (o->number >= 0) {
		o->kind = OUTPUT_OPEN;
		return 0;
	}
	if (strlen(path) >= sizeof(w.rest))
		return error_set(err, ENAMETOOLONG, "%.100s…: the name is too long", path);
	strcpy(w.rest, path);
	rc = path[0] == '/' ? to_root(&w) : move_to(&w, open(".", O_PATH | O_DIRECTORY | O_CLOEXEC));
	rc = rc ? fail(&w, -rc, err) : walk(&w, o, err);
	if (w.at >= 0)
		close(w.at);
	if (rc)
		output_drop(o);
	return rc;
}

int output_may_make(const struct output *o, const char *path, struct error *err)
{
	int flags = getuid() == geteuid() ? 0 : AT_EACCESS;

	if (o->kind != OUTPUT_FILE || faccessat(o->folder, ".", W_OK | X_OK, flags) == 0)
		return 0;
	return error_set(err, errno, "%s: cannot write into the folder: %s; choose another", path, error_text(errno));
}
