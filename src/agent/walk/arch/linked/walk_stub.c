/*
 * walk_stub.c - one step over a stub: code the JVM generated that is no Java method. For CPUs that link.
 *
 * The return address is in the link register or, between its store and its load, on the stack: code_unwind.c tells
 * which. Stubs that set up the frame pointer with it are left by that where the way out is not known.
 */
#include "agent/walk/arch/linked/prologues.h"
#include "insn.h"

#define ENTER_MAX 16 /* instructions at a stub's start */

static enum step leave_to(struct walk *w, uintptr_t pc, uintptr_t sp, uintptr_t fp)
{
	if (sp <= w->sp)
		w->sp = sp - sizeof(sp); /* the caller's frame begins right here */
	return walk_move(w, pc, sp, fp) ? STEP_ON : STEP_END;
}

/* The return address is in the link register; PLACED there by the JVM: it need not follow a call. */
static enum step by_link(struct walk *w, uintptr_t sp, bool placed)
{
	uintptr_t pc = w->regs ? CODE_ADDRESS(w->regs->ret) : 0;

	if (!pc || !(walk_is_caller(w, pc) || (placed && walk_is_code(w, pc))))
		return walk_end_with(w, END_bad_stub);
	return leave_to(w, pc, sp, w->fp);
}

/* The return address lies at AT; the frame pointer at FP_AT, if that is not 0. */
static enum step by_stack(struct walk *w, uintptr_t at, uintptr_t fp_at, bool placed)
{
	uintptr_t pc, fp = w->fp;

	if (at < w->sp || (fp_at && !load_word(fp_at, &fp)) || !load_word(at, &pc))
		return walk_end_with(w, END_bad_stub);
	pc = CODE_ADDRESS(pc);
	if (!(walk_is_caller(w, pc) || (placed && walk_is_code(w, pc))))
		return walk_end_with(w, END_bad_stub);
	return leave_to(w, pc, at + WORD, fp);
}

/* Frame pointer and return address lie at AT. */
static enum step by_pair(struct walk *w, uintptr_t at, bool placed)
{
	return by_stack(w, at + WORD, at, placed);
}

/* To the interpreter the caller's sp goes in a register; the interpreter itself is found by fp. */
static enum step over_adapter(struct walk *w)
{
	uintptr_t pc = w->regs ? CODE_ADDRESS(w->regs->ret) : 0, sender = w->regs ? interpreted_sender(w) : 0;

	if (!pc || !walk_is_caller(w, pc))
		return walk_end_with(w, END_bad_stub);
	if (code_is_interpreter(w->l, pc) || !interpreted_near(sender, w->sp))
		sender = w->sp;
	return leave_to(w, pc, sender, w->fp);
}

/* Whether the instructions from START on, before PC, set up the frame pointer behind a stored link register. */
static bool has_entered(uintptr_t start, uintptr_t pc)
{
	bool stored = false;
	struct insn i;
	unsigned n;

	for (n = 0; n < ENTER_MAX && start < pc; n++, start += INSN_BYTES) {
		if (!insn_fetch(start, &i))
			return false;
		stored |= i.does == INSN_STACK && !i.load && i.link_at >= 0;
		if (stored && i.does == INSN_FP_FROM_SP)
			return true;
	}
	return false;
}

static enum step by_code_unwind(struct walk *w, const struct blob *b, const struct stub *stub,
				const struct code_unwind *o)
{
	bool placed = stub && (stub->exception || stub->polled);
	uintptr_t sp = w->sp + (uintptr_t)(intptr_t)o->released;

	if (o->end == UNWIND_AWAY && stub && stub->adapter)
		return over_adapter(w);
	if (o->linked)
		return by_link(w, o->end == UNWIND_STANDING ? sp + b->frame_bytes : sp, placed);
	if (o->end == UNWIND_STANDING)
		return by_pair(w, sp + b->frame_bytes - 2 * WORD, placed);
	return by_stack(w, sp, o->fp_at < 0 ? 0 : w->sp + (uintptr_t)(intptr_t)o->fp_at, placed);
}

enum step walk_stub(struct walk *w, const struct blob *b)
{
	const struct stub *stub = stub_find(w->stubs, w->pc);
	struct code_unwind o;
	enum step step;

	if (walk_stub_begin(w, b, stub, true, &step))
		return step;
	if (code_unwind(w, b, stub, true, &o) && (!o.linked || w->regs)) {
		step = by_code_unwind(w, b, stub, &o);
		if (step != STEP_END)
			return step;
	}
	if (w->fp >= w->sp && stub && has_entered(stub->start, w->pc))
		return by_pair(w, w->fp, stub->exception || stub->polled);
	return w->top ? by_link(w, w->sp, false) : walk_end_with(w, END_bad_stub);
}
