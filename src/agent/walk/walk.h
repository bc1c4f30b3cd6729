/*
 * walk.h - from the registers of a thread to its stack.
 *
 * Native frames go by the unwind tables built beforehand, Java frames by HotSpot's
 * own tables; every read of foreign memory is fault-safe. A walk ends at the root,
 * or in a frame that says why it could not go on.
 *
 * Runs in handlers, in callbacks on the thread itself, and on threads of ours that read the stack of one that waits.
 * It takes no lock.
 */
#ifndef JSTROBE_WALK_WALK_H
#define JSTROBE_WALK_WALK_H

#include "agent/walk/caller.h"
#include "agent/walk/codecache.h"
#include "agent/walk/decode.h"
#include "agent/zone/zone.h"
#include "context.h"
#include "cpu.h"

#define INTERPRETED_SPAN (65536u * WORD) /* locals of one method: at most 65,535 slots */

/* From a virtual thread to its innermost frame in the heap: the same as long as none moves. See walk_frozen.c. */
struct frozen_way {
	uintptr_t entry, continuation, chunk; /* chunk 0: none was looked at */
	uintptr_t moves;                      /* of the collector */
	uint32_t sp, bottom;                  /* of the chunk */
};

struct walk {
	const struct zone *z;
	const struct layout *l;
	const struct image_set *images;
	const struct stub_set *stubs;
	struct decode_cache *cache;
	uintptr_t java_thread;   /* JavaThread* of the walked thread, 0 = none */
	uintptr_t stack_high;    /* end of its stack, 0 = unknown */
	uintptr_t pc, sp, fp;    /* the frame to look at; fp with CPU_BACK_CHAIN: the caller's sp */
	uintptr_t base;          /* arm: r7 in it, as long as all frames before it are native */
	const struct walk_regs *regs; /* registers of the innermost frame while top, else NULL */
	bool top;                /* pc is the next instruction to run, not a return address */
	bool behind_native;      /* the frame below is outside the code cache */
	bool method_identities_java;
	bool used_anchor;
	const struct image *vm;  /* libjvm, where its stacks are not walked, until it was met; else NULL */
	bool met_vm;
	size_t before_vm;        /* frames before the first one in it */
	enum walk_end end;       /* why it ended; meaningless after STEP_ROOT */
	struct {
		struct frozen_way way;
		uintptr_t chunk, end;    /* the chunk sp is in, and where its frames end; end 0: sp is in none */
		uintptr_t link;          /* leads to the interpreted frame, 0: it is below sp */
		uintptr_t stack_high;    /* of the thread's stack */
		size_t mark;             /* frames before the first one in the heap */
		size_t yields;           /* frames before the one that called doYield, 0: none did */
	} frozen;
	struct stack_trace_writer *out;
};

enum step { STEP_ON, STEP_ROOT, STEP_END };

/*
 * Walk from REGS and append all frames to OUT; a walk that ends early appends the
 * frame that says why. Returns true when the root was reached.
 * In a handler of the walked thread, or - while it cannot run - from outside.
 */
bool walk_thread(const struct zone *z, struct thread_record *r, const struct walk_regs *regs,
		 struct stack_trace_writer *out);

/*
 * The same for a thread that waits, from its last Java frame on; native frames above that one are left out.
 * False: it has none. Its JavaThread must not go away meanwhile (see zone.held); the caller knows
 * that the thread did not run. Any context but the thread itself.
 */
bool walk_outside(const struct zone *z, struct thread_record *r, struct stack_trace_writer *out);

/*
 * The same for a thread that has called a function of ours, which it is in: from FROM on, native frames too. Where the
 * CPU does not say how these go on, the caller's alone, and the Java frames. The thread itself, in normal code.
 */
bool walk_from_caller(const struct zone *z, struct thread_record *r, const struct walk_caller *from,
		      struct stack_trace_writer *out);

