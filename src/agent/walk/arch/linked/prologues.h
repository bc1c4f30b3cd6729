/*
 * prologues.h - what the walkers of CPUs that link ask of code that has no whole frame.
 */
#ifndef JSTROBE_WALK_PROLOGUES_H
#define JSTROBE_WALK_PROLOGUES_H

#include "agent/walk/walk.h"

/* The caller's sp as the calling convention of the interpreter has it in a register; W has registers. */
uintptr_t interpreted_sender(const struct walk *w);
/* At a method's interpreted entry, its frame does not stand yet. False: it does not look so. W has registers. */
bool interpreted_at_entry(struct walk *w, enum step *step);
/* Step from an interpreted frame to PC; SP and FP are the caller's. */
enum step interpreted_to_caller(struct walk *w, uintptr_t pc, uintptr_t sp, uintptr_t fp);

#endif
