/*
 * Results leave the agent here: written beside their place and renamed when
 * they are whole, so that no reader ever sees half a file.
 */
#include "agent/command/pending_output.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "agent/command/control_thread.h"
#include "agent/session/recorder.h"
#include "agent/session/session.h"
#include "agent/threads/own_thread.h"
#include "common/os/output.h"

/* How long something that is no file may take nothing; then the rest is given up, and that is said. */
#define STALLED_MS 2000
#define LAST_STALLED_MS 150 /* the JVM ends */
/* How long its end waits, beyond that, for what was half written to be removed. */
#define ABANDON_WAITS (50 * NS_PER_MS)

enum pending_place { PENDING_NOTHING, PENDING_PATH, PENDING_FILE };

static struct pending {
	enum pending_place place;
	int fd;                      /* the command's file; -1 for a path */
	char name[OPTIONS_FILE_MAX]; /* path, or the file's name for people */
	char pattern[OPTIONS_FILE_MAX]; /* what NAME is made from, in a loop */
	unsigned round;
	struct options options;      /* how the result shall look */
	bool recording;              /* it is a recording that is written there meanwhile */
	struct output begins;        /* where that grows until it has begun, at a path */
} pending, next;

/* Between two rounds of a loop. */
static struct {
	int fd;                      /* the result, in memory; -1: none */
	struct pending to;           /* where it goes */
} kept;

/* No initializers: with them, 58 KB that are nearly all zero would lie in the file. */
static void __attribute__((constructor)) nothing_pending(void)
{
	static const struct output none = OUTPUT_INIT;

	pending.fd = next.fd = kept.to.fd = kept.fd = -1;
	pending.begins = next.begins = kept.to.begins = none;
}

/* Fills the open file FD; DATA is its own. */
typedef int fill_fn(int fd, const void *data, struct error *err);

static int cannot_write(const char *file, int code, struct error *err)
{
	const char *remedy = code == ENOSPC || code == EDQUOT ?
		"free some space or choose another place" : "choose another place";

	return error_set(err, code, "cannot write the result%s%s: %s; %s", *file ? " to " : "",
			 file,
			 error_text(code), remedy);
}

struct result {
	const struct options *options;
	struct format_told *told; /* NULL: no one asks */
};

static int fill_profile(int fd, const void *data, struct error *err)
{
	const struct result *result = data;
	const struct options *o = result->options;
	struct buffer out;
	int rc;

	if (strcmp(o->format, "jfr") == 0 && o->last)
		return session_write_window(o, fd, result->told, err);
	buffer_init(&out, fd);
	rc = session_dump(o, &out, result->told, err);
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
	int rc = buffer_write(fd, text->data, text->length);

	return rc ? cannot_write("", -rc, err) : 0;
}

static struct {
	pthread_mutex_t lock; /* a leaf */
	int folder;           /* -1: nothing is being written */
	const char *name;
	atomic_bool abandoned; /* nothing takes its place any more */
	atomic_bool done;     /* what was owed has been written */
} writing = {.lock = PTHREAD_MUTEX_INITIALIZER, .folder = -1};

static void note_writing(int folder, const char *name)
{
	pthread_mutex_lock(&writing.lock);
	writing.folder = folder;
	writing.name = name;
	pthread_mutex_unlock(&writing.lock);
}

static void *abandon(void *unused)
{
	own_thread_begin("jstrobe abandon");
	pthread_mutex_lock(&writing.lock);
	if (writing.folder >= 0)
		unlinkat(writing.folder, writing.name, 0);
	pthread_mutex_unlock(&writing.lock);
	own_thread_end();
	return NULL;
}

/*
 * A disk that does not answer (NFS without its server) holds who takes the place, with the lock, and who removes the
 * file: a thread of its own does that, and ends with the process.
 */
enum pending_end pending_abandon(void)
{
	struct error ignored;
	pthread_t thread;
	bool settled;

	atomic_store(&writing.abandoned, true);
	settled = own_thread_start(&thread, abandon, NULL, "abandon", &ignored) == 0 &&
		  own_thread_join(thread, ABANDON_WAITS);
	if (atomic_load(&writing.done))
		return PENDING_WRITTEN;
	return settled ? PENDING_LOST : PENDING_PERHAPS_LOST;
}

