/*
 * walk_stub.c (ppc64le) - one step over a stub: code the JVM generated that is no Java method.
 *
 * Most have no frame: the return address is in the link register. Those that have one are left by the chain.
 */
#include "agent/walk/walk.h"
#include "insn.h"

#define POLLED_MAX 16 /* instructions */

/* To PC, whose frame begins at SP; PLACED: the JVM put that address there, it need not follow a call. */
static enum step leave_to(struct walk *w, uintptr_t pc, uintptr_t sp, bool placed)
{
	if (!walk_is_caller(w, pc) && !(placed && walk_is_code(w, pc)))
		return walk_end_with(w, END_bad_stub);
	if (sp <= w->sp)
		w->sp = sp - sizeof(sp); /* the caller's frame begins right here */
	return walk_move(w, pc, sp, 0) ? STEP_ON : STEP_END;
}

/* By what is stored beside SP, the caller's. */
static enum step by_memory(struct walk *w, uintptr_t sp, bool placed)
{
	uintptr_t pc;

	if (sp < w->sp || !load_word(sp + CPU_RETURN_AT, &pc))
		return walk_end_with(w, END_bad_stub);
	return leave_to(w, pc, sp, placed);
}

/*
 * A poll's stub is entered by a signal handler of the JVM, which leaves the pc in the JavaThread. SharedRuntime::
 * generate_handler_blob (17):
 *     stdu r1, -N(r1)
 *     …
 *     ld r31, field(r16); std r31, N + 16(r1)
 * Whether that is still to come; then *PC is where the thread was, and *SP its stack pointer.
 */
static bool is_polled(const struct walk *w, const struct stub *stub, uintptr_t *pc, uintptr_t *sp)
{
	uintptr_t at = stub ? stub->start : 0, field = 0;
	uint8_t number = 0;
	struct insn i;
	unsigned n;

	if (!stub || !stub->polled || !w->java_thread)
		return false;
	*sp = w->sp;
	for (n = 0; n < POLLED_MAX && insn_fetch(at, &i); n++, at += INSN_BYTES) {
		if (i.does == INSN_PUSH && at < w->pc)
			*sp = w->fp;
		if (field && i.does == INSN_STORE && i.number == number)
			return w->pc <= at && load_word(w->java_thread + field, pc);
		field = i.does == INSN_FIELD ? (uintptr_t)i.amount : 0;
		number = i.number;
	}
	return false;
}

enum step walk_stub(struct walk *w, const struct blob *b)
{
	const struct stub *stub = stub_find(w->stubs, w->pc);
	bool placed = stub && (stub->exception || stub->polled);
	uintptr_t pc, sp;
	struct code_unwind o;
	enum step step;

	if (walk_stub_begin(w, b, stub, false, &step))
		return step;
	if (!w->top)
		return by_memory(w, w->fp, placed);
	if (is_polled(w, stub, &pc, &sp))
		return leave_to(w, pc, sp, true);
	if (!code_unwind(w, b, stub, true, &o))
		o = (struct code_unwind){.end = UNWIND_RETURN, .linked = true};
	sp = o.end == UNWIND_STANDING ? w->fp : w->sp;
	step = o.linked && w->regs ? leave_to(w, w->regs->ret, sp, placed) : by_memory(w, sp, placed);
	/* The frame of the method that is left stands, or one on top of it. */
	return step == STEP_END && stub && stub->exception ? by_memory(w, w->fp, placed) : step;
}
