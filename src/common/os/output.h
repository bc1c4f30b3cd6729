/*
 * output.h - files that results go to: the one way in which command and agent open them.
 *
 * A name in a folder that others can write to says nothing about what lies there. So the way to the folder is walked
 * once, by descriptor; everything after that happens in that folder, whatever its name leads to meanwhile:
 *
 *   - a link is followed only if it belongs to this process's user or to root;
 *   - a result is a new file, made exclusively, without a name or with a random one, mode 0600, that takes its name
 *     by rename when it is whole: no other process has it open, and what was there before stays until then;
 *   - a file of another user, in a folder that all can write to, is not replaced;
 *   - a FIFO, a socket or a device is written to only with OUTPUT_FORCE, but for terminals and the like in our own /dev
 *     and any /dev/null, and what this process has open already as "-", /dev/stdout, /dev/fd/N. Every wait for them has
 *     a limit.
 *
 * Nothing is made, opened or changed before output_make. Normal code, any thread; one thread at a time for one output.
 */
#ifndef JSTROBE_OS_OUTPUT_H
#define JSTROBE_OS_OUTPUT_H

#include <limits.h>
#include <sys/types.h>

#include "common/base/error.h"

enum output_flags {
	OUTPUT_FORCE = 1,  /* the user insists: links and files of others, FIFOs, devices */
	OUTPUT_FIFO = 2,   /* a FIFO of this user or root is as good as a file: live streams */
	OUTPUT_SUDO = 4,   /* the user who called sudo is trusted as well; the command only */
	OUTPUT_HIDDEN = 8, /* the new file has a random name from the start, also where it could do without */
	OUTPUT_SOCKET = 16, /* a socket will be made there: what has the name is not judged, and a link not followed */
	OUTPUT_ASKED = 32, /* the user was asked about the file that was there: one that comes later is not replaced */
};

enum output_kind {
	OUTPUT_NONE,
	OUTPUT_FILE,     /* a regular file, there already or not */
	OUTPUT_SPECIAL,  /* a FIFO, device, or socket */
	OUTPUT_OPEN,     /* a descriptor that this process has open: stdout */
};

struct output {
	enum output_kind kind;
	unsigned flags;
	int fd;          /* open from output_make on; -1: not yet. Of a file for reading and writing */
	int folder;      /* that NAME lies in; -1: none */
	int number;      /* of OUTPUT_OPEN */
	bool shares;     /* FD's mode belongs to others, too: it may block */
	mode_t type;     /* S_IF… of what is there; 0 = nothing */
	mode_t mode;     /* of a new file; 0 = 0600 within the umask */
	uid_t owner;     /* of what is there */
	dev_t device;
	ino_t inode;
	dev_t special;   /* which device it is, if it is one */
	bool foreign;    /* it lies in another process's file system (/proc/PID/root) */
	char name[NAME_MAX + 1];
	char aside[NAME_MAX + 1]; /* its name until it is whole; "" = it has none */
};

#define OUTPUT_INIT {.fd = -1, .folder = -1}

/* Find the place that PATH names and judge it; FLAGS of enum output_flags. Nothing is made or opened for writing. */
int output_find(struct output *o, const char *path, unsigned flags, struct error *err);
/* Whether PATH stands for something that this process has open: its number, else -1. "-" is stdout. */
int output_inherited(const char *path);
/* Whether this user may make a file in the folder found; an error that says so. */
int output_may_make(const struct output *o, const char *path, struct error *err);
/*
 * Open it: a new, empty file beside the place, without a name where the file system can do that; or the special thing
 * found. -ENXIO: the FIFO has no reader.
 */
int output_make(struct output *o, struct error *err);
/* What was written to the new file is on the disk. */
int output_sync(const struct output *o, struct error *err);
/*
 * The new file takes its name. KEEP: it must not be lost; where its name is taken by what cannot be replaced, it gets
 * one like it, and an error tells which. Of what is no file: nothing happens.
 */
int output_publish(struct output *o, bool keep, struct error *err);
/*
 * What is written through O ends here: an unpublished file goes, all is closed. Safe on an initial or dropped one.
 */
void output_drop(struct output *o);

/* ERR, of PATH, as a user reads it: behind WHAT ("-f ", "file="), and naming PATH once. Its code, negative. */
int output_say(const char *what, const char *path, struct error *err);
/* The present file under the name found, opened with FLAGS as it was judged; -1: there is none, or another now. */
int output_open_present(const struct output *o, int flags);
/* Whether others can put something into the folder found: whose name it is says nothing then. */
bool output_is_open_to_all(const struct output *o);
/* Open PATH to append a few bytes to, and make it if need be; a descriptor that never blocks, or a negative errno. */
int output_append(const char *path, unsigned flags, struct error *err);

/* How output_copy waits. */
struct output_limits {
	int stalled_ms; /* without a byte taken */
	int wake;       /* it ends with -EINTR when this descriptor is readable; -1: none */
};
/*
 * Write the first SIZE bytes of the regular file FROM to what O stands for. It never waits longer than LIMITS say:
 * -ETIMEDOUT, and ERR tells how much went. *DONE counts the bytes, also on failure.
 */
int output_copy(struct output *o, int from, uint64_t size, const struct output_limits *limits, uint64_t *done,
		struct error *err);
/* What WAKE of the limits tells: end now. */
bool output_called_off(const struct output_limits *limits);
/*
 * A line of N bytes, fewer than PIPE_BUF, to FD, an open descriptor that others have, too: its mode is left as it is.
 * Whole or not at all: false where it does not go within MS milliseconds.
 */
bool output_line(int fd, const char *line, size_t n, int ms);
/*
 * FD, a FIFO or character device as TYPE says, opened once more, so that writing never waits; -1: not to be had (a
 * file, a pipe of another user, no descriptor left).
 */
int output_open_again(int fd, mode_t type);
/* N bytes at once, as far as they go without waiting: as write(2). */
ssize_t output_write_some(const struct output *o, const void *bytes, size_t n);

#endif
