/*
 * stream_closing.h - streams that have ended and whose readers have not taken all yet.
 *
 * The end of a session does not wait for them: a thread "jstrobe streams", which lives only while there are any,
 * gives all of them the same time, writes without waiting, and closes. What a reader has not taken by then is counted.
 * Any thread may call; the lock in here is a leaf.
 */
#ifndef JSTROBE_SINKS_STREAM_STREAM_CLOSING_H
#define JSTROBE_SINKS_STREAM_STREAM_CLOSING_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/sinks/stream/stream_out.h"

/* OUT, whose stream has ended, becomes ours; NULL: nothing. It is closed at once if nothing waits for its reader. */
void stream_closing_add(struct stream_out *out);
/* All are closed NS from now at the latest, which this waits for. True when none is left. */
bool stream_closing_hurry(uint64_t ns);
/* A session begins: what former ones lose from now on is not counted. */
void stream_closing_begin(void);
/* Samples since then that stood in a stream when it ended and never went to its reader. */
uint64_t stream_closing_lost(void);

#endif
