#include "profile/exports/value_types.h"

#include <stdio.h>
#include <string.h>

#include "profile/model/profile_unit.h"

/* What the numbers of EVENT are called; those of the last row, which has no names: after the event. */
static const struct value_names *names_of(const char *event)
{
	const struct value_names *row = value_names;

	while (row->event && strcmp(row->event, event) != 0)
		row++;
	return row;
}

static const char *unit_of(const struct profile *p)
{
	const char *unit = profile_unit(p);

	return strcmp(unit, "ns") == 0 ? "nanoseconds" : strcmp(unit, "events") == 0 ? "count" : unit;
}

static struct value_type type_of(const struct profile *p, enum value_role role, const char *unit)
{
	struct value_type t = {.unit = unit, .of = role};
	const char *name = names_of(p->event)->of[role];

	snprintf(t.name, sizeof(t.name), "%s%s", name ? name : p->event, name ? "" : value_name_endings[role]);
	return t;
}

unsigned value_types_of(const struct profile *p, struct value_type types[VALUE_TYPES_MOST])
{
	unsigned n = 0;

	types[n++] = type_of(p, VALUE_SAMPLES, "count");
	if (p->objects)
		types[n++] = type_of(p, VALUE_OBJECTS, "count");
	types[n++] = type_of(p, VALUE_WEIGHT, unit_of(p));
	return n;
}
