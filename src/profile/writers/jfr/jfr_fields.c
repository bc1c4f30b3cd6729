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
#include "common/words/events.def"
	{NULL, JFR_EVENT_SAMPLE},
};

unsigned jfr_type_of_event(const char *event)
{
	size_t i = 0;

	while (types[i].event && strcmp(types[i].event, event) != 0)
		i++;
	return types[i].type;
}

/* An object outside a TLAB: an event of the JDK, which has no place for the weight. */
static void outside(struct jfr *j, const struct jfr_field_sample *s, uint64_t size)
{
	const struct jfr_value weight[] = {JFR_N(s->weight)};
	const struct jfr_value v[] = {JFR_N(s->thread), JFR_N(s->stack), JFR_N(s->class), JFR_N(size)};

	if (s->weight != size)
		jfr_event(j, JFR_OBJECT_WEIGHT, s->time, weight, ARRAY_LEN(weight));
	jfr_event(j, JFR_OBJECT_OUTSIDE, s->time, v, ARRAY_LEN(v));
}

/* What others' readers of live objects have no field for: they would take it for the next event. */
static void live_weight(struct jfr *j, const struct jfr_field_sample *s)
{
	const struct jfr_value v[] = {JFR_N(s->weight),
				      JFR_N(s->values[event_field_of_kind(&s->fields, EVENT_FIELD_NUMBER)])};

	jfr_event(j, JFR_LIVE_WEIGHT, s->time, v, ARRAY_LEN(v));
}

void jfr_field_sample(struct jfr *j, unsigned type, const struct jfr_field_sample *s)
{
	struct jfr_value v[2 + EVENT_FIELDS_MAX] = {JFR_N(s->thread), JFR_N(s->stack)};
	unsigned i = event_field_of_kind(&s->fields, EVENT_FIELD_OUTSIDE), count = 2;

	if (i < s->fields.count && s->bare) {
		const struct jfr_value sample[] = {JFR_N(s->thread), JFR_N(s->stack), JFR_N(s->class),
						   JFR_N(s->weight)};

		jfr_event(j, JFR_OBJECT_SAMPLE, s->time, sample, ARRAY_LEN(sample));
		return;
	}
	if (i < s->fields.count && s->values[i]) {
		outside(j, s, s->values[event_field_of_kind(&s->fields, EVENT_FIELD_SIZE)]);
		return;
	}
	if (type == JFR_LIVE_OBJECT)
		live_weight(j, s);
	for (i = 0; i < s->fields.count; i++) {
		enum event_field_kind kind = s->fields.items[i].kind;

		if (!s->fields.items[i].jfr[0])
			continue;
		v[count++].number = kind == EVENT_FIELD_CLASS ? s->class : kind == EVENT_FIELD_WEIGHT ? s->weight :
				    kind == EVENT_FIELD_TIME ? jfr_ticks(j, s->values[i]) : s->values[i];
	}
	jfr_event(j, type, s->time, v, count);
}
