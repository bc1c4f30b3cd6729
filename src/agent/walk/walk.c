/*
 * walk.c - the order of a walk: native and Java steps in turn until the root.
 */
#include "agent/walk/walk.h"

#define STEPS 16384 /* frames that add no word (stubs) are bounded too */

bool walk_to_anchor(struct walk *w, uintptr_t anchor)
{
	uintptr_t pc, sp, fp;

	if (!load_word(anchor + (uintptr_t)w->l->anchor_sp, &sp) || sp == 0 || sp < w->sp ||
	    !load_word(anchor + (uintptr_t)w->l->anchor_pc, &pc) ||
	    !load_word(anchor + (uintptr_t)w->l->anchor_fp, &fp))
		return false;
	/* Not stored on every path: then it lies where the call put it. */
	if (pc == 0 && !load_word(sp + (uintptr_t)(intptr_t)CPU_RETURN_AT, &pc))
		return false;
	if (!code_contains(w->l, pc))
		return false;
	if (sp == w->sp)
		w->sp -= WORD; /* standing on it already */
	return walk_move(w, pc, sp, fp);
}

/* A native part that cannot be unwound is left for the last Java frame, once. */
static bool recover(struct walk *w)
{
	if (w->used_anchor || w->method_identities_java || !w->java_thread || !w->z->has_jvm ||
	    !atomic_load_explicit(&w->l->code_ready, memory_order_relaxed))
		return false;
	w->used_anchor = true;
	/* What lies between is missing: the stack says so in the middle. */
	return walk_to_anchor(w, w->java_thread + (uintptr_t)w->l->thread_anchor) &&
	       stack_trace_put(w->out, frame_other(OTHER_END, w->end));
}

static enum step one_step(struct walk *w)
{
	enum step step;

	if (unlikely(w->frozen.end) && walk_in_heap(w, &step))
		return step;
	if (unlikely(w->vm) && image_find(w->images, w->pc) == w->vm) {
		w->before_vm = stack_trace_length(w->out);
		w->met_vm = true;
		w->vm = NULL;
	}
	if (w->z->has_jvm && code_contains(w->l, w->pc)) {
		w->method_identities_java = true;
		step = walk_java(w);
		w->behind_native = false;
		return step;
	}
	step = walk_native(w);
	w->behind_native = true;
	return step;
}

void walk_put_end(struct stack_trace_writer *out, enum walk_end end)
{
	uint64_t word = frame_other(OTHER_END, end);

	if (!stack_trace_put(out, word) && out->pos > out->trace->frame)
		out->pos[-1] = word;
}

/* Step by step up to the root; false, with the frame that says why, when it is not reached. */
static bool walk_steps(struct walk *w)
{
	unsigned i;

	for (i = 0; i < STEPS; i++) {
		enum step s = one_step(w);

		if (w->out->full) {
			walk_put_end(w->out, END_truncated);
			return false;
		}
		if (s == STEP_ROOT) {
			/* The first method has left its frame already: what called it is all there is. */
			if (stack_trace_length(w->out) == 0)
				stack_trace_put(w->out, frame_pc(FRAME_NATIVE, w->pc));
			return true;
		}
		if (s == STEP_END && !recover(w)) {
			walk_put_end(w->out, w->end);
			return false;
		}
	}
	walk_put_end(w->out, END_truncated);
	return false;
}

/* The same; frames in the heap that moved meanwhile are taken back. */
static bool walk_all(struct walk *w)
{
	bool whole = walk_steps(w);

	if (likely(!w->frozen.way.chunk) || walk_frozen_unmoved(w))
		return whole;
	w->out->pos = w->out->trace->frame + w->frozen.mark;
	walk_put_end(w->out, END_moving);
	return false;
}

/* A Java thread of a JVM that cannot be walked: native frames by us, Java frames by the JVM. */
static bool walk_and_ask(struct walk *w, uintptr_t agct)
{
	void *context = (void *)(uintptr_t)w->regs->all;
	bool whole;

	w->vm = w->images ? image_find(w->images, agct) : NULL;
	whole = walk_all(w);
	if (w->out->full)
		return false;
	return walk_by_jvm(w, context, w->met_vm ? w->before_vm : stack_trace_length(w->out) - !whole, whole);
}

static void prepare(struct walk *w, const struct zone *z, struct thread_record *r, struct stack_trace_writer *out)
{
	*w = (struct walk){
		.z = z,
		.l = &z->layout,
		.images = atomic_load_explicit(&z->images, memory_order_acquire),
		.stubs = atomic_load_explicit(&z->stubs, memory_order_acquire),
		.cache = atomic_load_explicit(&z->cache, memory_order_acquire),
		.java_thread = atomic_load_explicit(&r->java_thread, memory_order_relaxed),
		.stack_high = r->stack_high,
		.out = out,
	};
}

bool walk_outside(const struct zone *z, struct thread_record *r, struct stack_trace_writer *out)
{
	struct walk w;

	prepare(&w, z, r, out);
	w.used_anchor = true;
	if (!w.java_thread || !z->has_jvm || !atomic_load_explicit(&z->layout.code_ready, memory_order_acquire) ||
	    !walk_to_anchor(&w, w.java_thread + (uintptr_t)z->layout.thread_anchor))
		return false;
	walk_all(&w);
	return true;
}

bool walk_from_caller(const struct zone *z, struct thread_record *r, const struct walk_caller *from,
		      struct stack_trace_writer *out)
{
	struct walk w;

	prepare(&w, z, r, out);
	walk_stand(&w, CODE_ADDRESS(from->pc), from->sp, from->fp, false);
	if (from->sp)
		return walk_all(&w);
	w.end = END_bad_native;
	if (stack_trace_put(out, frame_pc(FRAME_NATIVE, w.pc - 1)) && recover(&w))
		return walk_all(&w);
	walk_put_end(out, w.end);
	return false;
}

bool walk_thread(const struct zone *z, struct thread_record *r, const struct walk_regs *regs,
		 struct stack_trace_writer *out)
{
	uintptr_t agct = (uintptr_t)atomic_load_explicit(&z->agct, memory_order_acquire);
	struct walk w;

	prepare(&w, z, r, out);
	w.pc = regs->pc;
	w.sp = regs->sp;
	w.fp = regs->fp;
	w.regs = regs;
	w.top = true;
	if (CPU_BACK_CHAIN && !load_word(w.sp, &w.fp))
		w.fp = 0;
	if (CPU_DWARF_BASE)
		context_dwarf_register(regs->all, CPU_DWARF_BASE, &w.base);
	return unlikely(agct) && w.java_thread && regs->all ? walk_and_ask(&w, agct) : walk_all(&w);
}
