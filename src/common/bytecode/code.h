/*
 * code.h - the code of one method, with probes put in.
 *
 *      entry    ldc ID; invokestatic enter(I)J; lstore L          L: a new local, behind all others
 *      ...
 *      handler: lload L; ldc ID; invokestatic again(JI)V          an exception came from below
 *      ...
 *               lload L; invokestatic leave(J)V; return           before each return
 *      ...
 *      last:    lload L; invokestatic leave(J)V; athrow           an exception goes out
 *
 * A call of Thread.sleep, where that is a native method (before JDK 19), becomes one of ours, which counts it as a
 * wait.
 *
 * Where it depends on where the thread is whether a call counts, `enter_if` and `leave_if` stand for
 * `enter` and `leave`. `enter` gives the node of the caller, `leave` takes it: an exit that was missed
 * (of a method whose stack overflowed within the probe) is made good by the next exit further out, or
 * by `again`.
 * `enter_with`, if there is one, gets the method's first argument as well, by an aload_0 in front.
 *
 * What jumps to an instruction jumps to what stands before it, but at the very start: a jump there
 * is a loop, no new call. Tables by pc follow; frames are widened by L. The handler of exceptions
 * that go out is last in the table, so that the method's own come first. In a constructor nothing
 * may cover both sides of the call of super() nor that call itself, for the verifier has no frame
 * that fits (JVMS 4.10.1.6, flagThisUninit); so there are two of them there.
 *
 * Normal code, any thread, on memory of its own.
 */
#ifndef JSTROBE_BYTECODE_CODE_H
#define JSTROBE_BYTECODE_CODE_H

#include "common/base/vector.h"
#include "common/bytecode/classfile.h"
#include "common/bytecode/opcodes.h"
#include "common/bytecode/pool.h"
#include "common/bytecode/stack_map.h"

enum skip {
	SKIP_NONE,
#define SKIP(name, text) SKIP_##name,
#include "common/bytecode/skips.def"
	SKIPS
};

/* Marks of a byte of code. */
enum {
	AT_START = 1,     /* an instruction begins */
	AT_RETURN = 2,    /* it returns */
	AT_HANDLER = 4,   /* an exception handler begins */
	AT_WIDE = 8,      /* it needs the wide form of its jump now; an `if`: a bridge */
	AT_EARLY = 16,    /* constructor: before it `this` is not yet initialised */
	AT_UNCOVERED = 32, /* no handler may cover it */
	AT_SLEEP = 64,     /* it calls Thread.sleep, and shall call ours */
	AT_BRIDGES = 128,  /* bridges stand before it (far.c) */
};

/* Numbers of what is called, in the class's pool. */
struct code_calls {
	uint16_t enter, enter_if, leave, leave_if, again;
	uint16_t enter_with; /* 0 = never */
	uint16_t sleep_from, sleep; /* Thread.sleep as the class calls it (0: it does not), and what it calls instead */
};

/* A number with one of these bits is of a method that calls `enter_if` and `leave_if`. */
#define CODE_GATES 0x70000000u

/* A goto_w by which an `if` gets where it does not reach. */
struct bridge {
	uint32_t from; /* the `if` */
	uint32_t spot; /* it stands before this pc, from which control does not fall into it */
	uint32_t to;   /* pc */
	uint32_t at;   /* where it stands now */
};

struct code {
	/* the method */
	const struct class_file *file;
	const struct member *method;
	struct pool *pool;
	const struct code_calls *calls;
	uint32_t id;
	struct span bytes;
	unsigned max_stack, max_locals;
	struct cursor handlers, attributes, frames; /* frames: failed = it has none */
	unsigned handler_count, attribute_count;
	bool constructor; /* of a class that has a super class */
	bool jumps;

	/* by pc, one more than there are bytes */
	uint8_t *marks;
	uint32_t *at;     /* where a jump to it goes now */
	uint32_t *moved;  /* where it stands now */
	size_t room;

	/* what is put in */
	uint16_t id_constant;           /* 0 = it fits in a sipush */
	bool with;                      /* its first argument goes to the entry's probe */
	unsigned entry, leave, again;   /* lengths */
	unsigned local;                 /* L */
	bool early_handler, handler;    /* which are needed */
	uint32_t end;                   /* length without the handlers */
	VECTOR(struct bridge) bridges;  /* by spot; few methods have any */

	struct frame memory;            /* for frames_begin: in `types` */
	VECTOR(struct frame_type) types;
};

/*
 * Emit to OUT the Code attribute A of METHOD, with probes for ID. The memory of C is used again for
 * the next method; zeroed at first, `file`, `pool` and `calls` set by the caller. On a reason to skip
 * what was emitted is of no use.
 */
enum skip code_rewrite(struct code *c, const struct member *method, const struct attribute *a, uint32_t id,
		       struct buffer *out);
void code_free(struct code *c);

/* ---- between the files of the rewriter ---- */

/* Length of the instruction at PC, 0 if it is none or does not end within the code. */
unsigned code_instruction(const struct code *c, uint32_t pc);
/* The signed number in N bytes at PC, which must lie in the code. */
int32_t code_number(const struct code *c, uint32_t pc, unsigned n);
/* Mark what a constructor's handlers may cover. */
enum skip code_mark_constructor(struct code *c);
/* Marks, places and lengths. */
enum skip code_lay_out(struct code *c);
/* The code and its handlers; false if a jump leads nowhere. */
bool code_emit(const struct code *c, struct buffer *out);
/* The attributes of the code, their count first. */
enum skip code_emit_attributes(const struct code *c, struct buffer *out);
/* True if a frame's types make sense in C. */
bool code_frame_is_sound(const struct code *c, const struct frame *f);

/* ---- far.c ---- */

/* True if a jump of two bytes reaches so far. */
bool code_reaches(int64_t offset);
/* Let the `if` at PC go to TO by a bridge. SKIP_FAR_JUMP: there is no place for one. */
enum skip code_build_bridge(struct code *c, uint32_t pc, uint32_t to);
/* The bridge of the `if` at PC, which has one. */
const struct bridge *code_bridge_of(const struct code *c, uint32_t pc);
/* Place the bridges before PC from NOW on; where PC's own begins. */
uint32_t code_place_bridges(struct code *c, uint32_t pc, uint32_t now);
void code_emit_bridges(const struct code *c, uint32_t pc, struct buffer *out);
/* Entries of the table of handlers for the instructions FROM..TO without bridges; how many. */
unsigned code_emit_covered(const struct code *c, uint32_t from, uint32_t to, unsigned handler, unsigned type,
			   struct buffer *out);
/* The number that entry NUMBER of that table has now. */
unsigned code_handler_number(const struct code *c, unsigned number);
enum skip code_emit_bridge_frame(const struct code *c, const struct bridge *b, unsigned delta, struct buffer *out);

#endif
