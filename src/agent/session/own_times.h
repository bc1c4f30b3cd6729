/*
 * own_times.h - when samples were taken, in pages and JSON that the agent writes itself. Inner header of the session
 * room.
 *
 * The command has memory for each moment; here they are bounded, and steps are longer where they are more.
 */
#ifndef JSTROBE_SESSION_OWN_TIMES_H
#define JSTROBE_SESSION_OWN_TIMES_H

#include "agent/zone/thread_record.h"
#include "common/options/options.h"
#include "profile/model/profile.h"

/* What profiles refer to; zeroed = nothing. */
struct own_times {
	struct profile_moment *moments[RECORD_EVENTS];
	uint32_t count;
};

/* Whether a result as O wants it is written here, and shows when samples were taken. */
bool own_times_wanted(const struct options *o);
/* Give them to COUNT profiles, as long as T has them. Where there is no memory for it, the result shows none. */
void own_times_unfold(struct own_times *t, struct profile **profiles, uint32_t count);
void own_times_free(struct own_times *t);

#endif
