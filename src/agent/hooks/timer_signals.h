/*
 * timer_signals.h - the program's own timers while it ends.
 *
 * A program that profiles itself, or has an alarm, may have given SIGPROF, SIGVTALRM or SIGALRM back to its default
 * action when it ends, and leave the timer running: without us it is gone before that expires. Writing the result takes
 * long enough for it, and the default action is the process's death.
 */
#ifndef JSTROBE_HOOKS_TIMER_SIGNALS_H
#define JSTROBE_HOOKS_TIMER_SIGNALS_H

/*
 * Timers whose signal would kill stand still, and such a signal does nothing, until timer_signals_go_on: then they have
 * as long to go as they had. Those with handlers go on. One thread at a time; safe in a handler.
 */
void timer_signals_hold(void);
void timer_signals_go_on(void);

#endif
