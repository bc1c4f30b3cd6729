/*
 * askers.h - who asks for memory. For native memory: the function or method that called what hands the wish on to
 * malloc, mmap and the like, and the program's method that it did so for. For objects: their class, and the program's
 * method that they were made for.
 */
#ifndef JSTROBE_MODEL_ASKERS_H
#define JSTROBE_MODEL_ASKERS_H

#include <string.h>

#include "profile/model/name_table.h"

struct asker {
	uint32_t place;  /* a name of the table; of objects, their class */
	uint32_t caller; /* the same; PLACE, if there is no other */
	uint64_t samples, weight;
};

struct askers {
	struct name_table names;
	struct asker *rows; /* the most bytes first */
	uint32_t count;
};

/* Frames of the JDK, and native ones, say how something is done, not who has it done. */
static inline bool frame_is_of_jdk(const struct profile_frame *f)
{
	return !f->class_name || class_is_of_jdk(f->class_name);
}

/* Whether F is of a class that the JDK makes for a lambda, and calls by a name of its own making. */
static inline bool frame_is_lambda(const struct profile_frame *f)
{
	return f->class_name && strstr(f->class_name, "$$Lambda");
}

/* Whether F is a method of the program itself, and no lambda of it. */
static inline bool frame_is_of_program(const struct profile_frame *f)
{
	return frame_is_method(f) && !class_is_of_jdk(f->class_name) && !frame_is_lambda(f);
}

/* The frames, of the first DEPTH of S in P, of who asked for native memory, and for whom. DEPTH is not 0. */
uint32_t asker_place(const struct profile *p, const struct profile_stack *s, uint32_t depth);
/* The innermost method of the program, else its innermost lambda or class; OTHERWISE: there is none. */
uint32_t asker_caller(const struct profile *p, const struct profile_stack *s, uint32_t depth, uint32_t otherwise);

/* Those of P, of native memory or objects, with names in STYLE. 0 or -ENOMEM; free in both cases. Normal code. */
int askers_find(struct askers *a, const struct profile *p, unsigned style);
void askers_free(struct askers *a);

#endif
