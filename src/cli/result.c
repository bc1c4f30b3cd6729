#include "cli/result.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/shown.h"
#include "profile/writers/format.h"

#define PIPE_STALLED_MS 30000     /* a reader that takes nothing, */
#define STDOUT_STALLED_MS 600000  /* a person may read on stdout */

static bool is_stdout(const char *file)
{
	return !file[0] || output_inherited(file) == STDOUT_FILENO;
}

int result_check_name(const struct options *o, struct error *err)
{
	return o->format[0] || !o->file[0] ? 0 : format_check_file(o->file, err);
}

/* Fill in the format and the file's name with its patterns; "" is stdout. */
static int decide(struct options *o, int pid, const char *without_file, char file[PATH_MAX], struct error *err)
{
	file[0] = '\0';
	if (!o->format[0] && is_stdout(o->file)) {
		snprintf(o->format, sizeof(o->format), "%s", without_file);
	} else if (!o->format[0]) {
		if (result_check_name(o, err))
			return -err->code;
		snprintf(o->format, sizeof(o->format), "%s", format_by_file(o->file)->name);
	}
	/* what other viewers can always leave out again */
	o->threads |= format_is_export(format_by_name(o->format));
	if (is_stdout(o->file))
		return 0;
	return options_file_name(o->file, pid, time(NULL), -1, file, PATH_MAX, err);
}

/* Bytes of a file for another viewer on a terminal are of no use to anyone; that is said before anything is done. */
static int check_terminal(const struct result *r, const struct options *o, struct error *err)
{
	if (!format_is_export(format_by_name(o->format)) || r->place.kind != OUTPUT_OPEN || !isatty(r->place.number))
		return 0;
	return error_set(err, EINVAL, "%s is for another viewer, no text for a terminal; say -f FILE, or send it on: "
			 "> FILE, | PROGRAM", o->format);
}

int result_find(struct result *r, struct options *o, int pid, const char *without_file, bool grows, struct error *err)
{
	unsigned flags = OUTPUT_SUDO | OUTPUT_ASKED | (o->force ? OUTPUT_FORCE : 0);
	int rc;

	*r = (struct result)RESULT_INIT;
	r->place.mode = o->mode;
	rc = decide(o, pid, without_file, r->file, err);
	if (rc)
		return rc;
	rc = output_find(&r->place, r->file[0] ? r->file : "-", flags, err);
	if (rc == 0)
		rc = output_may_make(&r->place, r->file, err);
	if (rc)
		return output_say("-f ", r->file, err);
	rc = check_terminal(r, o, err);
	if (rc)
		return rc;
	snprintf(r->format, sizeof(r->format), "%s", o->format);
	r->replaces = r->place.kind == OUTPUT_FILE && r->place.type;
	r->grows = grows && r->place.kind == OUTPUT_FILE && strcmp(o->format, "jfr") == 0 && !o->last &&
		   !o->instrument[0];
	return 0;
}

int result_write_only(int fd, struct error *err)
{
	char self[64];
	int given;

	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	given = open(self, O_WRONLY | O_CLOEXEC);
	if (given >= 0)
		return given;
	return error_set(err, errno, "no descriptor to write the result by: %s: %s", self, error_text(errno));
}

