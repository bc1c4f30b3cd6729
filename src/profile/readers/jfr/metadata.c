#include "profile/readers/jfr/metadata.h"

#include <errno.h>
#include <stdlib.h>

#include "common/base/buffer.h"
#include "profile/readers/jfr/jfr_reader.h"

#define DEPTH_MAX 16
#define DIGITS_MAX 20 /* of 64 bits */

/* An element's attributes that matter, by the strings' numbers; 0 where it has none. */
struct attributes {
	const char *name, *id, *super, *class_id, *pooled, *dimension, *value;
};

static const char *string(const struct metadata *m, uint64_t number)
{
	return number < m->strings.count ? m->text + m->strings.items[number] : "";
}

static int read_strings(struct metadata *m, struct reader *r)
{
	struct buffer text = BUFFER_INIT;
	uint64_t count = read_int(r), key;
	size_t *start;

	for (; count && !r->c.failed; count--) {
		start = VECTOR_PUSH(&m->strings);
		if (!start)
			break;
		*start = text.length;
		text_read(r, &text, &key);
		buffer_putc(&text, '\0');
	}
	m->text = text.data;
	if (text.failed || (count && !r->c.failed))
		return -ENOMEM;
	return r->c.failed ? -EBADMSG : 0;
}

static void read_attributes(const struct metadata *m, struct reader *r, struct attributes *a)
{
	static const struct {
		const char *key;
		size_t offset;
	} known[] = {
		{"name", offsetof(struct attributes, name)},
		{"id", offsetof(struct attributes, id)},
		{"superType", offsetof(struct attributes, super)},
		{"class", offsetof(struct attributes, class_id)},
		{"constantPool", offsetof(struct attributes, pooled)},
		{"dimension", offsetof(struct attributes, dimension)},
		{"value", offsetof(struct attributes, value)},
	};
	uint64_t count = read_int(r);
	size_t i;

	for (; count && !r->c.failed; count--) {
		const char *key = string(m, read_int(r)), *value = string(m, read_int(r));

		for (i = 0; i < ARRAY_LEN(known); i++)
			if (strcmp(known[i].key, key) == 0)
				*(const char **)((char *)a + known[i].offset) = value;
	}
}

/* Of any length, one text may be named by every element: what is behind so many digits is not looked at. */
static uint64_t number(const char *text)
{
	uint64_t value = 0;
	unsigned i;

	for (i = 0; text && i < DIGITS_MAX && text[i] >= '0' && text[i] <= '9'; i++)
		value = value * 10 + (uint64_t)(text[i] - '0');
	return value;
}

static int add_type(struct metadata *m, const struct attributes *a)
{
	struct metadata_type *t = VECTOR_PUSH(&m->types);
	uint32_t *slot;

	if (!t)
		return -ENOMEM;
	t->name = a->name ? a->name : "";
	t->id = number(a->id);
	t->event = a->super && strcmp(a->super, "jdk.jfr.Event") == 0;
	t->first = (uint32_t)m->fields.count;
	slot = map_put(&m->by_id, t->id, NULL);
	if (!slot)
		return -ENOMEM;
	*slot = (uint32_t)m->types.count; /* + 1 */
	return 0;
}

static int add_field(struct metadata *m, const struct attributes *a)
{
	struct metadata_field *f = VECTOR_PUSH(&m->fields);

	if (!f)
		return -ENOMEM;
	f->name = a->name ? a->name : "";
	f->type_id = number(a->class_id);
	f->pooled = a->pooled && strcmp(a->pooled, "true") == 0;
	f->array = a->dimension && strcmp(a->dimension, "0") != 0;
	m->types.items[m->types.count - 1].count++;
	return 0;
}

static int add_note(struct metadata *m, const struct attributes *a)
{
	struct metadata_note *n = VECTOR_PUSH(&m->notes);

	if (!n)
		return -ENOMEM;
	n->field = (uint32_t)m->fields.count - 1;
	n->type_id = number(a->class_id);
	n->value = a->value ? a->value : "";
	return 0;
}

/* What one stands in, so that a setting's annotation is not taken for a field's. */
enum place { IN_NOTHING, IN_CLASS, IN_FIELD };

