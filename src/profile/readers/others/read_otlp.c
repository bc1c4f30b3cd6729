/*
 * read_otlp.c - profiles of OpenTelemetry (opentelemetry-proto 1.9 and later, profiles/v1development): ProfilesData, or
 * what is sent to a Collector, as messages or as JSON.
 *
 * Each Profile has one number for each sample; those of one event (samples, CPU time) are several Profiles. All share
 * one dictionary, which stands behind them as a rule: so there are two passes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profile/readers/others/otlp_reader.h"
#include "profile/readers/others/others.h"
#include "profile/readers/input/progress.h"
#include "profile/readers/readers.h"

enum { DATA_RESOURCE_PROFILES = 1, DATA_DICTIONARY };
enum { RESOURCE_PROFILES_RESOURCE = 1, RESOURCE_PROFILES_SCOPE_PROFILES, RESOURCE_PROFILES_SCHEMA };
enum { RESOURCE_ATTRIBUTES = 1 };
enum { SCOPE_PROFILES_SCOPE = 1, SCOPE_PROFILES_PROFILES, SCOPE_PROFILES_SCHEMA };
enum { SCOPE_NAME = 1 };
enum { PROFILE_SAMPLE_TYPE = 1, PROFILE_SAMPLES, PROFILE_TIME, PROFILE_DURATION, PROFILE_PERIOD_TYPE, PROFILE_PERIOD };
enum { TYPE_NAME = 1, TYPE_UNIT };
enum { SAMPLE_STACK = 1, SAMPLE_ATTRIBUTES, SAMPLE_LINK, SAMPLE_VALUES, SAMPLE_TIMES };
enum { KEY_VALUE_KEY = 1, KEY_VALUE_VALUE };
enum { ANY_TEXT = 1, ANY_NUMBER = 3 };

#define TEXT_A_BYTE 16 /* names gone through, by the size of the file: a thread's name stands in each sample */
#define ID_CHARS 33
#define ENTRIES_OF_CUT 3u /* by which the dictionary of a file that is cut is told from other bytes */

static bool has_memory(const struct otlp *o)
{
	return !o->no_memory && !o->c->aggregate.no_memory;
}

static bool is(const struct foreign_text *t, const char *word)
{
	return t->length == strlen(word) && memcmp(t->bytes, word, t->length) == 0;
}

static struct otlp_type type_in(struct proto profile, uint64_t field)
{
	struct proto type = otlp_message_in(profile, field);

	return (struct otlp_type){proto_number_in(type, TYPE_NAME), proto_number_in(type, TYPE_UNIT)};
}

/* The column of TYPE; the number of columns: it is a new one. */
static size_t column_of(const struct otlp *o, struct otlp_type type)
{
	size_t i = 0;

	while (i < o->types.count && (o->types.items[i].name != type.name || o->types.items[i].unit != type.unit))
		i++;
	return i;
}

/* ---- the first pass: the dictionary, and what there is ---- */

static void keep_dictionary(struct otlp *o, struct proto m)
{
	uint64_t at = (uint64_t)(m.at - o->bytes), *item;

	for (; has_memory(o) && proto_next(&m); at = (uint64_t)(m.at - o->bytes)) {
		if (m.type != PULL_LENGTH || m.field >= OTLP_TABLES)
			continue;
		item = VECTOR_PUSH(&o->tables[m.field]);
		if (item)
			*item = at;
		o->no_memory |= !item;
	}
	o->cut |= m.bad;
}

/* Nanoseconds; 0: below 0, or in no time that there will be. */
static uint64_t moment_in(struct proto profile, uint64_t field)
{
	uint64_t ns = proto_number_in(profile, field);

	return ns > INT64_MAX / 2 ? 0 : ns;
}

