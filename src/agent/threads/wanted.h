/*
 * wanted.h - which threads the option `filter` lets be sampled. Inner header.
 */
#ifndef JSTROBE_THREADS_WANTED_H
#define JSTROBE_THREADS_WANTED_H

#include <sys/types.h>

#include "common/options/options.h"

/* From now on as O says; only while no engine is in force. */
void wanted_set(const struct options *o);
/* Whether names or groups are asked for, so that Java threads must be judged by wanted_java. */
bool wanted_by_name(void);
/* Thread TID by its id, or the kernel's name of it. Any thread in normal code. */
bool wanted_tid(pid_t tid);
/* A Java thread by its id, its whole name and its group (NULL = none). */
bool wanted_java(pid_t tid, const char *name, const char *group);
/*
 * The program says of thread TID whether it is wanted, which counts for more than the list, in this session and later
 * ones, until the thread ends. Whether the session that runs, if any, has a list. Any thread in normal code.
 */
bool wanted_say(pid_t tid, bool wanted);
/* Whether the list, if there is one, has let no thread in since wanted_set. */
bool wanted_none(void);

#endif
