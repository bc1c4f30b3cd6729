/*
 * contention_inside.h - what the files that find contention share. Inner header of the room.
 */
#ifndef JSTROBE_MODEL_CONTENTION_INSIDE_H
#define JSTROBE_MODEL_CONTENTION_INSIDE_H

#include "common/base/map.h"
#include "common/base/vector.h"
#include "profile/model/work/contention.h"

/* What a row has with one group, or with one method of its owners. */
struct pair {
	uint32_t row, what;
	uint64_t weight, by_activity[ACTIVITIES];
};

struct pairs {
	struct map places; /* row and what → index + 1 */
	VECTOR(struct pair) list;
};

/* How many locks of a class were waited for: one that is known, or several, or it is not known. */
enum { LOCKS_ONE = 1, LOCKS_SEVERAL };
#define LOCK_APART (1u << 31)

struct finding {
	const struct profile *p;
	struct contention *to;
	struct map by_place; /* name, of waits for a lock with which, or with who asks, → row + 1 */
	struct map locks;    /* name of a class of locks → LOCKS_* */
	VECTOR(struct contended) rows;
	struct pairs waiters, places, methods, owners; /* by group; by name; by name; by pattern */
	struct pairs threads; /* that wait, of wall time */
	VECTOR(struct contended_by) by;
	uint32_t *row_of;     /* by stack: the row that it waits for + 1; 0: none */
};

/* Add WEIGHT to what ROW has with WHAT. False: no memory. */
bool contention_add(struct pairs *s, uint32_t row, uint32_t what, uint8_t activity, uint64_t weight);
/* Who held each row most, by the pattern of the name, is its owner. False: no memory. */
bool contention_take_owners(struct finding *f);

/*
 * Where stack S of wall time asks for its lock: frame number, or NO_NAME_OF. LOCK gets its class where methods of
 * java.util.concurrent say it.
 */
uint32_t contention_place_in(const struct profile *p, const struct profile_stack *s, const char **lock);
/*
 * What FRAMES[0..DEPTH) did that has gone through method PLACE to get a lock: the first method of the program that
 * PLACE calls, or PLACE; NO_NAME_OF while it gets or gives back a lock there. Has it not, the innermost method of the
 * program, or at all.
 */
uint32_t contention_method_in(const struct finding *f, const uint32_t *frames, uint32_t depth, uint32_t place);
/* Who waits for ROW alone, and most, did not hold it up: the thread called like TEXT does. */
bool contention_is_waiter(const struct finding *f, const struct contended *row, uint32_t text);

/* The owners of rows of wall time. False: no memory. */
bool wall_owners_find(struct finding *f);

#endif
