/*
 * native_names.h - names of threads that no event tells: from the kernel, which keeps 15 characters of them.
 */
#ifndef JSTROBE_THREADS_NATIVE_NAMES_H
#define JSTROBE_THREADS_NATIVE_NAMES_H

#include <stddef.h>
#include <sys/types.h>

#define NATIVE_NAME 32

/*
 * What the kernel says thread TID is called, "" if it does not; one of HotSpot's own that is cut there, as HotSpot
 * calls it, but for its number, which is lost. Normal code, any thread.
 */
void native_name(pid_t tid, char name[NATIVE_NAME]);
/* The same of a NAME that the kernel has said. */
void native_name_whole(char name[NATIVE_NAME]);

#endif
