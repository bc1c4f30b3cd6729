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

/* The longest event, in bytes, and the longest name of a type. */
#define ASPROF_MAX_JFR_EVENT_LENGTH 2048
typedef int asprof_jfr_event_key;
/*
 * The key of the events called NAME, the same for the same name; -1: no name, a name that is too long, or more than
 * 1,024 of them. It stays for the life of the process.
 */
asprof_jfr_event_key asprof_register_jfr_event(const char *name);
/*
 * An event of the calling thread, of now, in all recordings that are made: profiler.UserEvent with the name of its
 * type and its LENGTH bytes. Without a recording nothing happens. Any thread, in no signal handler.
 */
asprof_error_t asprof_emit_jfr_event(asprof_jfr_event_key type, const uint8_t *data, size_t length);

/* What the profiler says to a thread about itself: how many samples it has taken, of all events, in all sessions. */
struct asprof_thread_local_data {
	volatile uint64_t sample_counter;
};
/*
 * Of the calling thread, from the first call on; the same until the thread ends, when it must not be read any more.
 * NULL: there is no room (for more than some 3,000 threads at a time). Any thread, in no signal handler.
 */
struct asprof_thread_local_data *asprof_get_thread_local_data(void);

#ifdef __cplusplus
}
#endif

#endif
