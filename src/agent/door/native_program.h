/*
 * native_program.h - what every way into a program without a JVM does first.
 */
#ifndef JSTROBE_DOOR_NATIVE_PROGRAM_H
#define JSTROBE_DOOR_NATIVE_PROGRAM_H

#include <stdbool.h>

/*
 * From now on the end of this process is watched, so that what a session owes then is written. START, if any, is the
 * command that the next session begins with. False: there is a JVM, whose end counts. Once more is harmless; any thread
 * in normal code.
 */
bool native_program_watch(const char *start);

#endif
