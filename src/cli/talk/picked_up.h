/*
 * picked_up.h - the line "Picked up JAVA_TOOL_OPTIONS: …" that a JVM prints on stderr because of the variable that we
 * have set for it: it is not shown. Everything else passes as it comes.
 *
 * A process of its own passes it on, which ends when no other has the program's stderr open any more: what the program
 * leaves running may write there long after the command is gone.
 */
#ifndef JSTROBE_CLI_PICKED_UP_H
#define JSTROBE_CLI_PICKED_UP_H

#include "common/base/base.h"

struct picked_up {
	int stderr_fd; /* what the program gets as its stderr; -1: the command's own */
	int over;      /* readable when all has been passed on; -1: nothing is */
};

#define PICKED_UP_INIT {.stderr_fd = -1, .over = -1}

/* From now on lines that say that VALUE was picked up are left out. Without what it takes for that, they are shown. */
void picked_up_begin(struct picked_up *p, const char *value);
/* The program has its stderr. */
void picked_up_given(struct picked_up *p);
/* It has ended: wait a moment for its last words. Safe on an initial one. */
void picked_up_end(struct picked_up *p);

#endif
