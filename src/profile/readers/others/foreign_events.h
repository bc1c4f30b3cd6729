/*
 * foreign_events.h - numbers of stacks in files of other profilers ("alloc_space", bytes) as events with samples,
 * objects and weights. Inner header of the readers room.
 *
 * A file first says what its numbers are (foreign_events_number for each), then foreign_events_begin; from then on each
 * stack's numbers are added.
 */
#ifndef JSTROBE_READERS_FOREIGN_EVENTS_H
#define JSTROBE_READERS_FOREIGN_EVENTS_H

#include "common/base/error.h"
#include "profile/readers/others/foreign_frame.h"
#include "profile/readers/others/value_names.h"
#include "profile/readers/read_aggregate.h"

#define FOREIGN_NUMBERS_MOST 200 /* of a stack */

struct foreign_event {
	char name[64];
	uint32_t column[VALUE_ROLES]; /* place of its numbers + 1; 0: there is none */
	uint64_t scale[VALUE_ROLES];  /* what one of them is, in ns or bytes */
	enum weight_kind kind;
	uint32_t family;              /* in the aggregate; UINT32_MAX: it is not wanted */
	bool leaf_is_object;          /* of our own files */
};

struct foreign_events {
	struct read_aggregate *to;
	VECTOR(struct foreign_event) items;
	uint32_t columns;      /* numbers of a stack */
	uint64_t period;       /* ns of CPU time that a sample stands for; 0: not known */
	uint64_t negative;     /* numbers below 0, which are 0 here */
	bool ours;             /* we wrote the file */
	bool moments;          /* when samples were taken is kept */
};

/* The next number of each stack is called NAME and counts UNIT. */
bool foreign_events_number(struct foreign_events *e, const struct foreign_text *name, const struct foreign_text *unit);
/* A sample stands for PERIOD of what is called so. The ns or bytes that this is, 0: it is neither. */
uint64_t foreign_events_period(struct foreign_events *e, const struct foreign_text *name,
			       const struct foreign_text *unit, uint64_t period);
/* All numbers are known; FAMILIES: those wanted, "" = all. */
void foreign_events_begin(struct foreign_events *e, const char *families);
/*
 * Add VALUES, a number for each column, to STACK and, unless it is READ_NO_THREAD, to THREAD; APART: the thread (or
 * pair of read_contexts.h) that its stacks are apart by.
 */
struct foreign_place {
	uint32_t stack, thread, apart;
	uint8_t state;
	bool timed;
	int64_t time; /* ns since the beginning, if it is timed */
};
void foreign_events_add(struct foreign_events *e, const struct foreign_event *event, const uint64_t *values,
			const struct foreign_place *at);
/* Whether VALUES have something of EVENT, which is wanted. */
bool foreign_event_has(const struct foreign_event *event, const uint64_t *values);
/* Values below 0 become 0. */
void foreign_events_check(struct foreign_events *e, uint64_t *values);
/*
 * For files whose stacks have a weight alone: the event NAME whose weights are of UNIT, *SCALE ns or bytes each. False:
 * FAMILIES does not want it, or out of memory. Its values are those of the roles of value_names.h.
 */
bool foreign_event_of(struct foreign_events *e, const char *name, const struct foreign_text *unit, const char *families,
		      struct foreign_event *event, uint64_t *scale);
/* What an event is called of which only the unit of its weights is known. */
const char *foreign_unit_event(const struct foreign_text *unit);
void foreign_events_free(struct foreign_events *e);

#endif
