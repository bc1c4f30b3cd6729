/*
 * lock_places.h - the table of waits that go on, for the files that keep it: begin and end of waits (lock_waits.c),
 * begin and end of sessions (lock_sessions.c). Inner header of the lock source.
 */
#ifndef JSTROBE_SOURCES_LOCK_LOCK_PLACES_H
#define JSTROBE_SOURCES_LOCK_LOCK_PLACES_H

#include "agent/sources/carried.h"
#include "agent/sources/kept_contexts.h"
#include "agent/sources/lock/lock_holder.h"
#include "agent/sources/slot_table.h"

#define WAITS_CLOSED UINT64_MAX
#define WAITS_DONE (UINT64_MAX - 1) /* key of a place */

/*
 * Who tells of an open wait takes no place away: it reads, and changes `told`, which no two waits have in common. Where
 * it is still what it was at the begin, what was read is of one wait.
 *
 * A wait that is over, and whose thread's queue is full, stays in its place, WAITS_DONE: the collector
 * takes it from there.
 */
struct waits_place {
	slot_key key;            /* see key_of; WAITS_DONE */
	uint64_t began;
	uint64_t since;           /* this session has it from here on: its begin, or where the last session left off */
	_Atomic uint64_t over;    /* when it has ended while no session noted it; 0: it has not */
	_Atomic uint64_t told;    /* up to here its time is in samples; WAITS_CLOSED: the wait has ended */
	kept_stack trace;
	union {
		uint64_t owner_id;
		uint64_t address; /* of a native wait */
	};
	uint64_t vthread;         /* that waits; 0: a platform thread */
	struct holder_stack holder;
	uint64_t from, until, weight; /* WAITS_DONE: what is to be told of it */
	uint32_t class, identity, owner_tid;
	uint32_t record;          /* index of its thread's */
	uint16_t epoch;
	uint8_t kind;             /* enum lock_kind */
	bool owner_virtual;
	bool noted;               /* what it works for stands in `trace_contexts` */
	uint64_t thread;          /* as in struct wait_begin */
	uintptr_t also, sp;       /* of a native wait: see is_in_call */
};

struct waits_table {
	struct slot_table places; /* address space once, memory as it is used */
	struct kept_trace_contexts trace_contexts;
	_Atomic uint32_t done;    /* places with WAITS_DONE */
	_Atomic int event[WAITS_SOURCES];
	int told_event[WAITS_SOURCES]; /* from the start until the memory goes back */
	int wanted[WAITS_SOURCES];     /* from the start to the halt */
	uint64_t started;         /* when the present session did: waits that go on are its own from there on */
	uint64_t halted;          /* when the last session did; 0: it has not */
	_Atomic bool keeping;     /* see waits_keep_open */
	struct carried carried;
};
extern struct waits_table waits_table;

static inline enum waits_of waits_of_kind(enum lock_kind kind)
{
	return lock_kind_is_native(kind) ? WAITS_OF_NATIVE : WAITS_OF_JAVA;
}

static inline bool waits_place_is_native(const struct waits_place *p)
{
	return lock_kind_is_native((enum lock_kind)p->kind);
}

/* P is free again; a free place keeps no trace. */
void waits_place_give_back(struct waits_place *p);
/* Whether P's thread is there: one that has ended told of no end. Of a virtual one only the JVM knows. */
bool waits_place_is_there(const struct waits_place *p);

#endif
