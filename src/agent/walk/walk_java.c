/*
 * walk_java.c - one step over a frame inside the code cache: compiled methods, and the border
 * where native code called into Java.
 *
 *   compiled frame               sp ─▶ ┌───────────────┐
 *                                      │ locals, spills│  frame_bytes in all
 *                                      │ caller's fp   │  ◀ sp + frame_bytes - 2 words
 *                                      │ return address│  ◀ sp + frame_bytes - 1 word
 *                 the caller's sp ─▶   └───────────────┘
 */
#include "agent/walk/decode.h"
#include "agent/walk/walk.h"

/* Native code called into Java here; what was before lies in the saved anchor. */
static enum step over_entry(struct walk *w)
{
	uintptr_t wrapper, sp;

	if (!load_word(w->fp + (uintptr_t)((intptr_t)w->l->entry_wrapper_slot * WORD), &wrapper) ||
	    !load_word(wrapper + (uintptr_t)(w->l->wrapper_anchor + w->l->anchor_sp), &sp))
		return walk_end_with(w, END_bad_entry);
	if (sp == 0)
		return STEP_ROOT;
	return walk_to_anchor(w, wrapper + (uintptr_t)w->l->wrapper_anchor)
		       ? STEP_ON
		       : walk_end_with(w, END_bad_entry);
}

