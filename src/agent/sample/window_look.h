/*
 * window_look.h - whether a thread has entered one of the two functions that open and shut the window (zone/window.h).
 */
#ifndef JSTROBE_SAMPLE_WINDOW_LOOK_H
#define JSTROBE_SAMPLE_WINDOW_LOOK_H

#include "agent/zone/thread_record.h"

/*
 * Which of its two functions R has entered since the last look; EVENT sent the signal, or is
 * RECORD_EVENTS: a signal that was pending already takes the one of a breakpoint in. Handler, R entered.
 */
void window_look(struct thread_record *r, uint32_t event, uint64_t time);

#endif
