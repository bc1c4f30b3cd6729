/*
 * command.h - start, resume, join, stop and dump: one way for each, wherever the command comes from (a conversation, an
 * option string, a timer, the JVM's end).
 *
 * A start first takes what may be refused (who owns the session, places, signals), then begins; a start that fails
 * leaves what was there before: files, what is owed, the data of the last session. A session started with `owner`
 * belongs to its conversation: when that ends the session is stopped and its data are forgotten.
 *
 * All functions: as a job of the control thread (agent/command/control_thread.h), unless said otherwise.
 */
#ifndef JSTROBE_COMMAND_COMMAND_H
#define JSTROBE_COMMAND_COMMAND_H

#include <sys/types.h>

#include "common/base/buffer.h"
#include "common/base/error.h"
#include "common/options/options.h"
#include "profile/writers/format.h"

/* Where a command said its result goes, and what else came with it; -1 = did not. */
struct command_place {
	int output;    /* the file for the next result */
	int stream;    /* the socket for a live stream */
	int perf;      /* the socket to ask for perf descriptors on */
	char path[OPTIONS_FILE_MAX]; /* of the output, for people; without one: where we make the file; "" = nowhere */
};

#define COMMAND_NO_PLACE {.output = -1, .stream = -1, .perf = -1}

/* Close what came and was not used. */
void command_forget_place(struct command_place *p);

/* Who a session can belong to. */
struct command_owner {
	pid_t pid;     /* of the command, 0 if out of sight */
	int sock;      /* its end of the conversation */
};

struct command {
	struct command_owner *from;   /* NULL: an option string, which belongs to no one */
	const char *text;             /* the options as given, each ended by SEPARATOR */
	char separator;
	struct options *options;      /* TEXT as read; a start fills in what it leaves open */
	struct command_place *place;
	struct buffer notes, answer;  /* lines for a person; key=value lines for the command. The caller's */
};

/* Carry out start, resume, stop or dump. */
int command_carry_out(struct command *c, struct error *err);
/* The conversation of OWNER ends, and with it the session that it owns and the data of that. */
void command_abandon(struct command_owner *owner);
/* OWNER's command has hung up: it sends nothing any more, but may wait for the end of what it owns. Any thread. */
bool command_owner_is_gone(const struct command_owner *owner);
/* OWNER has heard that its session began: from here on status says so. Any thread. */
void command_show_owner(const struct command_owner *owner);
/* The pid of the command that owns the session that runs, 0 = none does. Any thread, nothing locked. */
pid_t command_owner_pid(void);
/*
 * Stop by the clock: the result is written where it is owed. Unless LAST the next round of `loop` begins with O, at
 * *BEGAN, os_monotonic. False: nothing more is to come.
 */
bool command_round(const struct options *o, bool last, uint64_t *began);
/* How the session stands, as key=value lines (command_status.c). Any thread; waits for no command. */
void command_put_status(struct buffer *b);
/* What is owed, and how it shall look, may have changed: status says so from here on. */
void command_note_result(void);
/*
 * What is to be said beside the result HOW, of which TOLD was told: what happened to the samples, a line an event,
 * unless it carries that itself; and what the patterns met: "left", the samples that include and exclude leave, of
 * "left_of"; "probes", the methods of a trace, and "unmatched", its patterns that none matched.
 */
void command_put_result(const struct options *how, const struct format_told *told, struct buffer *b);
/* Whether the JVM's end has nothing to do here: no session runs, nothing is owed. Only while nothing commands. */
bool command_is_idle(void);
/*
 * The JVM ends: stop, write what is owed. The command that owned the session, whose answer is in ANSWER, or its failure
 * in *ERR with *FAILED; NULL: it belonged to no one.
 */
struct command_owner *command_vm_death(struct buffer *answer, bool *failed, struct error *err);

#endif