static void keep_profile(struct otlp *o, struct proto profile)
{
	struct otlp_type type = type_in(profile, PROFILE_SAMPLE_TYPE), *kept;
	uint64_t start = moment_in(profile, PROFILE_TIME);
	uint64_t end = start + moment_in(profile, PROFILE_DURATION);

	if (column_of(o, type) == o->types.count) {
		kept = o->types.count < FOREIGN_NUMBERS_MOST ? VECTOR_PUSH(&o->types) : NULL;
		if (kept)
			*kept = type;
		else
			read_aggregate_refuse(&o->c->aggregate, "over 200 numbers for each stack");
	}
	if (!o->period) {
		o->period_type = type_in(profile, PROFILE_PERIOD_TYPE);
		o->period = proto_number_in(profile, PROFILE_PERIOD);
	}
	o->start = o->start ? MIN(o->start, start) : start;
	o->end = MAX(o->end, MAX(end, start));
}

/* Whose profiles these are, as far as the first resource says it. */
static void keep_resource(struct otlp *o, struct proto m)
{
	struct recording_info *info = &o->c->info;
	struct strings *strings = &o->c->aggregate.strings;

	while (proto_next(&m)) {
		struct foreign_text key, text;
		struct proto value;

		if (!proto_is(&m, RESOURCE_ATTRIBUTES, PULL_LENGTH))
			continue;
		key = otlp_text_in(proto_inner(&m), KEY_VALUE_KEY);
		value = otlp_message_in(proto_inner(&m), KEY_VALUE_VALUE);
		text = otlp_text_in(value, ANY_TEXT);
		if (is(&key, "service.name") && !info->main_class)
			info->main_class = strings_add(strings, text.bytes, text.length);
		else if (is(&key, "process.pid") && !info->pid)
			info->pid = (int)MIN(proto_number_in(value, ANY_NUMBER), (uint64_t)INT32_MAX);
		else if (is(&key, "process.runtime.version") && !info->jdk)
			info->jdk = strings_add(strings, text.bytes, text.length);
	}
}

static void read_profile(struct otlp *o, struct proto m);

/* The profiles of a resource: kept in the first pass, read in the second. */
static void walk(struct otlp *o, struct proto m, bool samples)
{
	struct foreign_text name;
	struct proto scope;

	while (has_memory(o) && proto_next_cut(&m)) {
		if (!samples && proto_is(&m, RESOURCE_PROFILES_RESOURCE, PULL_LENGTH))
			keep_resource(o, proto_inner(&m));
		if (!proto_is(&m, RESOURCE_PROFILES_SCOPE_PROFILES, PULL_LENGTH))
			continue;
		scope = proto_inner(&m);
		while (has_memory(o) && proto_next_cut(&scope)) {
			if (!samples && proto_is(&scope, SCOPE_PROFILES_SCOPE, PULL_LENGTH)) {
				name = otlp_text_in(proto_inner(&scope), SCOPE_NAME);
				o->ours |= is(&name, "jstrobe");
			} else if (proto_is(&scope, SCOPE_PROFILES_PROFILES, PULL_LENGTH)) {
				if (samples)
					read_profile(o, proto_inner(&scope));
				else
					keep_profile(o, proto_inner(&scope));
			}
		}
		o->cut |= scope.bad;
	}
	o->cut |= m.bad;
}

static void pass(struct otlp *o, bool samples)
{
	struct proto m = proto_of(o->bytes, o->size);

	while (has_memory(o) && proto_next_cut(&m)) {
		if (proto_is(&m, DATA_RESOURCE_PROFILES, PULL_LENGTH))
			walk(o, proto_inner(&m), samples);
		else if (!samples && proto_is(&m, DATA_DICTIONARY, PULL_LENGTH))
			keep_dictionary(o, proto_inner(&m));
		if (samples && !progress_goes_on((uint64_t)(m.at - o->bytes), o->size))
			return;
	}
	o->cut |= m.bad;
}

/* ---- the second pass: samples ---- */

