/*
 * talk_commands.h - the parts of a conversation: talk.c has the connection and its thread, talk_commands.c what the
 * command can ask for, talk_answer.c what it hears. Inner header of these.
 *
 * All functions: with the front locked.
 */
#ifndef JSTROBE_AGENT_TALK_COMMANDS_H
#define JSTROBE_AGENT_TALK_COMMANDS_H

#include <jni.h>
#include <sys/types.h>

#include "agent/talk.h"
#include "control/control.h"

struct talk {
	JavaVM *vm;
	int sock;
	struct control_message in;
	bool welcome;  /* the command has accepted us */
	int output;    /* the file for the next result, or -1 */
	int folder;    /* the folder for it, or -1 */
	int stream;    /* the socket for a live stream, or -1 */
	int perf;      /* the socket to ask for perf descriptors on, or -1 */
	char name[OPTIONS_FILE_MAX]; /* the file's name in that folder */
	pid_t peer;    /* the command's pid, 0 if out of sight */
};

/* Carry out a COMMAND, TEXT = options one a line, and answer it. */
void talk_carry_out(struct talk *t, const char *text);
/* Send TEXT, or what B holds (which is freed), in messages of TYPE. */
void talk_say(struct talk *t, enum control_type type, const char *text);
void talk_say_buffer(struct talk *t, enum control_type type, struct buffer *b);
/* How the session stands; OWNER: the pid of the command that it belongs to, 0 = nobody's. */
void talk_put_status(struct buffer *b, pid_t owner);
/* The line that says what happened to the samples, unless the result HOW carries it itself. */
void talk_put_loss(const struct options *how, struct buffer *b);
/* Tell the command WHY something failed, in a message of TYPE. */
void talk_fail(struct talk *t, enum control_type type, const struct error *why);
/* Close the descriptors that were passed for the next result. */
void talk_forget_places(struct talk *t);
/* The conversation ends, and with it the session that it owns and the data of that. */
void talk_abandon(struct talk *t);

#endif
