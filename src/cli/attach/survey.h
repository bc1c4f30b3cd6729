/*
 * survey.h - looking at many processes, of which some may be hostile: one whose memory map is locked, or whose file
 * system answers never, must not keep the others from being looked at. Inner header of attach/.
 *
 * So children look, one process at a time each. One that takes too long, or dies of what it reads, is replaced, and its
 * process is left out. That needs no thread, and a child that hangs in the kernel for ever holds nothing up.
 */
#ifndef JSTROBE_CLI_ATTACH_SURVEY_H
#define JSTROBE_CLI_ATTACH_SURVEY_H

#include <sys/types.h>

#include "common/base/error.h"

#define SURVEY_LATE 16 /* so many that were left out are named */

struct survey {
	/* In a child: fill REPLY, zeroed, with what is worth knowing of PID; false: nothing. */
	bool (*look)(pid_t pid, void *reply, const void *arg);
	/* Here: what it replied. False: that is enough. */
	bool (*take)(pid_t pid, const void *reply, void *result);
	size_t size;      /* of a reply */
	const void *arg;  /* LOOK's */
	void *result;     /* TAKE's */
};

/* Processes that were left out. */
struct survey_late {
	pid_t pids[SURVEY_LATE];
	size_t count; /* of all */
};

/* Look at all processes. Replies come in no order. 0, or a negative errno with a text. */
int survey_all(const struct survey *s, struct survey_late *late, struct error *err);
/* "processes 12, 13 and 3 others did not let themselves be looked at within 2 s", or ""; TEXT. */
const char *survey_say(const struct survey_late *late, char *text, size_t size);

#endif
