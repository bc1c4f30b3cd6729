/*
 * signal_action.h - taking and giving back the engine's signal. Inner header of the hooks room.
 */
#ifndef JSTROBE_HOOKS_SIGNAL_ACTION_H
#define JSTROBE_HOOKS_SIGNAL_ACTION_H

#include "agent/zone/zone.h"
#include "common/base/error.h"

/*
 * The signal for events of threads: the one that was ASKED for, 0 = none, if it is not used, else a free one.
 * Negative errno.
 */
int signals_choose(int asked, const char *event, struct error *err);
/*
 * Install HANDLER for SIGNO and remember the former action in the zone. -EBUSY: it is in use by now.
 */
int signals_take(int signo, void (*handler)(int, siginfo_t *, void *), struct error *err);
/*
 * Ignore the signal for a moment, so that the kernel throws away what is pending in every thread: going
 * straight to the default would kill a process whose thread had it blocked and pending. False: it is not
 * ours any more.
 */
bool signals_flush(void);
/*
 * Give the signal back to its former action, unless it was taken meanwhile. Nothing may send it any more. Takes
 * 10 to 30 ms.
 */
void signals_give_back(void);
/* In a child of fork(): the signal has its former action, unless it is another's by now. Safe in a handler. */
void signals_of_child(void);

#endif
