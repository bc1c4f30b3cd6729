/*
 * tree.h - the call trees of instrumented threads, in native memory.
 *
 *      base ─┬─ the blind: context, node and table of children in one, all zero but its id
 *            ├─ 4096: struct tree_board: when the last tick was, and what all probes are to know
 *            └─ 8192: slots, thread id (low bits) → contexts, chained (tree_owner.c)
 *      pieces of address space: contexts, nodes, tables, statistics, one after the other
 *
 * Each thread writes its own context and nodes alone, from JstrobeProbe.java: enter counts a node and makes
 * it current, leave goes back to the one saved. Everybody may read at any time: numbers only grow, and a node
 * is whole before its elder sibling or its parent names it.
 *
 * Sampled timing: a stamp charges the time from tick to tick, not from stamp to stamp: the method that is on top at a
 * tick is so still at the next entry or exit, where it is seen. Between stamps it would be wrong: they come at the
 * ends of calls, and what runs for longer than a tick would always get what the short calls before it had used. Each
 * tick comes somewhere in its period and charges that (tick_places.h).
 *
 * A tick reaches a thread as the sign of its context's key, which an entry has to look at anyway: so it costs nothing
 * there (tree_tick.c).
 *
 * Exact timing: a stamp at each entry and exit charges the time since the last one to the node on top, and each
 * call's length goes to its method's statistics.
 *
 * Adaptive timing: both. Ticks are charged as in sampled timing, and a node's calls are timed: at first each, and
 * `wall` is their sum, with all that was called. A thread that times more calls within a tick than the board's quota
 * makes the nodes that exceed it `hot`: of their calls one in `every` + 1 or so, at random, is timed, and stands in the
 * statistics for those since the last such one, while their time is that of the ticks. (It cannot be that of the calls
 * that were timed: a single one in whose middle the thread lost its CPU would stand for a million. Nor would it do to
 * time each n-th: a method and what it calls once would be timed together, and one measure the other's clock reads.) A
 * node on top at a quiet tick is timed more often again.
 *
 * Waiting is a node, too, with the kind of waiting for its id.
 *
 * CPU time: the clock tells how much the thread has used since the last stamp, but not which of the methods between had
 * it. Whether it ran just at the tick is not known either: a tick that is late has waited for a CPU as the thread has.
 * So some entries and exits behind a tick's stamp have one, too (`follow`): from one to the next all is one node's, and
 * `known`. Only of what lies between them and the next tick the tick has to say whose it is (`cpu`).
 *
 * A stamp reads the CPU's clock, by a system call; and the kernel looks there whether the thread has had its share,
 * and if so gives the CPU to another one. Where threads outnumber CPUs many lose theirs in our system call. So the time
 * is read before and after it, and what passed between is charged to no method (`held`).
 *
 * All places are offsets from base, and offset 0 is the blind: memory that was given back reads as zeros and so
 * leads there, where every call takes the slow way and finds no session. Therefore a probe that comes
 * late, from a method that was entered before the end, needs no lock to be safe. (It reads each place once, and in no
 * order: two fields of one node may be from before and after the end.) No address is used again (tree_room.c).
 *
 * Functions marked PROBE run on threads of the program, from the probe; others on jstrobe's.
 */
#ifndef JSTROBE_TRACING_TREE_H
#define JSTROBE_TRACING_TREE_H

#include "common/base/error.h"
#include "profile/model/calls.h"

#define TREE_BOARD 4096
#define TREE_DUE (1ull << 63) /* in a context's key: a tick has come since its thread's last stamp */
#define TREE_SLOTS 8192
#define TREE_SLOT_COUNT (1u << 17)
#define TREE_NO_ID UINT32_MAX /* of the blind */
/* Numbers of nodes: methods from 1 on, and these. */
#define TREE_ID_MAX 0x0fffff00u
#define TREE_OTHER 0x0fffffffu /* calls that no memory was left for */
#define TREE_ROOT 0x0ffffffeu
#define TREE_WAITING 0x0fffffe0u /* and the kind, enum calls_wait */

/* Gates: a call whose number has one of these bits, above the id's, does not count below a node closed to it. */
#define TREE_GATE_SHIFT 28
#define TREE_GATE_OUTSIDE 1u /* no root is entered yet */
#define TREE_GATE_DEEP 2u    /* as deep as was asked for */
#define TREE_GATE_WAIT 4u    /* waits: in no method, or waiting already */

enum tree_timing {
	TREE_SAMPLED,
	TREE_EXACT,
	TREE_EXACT_CPU, /* and the CPU's clock each time */
	TREE_ADAPTIVE,
	TREE_COUNTS,
	TREE_TIMINGS,
};

