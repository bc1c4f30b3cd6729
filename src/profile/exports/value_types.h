/*
 * value_types.h - what a profile's numbers are called in files for other viewers (value_names.h).
 */
#ifndef JSTROBE_EXPORTS_VALUE_TYPES_H
#define JSTROBE_EXPORTS_VALUE_TYPES_H

#include "profile/model/profile.h"
#include "profile/readers/others/value_names.h"

#define VALUE_TYPES_MOST VALUE_ROLES

struct value_type {
	char name[64];
	const char *unit; /* "count", "nanoseconds", "bytes", or the profile's own */
	enum value_role of;
};

/*
 * The numbers that each stack of P has: how many. The last one is the weight, which is what viewers should show first.
 */
unsigned value_types_of(const struct profile *p, struct value_type types[VALUE_TYPES_MOST]);
/* The one of stack S that TYPE names. */
static inline uint64_t value_of(const struct profile_stack *s, const struct value_type *type)
{
	return type->of == VALUE_SAMPLES ? s->samples : type->of == VALUE_OBJECTS ? s->objects : s->weight;
}

#endif
