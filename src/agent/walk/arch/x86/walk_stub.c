/*
 * walk_stub.c (x86) - one step over a stub: code the JVM generated that is no Java method.
 *
 * It is followed to where it leaves (code_unwind.c), unless it stands further up and has a frame of fixed size.
 */
#include "code.h"
#include "prologues.h"

/* On to PC, the caller's stack being free from OFFSET on; its fp lies at FP_AT, if not negative. */
static enum step leave_to(struct walk *w, uintptr_t pc, int32_t offset, int32_t fp_at)
{
	uintptr_t sp, fp = w->fp;

	if (fp_at >= 0 && !load_word(w->sp + (uintptr_t)fp_at, &fp))
		return walk_end_with(w, END_fault);
	sp = w->sp + (uintptr_t)(intptr_t)offset;
	if (offset <= 0)
		w->sp = sp - WORD; /* the caller's frame begins right here */
	return walk_move(w, pc, sp, fp) ? STEP_ON : STEP_END;
}

/* Return address at SLOT; PLACED there by the JVM: it need not follow a call. */
static enum step return_by(struct walk *w, int32_t slot, int32_t fp_at, bool placed)
{
	uintptr_t pc;

	if (slot < 0 || !load_word(w->sp + (uintptr_t)slot, &pc) ||
	    !(walk_is_caller(w, pc) || (placed && walk_is_code(w, pc))))
		return walk_end_with(w, END_bad_stub);
	return leave_to(w, pc, slot + WORD, fp_at);
}

/*
 * An exception's stubs: what was called is gone, the address in its caller has been popped into a register,
 * or is about to be.
 */
static enum step by_exception(struct walk *w, const struct code_unwind *o)
{
	uintptr_t pc;

	if (o->popped >= 0)
		return return_by(w, o->popped, o->fp_at, true);
	if (o->released < 0 || !frame_exception_pc(w->regs, &pc) || !walk_is_code(w, pc))
		return walk_end_with(w, END_bad_stub);
	return leave_to(w, pc, o->released, o->fp_at);
}

/* Between compiled and interpreted calling conventions, with the sender's sp in a register. */
static enum step over_adapter(struct walk *w)
{
	enum step step;
	uintptr_t pc;

	if (!w->regs)
		return walk_end_with(w, END_bad_stub);
	if (frame_sets_sender(w->pc))
		return walk_is_return(w, w->regs->ret) ? leave_to(w, w->regs->ret, 0, -1)
						       : walk_end_with(w, END_bad_stub);
	if (walk_at_entry(w, &step))
		return step;
	/* The register is needed for the last of many arguments; the interpreter and the call stub go by fp. */
	if (load_word(w->sp, &pc) && (code_is_interpreter(w->l, pc) || pc == w->l->call_stub_pc))
		return leave_to(w, pc, WORD, -1);
	return walk_end_with(w, END_bad_stub);
}

/*
 * What method handles are called by from the interpreter: it may take the argument off that lies above the
 * return address, below the sender's sp, and move that up.
 */
static enum step over_intrinsic(struct walk *w)
{
	uintptr_t pc, sender = w->regs ? w->regs->bcp : 0;
	int32_t moved;

	if (sender + WORD < w->sp || sender > w->sp + 64 * WORD || (sender & (WORD - 1)))
		return walk_end_with(w, END_bad_stub);
	for (moved = WORD; moved >= 0; moved -= WORD)
		if (load_word(sender + (uintptr_t)moved - WORD, &pc) && walk_is_caller(w, pc))
			return leave_to(w, pc, (int32_t)(sender - w->sp) + moved, -1);
	return walk_end_with(w, END_bad_stub);
}

/* A poll's stub which has not stored yet where the thread was: the JVM keeps it. */
static bool is_polled(const struct walk *w, const struct stub *stub, uintptr_t *pc)
{
	uint32_t field;

	return stub && stub->polled && w->java_thread && frame_polled(stub->start, w->pc, &field) &&
	       load_word(w->java_thread + field, pc) && walk_is_code(w, *pc);
}

static enum step by_code_unwind(struct walk *w, const struct blob *b, const struct stub *stub,
			    const struct code_unwind *o)
{
	bool placed = stub && (stub->exception || stub->polled);
	uintptr_t pc;

	switch (o->end) {
	case UNWIND_STANDING:
		if (b->frame_bytes < 2 * WORD)
			break;
		return return_by(w, o->released + (int32_t)b->frame_bytes - WORD,
				 o->released + (int32_t)b->frame_bytes - 2 * WORD, placed);
	case UNWIND_RETURN:
		if (is_polled(w, stub, &pc))
			return leave_to(w, pc, o->released + WORD, o->fp_at);
		return return_by(w, o->released, o->fp_at, placed);
	case UNWIND_AWAY:
		if (stub && stub->exception)
			return by_exception(w, o);
		/*
		 * To the interpreter: the return address is popped to make room for the arguments. To compiled code,
		 * once the thread has been asked for: it is all that is left on top.
		 */
		if (stub && stub->adapter && o->popped >= 0)
			return return_by(w, MAX(o->popped, o->released), o->fp_at, false);
		if (stub && stub->adapter)
			return over_adapter(w);
		if (stub && stub->intrinsic)
			return over_intrinsic(w);
		if (b->frame_bytes >= 2 * WORD || (stub && stub->dispatch))
			return return_by(w, o->released, o->fp_at, false);
		break;
	}
	return walk_end_with(w, END_bad_stub);
}

/* A frame set up by push rbp; mov rbp, rsp as the stub's first instructions say. */
static enum step by_entry(struct walk *w, const struct stub *stub)
{
	uintptr_t slot, pc, fp = w->fp;
	bool saved;

	if (!stub || !stub_frame_state(stub->start, w->pc, w->sp, w->fp, &slot, &saved) || !load_word(slot, &pc) ||
	    !walk_is_caller(w, pc))
		return walk_end_with(w, END_bad_stub);
	if (saved && !load_word(slot - WORD, &fp))
		return walk_end_with(w, END_fault);
	return walk_move(w, pc, slot + WORD, fp) ? STEP_ON : STEP_END;
}

bool stub_thread_field(uintptr_t start, uint32_t *field)
{
	uint32_t code;

	/* mov rsp, [r15 + field] */
	return sizeof(start) == 8 && load_u32(start, &code) && (code & 0xffffff) == 0xa78b49 &&
	       load_u32(start + 3, field) && *field < 1u << 16;
}

enum step walk_stub(struct walk *w, const struct blob *b)
{
	/* Not pc - 1: the barrier of a frozen stack is returned to at its very first instruction. */
	const struct stub *stub = stub_find(w->stubs, w->pc);
	struct code_unwind o;
	enum step step;

	if (walk_stub_begin(w, b, stub, !w->top && !asks_for_thread(w->pc), &step))
		return step;
	if (code_unwind(w, b, stub, true, &o))
		return by_code_unwind(w, b, stub, &o);
	/* To compiled code: rsp is aligned, which the interpreter's sender sp in a register outlasts. */
	if (stub && stub->adapter && w->top)
		return over_adapter(w);
	return by_entry(w, stub);
}
