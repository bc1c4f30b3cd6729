/*
 * read_pprof.c - profile.proto of github.com/google/pprof, which Go, perf_to_profile, Pyroscope, Parca and we write.
 *
 * Fields may stand in any order, and tables that samples lead to come last as a rule. So there are two passes: the
 * first one keeps where each text, function, mapping and location stands, the second one reads samples.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/readers/others/others.h"
#include "profile/readers/others/pprof_reader.h"
#include "profile/readers/input/progress.h"
#include "profile/readers/readers.h"

/* Field numbers of profile.proto. */
enum { PROFILE_SAMPLE_TYPE = 1, PROFILE_SAMPLE, PROFILE_MAPPING, PROFILE_LOCATION, PROFILE_FUNCTION, PROFILE_STRING,
       PROFILE_TIME = 9, PROFILE_DURATION, PROFILE_PERIOD_TYPE, PROFILE_PERIOD, PROFILE_COMMENT, PROFILE_LAST = 15 };
enum { TYPE_NAME = 1, TYPE_UNIT };
enum { SAMPLE_LOCATION = 1, SAMPLE_VALUE, SAMPLE_LABEL };
enum { LABEL_KEY = 1, LABEL_TEXT, LABEL_NUMBER };
enum { ID = 1 }; /* of each table's items */
enum { MAPPING_FILE = 5 };

#define OURS "jstrobe " /* how our comments begin */
#define TEXT_A_BYTE 16  /* names gone through, by the size of the file: a thread's name stands in each sample */
#define FIRST_FIELDS (1u << 20) /* that are looked at for a sample type */

/* ---- what stands where ---- */

static struct pprof_pair type_in(struct proto message)
{
	return (struct pprof_pair){proto_number_in(message, TYPE_NAME), proto_number_in(message, TYPE_UNIT)};
}

static void keep_type(struct pprof *p, struct proto message)
{
	struct pprof_pair *type = p->types.count <= FOREIGN_NUMBERS_MOST ? VECTOR_PUSH(&p->types) : NULL;

	if (type)
		*type = type_in(message);
	else if (p->types.count > FOREIGN_NUMBERS_MOST)
		read_aggregate_refuse(&p->c->aggregate, "over 200 numbers for each stack");
	else
		p->no_memory = true;
}

static void keep_text(struct pprof *p, uint64_t at)
{
	uint64_t *text = VECTOR_PUSH(&p->texts);

	if (text)
		*text = at;
	p->no_memory |= !text;
}

static void keep_item(struct pprof *p, struct id_table *table, const struct proto *field, uint64_t at)
{
	p->no_memory |= !id_table_add(table, proto_number_in(proto_inner(field), ID), at);
}

/* The field of the file that begins at AT, in the first pass. */
static void keep_field(struct pprof *p, const struct proto *m, uint64_t at)
{
	bool message = m->type == PULL_LENGTH;
	struct proto_numbers comments;

	if (m->field == PROFILE_SAMPLE_TYPE && message)
		keep_type(p, proto_inner(m));
	else if (m->field == PROFILE_MAPPING && message)
		keep_item(p, &p->mappings, m, at);
	else if (m->field == PROFILE_LOCATION && message)
		keep_item(p, &p->locations, m, at);
	else if (m->field == PROFILE_FUNCTION && message)
		keep_item(p, &p->functions, m, at);
	else if (m->field == PROFILE_STRING && message)
		keep_text(p, at);
	else if (m->field == PROFILE_PERIOD_TYPE && message)
		p->period_type = type_in(proto_inner(m));
	else if (m->field == PROFILE_TIME)
		p->time = m->number;
	else if (m->field == PROFILE_DURATION)
		p->duration = m->number;
	else if (m->field == PROFILE_PERIOD)
		p->period = m->number;
	else if (m->field == PROFILE_COMMENT && !p->comment) {
		comments = proto_numbers_of(m, PULL_VARINT);
		proto_numbers_next(&comments, &p->comment);
	}
}

