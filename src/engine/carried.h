/*
 * carried.h - waits that go on from one session to the next: of a loop each round is a session of its own. Inner header
 * of the engine room.
 *
 * The store of traces goes with its session, so what waits have of it is copied meanwhile. A thread that waits is where
 * it was, and its methods are there, so that its stack means in the next session what it meant in the last one.
 * Ends are heard between the two, too: who ends a wait marks its place.
 *
 * For who begins and ends sessions; carried_put once the store is open.
 */
#ifndef JSTROBE_ENGINE_CARRIED_H
#define JSTROBE_ENGINE_CARRIED_H

#include "base/map.h"
#include "base/vector.h"
#include "signal/zone.h"

/* A wait that goes on, by the number of its place. */
struct carried_wait {
	uint32_t place;
	pid_t tid;               /* of its thread, or of who carried it when it began */
	uint32_t trace, holder;  /* see carried_add */
};

struct carried {
	VECTOR(struct carried_wait) waits;
	VECTOR(struct carried_trace {
		struct trace *copy;
		const struct trace *now;
		bool tried;
	}) traces;
	struct map by_trace;     /* where T was → number */
};

/* T is copied, once for all who keep it. Its number; 0: T is NULL, or there is no memory. */
uint32_t carried_add(struct carried *c, const struct trace *t);
/* Number N in the present store, by SELF, which is entered; NULL = 0, or there is no room. */
const struct trace *carried_put(struct carried *c, uint32_t n, struct thread_record *self);
void carried_free(struct carried *c);
/* The running thread's record, one of ours, entered: what it stores stays until handler_leave. NULL: it has none. */
struct thread_record *carried_enter(void);
/* The record of TID, or SELF; NULL: it has ended, and IS_VIRTUAL is false. */
struct thread_record *carried_record(pid_t tid, bool is_virtual, struct thread_record *self);

#endif
