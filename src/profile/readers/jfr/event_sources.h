/*
 * event_sources.h - what is asked for, against what a recording has: which events count, and for what.
 */
#ifndef JSTROBE_READERS_JFR_EVENT_SOURCES_H
#define JSTROBE_READERS_JFR_EVENT_SOURCES_H

#include "common/base/vector.h"

enum family_unit { FAMILY_TIME, FAMILY_BYTES, FAMILY_COUNT };

struct family {
	const char *name;
	enum family_unit unit;
	bool main; /* shown when nothing is asked for */
	const char *help;
};

struct source {
	const char *event, *family, *weight, *object;
};

/* Both end with an entry without names. */
extern const struct family convert_families[];
extern const struct source convert_sources[];

/* The source that a row of events.def makes of EVENT, the name of a type. False: none does. */
bool source_of_row(const char *event, struct source *s);
/* Whether a sample of ours of the event NAME is wanted by LIST: if nothing is asked for, it is. */
bool source_row_wanted(const char *list, const char *name);
/* The family called NAME, or NULL. */
const struct family *family_by_name(const char *name);
/* Whether family NAME is wanted by LIST, "cpu,alloc"; "" = the main ones, "all" = each. */
bool family_wanted(const char *list, const char *name);
/* Whether LIST names it, and not just by "" or "all". */
bool family_named(const char *list, const char *name);

#endif
