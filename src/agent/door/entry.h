/*
 * entry.h - what every way into the agent does first.
 */
#ifndef JSTROBE_DOOR_ENTRY_H
#define JSTROBE_DOOR_ENTRY_H

#include <jni.h>
#include <stdbool.h>

#include "common/base/error.h"

/*
 * Let the JVM tell us of its life, and show other copies of the library that Java code may call this one. AT_LOAD: from
 * Agent_OnLoad. Once more is harmless; any thread of the JVM, nothing locked.
 */
int entry_begin(JavaVM *vm, bool at_load, struct error *err);
/* There is no JVM in this process yet, and perhaps never: what a JVM would tell comes from us. */
void entry_without_jvm(void);
/*
 * The process ends: what is owed is written, as at the end of a JVM; 10 s at most. Nothing, where a JVM has ended
 * before. Any thread, nothing locked; LAST_JOB: the same within a job of the control thread.
 */
void entry_process_ends(void);
void entry_last_job(void);

#endif
