/*
 * result.h - where the result goes: a file that appears whole or not at all, or stdout. Every file that the command
 * writes is opened here, by common/os/output.h.
 *
 * The target gets one descriptor, write only, of a new and empty file. Where it shares our file system that is the
 * result's own, without a name until it is whole (a recording takes its name when it has begun). Elsewhere, in a
 * container, its root may be our root, who may change modes: there it gets a file that never has a name, and the result
 * is a copy.
 */
#ifndef JSTROBE_CLI_RESULT_H
#define JSTROBE_CLI_RESULT_H

#include <limits.h>

#include "common/base/error.h"
#include "common/options/options.h"
#include "common/os/output.h"
#include "profile/model/surroundings.h"

struct result {
	struct output place;   /* the final one */
	int fd;                /* what was written is read from here; -1: not open */
	int given;             /* the same, write only: what the target gets */
	bool copy;             /* FD is copied to the place at the end */
	bool packed;           /* … and the command makes the result of it before that (compose.h) */
	bool shown;            /* … made safe to show (shown.h) */
	bool grows;            /* a recording, written while sampling goes on */
	bool named;            /* it has its final name */
	bool replaces;         /* there was a file of that name before */
	/* of the process, as the command sees it: the agent may be in a container; 0: not known */
	int pid;
	struct surroundings around; /* what went on around the samples, as far as it is known */
	char format[16];
	char file[PATH_MAX];   /* the final name, for people; "" = stdout */
};

#define RESULT_INIT {.place = OUTPUT_INIT, .fd = -1, .given = -1}

/* Before anything else: refuse a name whose extension promises another format than there is, unless O says which. */
int result_check_name(const struct options *o, struct error *err);
/*
 * Find the place that O->file names ("" and "-" are stdout), with its patterns expanded for PID, and judge it; nothing
 * is made, so that it can be said before anything is done. O->format is filled in from the file's extension if it is
 * empty; WITHOUT_FILE is the format when there is none. GROWS: it will be written while sampling goes on, if it is a
 * recording.
 */
int result_find(struct result *r, struct options *o, int pid, const char *without_file, bool grows, struct error *err);
/* Open what was found, once all that can fail before has succeeded. APART: the target is elsewhere (apart.h). */
int result_open(struct result *r, bool apart, struct error *err);
/* Whether O->file, for PID, is the file PATH. */
bool result_is(const struct options *o, int pid, const char *path);
/* The session runs: a recording that grows gets its name. */
int result_begun(struct result *r, struct error *err);
/*
 * The agent has written all: make it visible. WAKE: it ends with -EINTR when that is readable; -1: nothing ends
 * it. That is signals_interrupts, not all signals: the end of a program that was started is none. The result is closed
 * in any case.
 */
int result_keep(struct result *r, int wake, struct error *err);
/* Forget it; safe on a closed one. */
void result_drop(struct result *r);
/* Whether what is shown at R may have colours. */
bool result_colour(const struct result *r);
/* Columns of the terminal that R is shown on; 0: it is none. */
unsigned result_width(const struct result *r);
/* A new file in memory for the user alone: its descriptor, or a negative errno with the reason. */
int result_memory(struct error *err);
/* A descriptor of the file FD that can only write; a negative errno with the reason. */
int result_write_only(int fd, struct error *err);

#endif
