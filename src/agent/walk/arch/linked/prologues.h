/*
 * prologues.h - what the walkers of CPUs that link ask of code that has no whole frame.
 */
#ifndef JSTROBE_WALK_PROLOGUES_H
#define JSTROBE_WALK_PROLOGUES_H

#include "agent/walk/walk.h"

/* The caller's sp as the calling convention of the interpreter has it in a register; W has registers. */
uintptr_t interpreted_sender(const struct walk *w);
/* What an interpreted frame is left to. */
struct interpreted_caller {
	uintptr_t pc, sp, fp;
};
/*
 * Whether W's pc is among the last instructions of an interpreted method, where its frame is being taken down. *C: the
 * link register and sp and fp as they are; what the instructions still change of it is changed there. W has registers.
 */
bool interpreted_exit(const struct walk *w, struct interpreted_caller *c);

#endif