static void read_attribute(struct otlp *o, uint64_t number)
{
	struct otlp_known a = otlp_known(o, OTLP_ATTRIBUTES, number);

	if (!a.first.length)
		return;
	if (a.second.length || !a.number)
		foreign_labels_text(&o->labels, &a.first, &a.second);
	else
		foreign_labels_number(&o->labels, &a.first, a.number);
}

/* Bytes as hexadecimal digits; "" if there are more than an id has. */
static void put_id(char *to, size_t size, const struct foreign_text *bytes)
{
	static const char digits[] = "0123456789abcdef";
	size_t i;

	*to = '\0';
	if (bytes->length * 2 >= size)
		return;
	for (i = 0; i < bytes->length; i++) {
		to[2 * i] = digits[(unsigned char)bytes->bytes[i] >> 4];
		to[2 * i + 1] = digits[(unsigned char)bytes->bytes[i] & 15];
	}
	to[2 * i] = '\0';
}

static void read_link(struct otlp *o, uint64_t number)
{
	struct otlp_known link = otlp_known(o, OTLP_LINKS, number);

	put_id(o->labels.trace, MIN(sizeof(o->labels.trace), (size_t)ID_CHARS), &link.first);
	put_id(o->labels.span, sizeof(o->labels.span), &link.second);
}

/* The sum of the values of field M, or how many there are. */
static uint64_t sum_of(struct otlp *o, const struct proto *m, enum pull_type type, bool values)
{
	struct proto_numbers numbers = proto_numbers_of(m, type);
	uint64_t value, sum = 0;

	while (proto_numbers_next(&numbers, &value)) {
		if (values && value > INT64_MAX) {
			o->events.negative++;
			continue;
		}
		if (__builtin_add_overflow(sum, values ? value : 1, &sum)) {
			read_aggregate_refuse(&o->c->aggregate, READ_AGGREGATE_SUMS);
			return 0;
		}
	}
	return sum;
}

static void count_sample(struct otlp *o, uint64_t stack)
{
	struct foreign_place at;
	size_t i;

	for (i = 0; i < o->events.items.count && has_memory(o); i++) {
		const struct foreign_event *event = &o->events.items.items[i];
		uint32_t number;

		if (!foreign_event_has(event, o->values))
			continue;
		number = otlp_stack(o, stack, event->leaf_is_object);
		if (number == LISTS_FAILED)
			return;
		at = foreign_labels_place(&o->labels, event, number);
		if (has_memory(o))
			foreign_events_add(&o->events, event, o->values, &at);
	}
}

static void read_sample(struct otlp *o, struct proto m, size_t column)
{
	uint64_t stack = 0, number, values = 0, times = 0;
	struct proto_numbers numbers;
	bool valued = false;

	foreign_labels_begin(&o->labels);
	while (has_memory(o) && proto_next(&m)) {
		if (proto_is(&m, SAMPLE_STACK, PULL_VARINT)) {
			stack = m.number;
		} else if (m.field == SAMPLE_ATTRIBUTES) {
			numbers = proto_numbers_of(&m, PULL_VARINT);
			while (has_memory(o) && proto_numbers_next(&numbers, &number))
				read_attribute(o, number);
		} else if (proto_is(&m, SAMPLE_LINK, PULL_VARINT)) {
			read_link(o, m.number);
		} else if (m.field == SAMPLE_VALUES) {
			values = sum_of(o, &m, PULL_VARINT, true);
			valued = true;
		} else if (m.field == SAMPLE_TIMES) { /* without values each of them counts 1 */
			times = sum_of(o, &m, m.type == PULL_VARINT ? PULL_VARINT : PULL_FIXED64, false);
		}
	}
	o->samples++;
	o->values[column] = valued ? values : times;
	count_sample(o, stack);
	o->values[column] = 0;
}

static void read_profile(struct otlp *o, struct proto m)
{
	size_t column = column_of(o, type_in(m, PROFILE_SAMPLE_TYPE));

	while (column < o->types.count && has_memory(o) && proto_next(&m))
		if (proto_is(&m, PROFILE_SAMPLES, PULL_LENGTH))
			read_sample(o, proto_inner(&m), column);
	o->cut |= m.bad;
}

