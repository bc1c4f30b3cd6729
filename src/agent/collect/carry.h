/*
 * carry.h - from the numbers of an aggregate that is given up to those of the one that takes its place. Inner header of
 * the collect room.
 *
 * The new aggregate begins empty. Each number that is still wanted is asked for here, and what it stands for is copied
 * then; what is not asked for is forgotten with the old aggregate.
 */
#ifndef JSTROBE_COLLECT_CARRY_H
#define JSTROBE_COLLECT_CARRY_H

#include "agent/collect/collector_state.h"
#include "agent/collect/sink.h"

struct generation {
	struct collector *c;      /* with the new aggregate */
	struct collector old;     /* its renewed rows (held.def) are the aggregate that is given up */
	uint32_t *nodes;          /* by node, its number now; 0 = it has none (yet) */
	uint32_t *frames[2];      /* by frame, its number now + 1, as it is and with hidden classes merged */
	uint32_t *threads;        /* by thread, its number now + 1 */
	uint32_t *sums;           /* by thread, the number + 1 of the one its samples belong to now */
	struct {
		size_t nodes, frames, threads, counts;
	} count;                  /* of the tables above: OLD is given up before they are */
	struct map texts;         /* text → its number now */
	struct map stacks;        /* hash of frames → the first node of those with it */
	struct map ended;         /* pattern of names, a text of now → thread + 1 */
	uint32_t *counts;         /* by stack count, its number now + 1 (generation.c); 0 = it is gone */
	uint32_t rest;            /* the node of stacks that were not kept */
	uint32_t rest_thread;     /* what stands for a thread that no memory was left for */
	bool merges_hidden;
	struct profile_merged merged;
};

/* Tables for the aggregate that OLD has; false when out of memory. And their end. */
bool carry_open(struct generation *g);
void carry_close(struct generation *g);
/* The new number of FRAME, MERGED or as it is; FRAMES_NO_MEMORY. */
uint32_t carry_frame(struct generation *g, uint32_t frame, bool merged);
/* How many frames of C are of hidden classes. */
size_t carry_count_hidden(const struct collector *c);
/* Whether text NAME, or FRAME, has been asked for. */
uint32_t carry_known_text(const struct generation *g, uint32_t name);
bool carry_has_frame(const struct generation *g, uint32_t frame);
/* The new node of what NODE's samples are summed up at, the same for equal ones; 0 = out of memory. */
uint32_t carry_stack(struct generation *g, uint32_t node);

/* Threads: those that live, and the heaviest of those that ended (carry_threads.c). False when out of memory. */
bool carry_threads(struct generation *g);
/* By number of the system: names, Java's numbers. */
bool carry_numbers(struct generation *g);
/* Locks, their owners, and the owners' stacks (carry_waits.c). The same. */
bool carry_waits(struct generation *g);
/* Threads that have ended, and the own names of virtual threads (carry_names.c). The same. */
bool carry_ended(struct generation *g);

/*
 * The new numbers of NODE, of THREAD (not + 1) and of the text NAME of the aggregate that is given up: what is not
 * asked for is forgotten. During sink_ops.renewed.
 */
uint32_t carry_node(struct generation *g, uint32_t node);
uint32_t carry_thread(struct generation *g, uint32_t thread);
uint32_t carry_text(struct generation *g, uint32_t name);
/* The new number + 1 of THREAD (not + 1) if it was asked for, 0 = so far it is forgotten. */
uint32_t carry_lives(const struct generation *g, uint32_t thread);
/* For sinks, during sink_ops.renewed: E, which is kept, gets its new numbers, and its lock L and fields F, or NULL. */
void carry_event(struct generation *g, struct sink_event *e, struct sink_lock *l, struct sink_fields *f);

#endif
