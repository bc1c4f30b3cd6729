#include "profile/readers/jfr/event_sources.h"

#include <string.h>

#include "common/words/events.h"

#define WHEN_MAIN true
#define WHEN_ASKED false

const struct family convert_families[] = {
#define FAMILY(name, unit, when, help) {name, FAMILY_##unit, WHEN_##when, help},
#include "profile/readers/jfr/event_sources.def"
	{NULL, FAMILY_COUNT, false, NULL},
};

const struct source convert_sources[] = {
#define SOURCE(event, family, weight, object) {event, family, weight, object},
#include "profile/readers/jfr/event_sources.def"
	{NULL, NULL, NULL, NULL},
};

/* Types of recordings that samples of an event have to themselves. */
static const struct {
	const char *event, *family;
} rows[] = {
#define EVENT_TYPE(event, id, name, label) {name, event},
#include "common/words/events.def"
	{NULL, NULL},
};

static const char *field_of(const struct event_fields *f, enum event_field_kind kind)
{
	unsigned i = event_field_of_kind(f, kind);

	return i < f->count ? f->items[i].jfr : NULL;
}

bool source_of_row(const char *event, struct source *s)
{
	const struct source *known = convert_sources;
	struct event_fields f;
	size_t i = 0;

	while (known->event && strcmp(known->event, event) != 0)
		known++;
	if (known->event) /* a type that others write, too */
		return false;
	while (rows[i].event && strcmp(rows[i].event, event) != 0)
		i++;
	if (!rows[i].event)
		return false;
	f = event_fields_of(rows[i].family);
	*s = (struct source){rows[i].event, rows[i].family, field_of(&f, EVENT_FIELD_WEIGHT),
			     field_of(&f, EVENT_FIELD_CLASS)};
	return true;
}

bool source_row_wanted(const char *list, const char *name)
{
	return !*list || family_named(list, "all") || family_named(list, name);
}

const struct family *family_by_name(const char *name)
{
	const struct family *f;

	for (f = convert_families; f->name; f++)
		if (strcmp(f->name, name) == 0)
			return f;
	return NULL;
}

bool family_named(const char *list, const char *name)
{
	size_t length = strlen(name), n;

	for (; *list; list += n + (list[n] != '\0')) {
		n = strcspn(list, ",");
		if (n == length && memcmp(list, name, n) == 0)
			return true;
	}
	return false;
}

bool family_wanted(const char *list, const char *name)
{
	const struct family *f = family_by_name(name);

	if (!*list)
		return !f || f->main;
	return family_named(list, "all") || family_named(list, name);
}