/* The frame that says why a stack ends early: it always has room, in the place of the last one if need be. Handler. */
void walk_put_end(struct stack_trace_writer *out, enum walk_end end);

/* One step over a frame outside the code cache (walk_native.c). */
enum step walk_native(struct walk *w);
/* One step over a frame inside the code cache (walk_java.c). */
enum step walk_java(struct walk *w);
/* One step over stub B (arch/<cpu>/walk_stub.c). */
enum step walk_stub(struct walk *w, const struct blob *b);
/*
 * On from STUB, W's pc's, which B has, where no CPU differs: *STEP. STANDS: further up the frame is as large as B says.
 * False: it is still to be left (walk_java.c).
 */
bool walk_stub_begin(struct walk *w, const struct blob *b, const struct stub *stub, bool stands, enum step *step);
/*
 * Whether what a compiled method returns to can be PC: it follows a call, unless its caller was
 * deoptimised meanwhile, or frozen into the heap (walk_java.c).
 */
bool walk_is_return(const struct walk *w, uintptr_t pc);
/*
 * Where in a JavaThread lies what the stub at START begins with: it takes its stack pointer from there. False: it does
 * not, or that is not known of this CPU. arch/<cpu>/walk_stub.c.
 */
bool stub_thread_field(uintptr_t start, uint32_t *field);
/*
 * On from STUB, a return barrier or what brings a continuation back, where W's pc is in, to the frames in the heap. A
 * walk that has begun with them ends with walk_frozen_unmoved: what was written behind frozen.mark is true only if it
 * says so (walk_frozen.c).
 */
enum step walk_frozen(struct walk *w, const struct stub *stub);
bool walk_frozen_unmoved(const struct walk *w);
/* One step in a chunk, if it is not over a compiled frame like any other: *STEP then. */
bool walk_in_heap(struct walk *w, enum step *step);
/* One step over an interpreted frame (walk_interpreted.c). */
enum step walk_interpreted(struct walk *w);
/*
 * One step over a frame in the interpreter if it is half built or half gone, *STEP then. False: it stands. W may be
 * behind native code that such a frame calls, without registers (arch/<cpu>/interpreted_prologue.c).
 */
bool interpreted_prologue(struct walk *w, enum step *step);
/*
 * The interpreted entry of the method in the register for it, if W's pc is there or up to SPAN behind it; else 0. The
 * register may look so elsewhere: it is what the last call left. W has registers (walk_interpreted.c).
 */
uintptr_t interpreted_entry(const struct walk *w, uintptr_t span);
/* The frame of M at BCI; a method without byte code is native, called through the interpreter's own entry. */
uint64_t interpreted_word(const struct method *m, uint32_t bci);
/*
 * Replace all but the innermost KEEP frames of a native walk by the Java frames that
 * AsyncGetCallTrace gives, if there are any. Returns whether the stack is complete, as WHOLE
 * says of the native one. CONTEXT: of the signal. In a handler of the walked thread (walk_agct.c).
 */
bool walk_by_jvm(struct walk *w, void *context, size_t keep, bool whole);
/* Go on at the thread's last Java frame. False when it has none above sp. */
bool walk_to_anchor(struct walk *w, uintptr_t anchor);

/*
 * A compiled method's innermost frame may not have been set up, or be gone already. Find its return address
 * where the first and last instructions say it; of E return_offset, fp_saved, linked and part are set.
 * False: PC is in the method's body. arch/<cpu>/frame_prologue.c.
 */
bool frame_prologue(const struct layout *l, const struct blob *b, uintptr_t pc, struct frame_state *e);
/*
 * Frames of methods that take value objects (JDK 28, JEP 401) differ in size: a word at sp + frame_bytes - 3 words
 * says how far it is to the caller's fp. What it says in frames of B's that are as large as B says; 0: they all are.
 * Any context. arch/<cpu>/own_size.c.
 */
