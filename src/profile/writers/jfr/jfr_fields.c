/*
 * jfr_fields.c - samples of events that have a type of their own, as their rows of events.def have it.
 */
#include <string.h>

#include "profile/writers/jfr/jfr.h"

static const struct {
	const char *event;
	unsigned type;
} types[] = {
#define EVENT_TYPE(event, id, name, label) {event, JFR_##id},
#include "common/base/events.def"
	{NULL, JFR_EVENT_SAMPLE},
};

unsigned jfr_type_of_event(const char *event)
{
	size_t i = 0;

	while (types[i].event && strcmp(types[i].event, event) != 0)
		i++;
	return types[i].type;
}

void jfr_field_sample(struct jfr *j, unsigned type, const struct jfr_field_sample *s)
{
	struct jfr_value v[2 + EVENT_FIELDS_MAX] = {JFR_N(s->thread), JFR_N(s->stack)};
	unsigned i, count = 2;

	for (i = 0; i < s->fields.count; i++) {
		enum event_field_kind kind = s->fields.items[i].kind;

		if (kind == EVENT_FIELD_ID)
			continue;
		v[count++].number = kind == EVENT_FIELD_CLASS ? s->class : kind == EVENT_FIELD_WEIGHT ? s->weight :
				    kind == EVENT_FIELD_TIME ? jfr_ticks(j, s->values[i]) : s->values[i];
	}
	jfr_event(j, type, s->time, v, count);
}
