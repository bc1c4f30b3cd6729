#include "agent/session/own_times.h"

#include <stdlib.h>

#include "profile/model/time/read_times.h"
#include "profile/writers/format.h"

#define MOST (1u << 18) /* of all events: 8 MB */

bool own_times_wanted(const struct options *o)
{
	return o->format[0] && !o->no_times && format_has_times(format_by_name(o->format));
}

void own_times_unfold(struct own_times *t, struct profile **profiles, uint32_t count)
{
	for (; t->count < count; t->count++)
		read_times(profiles[t->count], MOST / count, &t->moments[t->count]);
}

void own_times_free(struct own_times *t)
{
	while (t->count)
		free(t->moments[--t->count]);
}
