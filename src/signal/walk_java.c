/*
 * walk_java.c - one step over a frame inside the code cache: compiled methods,
 * stubs, and the border where native code called into Java.
 *
 *   compiled frame               sp ─▶ ┌───────────────┐
 *                                      │ locals, spills│  frame_bytes in all
 *                                      │ caller's fp   │  ◀ sp + frame_bytes - 16
 *                                      │ return address│  ◀ sp + frame_bytes - 8
 *                 the caller's sp ─▶   └───────────────┘
 */
#include "signal/decode.h"
#include "signal/walk.h"

static enum step end_with(struct walk *w, enum walk_end end)
{
	w->end = end;
	return STEP_END;
}

/* Native code called into Java here; what was before lies in the saved anchor. */
static enum step over_entry(struct walk *w)
{
	uintptr_t wrapper, sp;

	if (!load_word(w->fp + (uintptr_t)((intptr_t)w->l->entry_wrapper_slot * 8), &wrapper) ||
	    !load_word(wrapper + (uintptr_t)(w->l->wrapper_anchor + w->l->anchor_sp), &sp))
		return end_with(w, END_bad_entry);
	if (sp == 0)
		return STEP_ROOT;
	return walk_to_anchor(w, wrapper + (uintptr_t)w->l->wrapper_anchor)
		       ? STEP_ON
		       : end_with(w, END_bad_entry);
}

/*
 * Whether [sp + OFFSET] is a return address: code behind a call instruction, or the
 * interpreter, whose return entries stand behind none.
 */
static bool is_return(const struct walk *w, uint32_t offset, uintptr_t *pc)
{
	return load_word(w->sp + offset, pc) &&
	       (code_is_interpreter(w->l, *pc) || (walk_is_code(w, *pc) && follows_call(*pc)));
}

/*
 * The innermost frame is not as its blob says: it is not built yet, or gone already (0, 8), or
 * an intrinsic has pushed a few registers on top of it (String.compareTo and indexOf do).
 */
static bool top_caller(const struct walk *w, uint32_t frame_bytes, uint32_t *offset, uintptr_t *pc)
{
	uint32_t pushed;

	for (*offset = 0; *offset <= 8; *offset += 8)
		if (is_return(w, *offset, pc))
			return true;
	for (pushed = 0; frame_bytes >= 16 && pushed <= 64; pushed += 8) {
		*offset = frame_bytes - 8 + pushed;
		if (is_return(w, *offset, pc))
			return true;
	}
	return false;
}

static struct edge edge_of(const struct walk *w, const struct blob *b)
{
	struct edge e = {b->frame_bytes - 8, true};

	if (w->top)
		frame_edge(w->l, b, w->pc, &e.return_offset, &e.fp_saved);
	return e;
}

/* Whether PC is where nmethod NM goes on once it has been deoptimised. */
static bool is_deopt_handler(const struct layout *l, uintptr_t nm, uintptr_t pc)
{
	uintptr_t handler;
	uint32_t offset;

	if (l->nmethod_deopt_offset >= 0)
		return (load_u32(nm + (uintptr_t)l->nmethod_deopt_offset, &offset) && pc == nm + offset) ||
		       (l->nmethod_deopt_mh_offset >= 0 &&
			load_u32(nm + (uintptr_t)l->nmethod_deopt_mh_offset, &offset) && pc == nm + offset);
	return (l->nmethod_deopt >= 0 && load_word(nm + (uintptr_t)l->nmethod_deopt, &handler) &&
		pc == handler) ||
	       (l->nmethod_deopt_mh >= 0 && load_word(nm + (uintptr_t)l->nmethod_deopt_mh, &handler) &&
		pc == handler);
}

/* A deoptimised frame returns to its handler; where it really was is kept in the frame. */
static uintptr_t undo_deopt(const struct walk *w, const struct blob *b, uintptr_t pc)
{
	const struct layout *l = w->l;
	uintptr_t original;
	uint32_t offset;

	if (w->top || !is_deopt_handler(l, b->address, pc) || l->nmethod_orig_pc < 0 ||
	    !load_u32(b->address + (uintptr_t)l->nmethod_orig_pc, &offset) ||
	    !load_word(w->sp + offset, &original) || code_blob_at(l, original) != b->address)
		return pc;
	return original;
}

/*
 * What a compiled method returns to follows a call, unless its caller was deoptimised
 * meanwhile, or frozen into the heap.
 */
static bool is_return_address(const struct walk *w, uintptr_t pc)
{
	uintptr_t blob = code_contains(w->l, pc) ? code_blob_at(w->l, pc) : 0;
	const struct stub *stub;

	if (!blob || code_is_interpreter(w->l, pc) || follows_call(pc))
		return code_is_interpreter(w->l, pc) || blob;
	stub = stub_find(w->stubs, pc);
	return (stub && stub->frozen) || is_deopt_handler(w->l, blob, pc);
}

/* A return address by the first look at it: remembered, interpreter or call stub. */
static bool is_known(const struct walk *w, uintptr_t pc)
{
	return code_contains(w->l, pc) &&
	       (decode_lookup(w->l, w->cache, pc, false) || code_is_interpreter(w->l, pc) ||
		pc == w->l->call_stub_pc);
}

