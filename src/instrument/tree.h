/*
 * tree.h - the call trees of instrumented threads, in native memory.
 *
 *      base ─┬─ the blind: context, node and table of children in one, all zero but its id
 *            ├─ 4096: tick, a number that a timer thread raises, and when; "take a stamp" to whoever sees it new
 *            └─ 8192: slots, thread id (low bits) → context
 *      region of a session: contexts, nodes and tables, one after the other
 *
 * Each thread writes its own context and nodes alone, from JstrobeProbe.java: enter counts a node and makes
 * it current, leave goes back to the one saved. Everybody may read at any time: numbers only grow, and a node
 * is whole before its elder sibling or its parent names it.
 *
 * A stamp charges the time from tick to tick, not from stamp to stamp: whoever is on top at a tick is so still at
 * the next entry or exit, where it is seen. Between stamps it would be wrong: they come at the ends of calls, and
 * what runs for longer than a tick would always get what the short calls before it had used.
 *
 * All places are offsets from base, and offset 0 is the blind: memory that was given back reads as zeros and so
 * leads there, where every call takes the slow way and finds that nobody listens. Therefore a probe that comes
 * late, from a method that was entered before the end, needs no lock to be safe. Regions stay reserved for ever,
 * without memory.
 *
 * Functions marked PROBE run on threads of the program, from the probe; others on jstrobe's.
 */
#ifndef JSTROBE_INSTRUMENT_TREE_H
#define JSTROBE_INSTRUMENT_TREE_H

#include "base/error.h"

#define TREE_TICK 4096
#define TREE_SLOTS 8192
#define TREE_SLOT_COUNT (1u << 20)
#define TREE_NO_ID UINT32_MAX         /* of the blind */
#define TREE_OTHER 0x7fffffffu        /* calls that no memory was left for */
#define TREE_ROOT 0x7ffffffeu

/* What JstrobeProbe.java knows by number stands first. */
struct tree_node {
	uint64_t context;
	uint64_t kids;     /* table of children: (mask + 1) offsets of nodes, by the low bits of their ids */
	uint64_t mask;
	uint64_t count;    /* invocations */
	uint32_t id;       /* 0 is never one */
	uint32_t depth;
	uint64_t wall;     /* ns with this node current, by ticks or exactly */
	uint64_t entered;  /* exact timing: when its last invocation began, monotonic ns */
	uint64_t cpu;      /* ns by ticks, of that the share in which the thread ran */
	uint64_t parent;
	uint64_t first;    /* its youngest child */
	uint64_t next;     /* the sibling made before it */
	uint64_t home;     /* root of a virtual thread: its context, which `context` keeps silent about */
	uint32_t kid_count;
	uint32_t stamps;   /* times that were charged to it */
};

struct tree_context {
	uint64_t key;      /* thread id + 1; 0 = nobody's */
	uint64_t current;  /* node */
	uint32_t seen;     /* number of that tick */
	uint32_t is_virtual;
	uint64_t last;     /* exact timing: monotonic ns of the last entry or exit */
	uint64_t ticked;   /* when the tick was that has been charged last, monotonic ns */
	uint64_t stamped;  /* monotonic ns of the last stamp */
	uint64_t last_cpu; /* the thread's CPU clock then */
	uint64_t tid;      /* the system's number of the thread that the CPU clock was of */
	uint64_t root;     /* node */
	uint64_t chunk, chunk_end; /* free memory for nodes */
	uint64_t chunk_size;       /* of the next one */
	uint64_t thread;   /* number in tree_thread's order */
	uint64_t next_free;
};

/*
 * Begin: memory for at most LIMIT bytes of trees. -ENOMEM. Then tree_base is set and stays. EXACT: timing;
 * PERIOD: ns between ticks.
 */
int tree_begin(size_t limit, bool exact, uint64_t period, struct error *err);
extern uintptr_t tree_base;
/* Tell all threads to take the time: raise the tick. */
void tree_tick(void);
/* End: late probes find nothing any more, memory goes back. Results are to be read before. */
void tree_end(void);

/* PROBE: the context of thread ID, which is VIRTUAL or not; 0 for nobody. NAME may be "". */
uint64_t tree_context(uint64_t id, bool is_virtual, const char *name);
/* PROBE: the child ID of PARENT. */
uint64_t tree_child(uint64_t parent, uint32_t id);
/* PROBE: charge the time that is due to TOP; now. */
uint64_t tree_stamp(uint64_t top);
/* PROBE: go back to PARENT, with a stamp. */
void tree_leave(uint64_t parent);
/* Thread ID ends: its context can be another's later. That thread, or with nothing of it running. */
void tree_thread_end(uint64_t id);

/* ---- reading ---- */

struct tree_thread {
	char name[64];
	uint64_t id;      /* of java.lang.Thread; 0 = several */
	uint32_t threads; /* how many used this context so far */
	bool is_virtual;
	uint64_t context;
};

/* How many threads there are to read, at this moment; they stay at their numbers. */
uint32_t tree_threads(void);
void tree_thread(uint32_t number, struct tree_thread *t);
/* The node at OFFSET. */
static inline const struct tree_node *tree_node_at(uint64_t offset)
{
	return (const struct tree_node *)(tree_base + offset);
}
static inline const struct tree_context *tree_context_at(uint64_t offset)
{
	return (const struct tree_context *)(tree_base + offset);
}
/* Bytes of trees so far; calls that were counted under nobody, or for which no memory was left. */
size_t tree_bytes(void);
uint64_t tree_blind_calls(void);

#endif
