/*
 * otlp_places.c - the dictionary of OTLP's profiles: texts, functions, mappings, locations, stacks. Each becomes what
 * the aggregate has when a sample leads to it for the first time.
 */
#include <string.h>

#include "profile/readers/others/otlp_reader.h"

enum { MAPPING_LIMIT = 2, MAPPING_FILE = 4 };
enum { LOCATION_MAPPING = 1, LOCATION_ADDRESS, LOCATION_LINES, LOCATION_ATTRIBUTES };
enum { LINE_FUNCTION = 1, LINE_NUMBER };
enum { FUNCTION_NAME = 1, FUNCTION_SYSTEM_NAME, FUNCTION_FILE };
enum { ATTRIBUTE_KEY = 1, ATTRIBUTE_VALUE };
enum { ANY_TEXT = 1, ANY_NUMBER = 3 };
enum { LINK_TRACE = 1, LINK_SPAN };
enum { STACK_LOCATIONS = 1 };

#define TYPE_KEY "profile.frame.type"

/* Append NUMBER to TO; LISTS_FAILED: out of memory. */
static void push(struct otlp *o, struct numbers *to, uint32_t number)
{
	uint32_t *item = number == LISTS_FAILED ? NULL : VECTOR_PUSH(to);

	if (item)
		*item = number;
	o->no_memory |= !item;
}

/* Item NUMBER of TABLE; an empty message, with a count unless NUMBER is 0, if there is none. */
static struct proto item_of(struct otlp *o, enum otlp_table table, uint64_t number)
{
	struct proto m = proto_of(o->bytes, 0);
	uint64_t at;

	if (number >= o->tables[table].count) {
		o->lost += number != 0;
		return m;
	}
	at = o->tables[table].items[number];
	m = proto_of(o->bytes + at, o->size - at);
	return proto_next(&m) && m.type == PULL_LENGTH ? proto_inner(&m) : proto_of(o->bytes, 0);
}

struct foreign_text otlp_text(struct otlp *o, uint64_t number)
{
	struct proto m = item_of(o, OTLP_STRINGS, number);

	return (struct foreign_text){(const char *)m.at, (size_t)(m.end - m.at)};
}

struct foreign_text otlp_text_in(struct proto message, uint64_t field)
{
	struct foreign_text text = {"", 0};

	while (proto_next(&message))
		if (proto_is(&message, field, PULL_LENGTH))
			text = (struct foreign_text){(const char *)message.bytes, (size_t)message.number};
	return text;
}

struct proto otlp_message_in(struct proto message, uint64_t field)
{
	struct proto found = proto_of(message.at, 0);

	while (proto_next(&message))
		if (proto_is(&message, field, PULL_LENGTH))
			found = proto_inner(&message);
	return found;
}

static bool is(const struct foreign_text *t, const char *word)
{
	return t->length == strlen(word) && memcmp(t->bytes, word, t->length) == 0;
}

/* ---- what is read but once ---- */

static struct otlp_known read_function(struct otlp *o, struct proto m)
{
	struct otlp_known known = {.first = otlp_text(o, proto_number_in(m, FUNCTION_NAME))};

	if (!known.first.length)
		known.first = otlp_text(o, proto_number_in(m, FUNCTION_SYSTEM_NAME));
	known.second = otlp_text(o, proto_number_in(m, FUNCTION_FILE));
	return known;
}

static struct otlp_known read_item(struct otlp *o, enum otlp_table table, struct proto m)
{
	struct proto value;

	if (table == OTLP_FUNCTIONS)
		return read_function(o, m);
	if (table == OTLP_MAPPINGS)
		return (struct otlp_known){.first = otlp_text(o, proto_number_in(m, MAPPING_FILE)),
					   .number = proto_number_in(m, MAPPING_LIMIT)};
	if (table == OTLP_LINKS)
		return (struct otlp_known){.first = otlp_text_in(m, LINK_TRACE), .second = otlp_text_in(m, LINK_SPAN)};
	value = otlp_message_in(m, ATTRIBUTE_VALUE);
	return (struct otlp_known){.first = otlp_text(o, proto_number_in(m, ATTRIBUTE_KEY)),
				   .second = otlp_text_in(value, ANY_TEXT),
				   .number = proto_number_in(value, ANY_NUMBER)};
}

