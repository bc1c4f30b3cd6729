/*
 * streams.h - the live streams of the session: the one that its options name, and those that commands read.
 *
 * All functions: with the session's lock held, unless said otherwise.
 */
#ifndef JSTROBE_SESSION_STREAMS_H
#define JSTROBE_SESSION_STREAMS_H

#include "agent/sinks/stream/stream.h"
#include "agent/sources/engine.h"
#include "common/base/error.h"
#include "common/options/options.h"

/*
 * The command READER passed the socket FD, which becomes ours: the next session streams into it. FD -1: it does not
 * any more. Front locked, not the session.
 */
void streams_offer(int fd, const void *reader);

/* Open what O names and what was offered; nothing is left open on failure. */
int streams_open(const struct options *o, struct error *err);
/* Samples of ACCOUNT, of COUNT events, go into what was opened. On failure streams_end is the caller's. */
int streams_begin(const struct options *o, const struct engine_event *events, uint32_t count,
		  struct collector *collector, struct error *err);
/*
 * The session has begun: the file that O names takes its name, and what was there goes. Until then a start that is
 * refused leaves it as it was.
 */
int streams_publish(const struct options *o, struct error *err);
/* What was offered gets the samples of the session that runs, from now on. */
int streams_join(const struct options *o, const struct engine_event *events, uint32_t count,
		 struct collector *collector, struct error *err);
/* The command READER is gone. */
void streams_leave(const void *reader);
/*
 * The collector has stopped: all come to their end. No reader is waited for (agent/sinks/stream/stream_closing.h).
 * False: a thread of theirs is held; this can be called again.
 */
bool streams_end(void);
/* The process ends: what readers have not taken within 200 ms, all together, they do not get. No lock is needed. */
void streams_death(void);
/* Sums over all streams so far; their number. */
unsigned streams_count(struct stream_totals *t);

#endif
