/*
 * aggregate_waits.h - what the aggregate keeps of waits for locks. Inner header of the collect room.
 *
 * Stacks end in the lock's class, and waits are summed up by lock and by owner. The tables are bounded: beyond
 * WAITS_LOCKS the locks of a class are one line, beyond WAITS_OWNERS the owners are; beyond WAITS_HOLDERS stacks of
 * owners are left out.
 */
#ifndef JSTROBE_COLLECT_AGGREGATE_WAITS_H
#define JSTROBE_COLLECT_AGGREGATE_WAITS_H

#include "agent/sample/wait_sample.h"
#include "common/base/map.h"
#include "common/base/pages.h"

#define WAITS_LOCKS 16384
#define WAITS_OWNERS 4096
#define WAITS_HOLDERS 4096

struct wait_sum {
	uint32_t name;         /* number in frames.strings: of the class, or of the owner; 0 = not known */
	uint64_t identity;     /* of the lock; 0 = several, or not known */
	uint8_t kind;          /* enum lock_kind */
	uint32_t node;         /* of a holder: its stack */
	uint64_t waits, time;  /* recorded ones, and the time they stand for, ns */
	uint64_t longest;      /* ns */
	uint64_t open;         /* of them have not ended when the last result was asked for */
};

/* PAGED */
struct wait_lines {
	struct wait_sum *items;
	size_t count, room;
};

struct waits_sums {
	struct wait_lines locks, owners, holders; /* holders: owners by their stacks, where these were taken */
	struct map by_lock, by_owner, by_holder; /* → index + 1 */
};

#define WAITS_EVENTS 2 /* of waits, in one session */

struct waits_aggregate {
	struct waits_sums sums[WAITS_EVENTS]; /* see aggregate_waits_of */
	struct map leaves;            /* node and frame of a class → node with it */
	struct map java_threads;      /* Thread.getId → tid of a thread of the system */
};

struct collector;

/* A sample of a wait and its notes; TRACE_CONTEXT may be NULL. Collector's lock held. */
void aggregate_wait(struct collector *c, const struct sample *s, const struct wait_note *n,
		  const struct trace_context *trace_context, struct thread_record *r);
/* S, a sample that was taken, is lost for the reason WHY, with its weight. The same. */
void aggregate_lose(struct collector *c, const struct sample *s, enum loss_reason why);
/*
 * What of waits that have not ended is in no sample yet; LATELY: of those that were not reported for a while, for who
 * gets each sample. The same.
 */
void aggregate_open_waits(struct collector *c, bool lately);
/* Waits that are over and found no room in their queue. The same. */
void aggregate_done_waits(struct collector *c);
/* The same, unless that took long and was a moment ago. */
void aggregate_done_lately(struct collector *c);
/* What a result of this moment has: all that is queued, waits that are over, waits that have not ended. The same. */
void aggregate_up_to_now(struct collector *c);
/* Thread TID has Thread.getId JAVA_ID. The same. */
void aggregate_wait_thread(struct collector *c, uint64_t java_id, int tid);
/* The node of E's stack that ends in the lock's class; 0 = out of memory. Add E to the sums. The same. */
struct sink_event;
uint32_t aggregate_wait_shown(struct collector *c, const struct sink_event *e);
void aggregate_wait_sums(struct collector *c, const struct sink_event *e);
/* The node NODE with FRAME as innermost one; 0 = out of memory. The same. */
uint32_t aggregate_leaf(struct collector *c, uint32_t node, uint32_t frame);
/* The sums of event E, which is of waits. */
struct waits_sums *aggregate_waits_of(struct collector *c, uint32_t e);
/* By what the line L of a lock is found. */
uint64_t aggregate_wait_key(const struct wait_sum *l);
void aggregate_waits_sums_free(struct waits_sums *s);

#endif
