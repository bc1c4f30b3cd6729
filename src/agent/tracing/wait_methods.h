/*
 * wait_methods.h - which methods of the JDK wait, so that time in them is not taken for work of their callers.
 * Constant; any thread.
 */
#ifndef JSTROBE_TRACING_WAIT_METHODS_H
#define JSTROBE_TRACING_WAIT_METHODS_H

#include "common/bytecode/classfile.h"

/* Whether class NAME ("java/lang/Thread") has such methods. */
bool waits_touch(const struct text *class_name);
/* The kind (enum tree_wait) of METHOD there, -1 if it is none. */
int waits_kind(const struct text *class_name, const struct text *method);

#endif
