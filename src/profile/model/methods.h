/*
 * methods.h - the table of hot methods.
 *
 * self: samples (ns) with the method on top; total: samples (ns) with the method
 * anywhere in the stack, once a stack however often it recurs. Kinds and lines
 * are summed up.
 */
#ifndef JSTROBE_MODEL_METHODS_H
#define JSTROBE_MODEL_METHODS_H

#include "profile/model/name_table.h"

struct method {
	uint32_t name; /* in methods.names */
	const char *called; /* what of the JDK it waited in, where rows are by methods of the program; NULL: nothing */
	uint64_t self, total;
	uint64_t self_weight, total_weight; /* in the profile's unit */
	uint64_t self_objects, total_objects;
};

struct methods {
	struct name_table names;
	struct method *rows; /* hottest self first, then total, then name */
	uint32_t count;
};

/* Sum up P with names in STYLE, sorted by weight or samples. 0 or -ENOMEM; free in both cases. */
int methods_build(struct methods *m, const struct profile *p, unsigned style, bool by_weight);
void methods_free(struct methods *m);

#endif
