/*
 * stack_map.h - the StackMapTable of a method (JVMS 4.7.4): what the verifier is told about locals and
 * stack where control flow comes together.
 *
 * A frame is written as a change of the one before. Here each is unfolded to its full form: the
 * locals as they stand, without the unused ones at their end.
 */
#ifndef JSTROBE_BYTECODE_STACK_MAP_H
#define JSTROBE_BYTECODE_STACK_MAP_H

#include "common/bytecode/classfile.h"
#include "common/bytecode/pool.h"

enum type_tag {
	TYPE_TOP,
	TYPE_INTEGER,
	TYPE_FLOAT,
	TYPE_DOUBLE,
	TYPE_LONG,
	TYPE_NULL,
	TYPE_UNINITIALIZED_THIS,
	TYPE_OBJECT,        /* value: number of the class */
	TYPE_UNINITIALIZED, /* value: pc of the `new` */
	TYPE_TAGS
};

/* A verification type; long and double stand for two slots. */
struct frame_type {
	uint8_t tag;
	uint16_t value;
};

struct frame {
	uint32_t pc;
	unsigned local_count, stack_count;
	unsigned local_slots; /* what the locals take */
	struct frame_type *locals, *stack;
	unsigned local_room, stack_room; /* entries that `locals` and `stack` hold at most */
};

struct frame_reader {
	struct cursor at;
	unsigned left;      /* frames to come */
	bool first;
	struct frame frame; /* the last one read; pc 0 and what the method begins with before that */
};

static inline unsigned frame_type_slots(struct frame_type t)
{
	return t.tag == TYPE_LONG || t.tag == TYPE_DOUBLE ? 2 : 1;
}

/*
 * Begin to read TABLE (the attribute's body; empty: no frames) of method M. FRAME brings memory in
 * locals, stack and their rooms, of at least max_locals and max_stack entries. POOL gets the classes
 * of the parameters. False if the descriptor is damaged or does not fit in max_locals.
 */
bool frames_begin(struct frame_reader *r, struct cursor table, const struct frame *memory,
		  const struct class_file *file, const struct member *m, struct pool *pool);
/* The next frame in r->frame. False at the end; r->at.failed tells whether the table is damaged. */
bool frames_next(struct frame_reader *r);

/*
 * Write frame F as a full one DELTA behind the one before. Its locals are filled up to slot LOCAL,
 * which is a long (the probe's). PCS: from the pc of a `new` to the one it has now.
 */
void frame_emit(struct buffer *out, const struct frame *f, unsigned delta, unsigned local,
		const uint32_t *pcs);

#endif