/* What is whole takes its place, unless that was given up meanwhile. */
static int put_in_place(struct output *out, struct error *err)
{
	int rc;

	pthread_mutex_lock(&writing.lock);
	writing.folder = -1;
	if (atomic_load(&writing.abandoned))
		rc = error_set(err, ESHUTDOWN, "the JVM has ended");
	else
		rc = output_publish(out, true, err);
	pthread_mutex_unlock(&writing.lock);
	return rc;
}

/* ---- files and other places ---- */

/* Whether O's result is written while sampling goes on. */
static bool grows(const struct options *o)
{
	return strcmp(o->format, "jfr") == 0 && !o->last && !o->instrument[0];
}

/* Find where FILE is, with what O says of it; nothing is opened. */
static int find(struct output *out, const char *file, const struct options *o, struct error *err)
{
	/* whether a recording's file was deleted is seen by its links */
	unsigned flags = (o->force ? OUTPUT_FORCE : 0) | (grows(o) ? OUTPUT_HIDDEN : 0);

	*out = (struct output){.mode = o->mode};
	return output_find(out, file, flags, err) ? output_say("file=", file, err) : 0;
}

/* Filled without its name, which it gets when it is whole. */
static int write_file(struct output *out, fill_fn *fill, const void *data, struct error *err)
{
	int rc = output_make(out, err);

	if (rc)
		return rc;
	note_writing(out->aside[0] ? out->folder : -1, out->aside);
	rc = fill(out->fd, data, err);
	/* the JVM's end waits for no disk */
	if (rc == 0 && !control_is_last())
		rc = output_sync(out, err);
	if (rc == 0)
		rc = put_in_place(out, err);
	note_writing(-1, NULL);
	return rc;
}

/* A device, stdout, or a pipe if that was asked for: from memory, at the reader's pace, for a short time. */
static int write_special(struct output *out, fill_fn *fill, const void *data, struct error *err)
{
	struct output_limits limits = {.stalled_ms = control_is_last() ? LAST_STALLED_MS : STALLED_MS, .wake = -1};
	int fd = memfd_create("jstrobe result", MFD_CLOEXEC), rc;
	struct stat st;
	uint64_t done;

	if (fd < 0)
		return error_set(err, errno, "no memory for the result: %s", error_text(errno));
	rc = fill(fd, data, err);
	if (rc == 0)
		rc = output_make(out, err);
	if (rc == 0 && fstat(fd, &st))
		rc = error_set(err, errno, "the result cannot be read back: %s", error_text(errno));
	if (rc == 0)
		rc = output_copy(out, fd, (uint64_t)st.st_size, &limits, &done, err);
	close(fd);
	return rc;
}

static int write_at_path(const char *file, const struct options *o, fill_fn *fill, const void *data, struct error *err)
{
	struct output out;
	int rc = find(&out, file, o, err);

	if (rc)
		return rc;
	rc = out.kind == OUTPUT_FILE ? write_file(&out, fill, data, err) : write_special(&out, fill, data, err);
	output_drop(&out);
	return rc ? output_say("file=", file, err) : 0;
}

static int check_place(const struct output *out, const char *file, const struct options *o, struct error *err)
{
	if (grows(o) && out->kind != OUTPUT_FILE)
		return error_set(err, EINVAL, "file=%s: a recording needs a regular file; choose another place", file);
	return output_may_make(out, file, err) ? output_say("file=", file, err) : 0;
}

int pending_check_format(const struct options *o, struct error *err)
{
	if (!o->format[0] || !format_is_export(format_by_name(o->format)))
		return 0;
	return error_set(err, EINVAL, "%s: only the jstrobe command writes it; let the result be a .json or "
			 ".jfr here, then: jstrobe convert FILE %s", o->format, o->file[0] ? o->file : "OUT");
}

int pending_check_path(struct options *o, struct error *err)
{
	char file[OPTIONS_FILE_MAX];
	struct output out = OUTPUT_INIT;
	int rc;

	if (!o->format[0]) {
		if (format_check_file(o->file, err))
			return -err->code;
		snprintf(o->format, sizeof(o->format), "%s", format_by_file(o->file)->name);
	}
	if (pending_check_format(o, err))
		return -err->code;
	if (options_file_name(o->file, getpid(), time(NULL), o->loop[0] ? 0 : -1, file,
			      sizeof(file), err))
		return -err->code;
	if (!o->loop[0])
		strcpy(o->file, file);
	rc = find(&out, file, o, err);
	if (rc == 0)
		rc = check_place(&out, file, o, err);
	output_drop(&out);
	return rc;
}

