/*
 * code_unwind.c (ppc64le) - whether an innermost frame stands, by following its code, and by the chain.
 *
 * The word at r1 is always a caller's stack pointer: of this frame, or, if it is not set up or gone, of the
 * caller's. So all that is to be known is whether the way to the return takes a frame down, and whether it loads the
 * link register:
 *
 *     addi r1, r1, N; ld r20, 16(r1); mtlr r20; blr         C1
 *     ld r31, N + 16(r1); mtlr r31; addi r1, r1, N; blr     C2
 *
 * Compiled code that calls anything has its frame. A way that is too long leaves the question to the chain: a frame
 * that stands is as large as its blob says.
 */
#include "agent/walk/walk.h"
#include "insn.h"

#define BUDGET 200 /* instructions in all */

struct way {
	uintptr_t pc, begin, end;
	bool pushed;   /* the first thing that was done to the stack was to set a frame up */
	bool popped;   /* … or to take one down */
	bool kept;     /* the link register was stored before any call: it is what it was at the entry */
	bool reloaded; /* … was loaded */
	bool called;
};

enum go { GO_ON, GO_LOST, GO_RETURN, GO_AWAY };

static enum go one_instruction(struct way *y)
{
	uintptr_t pc = y->pc;
	struct insn i;

	if (pc < y->begin || pc >= y->end || !insn_fetch(pc, &i))
		return GO_LOST;
	y->pc = pc + INSN_BYTES;
	switch (i.does) {
	case INSN_PUSH: y->pushed |= !y->popped; return GO_ON;
	case INSN_POP: y->popped |= !y->pushed; return GO_ON;
	case INSN_KEEP: y->kept |= !y->called && !y->reloaded; return GO_ON;
	case INSN_RELOAD: y->reloaded = true; return GO_ON;
	case INSN_CALL: y->called = true; return GO_ON;
	case INSN_RETURN: return GO_RETURN;
	case INSN_AWAY: return GO_AWAY;
	case INSN_JUMP:
		y->pc = pc + (uintptr_t)i.amount;
		return y->pc >= y->begin && y->pc < y->end ? GO_ON : GO_RETURN;
	case INSN_END: return GO_LOST;
	default: return GO_ON;
	}
}

/* Whether the chain says that B's frame stands. */
static bool is_chained(const struct walk *w, const struct blob *b)
{
	return w->fp == w->sp + b->frame_bytes;
}

bool code_unwind(const struct walk *w, const struct blob *b, const struct stub *stub, bool away,
		   struct code_unwind *out)
{
	struct way y = {
		.pc = w->pc,
		.begin = stub ? stub->start : b->code,
		.end = stub ? stub->end : code_blob_end(w->l, b),
	};
	bool framed = b->frame_bytes >= 2 * WORD;
	enum go go = GO_ON;
	unsigned n;

	*out = (struct code_unwind){.end = UNWIND_STANDING, .fp_at = -1, .popped = INT32_MIN, .same = w->pc};
	for (n = 0; n < BUDGET && go == GO_ON && !y.popped && !(b->nmethod && y.called); n++)
		go = one_instruction(&y);
	out->linked = y.kept;
	if (y.popped || (b->nmethod && y.called)) {
		out->fixed = framed && is_chained(w, b);
		return !framed || out->fixed;
	}
	/* Not remembered: the caller's frame may be as large. */
	if (go == GO_ON || go == GO_LOST)
		return framed && is_chained(w, b);
	if (go == GO_AWAY && framed && is_chained(w, b))
		return true;
	out->end = go == GO_AWAY && away ? UNWIND_AWAY : UNWIND_RETURN;
	out->fixed = go == GO_RETURN;
	/* Nothing is called without a frame. */
	out->linked = y.pushed || y.kept || !y.reloaded;
	out->released = out->linked ? 0 : CPU_RETURN_AT;
	return !(out->linked && y.called) || y.pushed || y.kept;
}
