/*
 * proc_self.h - files of /proc about this process.
 *
 * Of a process whose first thread has ended, /proc/self has no maps, no memory, no program and no descriptors: they
 * are its first thread's. /proc/thread-self, the calling thread's, has them (Linux 3.17).
 */
#ifndef JSTROBE_BASE_PROC_SELF_H
#define JSTROBE_BASE_PROC_SELF_H

#define PROC_SELF_MAX 64 /* bytes that a path takes at most */

/* The path of NAME ("maps", "fd/7"), in PATH. Any thread in normal code. */
const char *proc_self(char path[PROC_SELF_MAX], const char *name);
const char *proc_self_fd(char path[PROC_SELF_MAX], int fd);

#endif