static int read_element(struct metadata *m, struct reader *r, enum place place, unsigned depth)
{
	const char *name = string(m, read_int(r));
	struct attributes a = {.name = NULL};
	enum place inner = IN_NOTHING;
	uint64_t children;
	int rc = 0;

	read_attributes(m, r, &a);
	children = read_int(r);
	if (r->c.failed || depth > DEPTH_MAX)
		return -EBADMSG;
	if (strcmp(name, "class") == 0) {
		rc = add_type(m, &a);
		inner = IN_CLASS;
	} else if (strcmp(name, "field") == 0 && place == IN_CLASS) {
		rc = add_field(m, &a);
		inner = IN_FIELD;
	} else if (strcmp(name, "annotation") == 0 && place == IN_FIELD) {
		rc = add_note(m, &a);
	}
	for (; rc == 0 && children; children--)
		rc = read_element(m, r, inner, depth + 1);
	return rc;
}

static enum metadata_unit unit_of(const char *word)
{
	static const struct {
		const char *word;
		enum metadata_unit unit;
	} units[] = {
		{"TICKS", UNIT_TICKS}, {"NANOSECONDS", UNIT_NS}, {"MICROSECONDS", UNIT_US},
		{"MILLISECONDS", UNIT_MS}, {"SECONDS", UNIT_S},
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(units); i++)
		if (strcmp(units[i].word, word) == 0)
			return units[i].unit;
	return UNIT_NONE;
}

/* Numbers of types become their places, now that all are known. */
static void connect(struct metadata *m)
{
	size_t i;

	for (i = 0; i < m->fields.count; i++)
		m->fields.items[i].type = metadata_by_id(m, m->fields.items[i].type_id);
	for (i = 0; i < m->notes.count; i++) {
		const struct metadata_note *n = &m->notes.items[i];
		uint32_t type = metadata_by_id(m, n->type_id);
		const char *name = type == METADATA_NONE ? "" : m->types.items[type].name;

		if (strcmp(name, "jdk.jfr.Timespan") == 0 || strcmp(name, "jdk.jfr.Timestamp") == 0)
			m->fields.items[n->field].unit = unit_of(n->value);
	}
}

int metadata_read(struct metadata *m, struct reader r, bool *fresh)
{
	struct reader source;
	int rc;

	read_int(&r);  /* size */
	read_long(&r); /* type */
	read_long(&r); /* start */
	read_long(&r); /* duration */
	read_long(&r); /* number of this metadata */
	*fresh = !m->source || m->source_size != read_left(&r) ||
		 memcmp(m->source, r.c.at, m->source_size) != 0;
	if (!*fresh)
		return 0;
	metadata_free(m);
	source = r;
	rc = read_strings(m, &r);
	if (rc == 0)
		rc = read_element(m, &r, IN_NOTHING, 0);
	if (rc)
		return rc;
	connect(m);
	m->source = malloc(read_left(&source) + 1);
	if (!m->source)
		return -ENOMEM;
	m->source_size = read_left(&source);
	memcpy(m->source, source.c.at, m->source_size);
	return 0;
}

void metadata_free(struct metadata *m)
{
	free(m->types.items);
	free(m->fields.items);
	free(m->notes.items);
	free(m->strings.items);
	free(m->text);
	free(m->source);
	map_free(&m->by_id);
	memset(m, 0, sizeof(*m));
}

uint32_t metadata_by_id(const struct metadata *m, uint64_t id)
{
	const uint32_t *slot = map_get(&m->by_id, id);

	return slot ? *slot - 1 : METADATA_NONE;
}

uint32_t metadata_by_name(const struct metadata *m, const char *name)
{
	uint32_t i;

	for (i = 0; i < m->types.count; i++)
		if (strcmp(m->types.items[i].name, name) == 0)
			return i;
	return METADATA_NONE;
}

const struct metadata_field *metadata_field_of(const struct metadata *m, uint32_t type, const char *name)
{
	const struct metadata_type *t = type == METADATA_NONE ? NULL : &m->types.items[type];
	uint32_t i;

	for (i = 0; t && name && i < t->count; i++)
		if (strcmp(m->fields.items[t->first + i].name, name) == 0)
			return &m->fields.items[t->first + i];
	return NULL;
}