static int name_round(struct pending *o, struct error *err)
{
	if (!o->options.loop[0] || o->place == PENDING_FILE)
		snprintf(o->name, sizeof(o->name), "%s", o->pattern);
	else if (options_file_name(o->pattern, getpid(), time(NULL), (int)o->round, o->name,
				   sizeof(o->name), err))
		return -err->code;
	return 0;
}

static void forget(struct pending *o)
{
	if (o->fd >= 0)
		close(o->fd);
	output_drop(&o->begins);
	memset(o, 0, sizeof(*o));
	o->fd = -1;
	o->begins = (struct output)OUTPUT_INIT;
}

static void owe(enum pending_place place, const struct options *o, int fd, const char *name)
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

int pending_next(struct error *err)
{
	forget(&next);
	next = pending;
	next.begins = (struct output)OUTPUT_INIT;
	if (next.fd >= 0)
		next.fd = fcntl(pending.fd, F_DUPFD_CLOEXEC, 0);
	if (pending.fd >= 0 && next.fd < 0)
		return cannot_write(pending.name, errno, err);
	next.round++;
	return name_round(&next, err);
}

bool pending_is_named(bool keep)
{
	return next.place != PENDING_NOTHING || (keep && pending.place != PENDING_NOTHING);
}

void pending_to_path(const struct options *o)
{
	owe(PENDING_PATH, o, -1, o->file);
}

void pending_to_file(const struct options *o, int fd, const char *name)
{
	owe(PENDING_FILE, o, fd, name);
}

