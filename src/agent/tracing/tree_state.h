/*
 * tree_state.h - what the files of the call trees share: tree.c the life, tree_room.c address space, tree_memory.c
 * nodes, tree_thread.c who writes where, tree_owner.c whose a context is, tree_tick.c ticks, tree_time.c clocks
 * and lengths.
 */
#ifndef JSTROBE_TRACING_TREE_STATE_H
#define JSTROBE_TRACING_TREE_STATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "agent/tracing/tree.h"

#define TREE_FOLD_DEPTH 512u /* from here on a recursion leads back to its nearest node */
#define TREE_HELD_LONG (10 * NS_PER_US) /* clocks take less to be read: the thread lost its CPU there */
#define TREE_LINE 128u /* two threads' data are never closer than that */

/* The session. */
struct tree_state {
	/* Guards what follows; probes read-lock it while they follow offsets, so that no memory goes meanwhile. */
	pthread_rwlock_t life;
	bool running;
	struct tree_setup setup;
	_Atomic size_t used;
	_Atomic uint64_t blind_calls;
};
extern struct tree_state tree_state;

static inline struct tree_node *tree_node(uint64_t offset)
{
	return tree_place(offset);
}

static inline struct tree_context *tree_at(uint64_t offset)
{
	return tree_place(offset);
}

static inline struct tree_board *tree_board(void)
{
	return (struct tree_board *)(tree_base + TREE_BOARD);
}

static inline uint64_t *tree_slot(uint64_t id)
{
	return (uint64_t *)(tree_base + TREE_SLOTS) + (id & (TREE_SLOT_COUNT - 1));
}

/* The context of node N, also of a virtual thread's root; 0 without a session. `life` held. */
static inline uint64_t tree_home(uint64_t node)
{
	const struct tree_node *n = tree_node(node);

	return tree_state.running && node ? (n->home ? n->home : n->context) : 0;
}

static inline bool tree_times_calls(void)
{
	return tree_state.setup.timing == TREE_EXACT || tree_state.setup.timing == TREE_EXACT_CPU ||
	       tree_state.setup.timing == TREE_ADAPTIVE;
}

/* The number of the tick now. */
uint32_t tree_ticks(void);
/* A tick, of which threads are not told: what came before does not count. */
void tree_tick_silently(uint64_t until);
/* C has a new owner ID, whom the next tick is to reach. */
void tree_own(struct tree_context *c, uint64_t id);
/* C's thread stamps: it has seen the tick, and the next one is to reach it. */
void tree_tick_seen(struct tree_context *c);
/* No context is to be reached any more. */
void tree_forget_quiet(void);

/* Address space is there to begin with; false: errno says why not. */
bool tree_room_begin(void);
/* SIZE bytes of zeros, at an address that nothing has had before; 0: none is left. */
uintptr_t tree_room(size_t size);
/* What this session was given reads as zeros from now on, and takes no memory. */
void tree_room_end(void);
/* SIZE bytes within the limit, for a thread of its own, as an offset; 0 when the limit is reached. */
uint64_t tree_take(size_t size);
/* The root of context C, with the node for what no memory is left for. 0: no memory. */
uint64_t tree_make_root(struct tree_context *c, uint64_t at, bool is_virtual);
/* tree_child with `life` held and the context known. */
uint64_t tree_find_child(uint64_t context, uint64_t parent, uint32_t id);
/* A stamp on the system's thread that calls, whose CPU clock says CPU; the clock at the one before, of any context. */
uint64_t tree_stamp_cpu(uint64_t cpu);
/* A virtual thread has called something: its CPU clock is its carrier's, and from now on stamps tell each other. */
void tree_share_carriers(void);
/* Forget all threads. `life` held for writing. */
void tree_forget_threads(void);
/* The context that thread ID owns, by that thread; 0: none. This and what follows: `life` held. */
uint64_t tree_owned(uint64_t id);
/* CONTEXT has its owner ID from now on; and none any more. By the owner, or with nothing of it running. */
void tree_put_owned(uint64_t context, uint64_t id);
void tree_take_owned(uint64_t context);
/* A virtual thread is out of its last instrumented method: its context is free for the next. */
void tree_release_virtual(uint64_t context);

#endif
