#include "profile/readers/others/foreign_events.h"

#include <stdlib.h>
#include <string.h>

#include "profile/readers/jfr/event_sources.h"

/* Units that others have, and how many of ours one of them is. */
static const struct {
	const char *name;
	enum { OF_TIME, OF_BYTES, OF_COUNT } of;
	uint64_t scale;
} units[] = {
	{"nanoseconds", OF_TIME, 1},    {"nanosecond", OF_TIME, 1},     {"ns", OF_TIME, 1},
	{"microseconds", OF_TIME, 1000}, {"us", OF_TIME, 1000},         {"milliseconds", OF_TIME, NS_PER_MS},
	{"ms", OF_TIME, NS_PER_MS},     {"seconds", OF_TIME, NS_PER_S}, {"s", OF_TIME, NS_PER_S},
	{"bytes", OF_BYTES, 1},         {"byte", OF_BYTES, 1},          {"By", OF_BYTES, 1},
	{"b", OF_BYTES, 1},             {"kilobytes", OF_BYTES, 1024},  {"kb", OF_BYTES, 1024},
	{"megabytes", OF_BYTES, 1048576}, {"mb", OF_BYTES, 1048576},
};

static bool is(const struct foreign_text *t, const char *word)
{
	return t->length == strlen(word) && memcmp(t->bytes, word, t->length) == 0;
}

/* The place of UNIT in `units`; ARRAY_LEN: it counts something. */
static size_t unit_of(const struct foreign_text *unit)
{
	size_t i = 0;

	while (i < ARRAY_LEN(units) && !is(unit, units[i].name))
		i++;
	return i;
}

/* What a number is: of which event, and what of it. */
struct meaning {
	const char *event;
	size_t length;
	enum value_role role;
};

static struct meaning meaning_of(const struct foreign_text *name, bool counts, bool ours)
{
	const struct value_names *row;
	struct meaning m = {name->bytes, name->length, VALUE_WEIGHT};
	unsigned role;

	for (row = value_names; row->event; row++)
		for (role = 0; role < VALUE_ROLES && (ours || !row->ours); role++)
			if (row->of[role] && is(name, row->of[role]) && (counts || role == VALUE_WEIGHT))
				return (struct meaning){row->event, strlen(row->event), role};
	for (role = 0; counts && role < VALUE_WEIGHT; role++) {
		size_t n = strlen(value_name_endings[role]);

		if (name->length > n && memcmp(name->bytes + name->length - n, value_name_endings[role], n) == 0)
			return (struct meaning){name->bytes, name->length - n, role};
	}
	return m;
}

static struct foreign_event *event_named(struct foreign_events *e, const char *name, size_t length)
{
	struct foreign_event *event;
	char kept[sizeof(event->name)];
	size_t i;

	length = MIN(length, sizeof(kept) - 1);
	memcpy(kept, name, length);
	kept[length] = '\0';
	for (i = 0; i < e->items.count; i++)
		if (strcmp(e->items.items[i].name, kept) == 0)
			return &e->items.items[i];
	event = VECTOR_PUSH(&e->items);
	if (event)
		memcpy(event->name, kept, sizeof(kept));
	return event;
}

/* Whose time it is, or what else EVENT's weights are. */
static enum weight_kind kind_of(const char *event, size_t unit)
{
	const struct event_row *row = event_row_named(event);

	if (unit == ARRAY_LEN(units))
		return WEIGHT_COUNT;
	if (units[unit].of == OF_BYTES)
		return WEIGHT_BYTES;
	return row && weight_is_time(row->weight) ? row->weight : read_aggregate_time(event);
}

bool foreign_events_number(struct foreign_events *e, const struct foreign_text *name, const struct foreign_text *unit)
{
	size_t u = unit_of(unit);
	bool counts = u == ARRAY_LEN(units);
	struct meaning m = meaning_of(name, counts, e->ours);
	struct foreign_event *event = m.length ? event_named(e, m.event, m.length) : event_named(e, "unnamed", 7);

	if (!event || e->columns == FOREIGN_NUMBERS_MOST) {
		read_aggregate_refuse(e->to, "over 200 numbers for each stack");
		return false;
	}
	e->columns++;
	if (event->column[m.role]) /* it stands twice */
		return true;
	event->column[m.role] = e->columns;
	event->scale[m.role] = counts ? 1 : units[u].scale;
	if (m.role == VALUE_WEIGHT)
		event->kind = kind_of(event->name, u);
	return true;
}

uint64_t foreign_events_period(struct foreign_events *e, const struct foreign_text *name,
			       const struct foreign_text *unit, uint64_t period)
{
	size_t u = unit_of(unit);
	uint64_t ns;

	if (u == ARRAY_LEN(units) || __builtin_mul_overflow(period, units[u].scale, &ns) || ns > EVENT_LONGEST)
		return 0;
	if (units[u].of == OF_TIME && is(name, "cpu"))
		e->period = ns;
	return ns;
}

/* The only event that has weights without samples; NULL: none or several have. */
static struct foreign_event *without_samples(struct foreign_events *e)
{
	struct foreign_event *found = NULL;
	size_t i;

	for (i = 0; i < e->items.count; i++)
		if (e->items.items[i].column[VALUE_WEIGHT] && !e->items.items[i].column[VALUE_SAMPLES]) {
			if (found)
				return NULL;
			found = &e->items.items[i];
		}
	return found;
}

