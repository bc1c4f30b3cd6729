/*
 * pprof_places.c - texts, functions, mappings and locations of a file of pprof. A location becomes frames when a sample
 * leads to it for the first time.
 */
#include <string.h>

#include "profile/readers/others/pprof_reader.h"

/* Field numbers of profile.proto. */
enum { MAPPING_LIMIT = 3, MAPPING_FILE = 5, MAPPING_BUILD_ID };
enum { LOCATION_MAPPING = 2, LOCATION_ADDRESS, LOCATION_LINE };
enum { LINE_FUNCTION = 1, LINE_NUMBER };
enum { FUNCTION_NAME = 2, FUNCTION_SYSTEM_NAME, FUNCTION_FILE };

#define PROGRAM 1       /* the mapping that all Java code has in our files */

struct proto pprof_message_at(const struct pprof *p, uint64_t at)
{
	struct proto m = proto_of(p->in->bytes + at, p->in->size - at);

	return proto_next(&m) && m.type == PULL_LENGTH ? proto_inner(&m) : proto_of(p->in->bytes, 0);
}

struct foreign_text pprof_text(struct pprof *p, uint64_t number)
{
	struct proto m;

	if (number >= p->texts.count) {
		p->lost += number != 0;
		return (struct foreign_text){"", 0};
	}
	m = pprof_message_at(p, p->texts.items[number]);
	return (struct foreign_text){(const char *)m.at, (size_t)(m.end - m.at)};
}

/* ---- frames ---- */

void pprof_push(struct pprof *p, struct numbers *to, uint32_t number)
{
	uint32_t *item = number == LISTS_FAILED ? NULL : VECTOR_PUSH(to);

	if (item)
		*item = number;
	p->no_memory |= !item;
}

static struct pprof_known read_function(struct pprof *p, struct proto m)
{
	struct pprof_known known = {.name = proto_number_in(m, FUNCTION_NAME)};

	if (!pprof_text(p, known.name).length)
		known.name = proto_number_in(m, FUNCTION_SYSTEM_NAME);
	known.source = proto_number_in(m, FUNCTION_FILE);
	return known;
}

static struct pprof_known read_mapping(struct pprof *p, struct proto m)
{
	(void)p;
	return (struct pprof_known){
		.name = proto_number_in(m, MAPPING_FILE),
		.mapped = proto_number_in(m, MAPPING_LIMIT) || proto_number_in(m, MAPPING_BUILD_ID)};
}

/* Item ID of TABLE, which is READ but once: many may lead to one. False: there is none. */
static bool known_of(struct pprof *p, const struct id_table *table, struct map *places, uint64_t id,
		     struct pprof_known (*read)(struct pprof *p, struct proto m), struct pprof_known *known)
{
	uint32_t place = id_table_place(table, id), *slot;
	struct pprof_known *item;

	if (place == UINT32_MAX) {
		p->lost++;
		return false;
	}
	slot = map_put(places, place, NULL);
	if (slot && !*slot) {
		item = p->known.count < UINT32_MAX ? VECTOR_PUSH(&p->known) : NULL;
		if (item)
			*item = read(p, pprof_message_at(p, table->items.items[place]));
		*slot = item ? (uint32_t)p->known.count : 0;
	}
	p->no_memory |= !slot || !*slot;
	if (!p->no_memory)
		*known = p->known.items[*slot - 1];
	return !p->no_memory;
}

/* What MAPPING says of the code in it. */
static void put_mapping(struct pprof *p, uint64_t id, struct foreign_frame *f)
{
	struct pprof_known known;

	if (p->ours)
		f->code = id == PROGRAM ? FOREIGN_JAVA : id ? FOREIGN_NATIVE : FOREIGN_OURS;
	if (!id || (p->ours && id == PROGRAM) ||
	    !known_of(p, &p->mappings, &p->known_mappings, id, read_mapping, &known))
		return;
	f->library = pprof_text(p, known.name);
	f->mapped = known.mapped;
}