/* The last recording, if that is what lies at OUT and it shall go on; else -1. */
static int open_again(const struct output *out, bool resume)
{
	int fd = resume ? output_open_present(out, O_RDWR) : -1;

	if (fd >= 0 && !recorder_is_last(fd)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static int open_place(struct pending *o, bool resume, struct error *err)
{
	int rc, fd;

	if (o->place == PENDING_FILE) {
		fd = fcntl(o->fd, F_DUPFD_CLOEXEC, 0);
		return fd < 0 ? cannot_write(o->name, errno, err) : fd;
	}
	rc = find(&o->begins, o->name, &o->options, err);
	if (rc == 0)
		rc = check_place(&o->begins, o->name, &o->options, err);
	if (rc)
		return rc;
	fd = open_again(&o->begins, resume);
	if (fd >= 0) {
		output_drop(&o->begins);
		return fd;
	}
	if (output_make(&o->begins, err))
		return output_say("file=", o->name, err);
	fd = fcntl(o->begins.fd, F_DUPFD_CLOEXEC, 0);
	return fd < 0 ? cannot_write(o->name, errno, err) : fd;
}

int pending_open(const struct options *o, bool resume, int *file, struct error *err)
{
	*file = -1;
	if (!grows(o))
		return 0;
	if (next.place == PENDING_NOTHING)
		return error_set(err, EINVAL, "a recording is written while it happens; say where with "
				 "file=FILE (-f FILE)");
	*file = open_place(&next, resume, err);
	return *file < 0 ? *file : 0;
}

void pending_cancel(void)
{
	forget(&next);
}

int pending_confirm(bool keep, struct error *err)
{
	int rc;

	if (keep && next.place == PENDING_NOTHING)
		return 0;
	/* a recording has begun, and takes its place */
	rc = output_publish(&next.begins, false, err);
	if (rc)
		return output_say("file=", next.name, err);
	output_drop(&next.begins);
	pending_nothing();
	pending = next;
	next.fd = -1;
	forget(&next);
	atomic_store(&writing.done, false);
	return 0;
}

void pending_nothing(void)
{
	forget(&pending);
}

const char *pending_name(void)
{
	return pending.name;
}

static int write_pending(const struct options *how, struct format_told *told, struct error *err)
{
	const struct result result = {how ? how : &pending.options, told};

	/* it is there already */
	if (pending.recording && strcmp(result.options->format, "jfr") == 0)
		return session_complete_recording(result.options, told, err);
	switch (pending.place) {
	case PENDING_PATH:
		return write_at_path(pending.name, result.options, fill_profile, &result, err);
	case PENDING_FILE:
		return pending_write_file(result.options, pending.fd, told, err);
	case PENDING_NOTHING:
		break;
	}
	return error_set(err, ENOENT, "the result has no file; give file=FILE");
}

int pending_write(const struct options *how, struct format_told *told, struct error *err)
{
	int rc;

	atomic_store(&writing.done, false); /* what an earlier write left says nothing of this one */
	rc = write_pending(how, told, err);
	atomic_store(&writing.done, rc == 0);
	return rc;
}

/* ---- between two rounds ---- */

static void forget_kept(void)
{
	if (kept.fd >= 0)
		close(kept.fd);
	kept.fd = -1;
	forget(&kept.to);
}

int pending_keep(struct error *err)
{
	const struct result result = {&kept.to.options, NULL};
	int rc;

	forget_kept();
	if (pending.place == PENDING_NOTHING || (pending.recording && strcmp(pending.options.format, "jfr") == 0))
		return pending_write(NULL, NULL, err);
	kept.to = pending;
	kept.to.begins = (struct output)OUTPUT_INIT;
	kept.to.fd = pending.fd < 0 ? -1 : fcntl(pending.fd, F_DUPFD_CLOEXEC, 0);
	kept.fd = memfd_create("jstrobe result", MFD_CLOEXEC);
	if (kept.fd < 0 || (pending.fd >= 0 && kept.to.fd < 0)) {
		forget_kept(); /* no memory or descriptor for it: then at once */
		return pending_write(NULL, NULL, err);
	}
	rc = fill_profile(kept.fd, &result, err);
	if (rc)
		forget_kept();
	return rc;
}

/* What is kept, into FD. */
static int fill_kept(int fd, const void *unused, struct error *err)
{
	struct buffer out;
	int rc;

	buffer_init(&out, fd);
	buffer_append_file(&out, kept.fd);
	rc = buffer_flush(&out);
	buffer_free(&out);
	return rc ? cannot_write("", -rc, err) : 0;
}

int pending_write_kept(struct error *err)
{
	const struct pending *to = &kept.to;
	int rc;

	if (kept.fd < 0)
		return 0;
	if (to->place == PENDING_PATH)
		rc = write_at_path(to->name, &to->options, fill_kept, NULL, err);
	else if (lseek(to->fd, 0, SEEK_SET) < 0 || ftruncate(to->fd, 0))
		rc = cannot_write("", errno, err);
	else
		rc = fill_kept(to->fd, NULL, err);
	forget_kept();
	return rc;
}

int pending_write_file(const struct options *o, int fd, struct format_told *told, struct error *err)
{
	const struct result result = {o, told};

	if (lseek(fd, 0, SEEK_SET) < 0 || ftruncate(fd, 0))
		return cannot_write("", errno, err);
	return fill_profile(fd, &result, err);
}

/* The recording grows at O's place already, whatever its name: then *RC tells whether it is complete. */
static bool is_in_place(const struct options *o, struct format_told *told, int *rc, struct error *err)
{
	struct output out;
	struct error ignored;
	struct stat file;
	bool is = find(&out, o->file, o, &ignored) == 0 && S_ISREG(out.type) &&
		  fstatat(out.folder, out.name, &file, AT_SYMLINK_NOFOLLOW) == 0 &&
		  session_is_in_file(o, &file, told, rc, err);

	if (is && *rc)
		output_say("file=", o->file, err);
	output_drop(&out);
	return is;
}

int pending_write_path(const struct options *o, struct format_told *told, struct error *err)
{
	const struct result result = {o, told};
	int rc;

	if (is_in_place(o, told, &rc, err))
		return rc;
	return write_at_path(o->file, o, fill_profile, &result, err);
}

int pending_write_text(const struct options *o, const char *text, size_t length, struct error *err)
{
	struct buffer b = {.data = (char *)(uintptr_t)text, .length = length, .fd = -1};

	return write_at_path(o->file, o, fill_text, &b, err);
}
