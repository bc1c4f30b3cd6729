/*
 * child.h - a child of fork() without exec: it has our memory, our hooks and our descriptors, and none of our threads.
 *
 * From its first instruction on it is left alone: a word that the kernel clears in children (MADV_WIPEONFORK, Linux
 * 4.14; before that, and besides, an atfork handler does) makes handlers and hooks pass everything on, without a lock.
 * Descriptors of ours that would keep a conversation or an event alive are closed there, and our signal goes back to
 * its former action. A child that was made past libc's fork() is silent, too, but keeps these.
 */
#ifndef JSTROBE_ENGINE_CHILD_H
#define JSTROBE_ENGINE_CHILD_H

/* Prepare for children; once is enough, more is harmless. Any thread in normal code. */
void child_watch(void);
/*
 * Children close FD, a socket of ours. It need not be said when it is closed here: the number may be the program's by
 * then, and the socket is known by more than that.
 */
void child_closes(int fd);

#endif
