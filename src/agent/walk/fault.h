/*
 * fault.h - SIGSEGV and SIGBUS of our own loads, and no others.
 *
 * agent/hooks/faults.c puts fault_handler before the handlers that are there (HotSpot's: safepoint polls, null checks);
 * everything that is no load of ours is passed on unchanged.
 *
 * A load may only fault where the fault reaches us. Where it might not, the kernel makes the load (load_by_kernel):
 * a library has put another handler in our place, or the running thread has the signals blocked, so that the kernel
 * would end the process. Each sample looks first.
 */
#ifndef JSTROBE_WALK_FAULT_H
#define JSTROBE_WALK_FAULT_H

#include <signal.h>
#include <stdatomic.h>

#include "common/base/base.h"

#define FAULT_MASK_BYTES 8 /* of a sigset_t the kernel knows, on all CPUs we do; libc leaves the others as they were */

/* The action that had the signal before us: [0] SIGSEGV, [1] SIGBUS. Set before ours is installed; never changed. */
extern const struct sigaction *_Atomic fault_former[2];
/* What the kernel calls for SIGSEGV while loads may fault: ours, or one that leads to ours. 0: nothing. */
extern _Atomic uintptr_t fault_front;
/* What the kernel called for SIGSEGV when a fault of other code last came by us, while in doubt: it led to us. */
extern _Atomic uintptr_t fault_led;

/* The handler of SIGSEGV and SIGBUS. */
void fault_handler(int signo, siginfo_t *info, void *context);

/* What the kernel calls for SIGNO now, whatever libc has been told (libjsig). Any context. */
uintptr_t fault_in_force(int signo);
/* Loads do not fault from here on, until fault_trust(). Any context. */
void fault_doubt(void);
void fault_trust(void);
bool fault_in_doubt(void);
/* Doubt, unless SIGSEGV leads to us now; a system call. Any context. */
void fault_look(void);
/* In a child of fork(): what the parent's other threads were at counts no more. */
void fault_of_child(void);

/*
 * Before loads in a handler whose ucontext is CONTEXT: it may have interrupted code that has the signals blocked, as
 * handlers of them do. What it returns is given to fault_leave() afterwards. Callbacks of the JVM need only
 * fault_look(): its threads could not run with SIGSEGV blocked.
 */
uint32_t fault_enter(const void *context);
void fault_leave(uint32_t entered);

#endif
