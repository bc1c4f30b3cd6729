/*
 * trigger.h - moments at which the result is written without a command: an OutOfMemoryError, a signal of
 * the system. Sampling goes on.
 *
 * Each writes the result where it is owed (`start -f`), over the one before; what happens while it is being
 * written is written once more afterwards. The control thread writes it, and needs no JVM for that: one that is out of
 * memory, or deep in a safepoint, does not matter.
 */
#ifndef JSTROBE_COMMAND_TRIGGER_H
#define JSTROBE_COMMAND_TRIGGER_H

#include "common/base/error.h"
#include "common/options/options.h"

/*
 * As a job of the control thread. A session is about to begin with O, and HAS_PLACE for its result; undone by
 * trigger_end. -EBUSY: the signal has a handler already.
 */
int trigger_begin(const struct options *o, bool has_place, struct error *err);
/* It ended: signals and events are as before. As a job of it. */
void trigger_end(void);
/* Whether one has gone off. Any thread. */
bool trigger_fired(void);
/* The JVM is out of memory (JVMTI's ResourceExhausted). Any thread, nothing locked. */
void trigger_exhausted(void);

#endif