/* The name of code without one: its image's, or its address in TEXT. */
static void put_address(struct foreign_frame *f, uint64_t address, struct buffer *text)
{
	const char *slash = f->library.length ? memrchr(f->library.bytes, '/', f->library.length) : NULL;
	size_t folders = slash ? (size_t)(slash + 1 - f->library.bytes) : 0;

	text->length = 0;
	if (f->library.length && f->library.bytes[0] == '[')
		buffer_append(text, f->library.bytes, f->library.length);
	else if (f->library.length)
		buffer_printf(text, "[%.*s]", (int)MIN(f->library.length - folders, (size_t)4096),
			      f->library.bytes + folders);
	else if (address)
		buffer_printf(text, "0x%llx", (unsigned long long)address);
	f->name = (struct foreign_text){text->length ? text->data : "", text->length};
}

static void put_function(struct pprof *p, uint64_t id, struct foreign_frame *f)
{
	struct pprof_known known;

	if (!known_of(p, &p->functions, &p->known_functions, id, read_function, &known))
		return;
	f->name = pprof_text(p, known.name);
	f->source = pprof_text(p, known.source);
	p->made++;
}

/* The frames of location M, which has LINES, into `frames`. */
static void make_frames(struct pprof *p, struct pprof_place *place, const struct foreign_frame *of_location,
			uint64_t address)
{
	struct foreign_frame f = *of_location;
	struct buffer text = BUFFER_INIT;
	size_t i;

	place->first = (uint32_t)p->frames.count;
	if (!p->lines.count) {
		put_address(&f, address, &text);
		pprof_push(p, &p->frames, text.failed ? LISTS_FAILED : foreign_frame(&p->c->aggregate, &f));
		p->made += f.name.length != 0;
	}
	for (i = p->lines.count; i-- > 0 && !p->no_memory;) { /* the innermost comes first */
		f = *of_location;
		f.inlined = i + 1 < p->lines.count;
		put_function(p, p->lines.items[i].name, &f);
		f.line = p->c->options->lines ? p->lines.items[i].unit : 0;
		pprof_push(p, &p->frames, foreign_frame(&p->c->aggregate, &f));
	}
	place->count = (uint32_t)p->frames.count - place->first;
	place->is_class = p->ours && place->count == 1 &&
			  (f.code == FOREIGN_OURS || (f.code == FOREIGN_JAVA && foreign_frame_is_class(&f.name)));
	if (place->is_class) {
		f.code = FOREIGN_OBJECT;
		f.line = 0;
		place->object = foreign_frame(&p->c->aggregate, &f) + 1;
	}
	p->no_memory |= place->is_class && !place->object;
	buffer_free(&text);
}

static void read_line(struct pprof *p, struct proto message)
{
	struct pprof_pair *line = VECTOR_PUSH(&p->lines);

	if (line)
		*line = (struct pprof_pair){proto_number_in(message, LINE_FUNCTION),
					    proto_number_in(message, LINE_NUMBER)};
	p->no_memory |= !line;
}

struct pprof_place *pprof_place(struct pprof *p, uint32_t i)
{
	struct foreign_frame f = {.name = {"", 0}, .source = {"", 0}, .library = {"", 0}};
	struct pprof_place *place = &p->places.items[i];
	uint64_t address = 0, mapping = 0;
	struct proto m;

	if (place->count)
		return place;
	m = pprof_message_at(p, p->locations.items.items[i]);
	p->lines.count = 0;
	while (proto_next(&m) && !p->no_memory) {
		if (proto_is(&m, LOCATION_MAPPING, PULL_VARINT))
			mapping = m.number;
		else if (proto_is(&m, LOCATION_ADDRESS, PULL_VARINT))
			address = m.number;
		else if (proto_is(&m, LOCATION_LINE, PULL_LENGTH))
			read_line(p, proto_inner(&m));
	}
	put_mapping(p, mapping, &f);
	make_frames(p, place, &f, address);
	return place;
}