struct otlp_known otlp_known(struct otlp *o, enum otlp_table table, uint64_t number)
{
	struct otlp_known *item, none = {{"", 0}, {"", 0}, 0};
	uint32_t *slot;

	if (number >= o->tables[table].count) { /* counted as lost, but kept nowhere */
		item_of(o, table, number);
		return none;
	}
	slot = map_put(&o->known_of[table], number, NULL);
	if (slot && !*slot) {
		item = o->known.count < UINT32_MAX ? VECTOR_PUSH(&o->known) : NULL;
		if (item)
			*item = read_item(o, table, item_of(o, table, number));
		*slot = item ? (uint32_t)o->known.count : 0;
	}
	o->no_memory |= !slot || !*slot;
	return o->no_memory ? none : o->known.items[*slot - 1];
}

/* What attribute NUMBER of a location says of its code. */
static enum foreign_code code_by(struct otlp *o, uint64_t number, enum foreign_code before)
{
	struct otlp_known a = otlp_known(o, OTLP_ATTRIBUTES, number);

	if (!is(&a.first, TYPE_KEY))
		return before;
	return is(&a.second, "jvm") ? FOREIGN_JAVA : is(&a.second, "kernel") ? FOREIGN_KERNEL : FOREIGN_NATIVE;
}

static void put_function(struct otlp *o, uint64_t number, struct foreign_frame *f)
{
	struct otlp_known known = otlp_known(o, OTLP_FUNCTIONS, number);

	f->name = known.first;
	f->source = known.second;
	o->made += f->name.length != 0;
}

/* Code without a name is called after its image, or by its address. */
static uint32_t unnamed(struct otlp *o, struct foreign_frame *f, uint64_t address)
{
	const char *slash = f->library.length ? memrchr(f->library.bytes, '/', f->library.length) : NULL;
	const char *from = slash ? slash + 1 : f->library.bytes;
	struct buffer text = BUFFER_INIT;
	uint32_t frame = LISTS_FAILED;

	if (f->library.length)
		buffer_printf(&text, "[%.*s]",
			      (int)MIN((size_t)(f->library.bytes + f->library.length - from), (size_t)4096), from);
	else if (address)
		buffer_printf(&text, "0x%llx", (unsigned long long)address);
	f->name = (struct foreign_text){text.length ? text.data : "", text.length};
	o->made += text.length != 0;
	if (!text.failed)
		frame = foreign_frame(&o->c->aggregate, f);
	buffer_free(&text);
	return frame;
}

/* The location of F's code, of which our files say: what has no image is a marker, or the class of an object. */
static void put_object(struct otlp *o, struct otlp_place *place, struct foreign_frame *f, uint64_t mapping)
{
	uint32_t frame;

	if (!o->ours || place->count != 1 || f->code == FOREIGN_KERNEL ||
	    !(mapping ? f->code == FOREIGN_JAVA && foreign_frame_is_class(&f->name) : f->code != FOREIGN_NATIVE))
		return;
	f->code = FOREIGN_OBJECT;
	f->line = 0;
	frame = foreign_frame(&o->c->aggregate, f);
	o->no_memory |= frame == LISTS_FAILED;
	place->object = frame + 1;
}

static void read_location(struct otlp *o, struct proto m, struct foreign_frame *f, uint64_t *mapping,
			  uint64_t *address)
{
	struct proto_numbers attributes;
	uint64_t number;

	o->lines.count = 0;
	while (proto_next(&m) && !o->no_memory) {
		if (proto_is(&m, LOCATION_MAPPING, PULL_VARINT)) {
			*mapping = m.number;
		} else if (proto_is(&m, LOCATION_ADDRESS, PULL_VARINT)) {
			*address = m.number;
		} else if (proto_is(&m, LOCATION_LINES, PULL_LENGTH)) {
			struct otlp_type *line = VECTOR_PUSH(&o->lines);

			if (line)
				*line = (struct otlp_type){proto_number_in(proto_inner(&m), LINE_FUNCTION),
							   proto_number_in(proto_inner(&m), LINE_NUMBER)};
			o->no_memory |= !line;
		} else if (m.field == LOCATION_ATTRIBUTES) {
			attributes = proto_numbers_of(&m, PULL_VARINT);
			while (proto_numbers_next(&attributes, &number))
				f->code = code_by(o, number, f->code);
		}
	}
}

