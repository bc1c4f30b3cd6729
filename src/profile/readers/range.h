/*
 * range.h - from and to: a part of a recording's time.
 */
#ifndef JSTROBE_READERS_RANGE_H
#define JSTROBE_READERS_RANGE_H

#include "common/base/error.h"

/*
 * What TEXT means in a recording from START to END (ns since 1970), in *NS:
 *   1500, 90s, 2m      from its start; a bare number is in ms (units: ns us ms s m h d)
 *   -10s               from its end
 *   1766000000000      ms since 1970 (a bare number from 10^11 on)
 *   12:30:00           local time, the first such at or after the start
 *   2026-11-21T12:30:00[.5][Z]   local time, with Z UTC
 * OPTION is how the user called it, for the message. -EINVAL.
 */
int range_moment(const char *text, int64_t start, int64_t end, const char *option, int64_t *ns,
		 struct error *err);

#endif
