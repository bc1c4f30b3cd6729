/*
 * kept.h - traces that are kept until later: of waits that have not ended, and of virtual threads that are parked.
 */
#ifndef JSTROBE_SOURCES_KEPT_H
#define JSTROBE_SOURCES_KEPT_H

#include "agent/sources/lock/lock_waits.h"
#include "agent/sources/wall/vthreads.h"

/* FN of each of them: what it returns is kept instead. The collector, when none of a former generation can come. */
static inline void kept_change(trace_kept_fn *fn, void *arg)
{
	waits_change_kept(fn, arg);
	parked_change_kept(fn, arg);
}

#endif
