/*
 * watch.h - the end of a command that hangs. What is read and written for a target can hang in the kernel: a memory map
 * that is locked, a file system whose server is the target's. No signal is seen there, and no limit of ours is looked
 * at. So a thread looks: for signals that are not read, and for steps that take too long; then it ends the command.
 *
 * A call that cannot be interrupted (a dead disk) keeps the process all the same, as it would against kill -9.
 */
#ifndef JSTROBE_CLI_WATCH_H
#define JSTROBE_CLI_WATCH_H

#include <signal.h>

/* SIGNALS, which are blocked, end the command if they are not read within WATCH_MS. */
void watch_signals(const sigset_t *signals);
#define WATCH_MS 700

/*
 * From now on to watch_end no more than MS may pass; else WHAT (a part of a sentence: "looking at process 12") is said
 * to take too long, and the command ends with CLI_CANNOT_ATTACH. One at a time.
 */
void watch_begin(unsigned ms, const char *what, ...) __attribute__((format(printf, 2, 3)));
void watch_end(void);
/* Called before such an end, on another thread: puts the terminal back without waiting for anything. NULL: nothing. */
void watch_restores(void (*restore)(void));

#endif
