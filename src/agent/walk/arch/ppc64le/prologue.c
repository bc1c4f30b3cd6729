/*
 * prologue.c (ppc64le) - compiled code at its first instructions.
 *
 *   C1                                        C2
 *     mflr r20                                  mflr r20
 *     std r20, 16(r1)                           mr r21, r1
 *     stdu r1, -N(r1)                           stdu r1, -N(r1)
 *                                               std r20, 16(r21)
 *
 * Up to there the link register holds the return address. Behind it that lies beside the caller's stack pointer,
 * whatever becomes of the frame (C1_MacroAssembler::build_frame, MachPrologNode::emit; 17).
 */
#include "agent/walk/walk.h"
#include "insn.h"

#define PROLOGUE_MAX 64 /* instructions: a stack bang and class initialisation stand among them */

bool frame_prologue(const struct layout *l, const struct blob *b, uintptr_t pc, struct frame_state *e)
{
	uintptr_t at = code_entry(l, b);
	bool pushed = false;
	struct insn i;
	unsigned n;

	e->fp_saved = false;
	if (pc > at && (b->frame_complete <= 0 || pc >= b->code + (uintptr_t)b->frame_complete))
		return false;
	for (n = 0; at < pc; n++, at += INSN_BYTES) {
		if (n == PROLOGUE_MAX || !insn_fetch(at, &i))
			return false;
		pushed |= i.does == INSN_PUSH;
	}
	e->part = FRAME_PROLOGUE;
	e->linked = true;
	e->return_offset = pushed ? b->frame_bytes : 0;
	return true;
}
