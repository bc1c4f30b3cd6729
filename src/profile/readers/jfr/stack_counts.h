/*
 * stack_counts.h - how often each stack of a chunk was seen, by one event: what is done for each of the many
 * millions of events of a file, so it is an addition in an array.
 *
 * Stacks, threads and classes of objects are called by their places in the chunk's pools. What a stack
 * is seen together with (a thread, when threads are apart; a class; a state) makes a number, `with`; without
 * any of them it is 0, and the stack's place leads to its tally at once.
 */
#ifndef JSTROBE_READERS_JFR_STACK_COUNTS_H
#define JSTROBE_READERS_JFR_STACK_COUNTS_H

#include "common/base/map.h"
#include "common/base/vector.h"

#define TALLY_NONE UINT32_MAX /* no stack, thread, class */

struct tally {
	uint32_t stack, with;
	uint64_t samples, weight;
};

struct tally_with {
	uint32_t thread, object;
	uint8_t state; /* enum thread_state */
};

struct tally_thread {
	uint64_t samples, weight;
};

struct tallies {
	uint32_t stack_count, thread_count; /* places there are */
	uint32_t stack_room, thread_room;
	VECTOR(struct tally) items;
	uint32_t *direct;          /* stack's place, + 1 for TALLY_NONE → item + 1 */
	struct map others;         /* with and stack → item + 1 */
	VECTOR(struct tally_with) with; /* with - 1 → what it is */
	struct map with_index;  /* thread and object → number of the pair */
	struct map with_states; /* that number and the state → with */
	struct tally_thread *threads;  /* by place, + 1 for TALLY_NONE */
	uint64_t samples, weight;
	bool no_memory;
	bool over; /* a sum is more than 64 bits hold */
};

/*
 * Empty, and ready for places below these: T was zeroed, or begun for another chunk. 0 or -ENOMEM; end in
 * both cases.
 */
int tallies_begin(struct tallies *t, uint32_t stack_count, uint32_t thread_count);
/* Of another chunk, of which nothing is to be counted so far. */
void tallies_empty(struct tallies *t);
void tallies_end(struct tallies *t);
/* The item of STACK with THREAD and OBJECT (TALLY_NONE each) and STATE; NULL: out of memory. */
struct tally *tally_of(struct tallies *t, uint32_t stack, uint32_t thread, uint32_t object, uint8_t state);

/* Count SAMPLES with WEIGHT; BY_THREAD: apart by thread. Returns the item. */
static inline uint32_t tally_add(struct tallies *t, uint32_t stack, uint32_t thread, bool by_thread,
				 uint32_t object, uint8_t state, uint64_t samples, uint64_t weight)
{
	uint32_t at = (!by_thread || thread == TALLY_NONE) && object == TALLY_NONE && !state ?
			      t->direct[stack + 1] : 0;
	struct tally *item = at ? &t->items.items[at - 1] :
				  tally_of(t, stack, by_thread ? thread : TALLY_NONE, object, state);

	if (unlikely(!item))
		return TALLY_NONE;
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