static enum step over_top_method(struct walk *w, uint32_t frame_bytes, struct edge e)
{
	uintptr_t pc, fp = w->fp;

	if (!load_word(w->sp + e.return_offset, &pc))
		return end_with(w, END_fault);
	if (!is_known(w, pc) && !is_return_address(w, pc)) {
		if (!top_caller(w, frame_bytes, &e.return_offset, &pc))
			return end_with(w, END_bad_compiled);
		e.fp_saved = e.return_offset != 0;
	}
	if (e.fp_saved && e.return_offset >= 8 && !load_word(w->sp + e.return_offset - 8, &fp))
		return end_with(w, END_fault);
	return walk_move(w, pc, w->sp + e.return_offset + 8, fp) ? STEP_ON : STEP_END;
}

static enum step over_frame(struct walk *w, uint32_t frame_bytes, enum walk_end bad)
{
	uintptr_t pc, fp, sp = w->sp + frame_bytes;

	if (frame_bytes < 16)
		return end_with(w, bad);
	if (!load_word(sp - 8, &pc) || !load_word(sp - 16, &fp))
		return end_with(w, END_fault);
	return walk_move(w, pc, sp, fp) ? STEP_ON : STEP_END;
}

static uintptr_t enter_special(const struct walk *w)
{
	return atomic_load_explicit(&w->l->enter_special, memory_order_relaxed);
}

static bool put_frames(struct trace_writer *out, const struct decoded *e)
{
	uint32_t i;

	if (likely((size_t)(out->limit - out->pos) >= e->count)) {
		for (i = 0; i < e->count; i++)
			out->pos[i] = e->frame[i];
		out->pos += e->count;
		return true;
	}
	for (i = 0; i < e->count; i++)
		if (!trace_put(out, e->frame[i]))
			return false;
	return true;
}

/* The frame's return address, if it ends FRAME_BYTES above sp, looks like one. */
static bool ends_at(const struct walk *w, uint32_t frame_bytes)
{
	uintptr_t pc;

	return load_word(w->sp + frame_bytes - 8, &pc) && (is_known(w, pc) || is_return_address(w, pc));
}

/* A frame that called the JVM from a barrier's slow path is bigger than its method says. */
static void add_saved(const struct walk *w, struct blob *b)
{
	uint32_t saved;

	if (ends_at(w, b->frame_bytes))
		return;
	saved = frame_saved(w->pc);
	if (saved && ends_at(w, b->frame_bytes + saved))
		b->frame_bytes += saved;
}

static enum step over_method(struct walk *w, struct blob *b)
{
	struct edge edge = edge_of(w, b);
	const struct decoded *e;
	uintptr_t pc;

	if (b->address == enter_special(w)) {
		/* Continuation.enterSpecial: the root of a virtual thread's own stack. */
		if (!decode_nmethod(w->l, w->cache, b, w->pc, w->top, &edge, w->out) ||
		    !trace_put(w->out, frame_other(OTHER_VIRTUAL, 0)))
			return end_with(w, END_bad_compiled);
		return STEP_ROOT;
	}
	pc = undo_deopt(w, b, w->pc);
	if (!w->top)
		add_saved(w, b);
	e = pc == w->pc ? NULL : decode_lookup(w->l, w->cache, pc, w->top);
	if (e) {
		if (!put_frames(w->out, e))
			return STEP_END;
	} else if (!decode_nmethod(w->l, w->cache, b, pc, w->top, &edge, w->out)) {
		return end_with(w, END_bad_compiled);
	}
	return w->top ? over_top_method(w, b->frame_bytes, edge)
		      : over_frame(w, b->frame_bytes, END_bad_compiled);
}

/* What the stub's first instructions say of its return address. */
static bool by_entry(struct walk *w, const struct stub *stub, enum step *step)
{
	uintptr_t slot, pc, fp = w->fp;
	bool saved;

	if (!stub_edge(stub->start, w->pc, w->sp, w->fp, &slot, &saved) || !load_word(slot, &pc) ||
	    !walk_is_code(w, pc))
		return false;
	if (saved && !load_word(slot - 8, &fp))
		*step = end_with(w, END_fault);
	else
		*step = walk_move(w, pc, slot + 8 + stub->pushed, fp) ? STEP_ON : STEP_END;
	return true;
}

/* Whether a return address into native code lies on top of the stack. */
static bool called_from_native(const struct walk *w, uintptr_t *pc)
{
	return w->images && load_word(w->sp, pc) && image_find(w->images, *pc) && follows_call(*pc);
}

/* A stub without fixed frame: by its entry's code, else by what the stack shows. */
static enum step over_bare_stub(struct walk *w, const struct stub *stub)
{
	uintptr_t pc, fp = w->fp;
	enum step step;
	uint32_t offset;

