/*
 * session_window.h - the window of the options begin, end and ttsp in the life of a session. Inner header of the
 * session room; the session's lock is held.
 */
#ifndef JSTROBE_SESSION_SESSION_WINDOW_H
#define JSTROBE_SESSION_SESSION_WINDOW_H

#include "agent/sources/engine.h"
#include "common/base/error.h"
#include "common/options/options.h"
#include "profile/model/profile.h"

/*
 * Append the breakpoints that O's window needs to EVENTS[COUNT], which has room for RECORD_EVENTS. The
 * number of all, or -errno.
 */
int agent_window_add(const struct options *o, struct engine_event *events, uint32_t count, struct error *err);
/* WINDOWS have grown by what the run that has just stopped saw. */
void agent_window_keep(struct engine_window *windows);
/* What a result says of it: those of EARLIER runs and, if the session is RUNNING, of this one. Borrows O's texts. */
void agent_window_counts(const struct options *o, const struct engine_window *earlier, bool running,
			struct profile_window *w);

#endif
