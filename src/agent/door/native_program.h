/*
 * native_program.h - what every way into a program without a JVM does first.
 */
#ifndef JSTROBE_DOOR_NATIVE_PROGRAM_H
#define JSTROBE_DOOR_NATIVE_PROGRAM_H

/*
 * There is no JVM (yet): from now on the end of this process is watched, so that what a session owes then is written.
 * Once more is harmless; any thread in normal code.
 */
void native_program_watch(void);
/* A session has begun by COMMAND: it goes on by that in a JVM that the program makes. */
void native_program_started(const char *command);

#endif
