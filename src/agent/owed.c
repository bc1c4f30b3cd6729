/*
 * Results leave the agent here: written beside their place and renamed when
 * they are whole, so that nobody ever sees half a file.
 */
#include "agent/owed.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "agent/recorder.h"
#include "agent/session.h"
#include "format/format.h"

enum owed_place { OWED_NOTHING, OWED_PATH, OWED_FILE, OWED_FOLDER };

static struct owed {
	enum owed_place place;
	int fd;                      /* the file or the folder; -1 for a path */
	char name[OPTIONS_FILE_MAX]; /* path, or name in the folder */
	char pattern[OPTIONS_FILE_MAX]; /* what NAME is made from, in a loop */
	unsigned round;
	char shown[2 * OPTIONS_FILE_MAX]; /* the whole path, for people */
	struct options options;      /* how the result shall look */
	bool recording;              /* it is a recording that is written there meanwhile */
	char aside[OPTIONS_FILE_MAX]; /* what the recording is called beside its place, until it begins; "" = no more */
} owed = {.fd = -1}, next = {.fd = -1};

/* Fills the open file FD; DATA is its own. */
typedef int fill_fn(int fd, const void *data, struct error *err);

static int cannot_write(const char *file, int code, struct error *err)
{
	const char *remedy = code == ENOSPC || code == EDQUOT ?
		"free some space or choose another place" : "choose another place";

	return error_set(err, code, "cannot write the result%s%s: %s; %s", *file ? " to " : "",
			 file,
			 strerror(code), remedy);
}

static int fill_profile(int fd, const void *data, struct error *err)
{
	const struct options *o = data;
	struct buffer out;
	int rc;

	if (strcmp(o->format, "jfr") == 0 && o->last)
		return session_write_window(o, fd, err);
	buffer_init(&out, fd);
	rc = session_dump(o, &out, err);
	if (rc == 0 || out.failed)
		rc = buffer_flush(&out);
	if (out.failed)
		cannot_write("", out.failed, err);
	buffer_free(&out);
	return rc;
}

static int fill_text(int fd, const void *data, struct error *err)
{
	const struct buffer *text = data;
	struct buffer out;
	int rc;

	buffer_init(&out, fd);
	buffer_append(&out, text->data, text->length);
	rc = buffer_flush(&out);
	buffer_free(&out);
	return rc ? cannot_write("", -rc, err) : 0;
}

