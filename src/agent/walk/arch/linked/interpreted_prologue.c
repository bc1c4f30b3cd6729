/*
 * interpreted_prologue.c - the innermost interpreted frame at its method's first and last instructions, on CPUs that
 * link: before its frame stands, and when it is being taken down (interpreted_exit.c).
 *
 * At the first ones the return address is in the link register, and the Method* and the sender's sp have registers of
 * their own.
 */
#include "agent/walk/arch/linked/prologues.h"
#include "agent/walk/decode.h"
#include "insn.h"

#define ENTRY_MAX 200 /* instructions before an interpreted method's frame stands */

static enum step to_caller(struct walk *w, const struct interpreted_caller *c)
{
	uintptr_t pc = CODE_ADDRESS(c->pc), sp = c->sp;

	w->end = END_bad_interpreted;
	if (!walk_is_code(w, pc))
		return STEP_END;
	if (!interpreted_near(sp, w->sp))
		sp = w->sp; /* callers that are interpreted are found by fp */
	if (sp <= w->sp)
		w->sp = sp - sizeof(sp);
	return walk_move(w, pc, sp, c->fp) ? STEP_ON : STEP_END;
}

/* Whether pc stands in the entry of the method in its register, before its frame does; *SET: fp has been set up. */
static bool before_frame(const struct walk *w, bool *set)
{
	uintptr_t entry = interpreted_entry(w, ENTRY_MAX * INSN_BYTES);
	struct insn i;
	unsigned n;

	*set = false;
	for (n = 0; entry && n < ENTRY_MAX && entry < w->pc; n++, entry += INSN_BYTES) {
		if (*set || !insn_fetch(entry, &i))
			return false;
		*set = i.does == INSN_FP_FROM_SP;
	}
	return entry == w->pc;
}

static bool at_entry(struct walk *w, enum step *step)
{
	struct interpreted_caller c = {w->regs->ret, 0, w->fp};
	struct method m;
	bool set;

	if (!before_frame(w, &set) || !decode_method(w->l, w->cache, w->regs->method, &m))
		return false;
	if (set && !load_word(w->fp, &c.fp))
		return false;
	c.sp = interpreted_sender(w);
	*step = stack_trace_put(w->out, interpreted_word(&m, 0)) ? to_caller(w, &c) : STEP_END;
	return true;
}

static bool at_exit(struct walk *w, enum step *step)
{
	struct interpreted_caller c = {w->regs->ret, w->sp, w->fp};

	if (!interpreted_exit(w, &c))
		return false;
	*step = to_caller(w, &c);
	return true;
}

bool interpreted_prologue(struct walk *w, enum step *step)
{
	return w->top && w->regs && (at_entry(w, step) || at_exit(w, step));
}
