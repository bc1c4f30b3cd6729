/*
 * surroundings.c - the names of what goes on around the samples, as JSON and recordings have them.
 */
#include "profile/model/surroundings.h"

#include <string.h>

static const char *const names[SURROUNDINGS] = {
#define SURROUNDING(id, unit, meaning) #id,
#include "profile/model/surroundings.def"
};

const char *surrounding_name(enum surrounding which)
{
	return names[which];
}

enum surrounding surrounding_by_name(const char *name)
{
	unsigned i;

	for (i = 0; i < SURROUNDINGS && strcmp(names[i], name) != 0; i++)
		;
	return (enum surrounding)i;
}
