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

#endif
