/*
 * told.h - what the JVM tells of threads and classes goes into the aggregate of the session that runs.
 */
#ifndef JSTROBE_SESSION_TOLD_H
#define JSTROBE_SESSION_TOLD_H

#include <stdint.h>
#include <sys/types.h>

struct collector;

/* From here on it goes into C; once more is harmless. Until told_end(), which must come before C is freed. */
void told_begin(struct collector *c);
void told_end(void);
/* Thread TID is called NAME (as JVMTI spells it); JAVA_ID 0: none of Java's. Any thread; nothing without a session. */
void told_name(pid_t tid, uint64_t java_id, const char *name);
/* CLASS_NAME (with slashes) is about to be redefined, or was. The same. */
void told_redefined(const char *class_name);

#endif
