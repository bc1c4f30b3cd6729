/*
 * askers.h - who asks for native memory: the function or method that called what hands the wish on to malloc, mmap and
 * the like, and the program's method that it did so for.
 */
#ifndef JSTROBE_MODEL_ASKERS_H
#define JSTROBE_MODEL_ASKERS_H

#include <string.h>

#include "profile/model/name_table.h"

struct asker {
	uint32_t place, caller; /* names of the table; caller: place, if there is no other */
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
	static const char *const packages[] = {"java/", "javax/", "jdk/", "sun/", "com/sun/"};
	size_t i;

	for (i = 0; f->class_name && i < ARRAY_LEN(packages); i++)
		if (strncmp(f->class_name, packages[i], strlen(packages[i])) == 0)
			return true;
	return !f->class_name;
}

/* The frames, of the first DEPTH of S in P, of who asked for native memory, and for whom. DEPTH is not 0. */
uint32_t asker_place(const struct profile *p, const struct profile_stack *s, uint32_t depth);
/* The innermost frame that is none of the JDK; OTHERWISE: there is none. */
uint32_t asker_caller(const struct profile *p, const struct profile_stack *s, uint32_t depth, uint32_t otherwise);

/* Those of P, of native memory, with names in STYLE. 0 or -ENOMEM; free in both cases. Normal code. */
int askers_find(struct askers *a, const struct profile *p, unsigned style);
void askers_free(struct askers *a);

#endif
