/*
 * events.h - the table of events (events.def) as data: what each is called, what its samples weigh and say.
 * Constant; includable everywhere.
 */
#ifndef JSTROBE_WORDS_EVENTS_H
#define JSTROBE_WORDS_EVENTS_H

#include "common/base/base.h"

/* What a sample weighs. */
enum weight_kind {
#define WEIGHT(id, of, unit, words) WEIGHT_##id,
#include "common/words/events.def"
	WEIGHT_KINDS
};

struct weight_kind_name {
	const char *of;    /* "cpu", "events" */
	const char *unit;  /* "ns", "events", "bytes" */
	const char *words; /* "of CPU time" */
};
extern const struct weight_kind_name weight_kind_names[WEIGHT_KINDS];

/* Weights are ns. */
static inline bool weight_is_time(enum weight_kind kind)
{
	return kind == WEIGHT_CPU || kind == WEIGHT_WALL || kind == WEIGHT_WAIT || kind == WEIGHT_IO;
}

/* The kind whose `of` is WORD; WEIGHT_KINDS: none. */
enum weight_kind weight_kind_of(const char *word);

#define EVENT_FIELDS_MAX 6

enum event_field_kind {
	EVENT_FIELD_CLASS, EVENT_FIELD_FLAG, EVENT_FIELD_NUMBER, EVENT_FIELD_BYTES, EVENT_FIELD_SIZE,
	EVENT_FIELD_TIME, EVENT_FIELD_ID, EVENT_FIELD_WEIGHT, EVENT_FIELD_OUTSIDE, EVENT_FIELD_TARGET,
	EVENT_FIELD_OPERATION, EVENT_FIELD_TARGET_KIND,
};

/* What samples of an event say besides. */
struct event_field {
	const char *event, *key, *jfr, *help;
	enum event_field_kind kind;
};
struct event_fields {
	const struct event_field *items;
	unsigned count; /* at most EVENT_FIELDS_MAX */
};

struct event_row {
	const char *name;
	bool available;     /* else its name is known, and that is all */
	enum weight_kind weight;
	uint64_t interval;  /* the default, in the unit of weights */
	uint64_t least;     /* the shortest one */
	const char *help;
};

#define EVENT_LONGEST (100 * NS_PER_S) /* an interval of an event whose weights are ns */

/* Ends with an entry without a name. */
extern const struct event_row event_rows[];

/* The row called NAME[0..LENGTH), or NULL. */
const struct event_row *event_row_of(const char *name, size_t length);
const struct event_row *event_row_named(const char *name);
/* The fields of event NAME; none: it has no more to say. */
struct event_fields event_fields_of(const char *name);
/* The number of the field of KIND, the first there is; F->count: none. */
unsigned event_field_of_kind(const struct event_fields *f, enum event_field_kind kind);

#endif
