/*
 * trigger.h - moments at which the result is written although nobody asks: an OutOfMemoryError, a signal of
 * the system. Sampling goes on.
 *
 * Each writes the result where it is owed (`start -f`), over the one before; what happens while it is being
 * written is written once more afterwards. All functions: with the front locked.
 */
#ifndef JSTROBE_AGENT_TRIGGER_H
#define JSTROBE_AGENT_TRIGGER_H

#include "base/error.h"
#include "options/options.h"

/*
 * A session is about to begin with O, and HAS_PLACE for its result; undone by trigger_end. -EBUSY: the signal has a
 * handler already.
 */
int trigger_begin(const struct options *o, bool has_place, struct error *err);
/* It ended: signals and events are as before. */
void trigger_end(void);
/* The JVM is out of memory (JVMTI's ResourceExhausted). Any thread, nothing locked. */
void trigger_exhausted(void);

#endif
