/*
 * talk_commands.h - the parts of a conversation: talk.c has the connection and its thread, talk_commands.c what the
 * command can ask for, talk_answer.c what it hears. Inner header of these.
 *
 * All functions: any thread; what is sent goes out message by message.
 */
#ifndef JSTROBE_DOOR_TALK_COMMANDS_H
#define JSTROBE_DOOR_TALK_COMMANDS_H

#include <jni.h>
#include <pthread.h>
#include <stddef.h>

#include "agent/door/talk.h"
#include "agent/command/command.h"
#include "common/control/control.h"

struct talk {
	struct command_owner owner;  /* of the session, if that belongs to this command */
	struct command_place place;  /* what was passed for the next result */
	JavaVM *vm;
	int sock;
	struct control_message in;
	bool welcome;  /* the command has accepted us */
	pthread_mutex_t sending; /* a leaf */
};

/* Carry out a COMMAND, TEXT = options one a line, and answer it. */
void talk_carry_out(struct talk *t, const char *text);
/* Send TEXT, or what B holds (which is freed), in messages of TYPE. */
void talk_say(struct talk *t, enum control_type type, const char *text);
void talk_say_buffer(struct talk *t, enum control_type type, struct buffer *b);
/* Tell the command WHY something failed, in a message of TYPE. */
void talk_fail(struct talk *t, enum control_type type, const struct error *why);

#endif
