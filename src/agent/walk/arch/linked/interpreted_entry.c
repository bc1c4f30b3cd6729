/*
 * interpreted_entry.c - an interpreted method's first instructions, before its frame stands; for CPUs that link.
 *
 * Up to there the return address is in the link register, and the Method* and the sender's sp have registers of
 * their own.
 */
#include "agent/walk/arch/linked/prologues.h"
#include "agent/walk/decode.h"
#include "insn.h"

#define ENTRY_MAX 200 /* instructions before an interpreted method's frame stands */

enum step interpreted_to_caller(struct walk *w, uintptr_t pc, uintptr_t sp, uintptr_t fp)
{
	pc = CODE_ADDRESS(pc);
	w->end = END_bad_interpreted;
	if (!walk_is_code(w, pc))
		return STEP_END;
	if (!interpreted_near(sp, w->sp))
		sp = w->sp; /* callers that are interpreted are found by fp */
	if (sp <= w->sp)
		w->sp = sp - sizeof(sp);
	return walk_move(w, pc, sp, fp) ? STEP_ON : STEP_END;
}

/* Whether pc stands in the entry of the method in its register, before its frame does; *SET: fp has been set up. */
static bool before_frame(const struct walk *w, bool *set)
{
	uintptr_t entry;
	struct insn i;
	unsigned n;

	if (w->l->method_entry < 0 || !load_word(w->regs->method + (uintptr_t)w->l->method_entry, &entry) ||
	    !code_is_interpreter(w->l, entry) || w->pc < entry || w->pc - entry > ENTRY_MAX * INSN_BYTES)
		return false;
	*set = false;
	for (n = 0; n < ENTRY_MAX && entry < w->pc; n++, entry += INSN_BYTES) {
		if (*set || !insn_fetch(entry, &i))
			return false;
		*set = i.does == INSN_FP_FROM_SP;
	}
	return entry == w->pc;
}

bool interpreted_at_entry(struct walk *w, enum step *step)
{
	uintptr_t fp = w->fp;
	struct method m;
	bool set;

	if (!before_frame(w, &set) || !decode_method(w->l, w->cache, w->regs->method, &m))
		return false;
	if (set && !load_word(w->fp, &fp))
		return false;
	*step = stack_trace_put(w->out, interpreted_word(&m, 0))
			? interpreted_to_caller(w, w->regs->ret, interpreted_sender(w), fp) : STEP_END;
	return true;
}