/* A device or pipe, /dev/null or /dev/stdout: written to, for a rename would put a file in its place. */
static int write_special(int folder, const char *name, fill_fn *fill, const void *data, struct error *err)
{
	int fd, rc;

	/* A pipe that nobody reads is refused instead of waited for. */
	fd = openat(folder, name, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return cannot_write(name, errno, err);
	fcntl(fd, F_SETFL, O_WRONLY);
	rc = fill(fd, data, err);
	if (close(fd) && rc == 0)
		rc = cannot_write(name, errno, err);
	return rc;
}

static struct {
	pthread_mutex_t lock; /* a leaf */
	int folder;           /* -1: nothing is being written */
	const char *name;
	bool abandoned;       /* nothing takes its place any more */
	bool done;            /* what was owed has been written */
} writing = {.lock = PTHREAD_MUTEX_INITIALIZER, .folder = -1};

static void note_writing(int folder, const char *name)
{
	pthread_mutex_lock(&writing.lock);
	writing.folder = folder;
	writing.name = name;
	pthread_mutex_unlock(&writing.lock);
}

bool owed_abandon(void)
{
	bool lost;

	pthread_mutex_lock(&writing.lock);
	writing.abandoned = true;
	lost = !writing.done;
	if (writing.folder >= 0)
		unlinkat(writing.folder, writing.name, 0);
	pthread_mutex_unlock(&writing.lock);
	return lost;
}

/* What is whole takes its place, unless that was given up meanwhile. */
static int put_in_place(int folder, const char *aside, const char *name, struct error *err)
{
	int rc = 0;

	pthread_mutex_lock(&writing.lock);
	writing.folder = -1;
	if (writing.abandoned)
		rc = error_set(err, ESHUTDOWN, "the JVM has ended");
	else if (renameat(folder, aside, folder, name))
		rc = cannot_write(name, errno, err);
	pthread_mutex_unlock(&writing.lock);
	return rc;
}

/* A file NAME in FOLDER: filled aside, then renamed. */
static int write_in_folder(int folder, const char *name, fill_fn *fill, const void *data,
			   struct error *err)
{
	char aside[OPTIONS_FILE_MAX + 32];
	struct stat st;
	int fd, rc;

	if (fstatat(folder, name, &st, 0))
		st.st_mode = S_IFREG;
	if (S_ISCHR(st.st_mode) || S_ISFIFO(st.st_mode))
		return write_special(folder, name, fill, data, err);
	if (!S_ISREG(st.st_mode))
		return error_set(err, EISDIR, "cannot write the result to %s: this is no file; choose another place",
				 name);
	snprintf(aside, sizeof(aside), ".%.200s.%d.new", name, getpid());
	unlinkat(folder, aside, 0);
	fd = openat(folder, aside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return cannot_write(name, errno, err);
	note_writing(folder, aside);
	rc = fill(fd, data, err);
	if (close(fd) && rc == 0)
		rc = cannot_write(name, errno, err);
	if (rc == 0)
		rc = put_in_place(folder, aside, name, err);
	note_writing(-1, NULL);
	if (rc)
		unlinkat(folder, aside, 0);
	return rc;
}

/* Open the folder of FILE; *NAME is what follows it. */
static int open_folder(const char *file, const char **name, struct error *err)
{
	const char *slash = strrchr(file, '/');
	char folder[OPTIONS_FILE_MAX];
	int fd;

	*name = slash ? slash + 1 : file;
	snprintf(folder, sizeof(folder), "%.*s", slash ? (int)MAX(slash - file, 1) : 1,
		 slash ? file : ".");
	fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return error_set(err, errno, "file=%s: the folder %s cannot be used: %s; create "
				 "it or choose another", file, folder, strerror(errno));
	if (!**name || faccessat(fd, ".", W_OK | X_OK, AT_EACCESS)) {
		error_set(err, **name ? errno : EISDIR, "file=%s: %s; choose another place", file,
			  **name ? strerror(errno) : "this is a folder");
		close(fd);
		return -err->code;
	}
	return fd;
}

static int write_at_path(const char *file, fill_fn *fill, const void *data, struct error *err)
{
	const char *name;
	int rc, folder = open_folder(file, &name, err);

	if (folder < 0)
		return folder;
	rc = write_in_folder(folder, name, fill, data, err);
	close(folder);
	return rc;
}

int owed_check_path(struct options *o, struct error *err)
{
	char file[OPTIONS_FILE_MAX];
	const char *name;
	int fd;

	if (!o->format[0]) {
		if (options_check_file(o->file, err))
			return -err->code;
		snprintf(o->format, sizeof(o->format), "%s", format_by_file(o->file)->name);
	}
	if (options_file_name(o->file, getpid(), time(NULL), o->loop[0] ? 0 : -1, file,
			      sizeof(file), err))
		return -err->code;
	if (!o->loop[0])
		strcpy(o->file, file);
	fd = open_folder(file, &name, err);
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

/* NAME with the folder that FD stands for, as far as it can be told. */
static void name_in_folder(int fd, const char *name, char *out, size_t size)
{
	char link[32], folder[OPTIONS_FILE_MAX];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, folder, sizeof(folder) - 1);
	folder[MAX(n, (ssize_t)0)] = '\0';
	snprintf(out, size, "%s%s%s", folder, n > 0 ? "/" : "", name);
}

static int name_round(struct owed *o, struct error *err)
{
	if (!o->options.loop[0] || o->place == OWED_FILE)
		snprintf(o->name, sizeof(o->name), "%s", o->pattern);
	else if (options_file_name(o->pattern, getpid(), time(NULL), (int)o->round, o->name,
				   sizeof(o->name), err))
		return -err->code;
	if (o->place == OWED_FOLDER)
		name_in_folder(o->fd, o->name, o->shown, sizeof(o->shown));
	else
		snprintf(o->shown, sizeof(o->shown), "%s", o->name);
	return 0;
}

static void forget(struct owed *o)
{
	if (o->fd >= 0)
		close(o->fd);
	memset(o, 0, sizeof(*o));
	o->fd = -1;
}

/* Whether O's result is written while sampling goes on. */
static bool grows(const struct options *o)
{
	return strcmp(o->format, "jfr") == 0 && !o->last && !o->instrument[0];
}

static void owe(enum owed_place place, const struct options *o, int fd, const char *name)
{
	struct error ignored; /* the pattern was expanded before */

	forget(&next);
	next.place = place;
	next.fd = fd;
	next.options = *o;
	next.recording = grows(o);
	snprintf(next.pattern, sizeof(next.pattern), "%s", name);
	name_round(&next, &ignored);
}

int owed_next(struct error *err)
{
	forget(&next);
	next = owed;
	if (next.fd >= 0)
		next.fd = fcntl(owed.fd, F_DUPFD_CLOEXEC, 0);
	if (owed.fd >= 0 && next.fd < 0)
		return cannot_write(owed.name, errno, err);
	next.round++;
	return name_round(&next, err);
}

bool owed_is_named(bool keep)
{
	return next.place != OWED_NOTHING || (keep && owed.place != OWED_NOTHING);
}

void owed_to_path(const struct options *o)
{
	owe(OWED_PATH, o, -1, o->file);
}

void owed_to_file(const struct options *o, int fd)
{
	owe(OWED_FILE, o, fd, "the command's file");
}

void owed_to_folder(const struct options *o, int fd, const char *name)
{
	owe(OWED_FOLDER, o, fd, name);
}

/* The folder of O and, as *NAME, the file's name in it; to be closed unless it is O's own. */
static int folder_of(const struct owed *o, const char **name, struct error *err)
{
	*name = o->name;
	return o->place == OWED_FOLDER ? o->fd : open_folder(o->name, name, err);
}

static void leave_folder(const struct owed *o, int folder)
{
	if (folder >= 0 && folder != o->fd)
		close(folder);
}

/* What is called NAME in FOLDER, if it is the last recording, which then goes on; else -1. */
static int open_again(int folder, const char *name)
{
	int fd = openat(folder, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	if (fd >= 0 && !recorder_is_last(fd)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* A new file beside NAME in FOLDER to write and read; what cannot be replaced by one is opened itself, or refused. */
static int open_beside(struct owed *o, int folder, const char *name, struct error *err)
{
	struct stat st = {.st_mode = S_IFREG};
	int fd;

	fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW);
	if (S_ISREG(st.st_mode)) {
		snprintf(o->aside, sizeof(o->aside), ".%.200s.%d.new", name, getpid());
		unlinkat(folder, o->aside, 0);
		fd = openat(folder, o->aside, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (fd < 0)
			o->aside[0] = '\0';
	} else {
		fd = openat(folder, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	}
	return fd < 0 ? cannot_write(name, errno, err) : fd;
}

static int open_place(struct owed *o, bool resume, struct error *err)
{
	const char *name;
	int folder, fd = -1;

	if (o->place == OWED_FILE) {
		fd = fcntl(o->fd, F_DUPFD_CLOEXEC, 0);
		return fd < 0 ? cannot_write(o->name, errno, err) : fd;
	}
	folder = folder_of(o, &name, err);
	if (folder < 0)
		return folder;
	if (resume)
		fd = open_again(folder, name);
	if (fd < 0)
		fd = open_beside(o, folder, name, err);
	leave_folder(o, folder);
	return fd;
}

int owed_open(const struct options *o, bool resume, int *file, struct error *err)
{
	*file = -1;
	if (!grows(o))
		return 0;
	if (next.place == OWED_NOTHING)
		return error_set(err, EINVAL, "a recording is written while it happens; say where with "
				 "file=FILE (-f FILE)");
	*file = open_place(&next, resume, err);
	return *file < 0 ? *file : 0;
}

/* The recording that begins beside its place takes it (TAKE), or is removed. */
static int end_aside(struct owed *o, bool take, struct error *err)
{
	const char *name;
	int folder, rc = 0;

	if (!o->aside[0])
		return 0;
	folder = folder_of(o, &name, err);
	if (folder < 0)
		return folder;
	if (!take)
		unlinkat(folder, o->aside, 0);
	else if (renameat(folder, o->aside, folder, name))
		rc = cannot_write(name, errno, err);
	if (rc == 0)
		o->aside[0] = '\0';
	leave_folder(o, folder);
	return rc;
}

void owed_cancel(void)
{
	struct error ignored;

	end_aside(&next, false, &ignored);
	forget(&next);
}

int owed_confirm(bool keep, struct error *err)
{
	int rc;

	if (keep && next.place == OWED_NOTHING)
		return 0;
	rc = end_aside(&next, true, err);
	if (rc)
		return rc;
	owed_nothing();
	owed = next;
	next.fd = -1;
	forget(&next);
	return 0;
}

void owed_nothing(void)
{
	forget(&owed);
}

const char *owed_name(void)
{
	return owed.shown;
}

static int write_owed(const struct options *how, struct error *err)
{
	if (!how)
		how = &owed.options;
	/* it is there already */
	if (owed.recording && strcmp(how->format, "jfr") == 0)
		return session_complete_recording(err);
	switch (owed.place) {
	case OWED_PATH:
		return write_at_path(owed.name, fill_profile, how, err);
	case OWED_FILE:
		return owed_write_file(how, owed.fd, err);
	case OWED_FOLDER:
		return write_in_folder(owed.fd, owed.name, fill_profile, how, err);
	case OWED_NOTHING:
		break;
	}
	return error_set(err, ENOENT, "nobody said where the result shall go; give file=FILE");
}

int owed_write(const struct options *how, struct error *err)
{
	int rc = write_owed(how, err);

	pthread_mutex_lock(&writing.lock);
	writing.done = rc == 0;
	pthread_mutex_unlock(&writing.lock);
	return rc;
}

int owed_write_file(const struct options *o, int fd, struct error *err)
{
	if (lseek(fd, 0, SEEK_SET) < 0 || ftruncate(fd, 0))
		return cannot_write("", errno, err);
	return fill_profile(fd, o, err);
}

int owed_write_path(const struct options *o, struct error *err)
{
	return write_at_path(o->file, fill_profile, o, err);
}

int owed_write_text(const char *file, const char *text, size_t length, struct error *err)
{
	struct buffer b = {.data = (char *)(uintptr_t)text, .length = length, .fd = -1};

	return write_at_path(file, fill_text, &b, err);
}