/* ---- the whole ---- */

static void clear(struct otlp *o, struct numbers *list, size_t count)
{
	o->no_memory |= count && !VECTOR_RESERVE(list, count);
	if (o->no_memory || !count)
		return;
	memset(list->items, 0, count * sizeof(*list->items));
	list->count = count;
}

static void begin_samples(struct otlp *o)
{
	size_t i, count = o->tables[OTLP_LOCATIONS].count;
	struct foreign_text name, unit;
	struct recording_info *info = &o->c->info;

	o->events.to = o->labels.to = &o->c->aggregate;
	o->events.ours = o->ours;
	o->labels.prefix = "label.";
	for (i = 0; i < o->types.count; i++) {
		name = otlp_text(o, o->types.items[i].name);
		unit = otlp_text(o, o->types.items[i].unit);
		if (!foreign_events_number(&o->events, &name, &unit))
			return;
	}
	name = otlp_text(o, o->period_type.name);
	unit = otlp_text(o, o->period_type.unit);
	foreign_events_period(&o->events, &name, &unit, o->period);
	info->interval = o->events.period;
	info->start_ns = MIN(o->start, (uint64_t)INT64_MAX / 2);
	info->end_ns = MIN(MAX(o->end, o->start), (uint64_t)INT64_MAX / 2);
	foreign_events_begin(&o->events, o->c->selection.families);
	clear(o, &o->stacks[0], o->tables[OTLP_STACKS].count);
	clear(o, &o->stacks[1], o->tables[OTLP_STACKS].count);
	o->no_memory |= count && !VECTOR_RESERVE(&o->places, count);
	if (o->no_memory || !count)
		return;
	memset(o->places.items, 0, count * sizeof(*o->places.items));
	o->places.count = count;
}

static int judge(struct otlp *o, const char *wrong, uint64_t at, struct error *err)
{
	struct buffer *notes = &o->c->notes;
	const char *name = o->c->in.name;

	if (!has_memory(o))
		return conversion_no_memory(o->c, err);
	if (!o->made && wrong)
		return error_set(err, EINVAL, "%s: profiles of OTLP that are cut or damaged: byte %llu should be %s; "
				 "make the file anew", name, (unsigned long long)at, wrong);
	if (!o->made && (o->lost || o->cut || (o->samples && !o->tables[OTLP_STACKS].count)))
		return error_set(err, EINVAL, "%s: profiles of OTLP whose functions are missing: cut or damaged, or "
				 "of a version before 1.9 of opentelemetry-proto; make the file anew", name);
	if (o->cut && !o->samples)
		return error_set(err, EINVAL, "%s: profiles of OTLP that are cut or damaged before their first sample; "
				 "make the file anew", name);
	if (wrong)
		buffer_printf(notes, "%s: from byte %llu on, which should be %s, this JSON is cut or damaged; "
			      "what stands before is read\n", name, (unsigned long long)at, wrong);
	else if (o->cut && !readers_were_stopped())
		buffer_printf(notes, "%s: these profiles of OTLP are cut or damaged; what can be read is\n", name);
	if (o->lost)
		buffer_printf(notes, "%s: %llu of its numbers lead to no function, place or text: it is cut or "
			      "damaged; such frames are [unknown], or left out\n", name, (unsigned long long)o->lost);
	if (o->events.negative)
		buffer_printf(notes, "%s: %llu numbers are below 0, as in the difference of two profiles, and count as "
			      "0; 'jstrobe diff' compares two profiles\n", name,
			      (unsigned long long)o->events.negative);
	return 0;
}

static void free_all(struct otlp *o)
{
	unsigned i;

	for (i = 0; i < OTLP_TABLES; i++)
		free(o->tables[i].items);
	for (i = 0; i < OTLP_TABLES; i++)
		map_free(&o->known_of[i]);
	free(o->known.items);
	free(o->places.items);
	free(o->lines.items);
	free(o->types.items);
	free(o->frames.items);
	free(o->stack.items);
	free(o->stacks[0].items);
	free(o->stacks[1].items);
	foreign_events_free(&o->events);
	foreign_labels_free(&o->labels);
	free(o);
}

