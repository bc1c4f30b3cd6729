/*
 * window.h - the window that two functions make: it opens when a thread enters the one, and shuts when
 * any thread enters the other. Samples outside are not kept (they are lost as `outside_window`), unless
 * the window is only watched.
 *
 * The functions are met by hardware breakpoints, two perf events a thread that bring no samples. They stand
 * behind the events of the session in zone.events.
 */
#ifndef JSTROBE_SIGNAL_WINDOW_H
#define JSTROBE_SIGNAL_WINDOW_H

#include <stdatomic.h>

#include "base/base.h"

struct thread_record;

enum window_role { WINDOW_NONE, WINDOW_BEGIN, WINDOW_END };

struct window {
	bool gates;              /* samples outside are not kept */
	_Atomic uint64_t since;  /* CLOCK_MONOTONIC when it opened, 0 = it is shut */
	_Atomic uint64_t count;  /* windows that have been shut again */
	_Atomic uint64_t total;  /* and their time, ns */
	_Atomic uint64_t longest;
};

/* Open at the time NOW (never 0), unless it is open. Any context. */
void window_open(struct window *w, uint64_t now);
/* Shut at NOW, unless it is shut. Any context. */
void window_shut(struct window *w, uint64_t now);
/*
 * Which of its two functions R has entered since the last look; EVENT sent the signal, or is
 * RECORD_EVENTS: a signal that was pending already takes the one of a breakpoint in. Handler, R entered.
 */
void window_look(struct thread_record *r, uint32_t event, uint64_t time);

/* Whether a sample taken now is not to be kept. Any context. */
static inline bool window_keeps_out(const struct window *w)
{
	return unlikely(w->gates) &&
	       !atomic_load_explicit(&((struct window *)w)->since, memory_order_acquire);
}

#endif
