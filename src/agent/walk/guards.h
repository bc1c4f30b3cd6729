/*
 * guards.h - which of the inlined methods of compiled code a pc belongs to, where debug information describes only
 * calls, polls and traps: code compiled without DebugNonSafepoints, which is nearly all that ran before the session.
 *
 * In C2's hot path hardly anything is described; but its checks (null, range, class) are branches to blocks that call
 * the uncommon trap, and what describes that call (scope and bci) is where the check stands:
 *
 *     cmp  r9d, r8d
 *     jae  out ─────────────▶ mov esi, …            a guard: the branch stands where the trap's call does
 *     mov  eax, [r10+r8*4]    call UncommonTrapBlob
 *                             ◀ PcDesc: leaf < mid < root
 *
 * So are slow paths of C1 and of allocations, and instructions that fault for null (the nmethod's table of implicit
 * exceptions says to which block they go). A branch to other code that runs seldom tells nothing.
 *
 * The rule, found on ten programs beside what DebugNonSafepoints said of the same code (docs/inside/inlined.md): a pc
 * belongs to the next such place straight on; with a branch before that one, and the place behind it nearer than two
 * fifths of the way, to the place behind it. Code with the flag is left to what it describes.
 *
 * Calls of leaf routines (System.nanoTime, Math.sin, copies of arrays, barriers of collectors), where no thread stops,
 * are not described at their return addresses either: what is described next in memory is any other code. Time in them
 * is mostly a loop's, so the next place is looked for along the branch back to the loop's begin first.
 */
#ifndef JSTROBE_WALK_GUARDS_H
#define JSTROBE_WALK_GUARDS_H

#include "agent/walk/decode.h"

struct guarded {
	uint32_t scope;          /* 0: the method itself */
	bool unsure;             /* the places on both sides have different methods inlined, or one is not known */
	uintptr_t first, last;   /* the same is true of all pcs from here to there */
};

/*
 * The place of nmethod B, described by D, that PC, the next instruction to run, belongs to; IS_RETURN: the call that
 * returns to PC. False: there is none near it. Bounded: at most 1,000 instructions are decoded. Any context.
 * arch/<cpu>/guards.c.
 */
bool guards_find(const struct layout *l, const struct blob *b, const struct debug_info *d, uintptr_t pc, bool is_return,
		 struct guarded *g);

#endif
