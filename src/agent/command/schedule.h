/*
 * schedule.h - timeout and loop: sessions that end, or begin anew, by the clock.
 *
 * `timeout` stops the session at its time and writes the result where it is owed. `loop` does the
 * same each time and starts the next session at once, with the next number for %n; with `timeout`
 * as well the last one ends it. The control thread waits for the time (agent/command/control_thread.h). A lock of its
 * own guards the times.
 */
#ifndef JSTROBE_COMMAND_SCHEDULE_H
#define JSTROBE_COMMAND_SCHEDULE_H

#include "common/base/error.h"
#include "common/options/options.h"

/* Whether O can be done: `loop` needs a place for its results. */
int schedule_check(const struct options *o, bool has_place, struct error *err);
/* A session began with O; nothing happens unless O has a timeout or a loop. As a job of the control thread. */
int schedule_begin(const struct options *o, struct error *err);
/* The session ended: forget the schedule. As a job of it. */
void schedule_end(void);

#endif
