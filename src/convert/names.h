/*
 * names.h - from the keys of a chunk to frames, stacks and threads with names.
 *
 * A constant is looked at when an event first needs it, and what became of it is kept beside it;
 * equal ones of other chunks get the same numbers in the fold.
 */
#ifndef JSTROBE_CONVERT_NAMES_H
#define JSTROBE_CONVERT_NAMES_H

#include "base/buffer.h"
#include "convert/fold.h"
#include "convert/pools.h"

/* How the text of a type is got at: a string, a field with one, or a key of another type. */
struct text_way {
	uint32_t shape, type;
	bool pooled, string;
	bool known;
};

#define NAMES_KINDS 16 /* keys of kinds below it */

struct frame_slot {
	uint64_t method, detail;
	uint32_t frame; /* + 1 */
};

struct names {
	struct fold *fold;
	const struct metadata *metadata;
	struct shapes *shapes;
	struct pools *pools;
	bool wide, lines;
	/* types by name; METADATA_NONE */
	uint32_t stack_type, frame_type, method_type, class_type, thread_type, state_type, string_type;
	uint32_t frame_kind_type;
	uint32_t stack_shape, frame_shape, method_shape, thread_shape;
	struct text_way *ways; /* by type */
	struct buffer text;
	/*
	 * Frames of this chunk, + 1: where lines do not matter by the method's place and a small key of
	 * the kind, else by hash.
	 */
	uint32_t *by_method;
	struct frame_slot *slots;
	uint32_t slot_count, slots_used;
	uint32_t *list; /* a stack under construction */
	uint32_t list_room;
	uint32_t empty_stack;
};

/*
 * Ready for a chunk with METADATA; marks the pools that will be asked for. 0 or -ENOMEM; end in
 * both cases.
 */
int names_begin(struct names *n, struct fold *fold, const struct metadata *metadata,
		struct shapes *shapes, struct pools *pools, bool lines);
void names_end(struct names *n);
/* Before the pools are loaded: constants of TYPE will be asked for their texts. */
void names_want(struct names *n, uint32_t type);

/*
 * The number in the fold of the stack at PLACE of the pool of stacks; *TRUNCATED as it says.
 * LISTS_FAILED: out of memory (f->no_memory is set), or the constant is damaged.
 */
uint32_t names_stack(struct names *n, uint32_t place, bool *truncated);
/* The number of the thread at PLACE of the pool of threads. LISTS_FAILED as above. */
uint32_t names_thread(struct names *n, uint32_t place);
/* The number in the fold's strings of what KEY of TYPE is called; 0: nothing, or not there. */
uint32_t names_text(struct names *n, uint32_t type, uint64_t key);
/* The same of the string at AT, as a slot of a shape has it. */
uint32_t names_string(struct names *n, uint64_t at);
/*
 * A reader over the chunk from AT on, an address in a slot. Metadata may say what they like of a
 * field, so that it may be no address at all: then the reader has failed.
 */
struct reader names_reader(const struct names *n, uint64_t at);
/* The frame that stands for objects of class KEY of TYPE. */
uint32_t names_object(struct names *n, uint32_t type, uint64_t key);

#endif
