/*
 * blocks.h - the sampled blocks of native memory that have not been freed: what is still there, and which frees matter.
 *
 * A block is entered when its allocation was sampled, and taken out before it is really freed: until then nothing else
 * has its address. So who looks for an address is the only one who may, and no lock is needed:
 *
 *   address ─▶ 8192 counters, most of them 0: not one of ours ─▶ 16 places for it in a table ─▶ its word becomes 0
 *
 * A place is a word, and what is known of the block beside it. The word is the address, whether it is held (below), and
 * the block's level: it stands for 2^level blocks like it. When there are too many a random half of them goes, and the
 * rest goes up one level: sums stay right on average. New ones enter at the present level, by the same chance.
 *
 * Memory: 2 MB of words and 12 MB of what is known, in use as far as blocks are there. It is never given back: a
 * function that the program calls may look at any time.
 */
#ifndef AGENT_SOURCES_NATIVEMEM_BLOCKS_H
#define AGENT_SOURCES_NATIVEMEM_BLOCKS_H

#include <stdatomic.h>

#include "agent/collect/sources.h"
#include "common/base/base.h"

#define BLOCKS_LIMIT 65536u /* remembered at a time */
#define BLOCKS_FILTER 8192u

/* How many blocks with such an address there are. */
extern _Atomic uint16_t blocks_filter[BLOCKS_FILTER];

static inline uint64_t blocks_hash(uintptr_t address)
{
	return ((uint64_t)address >> 4) * 0x9e3779b97f4a7c15ull;
}

/* False: ADDRESS is none of them. Any context. */
static inline bool blocks_may_have(uintptr_t address)
{
	return unlikely(atomic_load_explicit(&blocks_filter[(blocks_hash(address) >> 32) % BLOCKS_FILTER],
					     memory_order_relaxed) != 0);
}

/* Before all others, once or more. False: no memory. */
bool blocks_open(void);
/* Forget all; frees are noted until blocks_freed says that they need not be. Nothing is added meanwhile. */
void blocks_clear(void);

/*
 * Remember the block B (its owner is not looked at) at ADDRESS, which the caller has. The number that it is known by;
 * 0: it is not, as there are too many, and RANDOM says so. Any context.
 */
uint64_t blocks_add(uintptr_t address, const struct block_there *b, uint64_t random);
/* The caller has the block at ADDRESS and is about to free it: forget it. Whether it was remembered. Any context. */
bool blocks_take_out(uintptr_t address);
/*
 * The caller is about to change the size of the block at ADDRESS. From now on ADDRESS can be another's. What to call
 * blocks_let_go with, to say whether the block is GONE from there; NULL: it is not remembered.
 */
_Atomic uint64_t *blocks_hold(uintptr_t address);
void blocks_let_go(_Atomic uint64_t *held, bool gone);

/* Block number ID, if it is still there, belongs to OWNER (not 0) of the collector. One thread at a time. */
void blocks_own(uint64_t id, uint32_t owner);
/* FN of each that is there: what it returns is its owner then. */
void blocks_each(block_owned_fn *fn, void *arg);

/*
 * Gather those that were freed so far: their samples are in queues. Then, when these have been emptied, FN of each;
 * unless WANTED, they are not noted from now on. How many could not be noted, as there were too many. One thread at a
 * time.
 */
void blocks_gather(void);
uint64_t blocks_freed(bool wanted, block_freed_fn *fn, void *arg);

/* So many there are, at the level that new ones enter at. */
struct blocks_state {
	uint32_t count, level;
};
struct blocks_state blocks_now(void);

#endif