	if (stub && stub->adapter && w->top && w->regs && walk_at_entry(w, &step))
		return step;
	if (stub && by_entry(w, stub, &step))
		return step;
	/*
	 * The JVM's own code calls a few (instruction cache flush, feature tests). Before a look further
	 * up: what it keeps there can be return addresses of Java code (SharedRuntime::resolve_helper).
	 */
	if (w->top && called_from_native(w, &pc))
		return walk_move(w, pc, w->sp + 8, fp) ? STEP_ON : STEP_END;
	/* Registers pushed on the way, in a stub or in what it jumped to. */
	for (offset = 0; w->top && offset <= 64; offset += 8)
		if (is_return(w, offset, &pc))
			return walk_move(w, pc, w->sp + offset + 8 + (stub ? stub->pushed : 0), fp)
				       ? STEP_ON
				       : STEP_END;
	/*
	 * A frame set up by push rbp; mov rbp, rsp: the usual form of the JVM's own stubs. The nmethod
	 * entry barrier has a cookie between it and the return address.
	 */
	if (w->fp < w->sp || w->fp - w->sp >= 65536 || !load_word(w->fp, &fp))
		return end_with(w, END_bad_stub);
	for (offset = 8; offset <= 16; offset += 8)
		if (load_word(w->fp + offset, &pc) && walk_is_code(w, pc))
			return walk_move(w, pc, w->fp + offset + 8, fp) ? STEP_ON : STEP_END;
	return end_with(w, END_bad_stub);
}

/* The innermost frame of a stub that has one: it may be gone already. */
static enum step over_top_stub(struct walk *w, const struct blob *b, const struct stub *stub)
{
	uintptr_t pc, fp = w->fp;
	uint32_t offset;
	bool saved;

	if (w->regs && frame_tail_jump(w->regs, &pc) && walk_is_code(w, pc)) {
		w->sp -= 8; /* the caller's frame begins right here */
		return walk_move(w, pc, w->sp + 8, fp) ? STEP_ON : STEP_END;
	}
	/* C2's stubs do not say where their frame is complete (-1): their first instructions tell. */
	if ((frame_is_gone(w->pc, &offset, &saved) ||
	     (b->frame_complete < 0 && frame_not_built(b->code, w->pc, &offset, &saved))) &&
	    load_word(w->sp + offset, &pc) &&
	    walk_is_code(w, pc)) {
		if (saved && !load_word(w->sp + offset - 8, &fp))
			return end_with(w, END_fault);
		return walk_move(w, pc, w->sp + offset + 8, fp) ? STEP_ON : STEP_END;
	}
	if (load_word(w->sp + b->frame_bytes - 8, &pc) && !walk_is_code(w, pc))
		return over_bare_stub(w, stub);
	return over_frame(w, b->frame_bytes, END_bad_stub);
}

static enum step over_stub(struct walk *w, const struct blob *b)
{
	/* Not pc - 1: the barrier of a frozen stack is returned to at its very first instruction. */
	const struct stub *stub = stub_find(w->stubs, w->pc);

	if (stub && stub->frozen)
		return end_with(w, END_frozen);
	/* Only the innermost stub is of interest; those between Java frames only carry a call. */
	if (w->top && !trace_put(w->out, frame_pc(FRAME_NATIVE, w->pc)))
		return STEP_END;
	if (b->frame_bytes == 0 ||
	    (w->top && b->frame_complete > 0 && w->pc - b->code < (uintptr_t)b->frame_complete))
		return over_bare_stub(w, stub);
	return w->top ? over_top_stub(w, b, stub) : over_frame(w, b->frame_bytes, END_bad_stub);
}

/*
 * The fast path: compiled callers whose decoding is remembered need no look at their
 * blobs. The same return address again is recursion: the same frames once more.
 */
static enum step over_known(struct walk *w, const struct decoded *e)
{
	uintptr_t pc, fp, sp = w->sp;

	if (w->top)
		return put_frames(w->out, e)
			       ? over_top_method(w, e->frame_bytes,
						 (struct edge){e->return_offset, e->fp_saved})
			       : STEP_END;
	if (e->frame_bytes < 16)
		return end_with(w, END_bad_compiled);
	do {
		if (!put_frames(w->out, e))
			return STEP_END;
		sp += e->frame_bytes;
		if (!load_word(sp - 8, &pc))
			return end_with(w, END_fault);
	} while (pc == w->pc);
	if (!load_word(sp - 16, &fp))
		return end_with(w, END_fault);
	return walk_move(w, pc, sp, fp) ? STEP_ON : STEP_END;
}

enum step walk_java(struct walk *w)
{
	const struct layout *l = w->l;
	const struct decoded *e;
	uintptr_t address;
	struct blob b;

	if (code_is_interpreter(l, w->pc))
		return walk_interpreted(w);
	if (w->pc == l->call_stub_pc)
		return over_entry(w);
	e = decode_lookup(l, w->cache, w->pc, w->top);
	if (e && e->blob != enter_special(w))
		return over_known(w, e);
	address = code_blob_at(l, w->pc);
	if (!address || !code_blob_read(l, address, &b)) {
		if (w->top)
			trace_put(w->out, frame_pc(FRAME_NATIVE, w->pc));
		return end_with(w, END_unknown_nmethod);
	}
	return b.nmethod ? over_method(w, &b) : over_stub(w, &b);
}