/* Where the innermost frame's return address is. False: that is not known. */
static bool top_frame_state(const struct walk *w, const struct blob *b, struct frame_state *e)
{
	/* Method handles' own methods have no frame, and end in a jump. */
	bool frameless = b->frame_bytes < 2 * WORD || (uint32_t)b->frame_complete >= code_blob_end(w->l, b) - b->code;
	struct code_unwind o;

	e->fixed = true;
	e->linked = false;
	e->own_size = 0;
	e->first = e->last = w->pc;
	e->part = FRAME_BODY;
	if (frame_prologue(w->l, b, w->pc, e) || decode_frame_state(w->l, w->cache, b, w->pc, e))
		return true;
	if (!code_unwind(w, b, NULL, frameless, &o))
		return false;
	if (o.end == UNWIND_STANDING) {
		o.released += (int32_t)b->frame_bytes - (o.linked ? 0 : -CPU_RETURN_AT);
		if (o.size)
			o.released += (int32_t)(o.size - b->own_size);
		else
			e->own_size = b->own_size;
	}
	e->fixed = o.fixed;
	e->part = o.end == UNWIND_RETURN && !frameless ? FRAME_TAIL : FRAME_BODY;
	e->linked = o.linked;
	e->return_offset = (uint32_t)o.released;
	/* Not pushed yet, if the way did it. */
	e->fp_saved = !o.linked && !o.fp_kept && (o.end == UNWIND_STANDING ? o.released >= WORD : o.fp_at >= 0);
	if (o.released < 0 || o.released >= 1 << 24 || (o.fp_at >= 0 && o.fp_at != o.released - WORD))
		return false;
	e->last = o.same;
	if (o.fixed && e->last > e->first)
		decode_keep_frame_state(w->l, w->cache, b, e);
	return true;
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

bool walk_is_return(const struct walk *w, uintptr_t pc)
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

/* The return address of a method that has not stored it yet, or has loaded it already. */
static enum step over_linked_method(struct walk *w, uint32_t offset)
{
	uintptr_t pc = w->regs ? w->regs->ret : 0, sp = w->sp + offset;

	if (!is_known(w, pc) && !walk_is_return(w, pc))
		return walk_end_with(w, END_bad_compiled);
	if (offset == 0)
		w->sp -= WORD; /* it has no frame, but a step goes up */
	return walk_move(w, pc, sp, w->fp) ? STEP_ON : STEP_END;
}

/*
 * A frame's return address is *OFFSET above SP if its size word says OWN_SIZE; where it really is. False: the word says
 * what cannot be.
 */
static bool add_room(uintptr_t sp, uint32_t own_size, uint32_t *offset)
{
	uintptr_t size;

	if (likely(!own_size))
		return true;
	if (!load_word(sp + *offset + WORD - FRAME_SIZE_WORD, &size) || !frame_can_be(own_size, size))
		return false;
	*offset += (uint32_t)(size - own_size);
	return true;
}

static enum step over_top_method(struct walk *w, uint32_t return_offset, uint32_t own_size, bool fp_saved)
{
	uintptr_t pc, fp = w->fp;

	if (!add_room(w->sp, own_size, &return_offset))
		return walk_end_with(w, END_bad_compiled);
	if (!load_word(w->sp + return_offset, &pc))
		return walk_end_with(w, END_fault);
	if (!is_known(w, pc) && !walk_is_return(w, pc))
		return walk_end_with(w, END_bad_compiled);
	if (fp_saved && !load_word(w->sp + return_offset - WORD, &fp))
		return walk_end_with(w, END_fault);
	if ((int32_t)return_offset == CPU_RETURN_AT)
		w->sp -= WORD; /* its frame is gone, but a step goes up */
	return walk_move(w, pc, w->sp + return_offset - (uintptr_t)(intptr_t)CPU_RETURN_AT, fp) ? STEP_ON : STEP_END;
}

/*
 * From *SP to the end of its frame of FRAME_BYTES (see add_room()); by the chain, which has what adapters put on top
 * of it too.
 */
static bool to_frame_end(uintptr_t *sp, uint32_t frame_bytes, uint32_t own_size, uintptr_t *pc)
{
	uint32_t offset = frame_bytes - WORD;

	if (unlikely(own_size)) {
		if (!add_room(*sp, own_size, &offset))
			return false;
		frame_bytes = offset + WORD;
	}
	if (!CPU_BACK_CHAIN)
		*sp += frame_bytes;
	else if (!load_word(*sp, sp))
		return false;
	return load_word(*sp + (uintptr_t)(intptr_t)CPU_RETURN_AT, pc);
}

static enum step over_frame(struct walk *w, uint32_t frame_bytes, uint32_t own_size, enum walk_end bad)
{
	uintptr_t pc, fp, sp = w->sp;

	if (frame_bytes < 2 * WORD)
		return walk_end_with(w, bad);
	if (!to_frame_end(&sp, frame_bytes, own_size, &pc) || !load_word(sp - 2 * WORD, &fp))
		return walk_end_with(w, own_size ? bad : END_fault);
	return walk_move(w, pc, sp, fp) ? STEP_ON : STEP_END;
}

bool walk_stub_begin(struct walk *w, const struct blob *b, const struct stub *stub, bool stands, enum step *step)
{
	*step = STEP_END;
	if (stub && stub_leads_to_heap(stub)) {
		*step = walk_frozen(w, stub);
		return true;
	}
	/* Only the innermost stub is of interest; those between Java frames only carry a call. */
	if (w->top)
		return !stack_trace_put(w->out, frame_pc(FRAME_NATIVE, w->pc));
	if (!stands || b->frame_bytes < 2 * WORD)
		return false;
	*step = over_frame(w, b->frame_bytes, 0, END_bad_stub);
	return true;
}

static uintptr_t enter_special(const struct walk *w)
{
	return atomic_load_explicit(&w->l->enter_special, memory_order_relaxed);
}

static bool put_frames(struct stack_trace_writer *out, const struct decoded *e)
{
	uint32_t i;

	out->unsure |= e->unsure;
	if (likely((size_t)(out->limit - out->pos) >= e->count)) {
		for (i = 0; i < e->count; i++)
			out->pos[i] = e->frame[i];
		out->pos += e->count;
		return true;
	}
	for (i = 0; i < e->count; i++)
		if (!stack_trace_put(out, e->frame[i]))
			return false;
	return true;
}

/*
 * Compiled code calls leaf routines of the JVM from the slow paths of GC barriers as if they were
 * ordinary instructions: all registers that live across it are kept first (SaveLiveRegisters, ZGC since 14,
 * G1 since 24), C1 pushes arguments for a few stubs. So the frame is bigger there than the method says, by
 * what the code behind the call takes off again. On i386 it calls for the thread too, even where its frame is gone:
 * then the caller's fp is in the register again.
 */
static void add_pushed(const struct walk *w, struct blob *b, struct frame_state *e)
{
	struct code_unwind o;

	if (CPU_BACK_CHAIN || decode_described(w->l, b, w->pc, true) == w->pc ||
	    !code_unwind(w, b, NULL, false, &o) || o.released < 0 || o.linked)
		return;
	if (o.end == UNWIND_STANDING) {
		b->frame_bytes += (uint32_t)o.released;
		return;
	}
	b->frame_bytes = (uint32_t)(o.released + WORD);
	e->own_size = 0;
	e->fp_saved = o.fp_at >= 0;
	e->fixed = e->fp_saved && o.fixed; /* what is remembered of callers has a frame */
}

static enum step over_method(struct walk *w, struct blob *b)
{
	struct frame_state frame_state = {.return_offset = b->frame_bytes + (uint32_t)CPU_RETURN_AT, .fp_saved = true,
					  .fixed = true, .first = w->pc, .last = w->pc};
	const struct decoded *e;
	uintptr_t pc;
	bool known;

	b->own_size = frame_state.own_size = frame_own_size(w->l, b);
	known = !w->top || top_frame_state(w, b, &frame_state);
	frame_state.fixed &= known;
	if (b->address == enter_special(w)) {
		if (w->frozen.end) /* it has a frame on the stack only */
			return walk_end_with(w, END_bad_frozen);
		/* Continuation.enterSpecial: the root of a virtual thread's own stack. */
		if (!decode_nmethod(w->l, w->cache, b, w->pc, w->top, &frame_state, w->out) ||
		    !stack_trace_put(w->out, frame_other(OTHER_VIRTUAL, 0)))
			return walk_end_with(w, END_bad_compiled);
		return STEP_ROOT;
	}
	pc = undo_deopt(w, b, w->pc);
	if (!w->top && pc == w->pc)
		add_pushed(w, b, &frame_state);
	e = pc == w->pc ? NULL : decode_lookup(w->l, w->cache, pc, w->top);
	if (e) {
		if (!put_frames(w->out, e))
			return STEP_END;
	} else if (!decode_nmethod(w->l, w->cache, b, pc, w->top, &frame_state, w->out)) {
		return walk_end_with(w, END_bad_compiled);
	}
	if (!known)
		return walk_end_with(w, END_bad_compiled);
	if (frame_state.linked)
		return over_linked_method(w, frame_state.return_offset);
	if (w->top)
		return over_top_method(w, frame_state.return_offset, frame_state.own_size, frame_state.fp_saved);
	return frame_state.fp_saved ? over_frame(w, b->frame_bytes, frame_state.own_size, END_bad_compiled)
			     : over_top_method(w, b->frame_bytes - WORD, frame_state.own_size, false);
}

/*
 * Over E's frame, and those of the same return address behind it, up to *SP, which returns to *PC. What is the same for
 * all of them is read once: deep recursion is where a walk takes its time. False: there is no room, or no memory.
 */
static bool over_same(struct walk *w, const struct decoded *e, uintptr_t *sp, uintptr_t *pc)
{
	struct stack_trace_writer *out = w->out;
	const uint32_t count = e->count, frame_bytes = e->frame_bytes, own_size = e->own_size;
	const uintptr_t same = w->pc;
	uintptr_t at = *sp;
	uint64_t *pos = out->pos;
	bool goes_on;
	uint32_t i;

	out->unsure |= e->unsure;
	do {
		if (unlikely((size_t)(out->limit - pos) < count)) {
			out->pos = pos;
			if (!put_frames(out, e))
				return false;
			pos = out->pos;
		} else {
			for (i = 0; i < count; i++)
				pos[i] = e->frame[i];
			pos += count;
		}
		goes_on = to_frame_end(&at, frame_bytes, own_size, pc);
	} while (goes_on && *pc == same);
	out->pos = pos;
	*sp = at;
	return goes_on;
}

/*
 * The fast path: compiled callers whose decoding is remembered need no look at their
 * blobs. The same return address again is recursion: the same frames once more.
 */
static enum step over_known(struct walk *w, const struct decoded *e)
{
	uintptr_t pc, fp, sp = w->sp;

	if (w->top) {
		if (!put_frames(w->out, e))
			return STEP_END;
		return e->linked ? over_linked_method(w, e->return_offset)
				 : over_top_method(w, e->return_offset, e->own_size, e->fp_saved);
	}
	if (e->frame_bytes < 2 * WORD)
		return walk_end_with(w, END_bad_compiled);
	if (!over_same(w, e, &sp, &pc))
		return w->out->full ? STEP_END : walk_end_with(w, e->own_size ? END_bad_compiled : END_fault);
	if (!load_word(sp - 2 * WORD, &fp))
		return walk_end_with(w, END_fault);
	return walk_move(w, pc, sp, fp) ? STEP_ON : STEP_END;
}

/*
 * Frames of a deoptimised method are laid down by a stub and filled by the JVM afterwards (vframeArray): until
 * then what lay there before stands where their methods will.
 */
static bool is_laid_down(const struct walk *w)
{
	uintptr_t array;

	return code_is_interpreter(w->l, w->pc) && w->java_thread && w->l->thread_vframe_array >= 0 &&
	       load_word(w->java_thread + (uintptr_t)w->l->thread_vframe_array, &array) && array;
}

static enum step over_stub(struct walk *w, struct blob *b)
{
	enum step step = walk_stub(w, b);

	return step == STEP_ON && is_laid_down(w) ? walk_end_with(w, END_bad_interpreted) : step;
}

enum step walk_java(struct walk *w)
{
	const struct layout *l = w->l;
	const struct decoded *e;
	uintptr_t address;
	struct blob b;

	if (code_is_interpreter(l, w->pc))
		return walk_interpreted(w);
	if (w->pc == l->call_stub_pc) {
		/* As the innermost frame, just returned to, it is all there may be. */
		if (w->top && !stack_trace_put(w->out, frame_pc(FRAME_NATIVE, w->pc)))
			return STEP_END;
		return over_entry(w);
	}
	e = decode_lookup(l, w->cache, w->pc, w->top);
	if (e && e->blob != enter_special(w))
		return over_known(w, e);
	address = code_blob_at(l, w->pc);
	if (!address || !code_blob_read(l, address, &b)) {
		if (w->top)
			stack_trace_put(w->out, frame_pc(FRAME_NATIVE, w->pc));
		return walk_end_with(w, END_unknown_nmethod);
	}
	return b.nmethod ? over_method(w, &b) : over_stub(w, &b);
}
