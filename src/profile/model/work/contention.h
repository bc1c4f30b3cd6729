/*
 * contention.h - which locks held threads up, and what those did that had them.
 *
 * Of waits (event lock) it is known: the lock's class, and the owner with its stack. Wall time has only stacks, so it
 * is concluded: a thread waits to enter a monitor in method M, or for a lock that M asks for; who had it meanwhile is
 * a thread that has M on its stack, does not wait there, and is there while others wait (wall_owners.c). That is no
 * proof: M may have more to do than that.
 */
#ifndef JSTROBE_MODEL_CONTENTION_H
#define JSTROBE_MODEL_CONTENTION_H

#include "profile/model/name_table.h"
#include "profile/model/work/work.h"

#define NO_NAME_OF UINT32_MAX

/*
 * How classes of monitors begin of which a ConcurrentHashMap has many: its bins, and those for once that it makes for
 * each computeIfAbsent and enters before others can (ReservationNode).
 */
#define LOCKS_OF_MAP "java/util/concurrent/ConcurrentHashMap$"

struct contended {
	uint32_t place;         /* name of the method that asks for it; of waits: of the lock's class */
	const char *lock;       /* class of the lock (slashes); NULL: a monitor of unknown class */
	uint8_t kind;           /* enum lock_kind; of waits only */
	uint64_t identity;      /* … of the one lock of its class; 0: there are several, or it is not known */
	uint32_t number;        /* … its place in the profile's locks + 1; 0: of its class there may be several */
	uint32_t locks;         /* … of its class */
	bool of_class;          /* `place` is a class of locks, of waits */
	bool unowned;           /* it gives permits: no thread has it */
	uint64_t blocked;       /* of weight, that was waited to enter a monitor */
	uint64_t ready;         /* … for a class that another thread initialises (class_inits.c) */
	uint64_t samples, weight; /* that was waited, idle waits aside */
	uint32_t group;         /* whose threads waited most; NO_GROUP: not known */
	uint64_t group_weight;
	uint32_t asked_in;      /* name of the method that asks for it most */
	const char *asker;      /* its class, of waits; NULL: not known */
	bool asks_here_alone;   /* that class asks for locks of this one nowhere else */
	/* what who had it did meanwhile */
	uint32_t method;        /* name; NO_NAME_OF: not known */
	const char *owner;      /* pattern of the thread's name */
	uint64_t method_weight, known_weight; /* of that method, and of all that is known of owners */
	uint64_t known;         /* … of so many waits; of waits only */
	uint32_t found;         /* its place before rows were sorted */
	bool several;           /* it may be several locks: of wall time, if many wait, and no one owner is known */
	uint8_t activity;       /* what it mostly did there; of wall time only */
};

/* Owner number `holder` of the profile can have had the lock of row number `row`. */
struct contended_by {
	uint32_t row, holder;
	uint32_t pattern, method; /* of its thread's name, in the groups' texts; name of what it did */
};

struct contention {
	struct name_table names; /* of the profile's frames */
	struct contended *rows;  /* the most weight first */
	uint32_t count;
	struct work *work;
	uint32_t *row_of;        /* stack → the row that its thread waits for + 1; 0: none */
	struct contended_by *by; /* of waits: whose stacks are known */
	size_t by_count;
};

/* Find those of P, whose work is W. 0 or -ENOMEM; free in both cases. Normal code. */
int contention_find(struct contention *c, const struct profile *p, struct work *w);
void contention_free(struct contention *c);

/* How many of the first rows are worth to be told: at most three, each of a hundredth of what is not idle. */
uint32_t contention_worth(const struct contention *c);
/* Append row R as one sentence without full stop. */
void contention_put(struct buffer *out, const struct contention *c, const struct contended *r);

#endif
