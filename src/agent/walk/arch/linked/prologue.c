/*
 * prologue.c - compiled code at its first and last instructions, on CPUs that link.
 *
 *   aarch64, frames up to 512 bytes           epilogue
 *     sub sp, sp, N                             ldp x29, x30, [sp, N-16]
 *     stp x29, x30, [sp, N-16]                  add sp, sp, N
 *   larger ones                               larger ones
 *     stp x29, x30, [sp, -16]!                  add sp, sp, N-16
 *     sub sp, sp, N-16                          ldp x29, x30, [sp], 16
 *                                             both, 17+
 *                                               ldr x8, [x28, poll]; cmp sp, x8; b.hi stub
 *                                               ret
 *
 *   arm
 *     push {r11, lr}                            add sp, sp, N-8
 *     sub sp, sp, N-8                           pop {r11, lr}
 *                                               ldr r12, poll; ldr r12, [r12]; bx lr
 *
 * Before the link register is stored and behind its load it holds the return address; between them that lies in the
 * frame's last word, as on CPUs that push it (MacroAssembler::build_frame, remove_frame; 11 to 25).
 */
#include "agent/walk/walk.h"
#include "insn.h"

#define PROLOGUE_MAX 64 /* instructions: a stack bang, class initialisation and entry barriers stand among them */
#define EPILOGUE_MAX 8

/* What the instructions from ENTRY up to PC have done to sp, and whether they have stored the link register. */
static bool follow_prologue(uintptr_t entry, uintptr_t pc, int64_t *lowered, bool *stored)
{
	int64_t constant = 0;
	struct insn i;
	unsigned n;

	*lowered = 0;
	*stored = false;
	for (n = 0; entry < pc; n++, entry += INSN_BYTES) {
		if (n == PROLOGUE_MAX || !insn_fetch(entry, &i))
			return false;
		if (i.does == INSN_RELEASE)
			*lowered -= i.amount;
		else if (i.does == INSN_CONSTANT)
			constant = i.amount;
		else if (i.does == INSN_LOWER_BY)
			*lowered += constant;
		else if (i.does == INSN_STACK)
			*lowered -= i.before + i.after;
		*stored |= i.does == INSN_STACK && !i.load && i.link_at >= 0;
	}
	return *lowered >= 0 && *lowered < 1 << 24;
}

/* What a method does between taking its frame down and returning: nothing but asking for a safepoint. */
static bool is_poll(const struct insn *i)
{
	return i->does == INSN_OTHER || i->does == INSN_BRANCH;
}

/* From PC straight on to a return, of whose frame something has been taken down already. */
static bool in_epilogue(uintptr_t pc, struct frame_state *e)
{
	int64_t released = 0, link_at = -1;
	struct insn i;
	unsigned n;

	for (n = 0; n < EPILOGUE_MAX; n++, pc += INSN_BYTES) {
		if (!insn_fetch(pc, &i))
			return false;
		if (i.does == INSN_RETURN)
			break;
		if (i.does == INSN_RELEASE && i.amount > 0) {
			released += i.amount;
		} else if (i.does == INSN_STACK && i.load && i.link_at >= 0 && link_at < 0) {
			link_at = released + i.before + i.link_at;
			released += i.before + i.after;
		} else if (!is_poll(&i)) {
			return false;
		}
	}
	if (n == EPILOGUE_MAX)
		return false;
	e->linked = link_at < 0;
	e->fp_saved = !e->linked;
	e->return_offset = (uint32_t)(e->linked ? released : link_at);
	return e->linked || released == link_at + (int64_t)WORD;
}

bool frame_prologue(const struct layout *l, const struct blob *b, uintptr_t pc, struct frame_state *e)
{
	uintptr_t entry = code_entry(l, b);
	int64_t lowered;
	bool stored;

	e->part = FRAME_PROLOGUE;
	if (pc <= entry) {
		e->return_offset = 0;
		e->fp_saved = false;
		e->linked = true;
		return true;
	}
	if (b->frame_complete > 0 && pc < b->code + (uintptr_t)b->frame_complete &&
	    follow_prologue(entry, pc, &lowered, &stored)) {
		e->return_offset = (uint32_t)(stored ? lowered - (int64_t)WORD : lowered);
		e->fp_saved = stored;
		e->linked = !stored;
		return true;
	}
	e->part = in_epilogue(pc, e) ? FRAME_EPILOGUE : FRAME_BODY;
	return e->part == FRAME_EPILOGUE;
}