/* What probes look at. JstrobeProbe.java knows the places. */
struct tree_board {
	uint32_t tick;      /* its number */
	uint32_t quota;     /* adaptive: calls that a thread may time from tick to tick */
	uint64_t tick_time; /* until when it charges, monotonic ns: not later than the tick was */
	int64_t latency;    /* ns from which on a call is slow */
	int64_t clock;      /* adaptive: ns that reading the clock adds to a call's length */
	uint32_t rarest;    /* adaptive: `every` at most, one less than a power of two */
};

/* What JstrobeProbe.java knows by number stands first. */
struct tree_node {
	uint64_t context;
	uint64_t elder;    /* its first child: most have no other, and find it without a table */
	uint64_t mask;     /* of the table of children */
	uint64_t count;    /* invocations */
	uint32_t id;       /* 0 is never one */
	uint32_t closed;   /* gates */
	uint64_t wall;     /* ns with this node current, by ticks or exactly; adaptive: of timed calls in all */
	uint64_t entered;  /* when its last invocation began, monotonic ns; adaptive: 0 if it is not timed */
	uint64_t parent;
	uint64_t stats;    /* of its method; 0 = none */
	uint64_t since;    /* adaptive: `count` when one was timed last */
	uint64_t due;      /* adaptive: `count` when the next one is to be timed */
	uint32_t every;    /* adaptive: of so many calls one is timed, less one; one less than a power of two */
	uint32_t hot;      /* adaptive: not all calls were timed */
	uint64_t ticked;   /* adaptive: ns with this node current, by ticks */
	uint64_t kids;     /* table of children: (mask + 1) offsets of nodes, by the low bits of their ids */
	uint64_t cpu;      /* ns by ticks, of that the part in which the thread ran; exactly if asked for */
	uint64_t first;    /* its youngest child */
	uint64_t next;     /* the sibling made before it */
	uint64_t home;     /* root of a virtual thread: its context, which `context` keeps silent about */
	uint32_t depth;
	uint32_t kid_count;
	uint32_t stamps;   /* times that were charged to it */
	uint64_t known;    /* ns of CPU time besides `cpu`, between two stamps with no call between them */
};

struct tree_context {
	uint64_t key;      /* thread id + 1, and TREE_DUE; 0 = no thread's */
	uint64_t current;  /* node */
	uint32_t seen;     /* number of that tick */
	uint32_t timed;    /* adaptive: calls timed since */
	uint64_t last;     /* exact timing: monotonic ns of the last entry or exit */
	uint64_t timed_all; /* adaptive: calls timed */
	uint64_t chain;    /* the next one of its owner's slot */
	uint64_t ticked;   /* until when ticks have been charged, monotonic ns */
	uint64_t stamped;  /* monotonic ns of the last stamp */
	uint64_t last_cpu; /* the thread's CPU clock then */
	uint64_t used_cpu; /* ns of CPU time between stamps, in all */
	uint64_t tick_at;  /* when the first tick since the last stamp was, monotonic ns */
	uint64_t tick_until; /* until when it charges, monotonic ns */
	uint64_t tick_cpu; /* the thread's CPU clock then; 0 = not known */
	uint64_t followed; /* since when it has followed the last tick's stamp, monotonic ns */
	uint32_t follows;  /* stamps since */
	uint32_t follow;   /* the next entry or exit stamps, too: what the CPU clock says then is one node's */
	uint64_t held;     /* ns that the thread stood in its probes for, charged to no method */
	uint64_t tid;      /* the system's number of the thread that the CPU clock was of */
	uint64_t root;     /* node */
	uint64_t chunk, chunk_end; /* free memory for nodes */
	uint64_t chunk_size;       /* of the next one */
	uint64_t stats, stats_mask; /* table of statistics by id */
	uint64_t thread;   /* number in tree_thread's order */
	uint64_t next_free;
	uint64_t next_quiet;
	uint32_t listed;   /* it is among the quiet ones */
	uint32_t stats_count;
	uint32_t is_virtual;
};

/* Lengths of a method's calls in one thread: buckets of a quarter octave from 2^4 to 2^36 ns. */
#define TREE_BUCKET_LOW 4
#define TREE_BUCKET_HIGH 36
#define TREE_BUCKETS ((TREE_BUCKET_HIGH - TREE_BUCKET_LOW) * 4 + 1)

struct tree_stats {
	uint64_t id;
	int64_t min, max;
	uint64_t buckets[TREE_BUCKETS];
};

