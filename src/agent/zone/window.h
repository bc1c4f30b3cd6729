/*
 * window.h - the window that two functions make: it opens when a thread enters the one, and shuts when
 * any thread enters the other. Samples outside are not kept (they are lost as `outside_window`), unless
 * the window is only watched.
 *
 * The functions are met by hardware breakpoints, two perf events a thread that bring no samples. They stand
 * behind the events of the session in zone.events.
 */
#ifndef JSTROBE_ZONE_WINDOW_H
#define JSTROBE_ZONE_WINDOW_H

#include <stdatomic.h>

#include "common/base/base.h"

enum window_role { WINDOW_NONE, WINDOW_BEGIN, WINDOW_END };

/* A window that was shut, for those who want each of them; see window_note(). */
struct window_note {
	_Atomic uint64_t number; /* from 1 on, of the one that stands here; 0 = it is being written */
	_Atomic uint64_t since, took; /* CLOCK_MONOTONIC, ns; ns */
	_Atomic uint32_t thread; /* 1 + index of the record of the thread that shut it; 0 = the session's end did */
};

#define WINDOW_NOTES 1024        /* the last ones */

struct window {
	bool gates;              /* samples outside are not kept */
	_Atomic uint64_t since;  /* CLOCK_MONOTONIC when it opened, 0 = it is shut */
	_Atomic uint64_t count;  /* windows that have been shut again */
	_Atomic uint64_t total;  /* and their time, ns */
	_Atomic uint64_t longest;
	struct window_note notes[WINDOW_NOTES]; /* number n: notes[n % WINDOW_NOTES] */
};

/* Open at the time NOW (never 0), unless it is open. Any context. */
void window_open(struct window *w, uint64_t now);
/* Shut at NOW by THREAD (see window_note), unless it is shut. Any context. */
void window_shut(struct window *w, uint64_t now, uint32_t thread);
/* Copy what is noted of window NUMBER to N; false: it is not there, yet or any more. Any thread. */
bool window_noted(const struct window *w, uint64_t number, struct window_note *n);

/* Whether a sample taken now is not to be kept. Any context. */
static inline bool window_keeps_out(const struct window *w)
{
	return unlikely(w->gates) &&
	       !atomic_load_explicit(&((struct window *)w)->since, memory_order_acquire);
}

#endif
