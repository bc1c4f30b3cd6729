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
/*
 * The program sets its own ACTION (NULL: none) for SIGNO while that is ours: it is kept to be given back, and OLD (may
 * be NULL) gets the one kept so far. False: it is not ours. Any thread; a handler that passes a signal on at this very
 * moment may see half of the new one.
 */
bool signals_keep(int signo, const struct sigaction *action, struct sigaction *old);
/* In a child of fork(): the signal has its former action, unless it is another's by now. Safe in a handler. */
void signals_of_child(void);

#endif