static void make_place(struct otlp *o, struct otlp_place *place, uint64_t number)
{
	struct foreign_frame whole = {.name = {"", 0}, .source = {"", 0}, .library = {"", 0}}, f;
	uint64_t mapping = 0, address = 0;
	struct otlp_known image;
	size_t i;

	read_location(o, item_of(o, OTLP_LOCATIONS, number), &whole, &mapping, &address);
	image = otlp_known(o, OTLP_MAPPINGS, mapping);
	if (!o->ours || whole.code == FOREIGN_NATIVE)
		whole.library = image.first;
	whole.mapped = image.number != 0;
	place->first = (uint32_t)o->frames.count;
	f = whole;
	if (!o->lines.count)
		push(o, &o->frames, unnamed(o, &f, address));
	for (i = o->lines.count; i-- > 0 && !o->no_memory;) { /* the innermost comes first */
		f = whole;
		f.inlined = i + 1 < o->lines.count;
		put_function(o, o->lines.items[i].name, &f);
		f.line = o->c->options->lines ? o->lines.items[i].unit : 0;
		if (f.code == FOREIGN_JAVA && f.name.length && f.name.bytes[0] == '[') /* what a profiler has to say */
			f.code = FOREIGN_OURS;
		push(o, &o->frames, foreign_frame(&o->c->aggregate, &f));
	}
	place->count = (uint32_t)o->frames.count - place->first;
	if (!o->no_memory && o->lines.count)
		put_object(o, place, &f, mapping);
}

static uint32_t make_stack(struct otlp *o, uint64_t number, bool as_object)
{
	struct read_aggregate *to = &o->c->aggregate;
	struct proto m = item_of(o, OTLP_STACKS, number);
	struct proto_numbers locations;
	uint64_t location;
	uint32_t k, leaf = 0;
	size_t i;

	o->stack.count = 0;
	while (proto_next(&m) && !o->no_memory) {
		if (m.field != STACK_LOCATIONS)
			continue;
		locations = proto_numbers_of(&m, PULL_VARINT);
		while (!o->no_memory && proto_numbers_next(&locations, &location)) {
			struct otlp_place *place;

			if (location >= o->places.count) {
				o->lost++;
				continue;
			}
			place = &o->places.items[location];
			if (!place->count)
				make_place(o, place, location);
			o->no_memory |= !read_aggregate_walk(to, place->count, o->stack.count + place->count);
			if (!o->stack.count)
				leaf = place->object;
			for (k = place->count; k-- > 0 && !o->no_memory;) /* the leaf comes first */
				push(o, &o->stack, o->frames.items[place->first + k]);
		}
	}
	if (as_object && leaf && o->stack.count)
		o->stack.items[0] = leaf - 1;
	for (i = 0; i < o->stack.count / 2; i++) {
		k = o->stack.items[i];
		o->stack.items[i] = o->stack.items[o->stack.count - 1 - i];
		o->stack.items[o->stack.count - 1 - i] = k;
	}
	return o->no_memory ? LISTS_FAILED : lists_add(&to->stacks, o->stack.items, (uint32_t)o->stack.count);
}

uint32_t otlp_stack(struct otlp *o, uint64_t number, bool as_object)
{
	uint32_t *kept, made;

	if (number >= o->stacks[as_object].count) {
		o->lost++;
		number = 0;
	}
	kept = o->stacks[as_object].count ? &o->stacks[as_object].items[number] : NULL;
	if (kept && *kept)
		return *kept - 1;
	made = make_stack(o, number, as_object);
	o->no_memory |= made == LISTS_FAILED;
	if (kept)
		*kept = made + 1;
	return made;
}
