#include "profile/readers/jfr/event_sources.h"

#include <string.h>

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
