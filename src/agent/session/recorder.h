/*
 * recorder.h - the recording that belongs to the session, from its file's opening to its closing. Inner header:
 * all functions with the session's lock held.
 */
#ifndef JSTROBE_SESSION_RECORDER_H
#define JSTROBE_SESSION_RECORDER_H

#include <sys/stat.h>

#include "agent/sinks/recording/recording.h"
#include "agent/sources/engine.h"
#include "common/base/buffer.h"
#include "common/base/error.h"
#include "common/options/options.h"

/* A session has begun anew: it goes on in no file of one before. */
void recorder_forget(void);
/* Whether the session's present run is recorded. */
bool recorder_runs(void);
/* Whether FILE is that of the last recording, as it left it. */
bool recorder_is_last(int file);
/* Whether FILE is the recording's: it is being written, or has ended. */
bool recorder_is_in(const struct stat *file);
/* No recording is open; one that has ended is complete. */
bool recorder_is_closed(void);
/*
 * The recording that O asks for, into FILE, which becomes its own also on failure. RESUME: the samples
 * gathered so far stay, and if FILE is the one they were recorded in, it goes on there. NULL with the reason.
 */
struct recording *recorder_open(const struct options *o, const struct engine_event *events, uint32_t count,
				bool resume, int file, struct error *err);
/* The same for a part of the samples: what was sampled in a session that began at SESSION_BEGAN, from BEGAN on. */
struct recording *recorder_open_window(const struct options *o, const struct engine_event *events, uint32_t count,
				       uint64_t session_began, uint64_t began, int file, struct error *err);
/* R (NULL: none) has begun and is the session's; the former one is closed. */
void recorder_take(struct recording *r);
/*
 * The collector has stopped: the rest is written. The file stays open, to be copied. False, with the reason: its thread
 * has not ended; this can be called again.
 */
bool recorder_end(struct error *err);
/* The last key of the recording, that other chunks of ours in its file do not use; 0: there is none. */
uint32_t recorder_last_key(void);
/*
 * Put WHAT ("the JDK's events"), chunks in FILE with keys of ours up to KEY (0: of the JDK), behind the recording that
 * has ended; FILE is negative: they cannot be had, for the reason in ERR. What fails is said as the reason why
 * something is missing.
 */
void recorder_append(int file, uint32_t key, const char *what, struct error *err);
void recorder_close(void);
/*
 * Everything stored so far is in the file; BOOKS (RECORD_EVENTS of them) say what that is. -ENOENT: there is no
 * recording; else why something is missing.
 */
int recorder_complete(struct recording_books *books, struct error *err);
/* Append the file, complete, to OUT. The same. */
int recorder_copy(struct buffer *out, struct recording_books *books, struct error *err);
/*
 * Behind recorder_copy, and more with keys up to KEY, while the recording runs: append a recording of the objects of C
 * that are there now. Where there are none, nothing.
 */
int recorder_copy_survivors(const struct options *o, const struct engine_event *events, uint32_t count,
			    struct collector *c, uint32_t key, struct buffer *out, struct error *err);
/* Bytes of the file and samples that are not in it; 0, 0 without a recording. */
void recorder_status(uint64_t *bytes, uint64_t *unwritten);

#endif
