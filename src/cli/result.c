/*
 * The result's file. It has no name while it is written where the file system
 * allows that (O_TMPFILE), so that even a kill -9 leaves nothing behind; else
 * a hidden name beside the final one.
 */
#include "cli/result.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/shown.h"
#include "format/format.h"

static bool is_stdout(const char *file)
{
	return !file[0] || strcmp(file, "-") == 0;
}

/* The folder part of FILE, "." if it has none. */
static void folder_of(const char *file, char folder[PATH_MAX])
{
	const char *slash = strrchr(file, '/');

	snprintf(folder, PATH_MAX, "%.*s", slash ? (int)MAX(slash - file, 1) : 1,
		 slash ? file : ".");
}

static int no_folder(const char *file, const char *folder, int code, struct error *err)
{
	if (code == ENOENT || code == ENOTDIR)
		return error_set(err, code, "-f %s: there is no folder %s; create it or choose "
				 "another", file, folder);
	return error_set(err, code, "-f %s: cannot write into the folder %s: %s; choose another",
			 file,
			 folder, strerror(code));
}

/* Fill in the format and the file's name with its patterns. */
static int decide(struct options *o, int pid, const char *without_file, char file[PATH_MAX],
		  struct error *err)
{
	file[0] = '\0';
	if (!o->format[0] && is_stdout(o->file)) {
		snprintf(o->format, sizeof(o->format), "%s", without_file);
	} else if (!o->format[0]) {
		if (options_check_file(o->file, err))
			return -err->code;
		snprintf(o->format, sizeof(o->format), "%s", format_by_file(o->file)->name);
	}
	if (is_stdout(o->file))
		return 0;
	return options_file_name(o->file, pid, time(NULL), -1, file, PATH_MAX, err);
}

