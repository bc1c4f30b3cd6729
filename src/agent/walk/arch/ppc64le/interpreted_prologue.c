/*
 * interpreted_prologue.c (ppc64le) - the innermost interpreted frame at its method's first and last instructions.
 *
 *   entry (generate_normal_entry, generate_fixed_frame)      exit (remove_activation, merge_frames)
 *     …                     r19 = Method*                      ld r0, 16(r11)
 *     stdux r11, r1, r6     the caller's frame gets locals      …
 *     std r12, 16(r1)                                          stdux r12, r1, r11    the frame is gone
 *     std …                 the frame's words                  mtlr r0
 *     stdux r1, r1, r11     the frame stands                   …                    an int is cut to its type
 *                                                              mr r3, r17           the result
 *                                                              blr
 *
 * Up to the last store the link register holds the return address.
 */
#include "agent/walk/decode.h"
#include "agent/walk/walk.h"
#include "insn.h"

#define ENTRY_MAX 150 /* instructions before an interpreted method's frame stands */
#define EXIT_MAX 32

static enum step to_caller(struct walk *w, uintptr_t pc)
{
	uintptr_t sp = w->sp;

	w->end = END_bad_interpreted;
	if (!walk_is_code(w, pc))
		return STEP_END;
	w->sp -= WORD; /* it has no frame, but a step goes up */
	return walk_move(w, pc, sp, 0) ? STEP_ON : STEP_END;
}

/* Whether pc stands in the entry of the method in its register, before its frame does. */
static bool before_frame(const struct walk *w)
{
	uintptr_t entry = interpreted_entry(w, ENTRY_MAX * INSN_BYTES);
	struct insn i;
	unsigned n;

	for (n = 0; entry && n < ENTRY_MAX && entry < w->pc; n++, entry += INSN_BYTES)
		if (!insn_fetch(entry, &i) || i.does == INSN_PUSH)
			return false;
	return entry == w->pc;
}

static bool at_entry(struct walk *w, enum step *step)
{
	struct method m;

	if (!before_frame(w) || !decode_method(w->l, w->cache, w->regs->method, &m))
		return false;
	*step = stack_trace_put(w->out, interpreted_word(&m, 0)) ? to_caller(w, w->regs->ret) : STEP_END;
	return true;
}

/* Behind the instruction that takes the frame down. */
static bool at_exit(struct walk *w, enum step *step)
{
	uintptr_t pc = w->pc, caller = w->regs->ret;
	struct insn i;
	unsigned n;

	for (n = 0; n < EXIT_MAX; n++, pc += INSN_BYTES) {
		if (!insn_fetch(pc, &i))
			return false;
		if (i.does == INSN_RETURN)
			break;
		if (i.does == INSN_JUMP)
			pc += (uintptr_t)i.amount - INSN_BYTES;
		else if (i.does == INSN_RELOAD ? !context_dwarf_register(w->regs->all, i.number, &caller)
					       : i.does != INSN_OTHER && i.does != INSN_FIELD)
			return false;
	}
	if (n == EXIT_MAX)
		return false;
	*step = to_caller(w, caller);
	return true;
}

bool interpreted_prologue(struct walk *w, enum step *step)
{
	return w->top && w->regs && (at_entry(w, step) || at_exit(w, step));
}
