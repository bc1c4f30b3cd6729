/*
 * fault.h - SIGSEGV and SIGBUS of our own loads, and of nobody else.
 *
 * engine/faults.c puts fault_handler before the handlers that are there (HotSpot's:
 * safepoint polls, null checks); everything that is no load of ours is passed on unchanged.
 */
#ifndef JSTROBE_SIGNAL_FAULT_H
#define JSTROBE_SIGNAL_FAULT_H

#include <signal.h>

#include "base/base.h"

/* The action that had the signal before us: [0] SIGSEGV, [1] SIGBUS. Set before ours is installed. */
extern struct sigaction fault_former[2];

/* The handler of SIGSEGV and SIGBUS. */
void fault_handler(int signo, siginfo_t *info, void *context);

#endif
