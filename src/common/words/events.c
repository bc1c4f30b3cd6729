#include "common/words/events.h"

#include <string.h>

const struct weight_kind_name weight_kind_names[WEIGHT_KINDS] = {
#define WEIGHT(id, of, unit, words) {of, unit, words},
#include "common/words/events.def"
};

enum weight_kind weight_kind_of(const char *word)
{
	unsigned kind = 0;

	while (kind < WEIGHT_KINDS && strcmp(weight_kind_names[kind].of, word) != 0)
		kind++;
	return (enum weight_kind)kind;
}

#define AVAILABLE_NOW true
#define AVAILABLE_LATER false

const struct event_row event_rows[] = {
#define EVENT(name, when, source, weight, interval, least, help) \
	{name, AVAILABLE_##when, WEIGHT_##weight, interval, least, help},
#include "common/words/events.def"
	{NULL, false, WEIGHT_COUNT, 0, 0, NULL},
};

static const struct event_field event_fields[] = {
#define EVENT_FIELD(event, key, kind, jfr, help) {event, key, jfr, help, EVENT_FIELD_##kind},
#include "common/words/events.def"
	{NULL, NULL, NULL, NULL, EVENT_FIELD_NUMBER},
};

const struct event_row *event_row_of(const char *name, size_t length)
{
	const struct event_row *row;

	for (row = event_rows; row->name; row++)
		if (strlen(row->name) == length && memcmp(row->name, name, length) == 0)
			return row;
	return NULL;
}

const struct event_row *event_row_named(const char *name)
{
	return event_row_of(name, strlen(name));
}

struct event_fields event_fields_of(const char *name)
{
	struct event_fields f = {event_fields, 0};

	while (f.items->event && strcmp(f.items->event, name) != 0)
		f.items++;
	while (f.items[f.count].event && strcmp(f.items[f.count].event, name) == 0)
		f.count++;
	return f;
}

unsigned event_field_of_kind(const struct event_fields *f, enum event_field_kind kind)
{
	unsigned i = 0;

	while (i < f->count && f->items[i].kind != kind)
		i++;
	return i;
}