struct tree_setup {
	size_t limit;    /* bytes of trees */
	enum tree_timing timing;
	uint64_t period; /* ns between ticks */
	uint64_t latency; /* ns from which on a call is slow; UINT64_MAX = none */
	uint32_t depth;  /* of instrumented calls; UINT32_MAX = any */
	bool rooted;     /* nothing counts outside of roots */
};

/* Begin, with memory for trees. -ENOMEM. Then tree_base is set and stays. */
int tree_begin(const struct tree_setup *s, struct error *err);
extern uintptr_t tree_base;
/* Tell the threads to take the time UNTIL that moment, which is not to come. One thread alone does so. */
void tree_tick(uint64_t until);
/* Adaptive timing: what the board is to say. */
void tree_tune(uint32_t quota, uint64_t clock, uint32_t rarest);
#define TREE_RAREST 0xfffffu
/* Calls timed so far are none of the program's. */
void tree_forget_timed(void);
/* End: late probes find nothing any more, memory goes back. Results are to be read before. */
void tree_end(void);

/* How a call ended. */
struct tree_exit {
	uint32_t id;
	uint64_t took, ended; /* ns, monotonic */
};

/* Whether a node's number is a method's: the others stand for threads, waits and what no memory was left for. */
static inline bool tree_is_method(uint32_t id)
{
	return id && id < TREE_ID_MAX;
}

/* What becomes of a call that has ended. */
enum tree_fate {
	TREE_CALL_QUICK,   /* nothing beyond its count and time */
	TREE_CALL_WAITED,  /* it was a wait: its time says all */
	TREE_CALL_UNNAMED, /* slow, and counted where no memory was left for its method's node */
	TREE_CALL_SLOW,    /* of a method, which is told by itself */
};

/* PROBE: the one place that says it, of calls that ended on the probes' short ways and on ours. */
enum tree_fate tree_fate(const struct tree_exit *e);

/* PROBE: the context of thread ID, which is the calling one; 0: it has none. */
uint64_t tree_find(uint64_t id);
/* PROBE: the same, made if need be, for a thread that is VIRTUAL or not; 0 for none. NAME may be "". */
uint64_t tree_context(uint64_t id, bool is_virtual, const char *name);
/* PROBE: the child ID of PARENT. */
uint64_t tree_child(uint64_t parent, uint32_t id);
/* PROBE: charge the time that is due to TOP; now, when that is done. */
uint64_t tree_stamp(uint64_t top);
/*
 * PROBE: GONE, which is on top, has ended without an exit, like all between it and TOP: that is on top again, and has
 * the time. The call that enters now may still be given GONE to go back to: its exit comes to tree_leave, which knows.
 */
void tree_go_back(uint64_t gone, uint64_t top);
/* PROBE: thread ID, which is the calling one, has been held up SINCE, and used so much CPU time for us. */
void tree_hold(uint64_t id, uint64_t since, uint64_t cpu);
/*
 * PROBE: go back to SAVED, which is what enter gave: the node's place, its lowest bit set if adaptive timing
 * timed the call. Stamps. True if it is known how long the call took; then *E says it.
 */
bool tree_leave(uint64_t saved, struct tree_exit *e);
/* PROBE: thread ID, if it has a context, begins and ends to wait. */
void tree_wait_begin(uint64_t id, enum calls_wait kind);
void tree_wait_end(uint64_t id, enum calls_wait kind);
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
/* What lies at OFFSET. */
static inline void *tree_place(uint64_t offset)
{
	return (void *)(tree_base + (uintptr_t)offset);
}
static inline const struct tree_node *tree_node_at(uint64_t offset)
{
	return tree_place(offset);
}
static inline const struct tree_context *tree_context_at(uint64_t offset)
{
	return tree_place(offset);
}
/* Exact timing: what its thread has run up to its last entry or exit, but after its last stamp; its clock says CPU. */
uint64_t tree_unstamped_cpu(const struct tree_context *c, uint64_t cpu);
/* Statistics number I of context C; NULL: none at this place. I runs to c->stats_mask. */
const struct tree_stats *tree_stats_at(const struct tree_context *c, uint64_t i);
/* The lengths of bucket I: from here on, ns. */
uint64_t tree_bucket_from(unsigned i);
/* Adaptive timing: calls that were timed in all threads, and the sum of their lengths where method ID is outermost. */
void tree_lengths(uint32_t id, uint64_t *sum, uint64_t *calls);
/* Bytes of trees so far; calls that were counted under no thread, or for which no memory was left. */
size_t tree_bytes(void);
uint64_t tree_blind_calls(void);

#endif
