/*
 * stack_counts.h - how often each stack of a chunk was seen, by one event: what is done for each of the many
 * millions of events of a file, so it is an addition in an array.
 *
 * Stacks, threads and classes of objects are called by their places in the chunk's pools. What a stack
 * is seen together with (a thread or a block of time, when these are apart; a class; a state) makes a number, `with`;
 * without any of them it is 0, and the stack's place leads to its count at once.
 */
#ifndef JSTROBE_READERS_JFR_STACK_COUNTS_H
#define JSTROBE_READERS_JFR_STACK_COUNTS_H

#include "common/base/map.h"
#include "common/base/vector.h"
#include "profile/model/profile.h"

#define STACK_COUNT_NONE UINT32_MAX /* no stack, thread, class */

struct stack_count {
	uint32_t stack, with;
	uint64_t samples, weight;
	uint64_t parts; /* as in struct read_aggregate_count */
};

struct stack_count_with {
	uint32_t apart, object; /* apart: thread or block */
	uint8_t state; /* enum thread_state */
};

struct stack_count_thread {
	uint64_t samples, weight;
};

struct stack_counts {
	uint32_t stack_count, thread_count; /* places there are */
	uint32_t stack_room, thread_room;
	VECTOR(struct stack_count) items;
	uint32_t *direct;          /* stack's place, + 1 for STACK_COUNT_NONE → item + 1 */
	struct map others;         /* with and stack → item + 1 */
	VECTOR(struct profile_growth) growth; /* of the items, as far as there is any */
	VECTOR(struct stack_count_with) with; /* with - 1 → what it is */
	struct map with_index;  /* what is apart and object → number of the pair */
	struct map with_states; /* that number and the state → with */
	struct stack_count_thread *threads;  /* by place, + 1 for STACK_COUNT_NONE */
	uint64_t samples, weight;
	bool no_memory;
	bool over; /* a sum is more than 64 bits hold */
};

/*
 * Empty, and ready for places below these: T was zeroed, or begun for another chunk. 0 or -ENOMEM; end in
 * both cases.
 */
int stack_counts_begin(struct stack_counts *t, uint32_t stack_count, uint32_t thread_count);
/* Of another chunk, of which nothing is to be counted so far. */
void stack_counts_empty(struct stack_counts *t);
void stack_counts_end(struct stack_counts *t);
/* The item of STACK with APART and OBJECT (STACK_COUNT_NONE each) and STATE; NULL: out of memory. */
struct stack_count *stack_count_of(struct stack_counts *t, uint32_t stack, uint32_t apart, uint32_t object,
				   uint8_t state);

/* Item ITEM has WEIGHT bytes of objects of SIZE that are there, of half HALF of the time. Out of memory: no_memory. */
void stack_counts_grow(struct stack_counts *t, uint32_t item, uint64_t weight, bool half);

/* Count SAMPLES with WEIGHT of THREAD; APART: by what they are kept apart, STACK_COUNT_NONE. Returns the item. */
static inline uint32_t stack_count_add(struct stack_counts *t, uint32_t stack, uint32_t thread, uint32_t apart,
				 uint32_t object, uint8_t state, uint64_t samples, uint64_t weight)
{
	uint32_t at = apart == STACK_COUNT_NONE && object == STACK_COUNT_NONE && !state ? t->direct[stack + 1] : 0;
	struct stack_count *item = at ? &t->items.items[at - 1] :
				  stack_count_of(t, stack, apart, object, state);

	if (unlikely(!item))
		return STACK_COUNT_NONE;
	item->samples += samples;
	item->weight += weight;
	/* what one item or thread has is no more than what all have */
	t->over |= __builtin_add_overflow(t->samples, samples, &t->samples) |
		   __builtin_add_overflow(t->weight, weight, &t->weight);
	t->threads[thread + 1].samples += samples;
	t->threads[thread + 1].weight += weight;
	return (uint32_t)(item - t->items.items);
}

#endif