uint32_t frame_own_size(const struct layout *l, const struct blob *b);
#define FRAME_SIZE_WORD (3 * WORD) /* below the frame's end */
#define FRAME_ROOM_MAX 65536u      /* for more arguments: at most 255 words, and each an object of fields */
/* Whether SIZE can be what the size word says in a frame where OWN_SIZE is the least. */
static inline bool frame_can_be(uint32_t own_size, uintptr_t size)
{
	return size >= own_size && size - own_size <= FRAME_ROOM_MAX && size % WORD == 0;
}
/* Whether the instruction before PC is a call: so it can be a return address. */
bool follows_call(uintptr_t pc);
enum unwind_end { UNWIND_RETURN, UNWIND_STANDING, UNWIND_AWAY };

/* Where code leads from a pc on; offsets from its sp. */
struct code_unwind {
	enum unwind_end end;
	bool fixed;       /* it is so whenever that pc is reached */
	/* Where sp is at the way's end: at the return address (if LINKED, at the caller's), or below the frame. */
	int32_t released;
	bool linked;      /* the return address is still in the link register */
	int32_t fp_at;    /* where the caller's fp lies, -1: still in the register */
	int32_t popped;   /* where the last other register was popped from, INT32_MIN: none was */
	uintptr_t same;   /* from pc to here, instruction by instruction, sp stays what it is */
	bool fp_kept;     /* the way saves the register, which is the caller's fp still */
	uint32_t size;    /* what the way puts into the frame's size word, 0: nothing */
};

/*
 * Follow the code of B, or of STUB in it (else NULL), from W's pc on: to a return (UNWIND_RETURN), to where its
 * frame stands as the blob says (UNWIND_STANDING) or, if AWAY, to an indirect jump (UNWIND_AWAY). False: it
 * leads nowhere that is known. Bounded. arch/<cpu>/unwind.c.
 */
bool code_unwind(const struct walk *w, const struct blob *b, const struct stub *stub, bool away,
		   struct code_unwind *out);
/* Whether P can be where what stands at SP began: a word of the same stack, not far above. */
static inline bool interpreted_near(uintptr_t p, uintptr_t sp)
{
	return p >= sp && p - sp <= INTERPRETED_SPAN && !(p & (sizeof(p) - 1));
}

/* W is at a frame of these registers; TOP: an innermost one. */
static inline void walk_stand(struct walk *w, uintptr_t pc, uintptr_t sp, uintptr_t fp, bool top)
{
	w->pc = pc;
	w->sp = sp;
	w->fp = fp;
	w->top = top;
	w->regs = NULL;
}

/* Step to the caller: NEW_SP must lie above the present one. False ends the walk. */
static inline bool walk_move(struct walk *w, uintptr_t pc, uintptr_t sp, uintptr_t fp)
{
	if (sp <= w->sp || (sp & (sizeof(sp) - 1)) || sp >= USER_ADDRESS_END || (w->stack_high && sp > w->stack_high)) {
		w->end = END_stack_range;
		return false;
	}
	if (CPU_BACK_CHAIN && !load_word(sp, &fp)) {
		w->end = END_fault;
		return false;
	}
	walk_stand(w, pc, sp, fp, false);
	return true;
}

static inline enum step walk_end_with(struct walk *w, enum walk_end end)
{
	w->end = end;
	return STEP_END;
}

/* What a stub may return to: code the JVM generated, or native code. */
static inline bool walk_is_caller(const struct walk *w, uintptr_t pc)
{
	return walk_is_return(w, pc) || (w->images && image_find(w->images, pc) && follows_call(pc));
}

/* Whether PC could be a return address into code the JVM generated, with a blob to prove it. */
static inline bool walk_is_code(const struct walk *w, uintptr_t pc)
{
	return code_contains(w->l, pc) &&
	       (code_is_interpreter(w->l, pc) || code_blob_at(w->l, pc) != 0);
}

#endif
