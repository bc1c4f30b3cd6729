/*
 * leaks.h - which places keep more and more: suspects of a leak, in a profile of what is there (objects of the Java
 * heap, or blocks of native memory).
 *
 * What is there now and was allocated in the session is told apart by when: in its first half, or its second (of the
 * time up to the last collection: what is younger nothing is known of). A place that fills a cache has objects of the
 * first half, one that renews it of the second; one that leaks has both, about as many. So it grows by at least twice
 * the smaller of the two in that time. The interval is of chance alone, as samples are few: two standard errors. Both
 * which objects are samples and how many came in that half is chance, so that the number of samples varies as that of a
 * Poisson process does: each adds the square of its weight. Else one large object a half, which is a sample for sure,
 * would be sure growth.
 */
#ifndef JSTROBE_MODEL_LEAKS_H
#define JSTROBE_MODEL_LEAKS_H

#include "profile/model/name_table.h"

#define LEAK_NO_CLASS UINT32_MAX

struct leak {
	uint32_t class;            /* name of the table: what is there; LEAK_NO_CLASS: native memory */
	uint32_t place;            /* the method or function that allocates it */
	uint32_t caller;           /* the innermost method above that is not of the JDK; place, if it is that one */
	uint64_t there;            /* bytes that are there */
	uint64_t example;          /* as in struct profile_growth, of all its stacks */
	double rate, least, most;  /* bytes an hour, and its interval */
};

struct leaks {
	struct name_table names;
	struct leak *rows;         /* the fastest first: those that surely grow */
	uint32_t count;
	double rate, least, most;  /* of all of them together */
};

/* When the heap is full if its suspects go on: the interval of their growth makes one of the time. */
struct leaks_full {
	double soonest, latest;    /* hours */
	uint64_t free;             /* bytes of the heap, at its last collection */
};

/* Those of P. None where it has no `growth`. 0 or -ENOMEM; free in both cases. Normal code. */
int leaks_find(struct leaks *l, const struct profile *p);
void leaks_free(struct leaks *l);
/* WEIGHT more bytes, by a sample of what is there, of half HALF of the time. */
void leaks_grow(struct profile_growth *g, uint64_t weight, bool half);
/* The same of another count of the same stack or place. */
void leaks_add_growth(struct profile_growth *to, const struct profile_growth *g);
/* By which references ROW's objects are held, as P says it; NULL: it does not. */
const struct profile_chain *leaks_chain(const struct leaks *l, const struct leak *row, const struct profile *p);
/* Whether P says what grows: of its stacks it is known when what is there was allocated. */
bool leaks_known(const struct profile *p);
/* Whether P's heap becomes full by what grows. False: nothing surely does, or P does not say how large the heap is. */
bool leaks_fill(const struct leaks *l, const struct profile *p, struct leaks_full *full);

/* How many are told of on a screen. */
#define LEAKS_SHOWN 5
/*
 * As text, without an end of line: what the rows are; ROW, its rate between ON and OFF; and when the heap is full,
 * which is nothing where leaks_fill is false.
 */
void leaks_put_title(struct buffer *out, const struct profile *p);
void leaks_put_row(struct buffer *out, const struct leaks *l, const struct leak *row, const char *on, const char *off);
/* Behind ROW: how its objects are held. Nothing where P does not say. */
void leaks_put_chain(struct buffer *out, const struct leaks *l, const struct leak *row, const struct profile *p);
void leaks_put_full(struct buffer *out, const struct leaks *l, const struct profile *p);

#endif
