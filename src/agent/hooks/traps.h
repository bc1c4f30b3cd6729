/*
 * traps.h - our handler of SIGTRAP (agent/zone/trap.h) goes before the one that is there while breakpoints are armed,
 * and back. Normal code, by one thread at a time.
 */
#ifndef JSTROBE_HOOKS_TRAPS_H
#define JSTROBE_HOOKS_TRAPS_H

#include "common/base/error.h"

/*
 * Before the first breakpoint is armed; idempotent. -EBUSY: another library's handler has been put before ours since,
 * or another copy is just at it. -ENOSPC: ours has stood before too many.
 */
int traps_take(struct error *err);
/*
 * After the last one is gone; nothing if it was not taken. The former action is back, unless another library has put
 * its handler before ours: then ours stays in the chain, and passes on. Takes 10 to 30 ms.
 */
void traps_give_back(void);
/* Exceptions without a cause since traps_take(). Any thread. */
uint64_t traps_met(void);

#endif
