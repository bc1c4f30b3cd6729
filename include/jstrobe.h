/*
 * jstrobe.h - the profiler from within a native program: linked with -ljstrobe, or found with dlsym() in a
 * libjstrobe.so that is loaded. The names and the meaning of asprof.h, so that a program made for that runs as it is.
 *
 * In a process without a JVM cpu, ctimer, wall, perf events, nativemem, nativelock and io work; Java's events are
 * refused.
 */
#ifndef JSTROBE_H
#define JSTROBE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Why a call failed; NULL: it did not. Good until 64 more calls have failed. */
typedef const char *asprof_error_t;
/* Gets an answer, in one piece or several. */
typedef void (*asprof_writer_t)(const char *text, size_t size);

/* Nothing need be prepared; harmless. */
void asprof_init(void);
/* What is to be said to a person. */
const char *asprof_error_str(asprof_error_t error);
/*
 * Carry out COMMAND, as the agent's option string: "start,event=cpu,interval=1ms", "stop,file=out.html",
 * "dump,collapsed", "status". A result without a file goes to WRITER (NULL: nowhere). Any thread, in no signal handler.
 */
asprof_error_t asprof_execute(const char *command, asprof_writer_t writer);

#ifdef __cplusplus
}
#endif

#endif