/* ---- samples ---- */

static void read_label(struct pprof *p, struct proto message)
{
	struct foreign_text key = {"", 0}, text = {"", 0};
	uint64_t number = 0;

	while (proto_next(&message)) {
		if (proto_is(&message, LABEL_KEY, PULL_VARINT))
			key = pprof_text(p, message.number);
		else if (proto_is(&message, LABEL_TEXT, PULL_VARINT))
			text = pprof_text(p, message.number);
		else if (proto_is(&message, LABEL_NUMBER, PULL_VARINT))
			number = message.number;
	}
	if (text.length || !number)
		foreign_labels_text(&p->labels, &key, &text);
	else
		foreign_labels_number(&p->labels, &key, number);
}

static void read_values(struct pprof *p, const struct proto *field, uint32_t *count)
{
	struct proto_numbers numbers = proto_numbers_of(field, PULL_VARINT);
	uint64_t value;

	while (*count < p->events.columns && proto_numbers_next(&numbers, &value))
		p->values[(*count)++] = value;
}

static void read_ids(struct pprof *p, const struct proto *field)
{
	struct proto_numbers numbers = proto_numbers_of(field, PULL_VARINT);
	uint64_t id;
	uint32_t i;

	while (!p->no_memory && proto_numbers_next(&numbers, &id)) {
		i = id_table_place(&p->locations, id);
		if (i == UINT32_MAX)
			p->lost++;
		else
			pprof_push(p, &p->ids, i);
	}
}

/* The stack of the locations that were read, the leaf of which is an object if AS_OBJECT. LISTS_FAILED: no memory. */
static uint32_t stack_of(struct pprof *p, bool as_object)
{
	struct read_aggregate *to = &p->c->aggregate;
	const struct pprof_place *place;
	size_t i;
	uint32_t k;

	p->stack.count = 0;
	for (i = p->ids.count; i-- > 0 && !p->no_memory;) { /* the leaf comes first */
		place = pprof_place(p, p->ids.items[i]);
		p->no_memory |= !read_aggregate_walk(to, place->count, p->stack.count + place->count);
		if (i == 0 && as_object && place->is_class) {
			pprof_push(p, &p->stack, place->object - 1);
			continue;
		}
		for (k = 0; k < place->count && !p->no_memory; k++)
			pprof_push(p, &p->stack, p->frames.items[place->first + k]);
	}
	return p->no_memory ? LISTS_FAILED :
			      lists_add(&to->stacks, p->stack.items, (uint32_t)p->stack.count);
}

static void count_sample(struct pprof *p)
{
	uint32_t stack[2] = {LISTS_FAILED, LISTS_FAILED};
	struct foreign_place at;
	size_t i;

	for (i = 0; i < p->events.items.count && !p->no_memory; i++) {
		const struct foreign_event *event = &p->events.items.items[i];
		uint32_t *of_event = &stack[event->leaf_is_object];

		if (!foreign_event_has(event, p->values))
			continue;
		if (*of_event == LISTS_FAILED)
			*of_event = stack_of(p, event->leaf_is_object);
		if (*of_event == LISTS_FAILED) {
			p->no_memory = true;
			return;
		}
		at = foreign_labels_place(&p->labels, event, *of_event);
		if (!p->c->aggregate.no_memory)
			foreign_events_add(&p->events, event, p->values, &at);
		p->no_memory |= p->c->aggregate.no_memory;
	}
}

static void read_sample(struct pprof *p, struct proto message)
{
	uint32_t count = 0;

	p->ids.count = 0;
	memset(p->values, 0, p->events.columns * sizeof(*p->values));
	foreign_labels_begin(&p->labels);
	while (proto_next(&message) && !p->no_memory) {
		if (message.field == SAMPLE_LOCATION)
			read_ids(p, &message);
		else if (message.field == SAMPLE_VALUE)
			read_values(p, &message, &count);
		else if (proto_is(&message, SAMPLE_LABEL, PULL_LENGTH))
			read_label(p, proto_inner(&message));
	}
	foreign_events_check(&p->events, p->values);
	p->samples++;
	count_sample(p);
}

