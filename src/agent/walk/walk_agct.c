/*
 * walk_agct.c - stacks of a JVM that cannot be walked, by asking the JVM itself.
 *
 * The Zero VM interprets Java in C++; its Java frames lie in a stack of their own whose
 * layout it does not export. AsyncGetCallTrace (forte.cpp) knows it. It is called only for
 * threads whose JavaThread is known to live, and gives Java frames alone:
 *
 *   what the native walk found   read → __read → [libjvm.so …]  … → clone
 *   what is kept of it           read → __read                          (none in the VM itself)
 *   what AsyncGetCallTrace says                 → FileInputStream.read → … → Thread.run
 *
 * Frames are named by Method*, to which a jmethodID is a pointer in all JDKs before 26
 * (8268406: since then it is a number).
 */
#include "agent/walk/walk.h"

#define NATIVE_METHOD (-3) /* bci of a native method */

/* ASGCT_CallFrame and ASGCT_CallTrace. */
struct jvm_frame {
	int32_t bci;
	uintptr_t method_id;
};

struct jvm_trace {
	uintptr_t env;
	int32_t count;
	struct jvm_frame *frames;
};

_Static_assert(sizeof(struct jvm_frame) >= sizeof(uint64_t), "a word is not written before its frame was read");

static uint64_t word_of(const struct jvm_frame *f)
{
	uintptr_t method;

	if (!load_word(f->method_id, &method) || method < 4096 || (method & 7) ||
	    method >= USER_ADDRESS_END)
		return frame_other(OTHER_END, END_no_answer);
	if (f->bci == NATIVE_METHOD)
		return frame_java(FRAME_WRAPPER, method, FRAME_NO_BCI);
	return frame_java(FRAME_INTERPRETED, method,
			  f->bci < 0 || f->bci > 0xfffe ? FRAME_NO_BCI : (uint32_t)f->bci);
}

/*
 * Ask, with the answer in the trace's own memory behind what is written already; more memory
 * as long as it fills all there is. The number of frames, or what AsyncGetCallTrace says.
 */
static int32_t ask(struct walk *w, void *context, struct jvm_frame **frames)
{
	struct jvm_trace t = {.env = w->java_thread + w->z->agct_env};
	struct stack_trace_writer *out = w->out;
	uint64_t *rest;
	int32_t room;
	size_t have;

	for (;;) {
		have = (size_t)(out->pos - out->trace->frame);
		room = (int32_t)((size_t)(out->limit - out->pos) * sizeof(*out->pos) / sizeof(**frames));
		t.frames = *frames = (struct jvm_frame *)out->pos;
		t.count = 0;
		if (room > 0)
			atomic_load_explicit(&w->z->agct, memory_order_relaxed)(&t, room, context);
		if (t.count < room)
			return t.count;
		rest = out->pos;
		out->pos = out->limit; /* stack_trace_grow copies what stands before it */
		if (!stack_trace_grow(out)) {
			out->pos = rest;
			return t.count;
		}
		out->pos = out->trace->frame + have;
	}
}

bool walk_by_jvm(struct walk *w, void *context, size_t keep, bool whole)
{
	struct stack_trace_writer *out = w->out;
	struct jvm_frame *frames;
	int32_t i, count = ask(w, context, &frames);
	uint64_t *to = out->trace->frame + keep;

	if (out->store_full)
		return false;
	if (count < 0) {
		walk_put_end(out, END_no_answer);
		return false;
	}
	if (count == 0)
		return whole; /* no Java frame: what native code shows is all there is */
	/* A frame takes a word or two: what is read never lies behind what is written. */
	for (i = 0; i < count; i++)
		*to++ = word_of(&frames[i]);
	if (out->full)
		to[-1] = frame_other(OTHER_END, END_truncated);
	out->pos = to;
	return !out->full;
}
