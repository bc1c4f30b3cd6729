/*
 * finish.c - what is decided when all options have been read: which events they mean together.
 */
#include <string.h>

#include "options/table.h"

/* Whether LIST holds NAME, with an interval or without. */
static bool holds(const char *list, const char *name)
{
	size_t n;

	for (; *list; list += n + (list[n] != '\0')) {
		n = strcspn(list, ",");
		if (option_is(name, list, MIN(n, strcspn(list, "@"))))
			return true;
	}
	return false;
}

int option_finish_events(struct options *o, bool event_said, struct error *err)
{
	int rc = 0;

	if (o->wall && !holds(o->event, "wall")) {
		if (!event_said)
			o->event[0] = '\0';
		rc = option_add_event("wall", o, err);
	}
	return rc ? rc : option_check_interval(o, err);
}