/* ---- the whole ---- */

/*
 * One pass: all fields to keep_field or, if SAMPLES, samples to read_sample. Where what is read ends: at the end of the
 * file, at what is no field, or where it was enough.
 */
static uint64_t pass(struct pprof *p, bool samples)
{
	struct proto m = proto_of(p->in->bytes, p->in->size);
	uint64_t told = 0, at = 0;

	while (!p->no_memory && !p->c->aggregate.no_memory && proto_next(&m)) {
		if (!samples)
			keep_field(p, &m, at);
		else if (proto_is(&m, PROFILE_SAMPLE, PULL_LENGTH))
			read_sample(p, proto_inner(&m));
		at = (uint64_t)(m.at - p->in->bytes);
		if (at - told <= PROGRESS_EVERY)
			continue;
		input_forget(p->in, told, at);
		told = at;
		if (samples && !progress_goes_on(at, p->in->size))
			break;
	}
	return at;
}

/* "jstrobe 0.1.0, pid 123, demo.Main, JDK 17.0.1": what we say of ourselves. */
static void read_comment(struct pprof *p)
{
	struct foreign_text t = pprof_text(p, p->comment);
	struct recording_info *info = &p->c->info;
	struct strings *strings = &p->c->aggregate.strings;
	const char *pid, *jdk, *main_class;

	if (t.length < strlen(OURS) || memcmp(t.bytes, OURS, strlen(OURS)) != 0)
		return;
	p->ours = p->events.ours = true;
	main_class = memchr(t.bytes, ',', t.length);
	pid = memmem(t.bytes, t.length, ", pid ", 6);
	for (info->pid = 0, pid = pid ? pid + 6 : NULL; pid && pid < t.bytes + t.length && *pid >= '0' && *pid <= '9' &&
	     info->pid < 100000000; pid++)
		info->pid = info->pid * 10 + *pid - '0';
	if (pid)
		main_class = pid < t.bytes + t.length ? pid : NULL;
	jdk = memmem(t.bytes, t.length, ", JDK ", 6);
	if (jdk)
		info->jdk = strings_add(strings, jdk + 6, (size_t)(t.bytes + t.length - jdk - 6));
	if (main_class && main_class + 2 < (jdk ? jdk : t.bytes + t.length))
		info->main_class = strings_add(strings, main_class + 2,
					       (size_t)((jdk ? jdk : t.bytes + t.length) - main_class - 2));
}

/* Of others' files the first mapping is the program's. */
static void read_program(struct pprof *p)
{
	struct foreign_text file = {"", 0};

	if (p->mappings.items.count)
		file = pprof_text(p, proto_number_in(pprof_message_at(p, p->mappings.items.items[0]), MAPPING_FILE));
	if (file.length && file.bytes[0] != '[')
		p->c->info.main_class = foreign_frame_library(&p->c->aggregate, &file);
}

static void begin_samples(struct pprof *p)
{
	struct foreign_text name, unit;
	struct recording_info *info = &p->c->info;
	uint64_t period;
	size_t i;

	p->events.to = p->labels.to = &p->c->aggregate;
	p->labels.prefix = "label:";
	read_comment(p);
	if (!p->ours)
		read_program(p);
	for (i = 0; i < p->types.count; i++) {
		name = pprof_text(p, p->types.items[i].name);
		unit = pprof_text(p, p->types.items[i].unit);
		if (!foreign_events_number(&p->events, &name, &unit))
			return;
	}
	name = pprof_text(p, p->period_type.name);
	unit = pprof_text(p, p->period_type.unit);
	period = foreign_events_period(&p->events, &name, &unit, p->period);
	info->interval = p->events.period;
	info->wall_interval = name.length == 4 && memcmp(name.bytes, "wall", 4) == 0 ? period : 0;
	foreign_events_begin(&p->events, p->c->selection.families);
	info->start_ns = MIN(p->time, (uint64_t)INT64_MAX / 2);
	info->end_ns = info->start_ns + MIN(p->duration, (uint64_t)INT64_MAX / 2);
	p->no_memory |= p->locations.items.count && !VECTOR_RESERVE(&p->places, p->locations.items.count);
	if (!p->no_memory && p->locations.items.count)
		memset(p->places.items, 0, p->locations.items.count * sizeof(*p->places.items));
}

