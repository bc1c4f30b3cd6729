/*
 * talk.h - the agent's side of a conversation with a waiting command.
 *
 * It begins on the thread that loads the agent; the rest is on a thread of ours for each, "jstrobe talk", which is not
 * attached to the JVM and asks the control thread for what it shall do (agent/command/ask.h). Answers may come from any
 * thread: each conversation has a lock for what it sends.
 */
#ifndef JSTROBE_DOOR_TALK_H
#define JSTROBE_DOOR_TALK_H

#include <jni.h>

#include "common/base/error.h"
#include "common/options/options.h"

/* One conversation; several can go on at the same time. */
struct talk;

/*
 * Connect to the command that O->connect names and say hello. The command accepts or refuses
 * later. *TALK is the caller's until talk_run or talk_end.
 */
int talk_open(JavaVM *vm, const struct options *o, struct talk **talk, struct error *err);
/* Tell the command why the agent cannot serve it. */
void talk_refuse(struct talk *talk, const struct error *why);
/*
 * Agent_OnLoad: carry out what the command says up to its first command, on this thread, so that
 * sampling begins before the program.
 */
int talk_first_command(struct talk *talk, struct error *err);
/*
 * Go on with the conversation on a thread of its own, which frees TALK at the end. AT_LOAD: the
 * JVM is not up yet; the thread waits for it. On failure TALK is still the caller's.
 */
int talk_run(struct talk *talk, bool at_load, struct error *err);
/* Close the connection, stop the session if it belongs to it, free all: the control thread does, some time soon. */
void talk_end(struct talk *talk);

/*
 * The JVM ends (as a job of the control thread): the session stops, what it owes is written, the command that owns it
 * hears so.
 */
void talk_vm_death(void);

#endif
