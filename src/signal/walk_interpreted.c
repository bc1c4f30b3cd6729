/*
 * walk_interpreted.c - one step over an interpreted frame.
 *
 *      fp + 8   return address            fp - 24  Method*
 *      fp       caller's fp               …
 *      fp - 8   caller's sp               fp - 64  bytecode pointer (when not running)
 *
 * The innermost frame may be half built or half gone. On x86_64 a method's entry keeps
 * the caller's sp in r13, Method* in rbx and, for some instructions, the return address in
 * rax; its exit has the caller's sp in rbx and the return address in r13
 * (TemplateInterpreterGenerator::generate_normal_entry, remove_activation; 8 to 25).
 */
#include "signal/decode.h"
#include "signal/walk.h"

#define ENTRY_SPAN (1u << 19) /* locals of one method: at most 65,535 slots */

static bool bci_in(const struct method *m, uintptr_t bcp, uint32_t *bci)
{
	if (bcp < m->code || bcp >= m->code + m->code_size)
		return false;
	*bci = (uint32_t)(bcp - m->code);
	return true;
}

/* A method without byte code is native, called through the interpreter's own entry. */
static uint64_t word_of(const struct method *m, uint32_t bci)
{
	return frame_java(FRAME_INTERPRETED, m->address, m->code_size ? bci : FRAME_NO_BCI);
}

/* The frame at fp, complete. False when there is none. */
static bool read_frame(struct walk *w, struct method *m, uint32_t *bci)
{
	const struct layout *l = w->l;
	uintptr_t method, bcp = 0;

	uintptr_t slot = w->fp + (uintptr_t)((intptr_t)l->method_slot * 8);

	if (w->fp < w->sp || w->fp - w->sp > ENTRY_SPAN * 2 || (w->fp & 7))
		return false;
	*bci = FRAME_NO_BCI;
	if (w->top && slot < w->sp) {
		/* Not pushed yet: below sp lies what an earlier callee left. */
		*bci = 0;
		return w->regs && decode_method(w->l, w->cache, w->regs->method, m);
	}
	if (!load_word(slot, &method) || !decode_method(w->l, w->cache, method, m))
		return false;
	if (w->top && w->regs && bci_in(m, w->regs->bcp, bci))
		return true;
	if (load_word(w->fp + (uintptr_t)((intptr_t)l->bcp_slot * 8), &bcp))
		bci_in(m, bcp, bci);
	return true;
}

static enum step to_caller(struct walk *w)
{
	uintptr_t slot = w->fp + (uintptr_t)((intptr_t)w->l->interpreter_sender_sp_slot * 8);
	uintptr_t pc, sp, fp;

	if (!load_word(w->fp + 8, &pc) || !load_word(w->fp, &fp) || !load_word(slot, &sp)) {
		w->end = END_fault;
		return STEP_END;
	}
	if (slot < w->sp && w->regs)
		sp = w->regs->bcp; /* not pushed yet */
	/* A callee without arguments shares its caller's top of stack: sp may lie at the frame's very end. */
	if (sp <= w->fp)
		sp = w->fp + 16;
	return walk_move(w, pc, sp, fp) ? STEP_ON : STEP_END;
}

/*
 * The frame of M at fp and, in a tight loop, those callers that are interpreted too: their
 * frames are found by fp alone. What ends the run is looked at by the next step.
 */
static enum step over_run(struct walk *w, struct method *m, uint32_t bci)
{
	const intptr_t method_slot = w->l->method_slot * 8, bcp_slot = w->l->bcp_slot * 8;
	const uintptr_t low = w->l->interpreter_low, bytes = w->l->interpreter_high - low;
	const uintptr_t end = w->stack_high ? w->stack_high : USER_ADDRESS_END;
	uintptr_t fp = w->fp, pc, next, method, bcp;

	while (trace_put(w->out, word_of(m, bci))) {
		if (!load_word(fp + 8, &pc) || pc - low >= bytes || !load_word(fp, &next) || next <= fp ||
		    next - fp > ENTRY_SPAN * 2 || (next & 7) || next >= end ||
		    !load_word(next + (uintptr_t)method_slot, &method) ||
		    !load_word(next + (uintptr_t)bcp_slot, &bcp) ||
		    (method != m->address && !decode_method(w->l, w->cache, method, m))) {
			w->fp = fp;
			return to_caller(w);
		}
		if (!bci_in(m, bcp, &bci))
			bci = FRAME_NO_BCI;
		fp = next;
	}
	return STEP_END;
}

static bool near_above(uintptr_t p, uintptr_t sp)
{
	return p >= sp && p - sp <= ENTRY_SPAN && !(p & 7);
}

bool walk_at_entry(struct walk *w, enum step *step)
{
	const struct walk_regs *r = w->regs;
	uintptr_t pc = r->ret, fp = w->fp, above;
	struct method m;

	if (!near_above(r->bcp, w->sp) || !decode_method(w->l, w->cache, r->method, &m))
		return false;
	/* Not popped yet: rax holds something older. */
	if (r->bcp == w->sp + 8 && load_word(w->sp, &above) && walk_is_code(w, above))
		pc = above;
	if (!walk_is_code(w, pc) && (!load_word(w->sp, &pc) || !walk_is_code(w, pc)))
		return false;
	if (w->fp >= w->sp && w->fp < r->bcp && load_word(w->fp + 8, &above) && above == pc &&
	    !load_word(w->fp, &fp))
		return false;
	if (!trace_put(w->out, word_of(&m, 0))) {
		*step = STEP_END;
		return true;
	}
	if (r->bcp <= w->sp)
		w->sp = r->bcp - 8;
	*step = walk_move(w, pc, r->bcp, fp) ? STEP_ON : STEP_END;
	return true;
}

/* Behind the frame's removal: PC and SP are the caller's. */
static enum step over_exit(struct walk *w, uintptr_t pc, uintptr_t sp)
{
	w->end = END_bad_interpreted;
	if (!near_above(sp, w->sp) || !walk_is_code(w, pc))
		return STEP_END;
	if (sp <= w->sp)
		w->sp = sp - 8;
	return walk_move(w, pc, sp, w->fp) ? STEP_ON : STEP_END;
}

/*
 * Whether pc stands in the entry of the method in the register for it, where its frame is not built. Elsewhere
 * the registers may look the same: they are what the last call left.
 */
static bool before_frame(const struct walk *w)
{
	uintptr_t entry;

	/* The cheap test first, which a value that is no Method* hardly stands. */
	return near_above(w->regs->bcp, w->sp) && !(w->regs->method & 7) && w->regs->method < USER_ADDRESS_END &&
	       w->l->method_entry >= 0 && load_word(w->regs->method + (uintptr_t)w->l->method_entry, &entry) &&
	       code_is_interpreter(w->l, entry) && frame_not_built(entry, w->pc);
}

enum step walk_interpreted(struct walk *w)
{
	uintptr_t pc, sp;
	struct method m;
	enum step step;
	uint32_t bci;

	/* Then a register has the caller's sp, else a bytecode or an index. */
	if (w->top && w->regs && near_above(w->regs->method, w->sp) &&
	    frame_exit_interpreted(w->regs, &pc, &sp))
		return over_exit(w, pc, sp);
	if (w->top && w->regs && before_frame(w) && walk_at_entry(w, &step))
		return step;
	if (read_frame(w, &m, &bci))
		return over_run(w, &m, bci);
	if (w->top)
		trace_put(w->out, frame_pc(FRAME_NATIVE, w->pc));
	w->end = END_bad_interpreted;
	return STEP_END;
}