/* Read BYTES. WRONG: what byte AT of the JSON that they come from should have been; NULL: all is right. */
static int read_bytes(struct conversion *c, const void *bytes, uint64_t size, const char *wrong, uint64_t at,
		      struct error *err)
{
	struct otlp *o = calloc(1, sizeof(*o));
	int rc;

	if (!o)
		return conversion_no_memory(c, err);
	o->c = c;
	o->bytes = bytes;
	o->size = size;
	read_aggregate_limit(&c->aggregate, c->in.size, 1);
	c->aggregate.most_text += TEXT_A_BYTE * c->in.size;
	pass(o, false);
	if (has_memory(o))
		begin_samples(o);
	if (has_memory(o))
		pass(o, true);
	rc = judge(o, wrong, at, err);
	free_all(o);
	return rc;
}

int otlp_read(struct conversion *c, struct error *err)
{
	return read_bytes(c, c->in.bytes, c->in.size, NULL, 0, err);
}

int otlp_json_read(struct conversion *c, struct error *err)
{
	struct buffer messages = BUFFER_INIT;
	uint64_t at;
	const char *wrong = otlp_of_json(&c->in, &messages, &at);
	int rc;

	if (messages.failed)
		rc = conversion_no_memory(c, err);
	else
		rc = read_bytes(c, messages.length ? messages.data : "", messages.length, wrong, at, err);
	buffer_free(&messages);
	return rc;
}

/* How many messages M has, if it has nothing else than those in fields 1 to MOST; CUT: the last field may be. */
static unsigned messages_of(struct proto m, unsigned most, bool cut)
{
	unsigned n = 0;

	while (cut ? proto_next_cut(&m) : proto_next(&m)) {
		if (m.type != PULL_LENGTH || m.field > most)
			return 0;
		n++;
	}
	return cut || !m.bad ? n : 0;
}

/* The first message in field FIELD of M, which has only messages in fields 1 to MOST; an empty one: there is none. */
static struct proto first_in(struct proto m, unsigned field, unsigned most)
{
	struct proto none = proto_of(m.at, 0);

	if (!messages_of(m, most, true))
		return none;
	while (proto_next_cut(&m))
		if (m.field == field)
			return proto_inner(&m);
	return none;
}

/* Whether M is a profile, as its type says: no other message of OTLP has two numbers in that place. */
static bool is_profile(struct proto m)
{
	struct proto type = otlp_message_in(m, PROFILE_SAMPLE_TYPE);

	return proto_next_cut(&m) && proto_is(&m, PROFILE_SAMPLE_TYPE, PULL_LENGTH) &&
	       proto_has_numbers(type, TYPE_UNIT);
}

/* Whether the dictionary is there, or the first profile is: what stands behind it may be cut off. */
bool otlp_is(const struct input *in)
{
	struct proto m = proto_of(in->bytes, in->size), resource = proto_of(in->bytes, 0);
	unsigned entries = 0;

	while (proto_next_cut(&m)) {
		if (m.type != PULL_LENGTH || m.field > DATA_DICTIONARY)
			return false;
		if (m.field == DATA_DICTIONARY)
			entries = MAX(entries, messages_of(proto_inner(&m), OTLP_STACKS, m.bad));
		else if (resource.at == resource.end)
			resource = proto_inner(&m);
	}
	if (entries >= (m.bad ? ENTRIES_OF_CUT : 1u))
		return true;
	resource = first_in(resource, RESOURCE_PROFILES_SCOPE_PROFILES, RESOURCE_PROFILES_SCHEMA);
	return is_profile(first_in(resource, SCOPE_PROFILES_PROFILES, SCOPE_PROFILES_SCHEMA));
}
