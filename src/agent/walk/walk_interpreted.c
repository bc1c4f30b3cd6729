/*
 * walk_interpreted.c - one step over an interpreted frame.
 *
 *      fp + 1   return address            fp - 3   Method*
 *      fp       caller's fp               …
 *      fp - 1   caller's sp               fp - 8   bytecode pointer (when not running)
 *
 * In words; the same on x86_64, i386, aarch64 and arm. On ppc64le fp is the caller's sp:
 *
 *      fp + 2   return address            fp - 13  Method*
 *      fp       its caller's sp           fp - 8   bytecode pointer
 *
 * The innermost frame may be half built or half gone:
 * arch/<cpu>/interpreted_prologue.c.
 */
#include "agent/walk/decode.h"
#include "agent/walk/walk.h"

/* From fp to the return address. */
#define RETURN_AT (CPU_BACK_CHAIN ? CPU_RETURN_AT : WORD)

static bool bci_in(const struct method *m, uintptr_t bcp, uint32_t *bci)
{
	if (bcp < m->code || bcp >= m->code + m->code_size)
		return false;
	*bci = (uint32_t)(bcp - m->code);
	return true;
}

uintptr_t interpreted_entry(const struct walk *w, uintptr_t span)
{
	uintptr_t method = w->regs->method, entry;

	/* The cheap test first, which a value that is no Method* hardly stands. */
	return !(method & 7) && method < USER_ADDRESS_END && w->l->method_entry >= 0 &&
	       load_word(method + (uintptr_t)w->l->method_entry, &entry) && code_is_interpreter(w->l, entry) &&
	       w->pc >= entry && w->pc - entry <= span ? entry : 0;
}

uint64_t interpreted_word(const struct method *m, uint32_t bci)
{
	return frame_java(FRAME_INTERPRETED, m->address, m->code_size ? bci : FRAME_NO_BCI);
}

/* The frame at fp, complete. False when there is none. */
static bool read_frame(struct walk *w, struct method *m, uint32_t *bci)
{
	const struct layout *l = w->l;
	uintptr_t method, bcp = 0;

	uintptr_t slot = w->fp + (uintptr_t)((intptr_t)l->method_slot * WORD);

	if (w->fp < w->sp || w->fp - w->sp > INTERPRETED_SPAN * 2 || (w->fp & (WORD - 1)))
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
	if (load_word(w->fp + (uintptr_t)((intptr_t)l->bcp_slot * WORD), &bcp))
		bci_in(m, bcp, bci);
	return true;
}

static enum step to_caller(struct walk *w)
{
	uintptr_t slot = w->fp + (uintptr_t)((intptr_t)w->l->interpreter_sender_sp_slot * WORD);
	uintptr_t pc, sp, fp;

	if (!load_word(w->fp + RETURN_AT, &pc) || !load_word(w->fp, &fp) || !load_word(slot, &sp)) {
		w->end = END_fault;
		return STEP_END;
	}
	if (CPU_BACK_CHAIN)
		return walk_move(w, pc, w->fp, fp) ? STEP_ON : STEP_END;
	if (slot < w->sp && w->regs)
		sp = w->regs->sender_sp; /* not pushed yet */
	/* A callee without arguments shares its caller's top of stack: sp may lie at the frame's very end. */
	if (sp <= w->fp)
		sp = w->fp + 2 * WORD;
	return walk_move(w, pc, sp, fp) ? STEP_ON : STEP_END;
}

/*
 * The frame of M at fp and, in a tight loop, those callers that are interpreted too: their
 * frames are found by fp alone. What ends the run is looked at by the next step.
 */
static enum step over_run(struct walk *w, struct method *m, uint32_t bci)
{
	const intptr_t method_slot = w->l->method_slot * WORD, bcp_slot = w->l->bcp_slot * WORD;
	const uintptr_t low = w->l->interpreter_low, bytes = w->l->interpreter_high - low;
	const uintptr_t end = w->stack_high ? w->stack_high : USER_ADDRESS_END;
	uintptr_t fp = w->fp, pc, next, method, bcp;

	while (stack_trace_put(w->out, interpreted_word(m, bci))) {
		if (!load_word(fp + RETURN_AT, &pc) || pc - low >= bytes || !load_word(fp, &next) || next <= fp ||
		    next - fp > INTERPRETED_SPAN * 2 || (next & (WORD - 1)) || next >= end ||
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

enum step walk_interpreted(struct walk *w)
{
	struct method m;
	enum step step;
	uint32_t bci;

	if (((w->top && w->regs) || w->behind_native) && interpreted_prologue(w, &step))
		return step;
	if (read_frame(w, &m, &bci))
		return over_run(w, &m, bci);
	if (w->top)
		stack_trace_put(w->out, frame_pc(FRAME_NATIVE, w->pc));
	w->end = END_bad_interpreted;
	return STEP_END;
}
