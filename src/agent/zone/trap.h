/*
 * trap.h - the handler of SIGTRAP while hardware breakpoints are armed.
 *
 * A breakpoint of a perf event sends no SIGTRAP of its own. But the kernel takes a debug exception whose cause (DR6) is
 * empty for an INT1 of the program and sends SIGTRAP, which ends the process. Under some hypervisors one exception in
 * some ten thousand arrives so: the thread still stands at its breakpoint, or behind the access that was watched.
 * Measured on x86-64 with KVM, Linux 6.18, see docs/inside/reliability.md.
 *
 * agent/hooks/traps.c puts the handler in place and takes it back.
 */
#ifndef JSTROBE_ZONE_TRAP_H
#define JSTROBE_ZONE_TRAP_H

#include <signal.h>
#include <stdatomic.h>

#include "common/base/base.h"

/* The action that SIGTRAP had before us. Set before ours is installed. */
extern const struct sigaction *_Atomic trap_former;
/* Breakpoints are armed: exceptions without a cause are ours. */
extern atomic_bool trap_armed;
/* Such exceptions so far; the accesses among them that `mem:` watches are in no count. */
extern _Atomic uint64_t trap_unnamed;

/*
 * The handler. An exception without a cause is over when it returns: a function's breakpoint is met once more, then
 * with its cause. All others go to the former action as they came.
 */
void trap_handler(int signo, siginfo_t *info, void *context);

/*
 * No handler stands behind ours: SIGNO gets its FORMER action, and this thread gets SIGNO once more. In a handler of
 * SIGNO, which is blocked there: it comes when that returns.
 */
void trap_by_default(int signo, const struct sigaction *former);

#endif
