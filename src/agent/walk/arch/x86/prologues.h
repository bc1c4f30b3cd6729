/*
 * prologues.h (x86) - what the walkers of this CPU ask of code that has no whole frame.
 */
#ifndef JSTROBE_WALK_PROLOGUES_H
#define JSTROBE_WALK_PROLOGUES_H

#include "agent/walk/walk.h"

/*
 * At a method's interpreted entry, or in an adapter on the way there: its frame does not
 * stand yet. False: it does not look so (interpreted_prologue.c).
 */
bool walk_at_entry(struct walk *w, enum step *step);
/* Whether an adapter, having popped the return address, is about to note the sender's sp at PC. */
bool frame_sets_sender(uintptr_t pc);
/*
 * Whether the stub that begins at START, at PC, has yet to store the pc that a poll interrupted where a
 * return address would be; then *FIELD is where in the JavaThread that pc lies.
 */
bool frame_polled(uintptr_t start, uintptr_t pc, uint32_t *field);
/* Whether the instruction at CODE, of which 8 bytes are readable, stores rbp on the stack: *AT, from sp. */
bool frame_saves_fp(const uint8_t *code, int32_t *at);
/*
 * Whether the instruction at CODE, of which INSN_MAX bytes are readable, puts a number into the size word of a frame of
 * FRAME_BYTES: *SIZE (own_size.c).
 */
bool frame_puts_size(const uint8_t *code, uint32_t frame_bytes, uint32_t *size);
/* The caller's pc in the register that an exception's stubs have it in. */
bool frame_exception_pc(const struct walk_regs *r, uintptr_t *pc);
/* Like frame_prologue, for a stub that begins at START and has no fixed frame; false: it is not known. */
bool stub_frame_state(uintptr_t start, uintptr_t pc, uintptr_t sp, uintptr_t fp, uintptr_t *return_slot,
	       bool *fp_saved);

#endif
