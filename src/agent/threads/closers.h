/*
 * closers.h - descriptors whose close() takes long: that of a probe waits for all CPUs (20 to 50 ms), which must not
 * happen while records are locked, nor on a thread of the program that ends. Threads of ours close them, at most
 * CLOSERS at a time; they are there only while there is something to close.
 */
#ifndef JSTROBE_THREADS_CLOSERS_H
#define JSTROBE_THREADS_CLOSERS_H

#define CLOSERS 4

/* FD is closed later. Any thread in normal code; records may be locked. */
void closers_take(int fd);
/* How many have been closed since the last call. Records' lock held. */
unsigned closers_done(void);
/* Start threads where descriptors wait, and end those that are done. The collector's thread, now and then. */
void closers_keep(void);
/* Close what is left, and return when all is closed. No session runs any more. */
void closers_end(void);

#endif
