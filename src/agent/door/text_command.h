/*
 * text_command.h - a command that comes as one text, with no `jstrobe` that waits for it: the option string of a load,
 * what Java code and native programs ask for.
 */
#ifndef JSTROBE_DOOR_TEXT_COMMAND_H
#define JSTROBE_DOOR_TEXT_COMMAND_H

#include <stdbool.h>

#include "common/base/buffer.h"
#include "common/base/error.h"
#include "common/options/options.h"

struct text_command {
	const char *text;        /* options apart by commas, or (LINES) one a line */
	struct options *options; /* TEXT as read */
	bool lines;
	bool asks;               /* the result of a stop or a dump that names a format and no file is the answer */
};

/* Say aloud what of O was left out, although the session runs: it may be another one than was meant. */
void text_command_say_left_out(const struct options *o);
/* -EINVAL: O has an option that only the load of an agent can have. */
int text_command_is_of_load(const struct options *o, struct error *err);
/* -EINVAL: O says nothing to do. */
int text_command_is_empty(const struct options *o, struct error *err);
/*
 * Carry it out. ANSWER gets what async-profiler says then: status, lists, the result, or a sentence; "OK" when the
 * answer went to a file. Any thread of ours or the JVM's, nothing locked.
 */
int text_command(const struct text_command *c, struct buffer *answer, struct error *err);

#endif
