/*
 * chunk_names.h - from the keys of a chunk to frames, stacks and threads with names.
 *
 * A constant is looked at when an event first needs it, and what became of it is kept beside it;
 * equal ones of other chunks get the same numbers in the aggregate.
 */
#ifndef JSTROBE_READERS_JFR_CHUNK_NAMES_H
#define JSTROBE_READERS_JFR_CHUNK_NAMES_H

#include "common/base/buffer.h"
#include "profile/readers/jfr/constant_pools.h"
#include "profile/readers/read_aggregate.h"

/* How the text of a type is got at: a string, a field with one, or a key of another type. */
struct text_way {
	uint32_t layout, type;
	bool pooled, string;
	bool known;
};

/* A frame of this chunk: a method, how it ran, and its line where lines matter. */
struct frame_slot {
	uint64_t code; /* the method's key and the kind's: chunk_stacks.c */
	uint32_t line;
	uint32_t frame; /* + 1; 0 = free */
};

/* What a method's constant says, as strings of the aggregate. */
struct method_said {
	uint32_t class_name, name, signature;
	bool native;
};

struct names {
	struct read_aggregate *aggregate;
	bool lines, bci;
	bool norm, simple; /* classes of objects: without what tells hidden ones apart, without their package */

	struct buffer text;
	/* what frames were made of, in all chunks, and the frame of each */
	struct lists said;
	VECTOR(uint32_t) said_frames;
	struct map objects; /* name of a class of objects → frame + 1, in all chunks */
	uint32_t empty_stack;

	/* of the metadata */
	const struct metadata *metadata;
	struct field_layouts *layouts;
	struct pools *pools;
	bool wide;
	bool usual; /* frames are four compressed numbers in the order that all known recorders have */
	/* types by name; METADATA_NONE */
	uint32_t stack_type, frame_type, method_type, class_type, thread_type, state_type, string_type;
	uint32_t frame_kind_type;
	uint32_t stack_layout, frame_layout, method_layout, thread_layout;
	const struct metadata_field *method_class, *method_name, *method_signature, *os_name, *java_name;
	struct text_way *ways; /* by type */

	/* of this chunk: its frames, by hash */
	struct frame_slot *slots;
	uint32_t slot_count, slots_used;
	uint64_t factor; /* odd, of this process: no file knows which frames share a place */
	VECTOR(struct method_said) methods; /* that were asked for; their constants know where */
	VECTOR(uint32_t) list; /* a stack under construction */
};

/* Names for FOLD, with line numbers or without. 0 or -ENOMEM; free in both cases. */
int names_init(struct names *n, struct read_aggregate *aggregate, bool lines);
void names_free(struct names *n);
/*
 * Ready for chunks with METADATA; marks the pools that will be asked for. What is passed stays the caller's
 * and must stay as long as N. 0 or -ENOMEM.
 */
int names_learn(struct names *n, const struct metadata *metadata, struct field_layouts *layouts, struct pools *pools);
/* Ready for the next chunk with the same metadata. */
void names_begin(struct names *n);
/* Before the pools are loaded: constants of TYPE will be asked for their texts. */
void names_want(struct names *n, uint32_t type);

/*
 * The number in the aggregate of the stack at PLACE of the pool of stacks; *TRUNCATED as it says.
 * LISTS_FAILED: out of memory (f->no_memory is set), or the constant is damaged.
 */
uint32_t names_stack(struct names *n, uint32_t place, bool *truncated);
/* The number of the thread at PLACE of the pool of threads. LISTS_FAILED as above. */
uint32_t names_thread(struct names *n, uint32_t place);
/* The number in the aggregate's strings of what KEY of TYPE is called; 0: nothing, or not there. */
uint32_t names_text(struct names *n, uint32_t type, uint64_t key);
/* The same of the string at AT, as a slot of a layout has it. */
uint32_t names_string(struct names *n, uint64_t at);
/*
 * A reader over the chunk from AT on, an address in a slot. Metadata may say what they like of a
 * field, so that it may be no address at all: then the reader has failed.
 */
struct reader names_reader(const struct names *n, uint64_t at);
/* The frame that stands for objects of class KEY of TYPE; not CLASS: for what has that name, as it is. */
uint32_t names_object(struct names *n, uint32_t type, uint64_t key, bool class);
/* The frame of the method of that key, of which it is not said how it ran. LISTS_FAILED: out of memory. */
uint32_t names_method(struct names *n, uint64_t key);

#endif
