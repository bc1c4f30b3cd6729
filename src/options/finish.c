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
	const struct {
		const char *name;
		uint64_t said;
	} timed[] = {{"wall", o->wall}, {"lock", o->lock}};
	int rc = 0;
	size_t i;

	for (i = 0; rc == 0 && i < ARRAY_LEN(timed); i++) {
		if (!timed[i].said || holds(o->event, timed[i].name))
			continue;
		if (!event_said)
			o->event[0] = '\0';
		event_said = true;
		rc = option_add_event(timed[i].name, o, err);
	}
	return rc ? rc : option_check_interval(o, err);
}
