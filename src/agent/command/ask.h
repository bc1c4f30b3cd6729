/*
 * ask.h - a command on its way to the control thread and back: what conversations and option strings call.
 */
#ifndef JSTROBE_COMMAND_ASK_H
#define JSTROBE_COMMAND_ASK_H

#include "agent/command/command.h"

struct asker {
	struct command_owner *owner;  /* the conversation, NULL: an option string */
	struct command_place *place;  /* what came with the command: used up. NULL: nothing */
	char separator;               /* of options */
};

/*
 * Have the control thread carry out start, resume, stop or dump, as O says, which was read from TEXT, and wait for it.
 * NOTES and ANSWER get lines for a person and key=value lines; on -ETIMEDOUT the command goes on without us, see
 * control_do.
 */
int ask_command(const struct asker *asker, const char *text, const struct options *o, struct buffer *notes,
		struct buffer *answer, struct error *err);
/* Status and the like need no control thread: append the answer to OUT. -ENOENT: O is none of these. */
int ask_at_once(const struct options *o, struct buffer *out, struct error *err);

#endif
