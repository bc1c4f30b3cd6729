/*
 * neighbours.h - sessions of other copies of this library in the JVM (agent/hooks/copies.h), as far as ours are
 * concerned.
 *
 * Normal code, with the session's lock held.
 */
#ifndef JSTROBE_SESSION_NEIGHBOURS_H
#define JSTROBE_SESSION_NEIGHBOURS_H

#include "common/base/buffer.h"
#include "common/base/error.h"
#include "common/options/options.h"

/* Whether a session that O asks for may begin beside those that run. -EBUSY: one of them samples the same event. */
int neighbours_allow(const struct options *o, struct error *err);
/* The same, and from now on others are told of ours. NOTES gets a line for each session that runs beside it. */
int neighbours_claim(const struct options *o, struct buffer *notes, struct error *err);
/* Our session has ended, or did not begin after all. */
void neighbours_leave(void);

/* Append a line "copies=…" that tells of sessions of other copies, if any run: "PATH (VERSION): EVENTS; …". */
void neighbours_put(struct buffer *b);

#endif