/* What is odd about the file is said, unless it makes all of it useless. */
static int judge(struct pprof *p, uint64_t end, struct error *err)
{
	struct buffer *notes = &p->c->notes;
	const char *name = p->in->name;

	if (p->no_memory || p->c->aggregate.no_memory)
		return conversion_no_memory(p->c, err);
	if (p->lost && !p->made)
		return error_set(err, EINVAL, "%s: a file of pprof whose functions are missing: it is cut or damaged; "
				 "make it anew", name);
	if (end < p->in->size && !readers_were_stopped())
		buffer_printf(notes, "%s: from byte %llu on it is no file of pprof: it is cut or damaged; what stands "
			      "before is read\n", name, (unsigned long long)end);
	if (p->lost)
		buffer_printf(notes, "%s: %llu of its numbers lead to no function, place or text: it is cut or "
			      "damaged; such frames are [unknown], or left out\n", name, (unsigned long long)p->lost);
	if (p->events.negative)
		buffer_printf(notes, "%s: %llu numbers are below 0, as in the difference of two profiles, and count as "
			      "0; 'jstrobe diff' compares two profiles\n", name,
			      (unsigned long long)p->events.negative);
	return 0;
}

int pprof_read(struct conversion *c, struct error *err)
{
	struct pprof *p = calloc(1, sizeof(*p));
	uint64_t end, samples_end;
	int rc;

	if (!p)
		return conversion_no_memory(c, err);
	p->c = c;
	p->in = &c->in;
	read_aggregate_limit(&c->aggregate, c->in.size, 1);
	c->aggregate.most_text += TEXT_A_BYTE * c->in.size;
	end = samples_end = pass(p, false);
	if (!p->no_memory)
		begin_samples(p);
	if (!p->no_memory && !c->aggregate.no_memory)
		samples_end = pass(p, true);
	rc = judge(p, MIN(end, samples_end), err);
	free(p->texts.items);
	free(p->types.items);
	free(p->places.items);
	free(p->lines.items);
	free(p->frames.items);
	free(p->ids.items);
	free(p->stack.items);
	free(p->known.items);
	map_free(&p->known_functions);
	map_free(&p->known_mappings);
	id_table_free(&p->functions);
	id_table_free(&p->mappings);
	id_table_free(&p->locations);
	foreign_events_free(&p->events);
	foreign_labels_free(&p->labels);
	free(p);
	return rc;
}

/* Whether M is a field that such a file may have. */
static bool is_field(const struct proto *m)
{
	bool number = m->field == PROFILE_TIME || m->field == PROFILE_DURATION || m->field == PROFILE_PERIOD;

	if (!m->field || m->field > PROFILE_LAST)
		return false;
	if (m->field <= PROFILE_STRING || m->field == PROFILE_PERIOD_TYPE)
		return m->type == PULL_LENGTH;
	return m->type == PULL_VARINT || (!number && m->type == PULL_LENGTH);
}

bool pprof_is(const struct input *in)
{
	struct proto m = proto_of(in->bytes, in->size);
	unsigned i;

	/* no text begins with the bytes of a type, and of others' messages none has one in this place */
	for (i = 0; i < FIRST_FIELDS && proto_next(&m) && is_field(&m); i++)
		if (m.field == PROFILE_SAMPLE_TYPE)
			return proto_has_numbers(proto_inner(&m), TYPE_UNIT);
	return false;
}
