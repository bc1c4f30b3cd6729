/*
 * result.h - where the result goes: a file that appears whole or not at all,
 * or stdout.
 */
#ifndef JSTROBE_CLI_RESULT_H
#define JSTROBE_CLI_RESULT_H

#include <limits.h>

#include "base/error.h"
#include "options/options.h"

struct result {
	int fd;                /* what the agent writes into; -1: not open */
	bool copy;             /* to be copied to `out` at the end */
	bool shown;            /* … made safe to show (shown.h) */
	int out;               /* stdout, or a file that is none (a pipe, /dev/null) */
	char file[PATH_MAX];   /* the final name; "" = stdout */
	char aside[PATH_MAX + 32]; /* the name until then; "" = it has none */
	bool in_place;         /* a recording: it has its final name from the start */
	bool created;          /* and was not there before */
	bool nameless;         /* a recording that has not begun: it gets its name then */
};

/*
 * Open the place that O->file names ("" and "-" are stdout), with its patterns expanded for PID,
 * before anything is sampled. O->format is filled in from the file's extension if it is empty;
 * WITHOUT_FILE is the format when there is none. GROWS: it will be written while sampling goes on, if it is a
 * recording.
 */
int result_open(struct result *r, struct options *o, int pid, const char *without_file, bool grows,
		struct error *err);
/* Whether O->file, for PID, is the file PATH. */
bool result_is(const struct options *o, int pid, const char *path);
/* The session runs: a recording that grows gets its name. */
int result_begun(struct result *r, struct error *err);
/* The agent has written all: make it visible. The result is closed in any case. */
int result_keep(struct result *r, struct error *err);
/* Forget it; safe on a closed one. */
void result_drop(struct result *r);

/*
 * For `start`: open the folder of O->file; NAME gets the file's own name. A descriptor or a
 * negative errno.
 */
int result_folder(struct options *o, int pid, char name[NAME_MAX + 1], struct error *err);

#endif