/* Something that is no regular file must not be replaced by one; it gets a copy. */
static int open_special(struct result *r, const char *file, struct error *err)
{
	r->out = open(file, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (r->out < 0)
		return error_set(err, errno, "-f %s: cannot be opened: %s%s", file, strerror(errno),
				 errno == ENXIO ? "; nobody reads from it yet" : "");
	fcntl(r->out, F_SETFL, 0);
	r->copy = true;
	return 0;
}

static int open_memory(struct result *r, struct error *err)
{
	r->copy = true;
	r->fd = memfd_create("jstrobe result", MFD_CLOEXEC);
	return r->fd < 0 ? error_set(err, errno, "memfd_create: %s", strerror(errno)) : 0;
}

static int open_aside(struct result *r, struct error *err)
{
	const char *name = strrchr(r->file, '/');
	char folder[PATH_MAX];

	name = name ? name + 1 : r->file;
	folder_of(r->file, folder);
	if (!*name)
		return error_set(err, EISDIR, "-f %s: this is a folder; add a file name", r->file);
	r->fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	snprintf(r->aside, sizeof(r->aside), "%.*s.%.200s.XXXXXX", (int)(name - r->file), r->file,
		 name);
	if (r->fd < 0) {
		r->fd = mkostemp(r->aside, O_CLOEXEC);
		if (r->fd < 0) {
			r->aside[0] = '\0';
			return no_folder(r->file, folder, errno, err);
		}
	}
	return 0;
}

/*
 * A recording grows under its final name, which a new one gets when it has begun (result_begun); a trace is written at
 * the end, whatever its form.
 */
static int open_in_place(struct result *r, struct error *err)
{
	char folder[PATH_MAX];

	folder_of(r->file, folder);
	r->in_place = true;
	r->fd = open(r->file, O_RDWR | O_CLOEXEC);
	if (r->fd >= 0)
		return 0;
	if (errno == ENOENT) {
		r->fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
		r->nameless = r->fd >= 0;
	}
	if (r->fd < 0) {
		r->fd = open(r->file, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		r->created = r->fd >= 0;
	}
	return r->fd < 0 ? no_folder(r->file, folder, errno, err) : 0;
}

int result_open(struct result *r, struct options *o, int pid, const char *without_file, bool grows,
		struct error *err)
{
	char file[PATH_MAX], *real;
	struct stat st;

	memset(r, 0, sizeof(*r));
	r->fd = -1;
	r->out = STDOUT_FILENO;
	if (decide(o, pid, without_file, file, err))
		return -err->code;
	if (!file[0]) {
		r->shown = shown_is_text(r->out, o->format);
		return open_memory(r, err);
	}
	if (stat(file, &st) == 0) {
		if (S_ISDIR(st.st_mode))
			return error_set(err, EISDIR, "-f %s: this is a folder; add a file name",
					 file);
		if (!S_ISREG(st.st_mode)) {
			if (open_special(r, file, err))
				return -err->code;
			r->shown = shown_is_text(r->out, o->format);
			return open_memory(r, err);
		}
		/* a link stays a link: what it points to is replaced */
		real = realpath(file, NULL);
		if (real)
			snprintf(file, sizeof(file), "%s", real);
		free(real);
	}
	strcpy(r->file, file);
	if (grows && strcmp(o->format, "jfr") == 0 && !o->last && !o->instrument[0])
		return open_in_place(r, err);
	return open_aside(r, err);
}

static int copy_out(struct result *r, struct error *err)
{
	char bytes[16384], *at;
	ssize_t n, done;
	off_t offset = 0;

	while ((n = pread(r->fd, bytes, sizeof(bytes), offset)) > 0) {
		offset += n;
		for (at = bytes; n > 0; n -= done, at += done) {
			done = write(r->out, at, (size_t)n);
			if (done < 0 && errno == EINTR)
				done = 0;
			if (done < 0)
				return error_set(err, errno, "the result cannot be written to %s: "
						 "%s", r->out == STDOUT_FILENO ? "stdout" : "its "
						 "file", strerror(errno));
		}
	}
	return n < 0 ? error_set(err, errno, "the result cannot be read back: %s",
				 strerror(errno)) : 0;
}

/* The same for people, who look at it in a terminal. */
static int copy_shown(struct result *r, struct error *err)
{
	char bytes[16384], *last;
	struct buffer out;
	off_t offset = 0;
	ssize_t n;
	int rc;

	buffer_init(&out, r->out);
	while ((n = pread(r->fd, bytes, sizeof(bytes), offset)) > 0) {
		/* whole lines, if there are any */
		last = n == sizeof(bytes) ? memrchr(bytes, '\n', (size_t)n) : NULL;
		n = last ? last + 1 - bytes : n;
		shown_put(&out, bytes, (size_t)n, console_colour(r->out));
		offset += n;
	}
	rc = n < 0 ? error_set(err, errno, "the result cannot be read back: %s", strerror(errno)) : buffer_flush(&out);
	if (n == 0 && rc)
		error_set(err, -rc, "the result cannot be written to %s: %s", r->out == STDOUT_FILENO ? "stdout" :
			  "its file", strerror(-rc));
	buffer_free(&out);
	return rc;
}

/* Give the nameless file its hidden name; nothing to do if it has one. */
static int name_it(struct result *r)
{
	char self[64];
	size_t n = strlen(r->aside);
	int tries;

	if (strcmp(r->aside + n - 6, "XXXXXX") != 0)
		return 0;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", r->fd);
	for (tries = 0; tries < 100; tries++) {
		snprintf(r->aside + n - 6, 7, "%06u",
			 ((unsigned)getpid() + (unsigned)tries) % 1000000u);
		if (linkat(AT_FDCWD, self, AT_FDCWD, r->aside, AT_SYMLINK_FOLLOW) == 0)
			return 0;
		if (errno != EEXIST)
			break;
	}
	r->aside[0] = '\0';
	return -errno;
}

int result_begun(struct result *r, struct error *err)
{
	const char *name = strrchr(r->file, '/');
	int rc = 0;

	if (!r->nameless)
		return 0;
	name = name ? name + 1 : r->file;
	snprintf(r->aside, sizeof(r->aside), "%.*s.%.200s.XXXXXX", (int)(name - r->file), r->file, name);
	if (name_it(r) || rename(r->aside, r->file))
		rc = error_set(err, errno, "-f %s: %s", r->file, strerror(errno));
	else
		r->aside[0] = '\0';
	r->nameless = rc != 0;
	r->created = rc == 0;
	return rc;
}

int result_keep(struct result *r, struct error *err)
{
	int rc = result_begun(r, err);

	if (rc)
		; /* no name, no result */
	else if (r->copy && r->shown)
		rc = copy_shown(r, err);
	else if (r->copy)
		rc = copy_out(r, err);
	else if (r->in_place)
		r->in_place = r->created = false;
	else if (name_it(r) || rename(r->aside, r->file))
		rc = error_set(err, errno, "-f %s: %s", r->file, strerror(errno));
	else
		r->aside[0] = '\0';
	result_drop(r);
	return rc;
}

void result_drop(struct result *r)
{
	size_t n = strlen(r->aside);
	struct stat st;

	if (n > 6 && strcmp(r->aside + n - 6, "XXXXXX") != 0)
		unlink(r->aside);
	r->aside[0] = '\0';
	/* nothing was ever written to it */
	if (r->created && r->fd >= 0 && fstat(r->fd, &st) == 0 && st.st_size == 0)
		unlink(r->file);
	r->created = false;
	if (r->fd >= 0)
		close(r->fd);
	if (r->copy && r->out != STDOUT_FILENO && r->out >= 0)
		close(r->out);
	r->fd = -1;
	r->copy = false;
}

bool result_is(const struct options *o, int pid, const char *path)
{
	char file[PATH_MAX];
	struct stat a, b;
	struct error ignored;

	return !is_stdout(o->file) &&
	       options_file_name(o->file, pid, time(NULL), -1, file, sizeof(file), &ignored) == 0 &&
	       stat(file, &a) == 0 && stat(path, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

int result_folder(struct options *o, int pid, char name[NAME_MAX + 1], struct error *err)
{
	char file[PATH_MAX], folder[PATH_MAX];
	const char *slash;
	struct stat st;
	int fd;

	if (decide(o, pid, "", file, err))
		return -err->code;
	folder_of(file, folder);
	slash = strrchr(file, '/');
	slash = slash ? slash + 1 : file;
	if (!*slash || (stat(file, &st) == 0 && !S_ISREG(st.st_mode)))
		return error_set(err, EISDIR, "-f %s: this is no place for a file", file);
	if (strlen(slash) > NAME_MAX)
		return error_set(err, ENAMETOOLONG, "-f %s: the name is too long", file);
	strcpy(name, slash);
	/* each round of a loop has a name of its own, made by the agent */
	slash = strrchr(o->file, '/');
	if (o->loop[0])
		snprintf(name, NAME_MAX + 1, "%.*s", NAME_MAX, slash ? slash + 1 : o->file);
	fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? no_folder(file, folder, errno, err) : fd;
}