/* EVENT has samples and no weights: of another event, of known weight, or what is counted. */
static void give_weights(struct foreign_events *e, struct foreign_event *event)
{
	struct foreign_event *other = event->column[VALUE_OBJECTS] ? NULL : without_samples(e);

	if (other) {
		other->column[VALUE_SAMPLES] = event->column[VALUE_SAMPLES];
		other->scale[VALUE_SAMPLES] = 1;
		event->column[VALUE_SAMPLES] = 0;
	} else if (strcmp(event->name, "cpu") == 0 && e->period) {
		event->column[VALUE_WEIGHT] = event->column[VALUE_SAMPLES];
		event->scale[VALUE_WEIGHT] = e->period;
		event->kind = WEIGHT_CPU;
	} else {
		enum value_role from = event->column[VALUE_SAMPLES] ? VALUE_SAMPLES : VALUE_OBJECTS;

		event->column[VALUE_WEIGHT] = event->column[from];
		event->scale[VALUE_WEIGHT] = 1;
		event->kind = WEIGHT_COUNT;
		if (strcmp(event->name, "cpu") == 0)
			memcpy(event->name, "samples", sizeof("samples"));
	}
}

/* Make room for EVENT in the aggregate, if FAMILIES wants it. */
static void open_family(struct foreign_events *e, struct foreign_event *event, const char *families)
{
	const struct event_fields fields = event_fields_of(event->name);

	event->leaf_is_object = e->ours && (event->kind == WEIGHT_WAIT ||
					    event_field_of_kind(&fields, EVENT_FIELD_CLASS) < fields.count ||
					    event_field_of_kind(&fields, EVENT_FIELD_TARGET) < fields.count);
	event->family = UINT32_MAX;
	if (event->column[VALUE_WEIGHT] && (!*families || family_named(families, "all") ||
					    family_named(families, event->name)))
		event->family = read_aggregate_family(e->to, event->name, event->kind,
						      strcmp(event->name, FORMAT_UNKNOWN_UNIT) == 0 ?
						      FORMAT_UNKNOWN_UNIT : NULL);
}

void foreign_events_begin(struct foreign_events *e, const char *families)
{
	size_t i;

	for (i = 0; i < e->items.count; i++)
		if (!e->items.items[i].column[VALUE_WEIGHT])
			give_weights(e, &e->items.items[i]);
	for (i = 0; i < e->items.count; i++)
		open_family(e, &e->items.items[i], families);
}

const char *foreign_unit_event(const struct foreign_text *unit)
{
	size_t u = unit_of(unit);

	return u == ARRAY_LEN(units) ? FORMAT_UNKNOWN_UNIT : units[u].of == OF_TIME ? "time" : "space";
}

bool foreign_event_of(struct foreign_events *e, const char *name, const struct foreign_text *unit, const char *families,
		      struct foreign_event *event, uint64_t *scale)
{
	size_t u = unit_of(unit);

	*event = (struct foreign_event){.kind = kind_of(name, u), .column = {1 + VALUE_SAMPLES, 0, 1 + VALUE_WEIGHT},
					.scale = {1, 1, 1}};
	strncpy(event->name, name, sizeof(event->name) - 1);
	*scale = u == ARRAY_LEN(units) ? 1 : units[u].scale;
	open_family(e, event, families);
	return event->family != UINT32_MAX;
}

/* What VALUES say of ROLE of EVENT. */
static uint64_t value_of(struct foreign_events *e, const struct foreign_event *event, enum value_role role,
			 const uint64_t *values)
{
	uint64_t value;

	if (!event->column[role])
		return 0;
	if (__builtin_mul_overflow(values[event->column[role] - 1], event->scale[role], &value))
		read_aggregate_refuse(e->to, READ_AGGREGATE_SUMS);
	return e->to->no_memory ? 0 : value;
}

/* How many samples a stack that only weighs something stands for. */
static uint64_t samples_by_weight(const struct foreign_events *e, const struct foreign_event *event, uint64_t weight,
				  uint64_t objects)
{
	if (objects)
		return objects;
	if (event->kind == WEIGHT_COUNT)
		return weight;
	return event->kind == WEIGHT_CPU && e->period ? MAX(weight / e->period, (uint64_t)1) : 1;
}

bool foreign_event_has(const struct foreign_event *event, const uint64_t *values)
{
	unsigned role;

	for (role = 0; event->family != UINT32_MAX && role < VALUE_ROLES; role++)
		if (event->column[role] && values[event->column[role] - 1])
			return true;
	return false;
}

void foreign_events_check(struct foreign_events *e, uint64_t *values)
{
	uint32_t i;

	for (i = 0; i < e->columns; i++)
		if (values[i] > INT64_MAX) {
			e->negative++;
			values[i] = 0;
		}
}

void foreign_events_add(struct foreign_events *e, const struct foreign_event *event, const uint64_t *values,
			const struct foreign_place *at)
{
	uint64_t weight = value_of(e, event, VALUE_WEIGHT, values), objects = value_of(e, event, VALUE_OBJECTS, values);
	uint64_t samples = value_of(e, event, VALUE_SAMPLES, values), parts;
	uint32_t count;

	if (!event->column[VALUE_SAMPLES])
		samples = samples_by_weight(e, event, weight, objects);
	if (__builtin_mul_overflow(objects, READ_OBJECT_PARTS, &parts))
		read_aggregate_refuse(e->to, READ_AGGREGATE_SUMS);
	if (e->to->no_memory)
		return;
	count = read_aggregate_add(e->to, event->family, at->stack, at->apart, at->state, samples, weight);
	if (e->moments && at->timed && !e->to->no_memory)
		moments_add(&e->to->families.items[event->family].moments, at->time, 0, count, at->thread, samples,
			    weight);
	read_aggregate_add_objects(e->to, event->family, at->stack, at->apart, at->state, parts, 0);
	if (at->thread != READ_NO_THREAD)
		read_aggregate_add_thread(e->to, event->family, at->thread, samples, weight);
}

void foreign_events_free(struct foreign_events *e)
{
	free(e->items.items);
}
