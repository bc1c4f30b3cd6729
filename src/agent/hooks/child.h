/*
 * child.h - a child of fork() without exec: it has our memory, our hooks and our descriptors, and none of our threads.
 *
 * From its first instruction on it is left alone: a word that the kernel clears in children (MADV_WIPEONFORK, Linux
 * 4.14; before that, and besides, an atfork handler does) makes handlers and hooks pass everything on, without a lock.
 * Descriptors of ours that would keep a conversation or an event alive are closed there, and our signals go back to
 * their former actions. A child that was made past libc's fork() is silent, too, but keeps these.
 */
#ifndef JSTROBE_HOOKS_CHILD_H
#define JSTROBE_HOOKS_CHILD_H

#include <signal.h>
#include <stdbool.h>

/* Whether this process is such a child. Any thread, no lock. */
bool child_is_here(void);
/* Prepare for children; once is enough, more is harmless. Any thread in normal code. */
void child_watch(void);
/*
 * Children close FD, a socket of ours. It need not be said when it is closed here: the number may be the program's by
 * then, and the socket is known by more than that.
 */
void child_closes(int fd);
/*
 * Children give SIGNO its former action back, unless its handler is another than OURS by then: said before OURS is
 * installed. One signal at a time, beside the engine's. And no longer: when it has been given back here.
 */
void child_gives_back(int signo, void (*ours)(int, siginfo_t *, void *), const struct sigaction *former);
void child_keeps_signal(void);

#endif