/* A file that never has a name, beside the place. */
static int open_apart(struct result *r, struct error *err)
{
	struct output beside = {.kind = OUTPUT_FILE, .fd = -1, .folder = -1};

	r->fd = openat(r->place.folder, ".", O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
	if (r->fd >= 0)
		return 0;
	strcpy(beside.name, r->place.name);
	beside.folder = fcntl(r->place.folder, F_DUPFD_CLOEXEC, 0);
	if (output_make(&beside, err) == 0) {
		r->fd = beside.fd;
		beside.fd = -1;
	}
	/* removes the hidden name */
	output_drop(&beside);
	return r->fd < 0 ? output_say("-f ", r->file, err) : 0;
}

int result_memory(struct error *err)
{
	int fd = memfd_create("jstrobe result", MFD_CLOEXEC), rc;

	if (fd >= 0 && fchmod(fd, 0600) == 0)
		return fd;
	rc = error_set(err, errno, "memfd_create: %s", error_text(errno));
	if (fd >= 0)
		close(fd);
	return rc;
}

static int open_memory(struct result *r, struct error *err)
{
	r->fd = result_memory(err);
	return MIN(r->fd, 0);
}

int result_open(struct result *r, bool apart, struct error *err)
{
	int rc;

	r->copy = apart || r->packed || r->place.kind != OUTPUT_FILE;
	if (r->place.kind == OUTPUT_FILE && apart && !r->packed)
		rc = open_apart(r, err);
	else
		rc = output_make(&r->place, err) ? output_say("-f ", r->file, err) : 0;
	if (rc == 0 && r->fd < 0 && r->copy)
		rc = open_memory(r, err);
	if (rc)
		return rc;
	r->shown = r->place.kind != OUTPUT_FILE && shown_is_text(r->place.fd, r->format);
	if (!r->copy)
		r->fd = fcntl(r->place.fd, F_DUPFD_CLOEXEC, 0);
	r->given = result_write_only(r->fd, err);
	return r->given < 0 ? r->given : 0;
}

bool result_colour(const struct result *r)
{
	return r->place.kind != OUTPUT_FILE && r->place.fd >= 0 && console_colour(r->place.fd);
}

int result_begun(struct result *r, struct error *err)
{
	if (!r->grows || r->copy || r->named)
		return 0;
	if (output_publish(&r->place, false, err))
		return output_say("-f ", r->file, err);
	r->named = true;
	return 0;
}

unsigned result_width(const struct result *r)
{
	return r->place.kind != OUTPUT_FILE && r->place.fd >= 0 ? console_width(r->place.fd) : 0;
}

/*
 * How long the result is, asked once: the target has it open still, and may make it longer at any moment. It can make
 * it of any length with nothing in it, too; what an agent writes has no holes.
 */
static int measure(int fd, uint64_t *size, struct error *err)
{
	struct stat st;
	off_t hole;

	if (fstat(fd, &st))
		return error_set(err, errno, "the result cannot be read back: %s", error_text(errno));
	*size = (uint64_t)st.st_size;
	if (st.st_size == 0)
		return 0;
	hole = lseek(fd, 0, SEEK_HOLE);
	/* ENXIO: it is empty by now */
	if ((hole < 0 && errno != ENXIO) || hole >= st.st_size)
		return 0;
	return error_set(err, EPROTO, "the target has left holes in the result, which no agent does; it is not taken");
}

/* The SIZE bytes in R for people who look at them in a terminal, instead of what was written; SIZE of those then. */
static int make_safe(struct result *r, uint64_t *size, const struct output_limits *limits, struct error *err)
{
	bool colours = console_colour(r->place.fd);
	int raw = r->fd, rc = open_memory(r, err);
	uint64_t offset = 0;
	char bytes[16384], *last;
	struct buffer out;
	ssize_t n = 1;

	buffer_init(&out, r->fd);
	while (rc == 0 && n > 0 && offset < *size) {
		n = pread(raw, bytes, (size_t)MIN(*size - offset, (uint64_t)sizeof(bytes)), (off_t)offset);
		/* whole lines, if there are any */
		last = n == sizeof(bytes) ? memrchr(bytes, '\n', (size_t)n) : NULL;
		n = last ? last + 1 - bytes : n;
		shown_put(&out, bytes, (size_t)MAX(n, (ssize_t)0), colours);
		offset += (uint64_t)MAX(n, (ssize_t)0);
		rc = buffer_flush(&out);
		if (output_called_off(limits))
			rc = error_set(err, EINTR, "called off");
	}
	if (n < 0 || out.failed)
		rc = error_set(err, n < 0 ? errno : out.failed, "the result cannot be read back: %s",
			       error_text(n < 0 ? errno : out.failed));
	*size = out.written;
	buffer_free(&out);
	close(raw);
	return rc;
}

static int copy_out(struct result *r, int wake, struct error *err)
{
	struct output_limits limits = {
		.wake = wake,
		.stalled_ms = r->file[0] ? PIPE_STALLED_MS : STDOUT_STALLED_MS,
	};
	uint64_t size, done;
	int rc = measure(r->fd, &size, err);

	if (rc == 0 && r->shown)
		rc = make_safe(r, &size, &limits, err);
	if (rc == 0 && r->place.kind == OUTPUT_FILE && r->place.fd < 0)
		rc = output_make(&r->place, err);
	return rc ? rc : output_copy(&r->place, r->fd, size, &limits, &done, err);
}

int result_keep(struct result *r, int wake, struct error *err)
{
	int rc = r->copy ? copy_out(r, wake, err) : 0;

	if (rc == 0)
		rc = output_sync(&r->place, err);
	if (rc == 0 && !r->named)
		rc = output_publish(&r->place, true, err);
	if (rc)
		output_say("-f ", r->file[0] ? r->file : "stdout", err);
	else
		r->named = false; /* result_drop leaves it */
	result_drop(r);
	return rc;
}

void result_drop(struct result *r)
{
	struct stat mine, there;

	/* it got its name, and nothing was ever written to it */
	if (r->named && fstat(r->fd, &mine) == 0 && mine.st_size == 0 &&
	    fstatat(r->place.folder, r->place.name, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
	    mine.st_dev == there.st_dev && mine.st_ino == there.st_ino)
		unlinkat(r->place.folder, r->place.name, 0);
	if (r->fd >= 0)
		close(r->fd);
	if (r->given >= 0)
		close(r->given);
	output_drop(&r->place);
	r->fd = r->given = -1;
	r->copy = r->named = false;
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
