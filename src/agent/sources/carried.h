/*
 * carried.h - waits that go on from one session to the next: of a loop each round is a session of its own. Inner header
 * of the sources room.
 *
 * The stack store goes with its session, so what waits have of it is copied meanwhile. A thread that waits is where
 * it was, and its methods are there, so that its stack means in the next session what it meant in the last one.
 * Ends are heard between the two, too: who ends a wait marks its place.
 *
 * For who begins and ends sessions; carried_put once the store is open.
 */
#ifndef JSTROBE_SOURCES_CARRIED_H
#define JSTROBE_SOURCES_CARRIED_H

#include "agent/sources/kept_contexts.h"
#include "agent/sources/slot_table.h"
#include "agent/zone/zone.h"
#include "common/base/map.h"
#include "common/base/vector.h"

/* A wait that goes on, by the number of its place. */
struct carried_wait {
	uint32_t place;
	pid_t tid;               /* of its thread, or of who carried it when it began */
	uint32_t trace, holder;  /* number of its copy; 0: it has none */
};

struct carried {
	VECTOR(struct carried_wait) waits;
	VECTOR(struct carried_stack {
		struct stack_trace *copy;
		const struct stack_trace *now;
		bool tried;
	}) traces;
	struct map by_stack;     /* where T was → number */
};

struct carried_table;

/* The wait at PLACE of T, of record number RECORD, with its stack and its holder's (or NULL). False: no memory. */
bool carried_note(const struct carried_table *t, const void *place, uint32_t record, const struct stack_trace *trace,
		  const struct stack_trace *holder);
/* Number N in the present store, by SELF, which is entered; NULL = 0, or there is no room. */
const struct stack_trace *carried_put(struct carried *c, uint32_t n, struct thread_record *self);

/* A table of waits, whose places stay where they go on. PLACE: one of its own kind. */
struct carried_table {
	struct slot_table *places;
	struct kept_trace_contexts *trace_contexts;
	struct carried *carried;
	bool (*carry)(void *place); /* it is noted in `carried`; false: its wait does not go on */
	/* PLACE is as W says, what SELF stores stays; false: its wait has ended */
	bool (*take_up)(void *place, const struct carried_wait *w, struct thread_record *self);
	void (*give_back)(void *place);
};

/* T's session is over: its memory goes back, or, if KEEP, places are kept in which waits go on. No session runs. */
void carried_release(const struct carried_table *t, bool keep);
/* What was carried goes on in the session that begins. */
void carried_go_on(const struct carried_table *t);
/* All memory goes back. */
void carried_clear(const struct carried_table *t);
/*
 * Whether a wait that was OVER between two sessions, 0 = was not, had ended before this one began with it, which was
 * HALTED, 0 = is not. What ends behind the halt was open until then.
 */
static inline bool carried_has_ended(const _Atomic uint64_t *over, uint64_t halted)
{
	uint64_t at = atomic_load_explicit((_Atomic uint64_t *)over, memory_order_relaxed);

	return at && (!halted || at < halted);
}

/* The record of TID, or SELF; NULL: it has ended, and IS_VIRTUAL is false. */
struct thread_record *carried_record(pid_t tid, bool is_virtual, struct thread_record *self);

#endif
