/*
 * jfr_metadata.c - the event that tells a reader what types a chunk has, made from jfr_types.def.
 *
 * It is a tree of elements, each a name, attributes (pairs of texts) and children; all texts are numbers
 * in a table in front of it:
 *
 *   root ─ metadata ─ class (name, id, superType or simpleType) ─ field (name, class, constantPool, dimension)
 *        │                                                      └ annotation (class, value or value-0 …)
 *        └ region (locale, gmtOffset)
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/vector.h"
#include "profile/writers/jfr/jfr_chunk.h"
#include "profile/writers/jfr/jfr_emit.h"
#include "profile/writers/jfr/jfr_types.h"

#define METADATA_ID 0x6a737472 /* no JVM gets that far: its reader takes equal numbers for equal types */

const struct jfr_row jfr_rows[] = {
#define JFR_TYPE(id, type_name, type_kind, type_label) \
	{.name = type_name, .label = type_label, .type = JFR_##id, .kind = JFR_##type_kind},
#define JFR_FIELD(field_name, field_type, flags, field_unit)                 \
	{.name = field_name, .type = JFR_##field_type, .flag = JFR_FLAG_##flags, \
	 .unit = JFR_UNIT_##field_unit, .is_field = true},
#include "profile/writers/jfr/jfr_types.def"
};
const unsigned jfr_row_count = ARRAY_LEN(jfr_rows);

const struct jfr_row *jfr_row_of(unsigned type)
{
	unsigned i;

	for (i = 0; i < jfr_row_count; i++)
		if (!jfr_rows[i].is_field && jfr_rows[i].type == type)
			return &jfr_rows[i];
	return NULL;
}

unsigned jfr_type_id(unsigned type, bool apart)
{
	unsigned kind = jfr_row_of(type)->kind;
	bool constant = kind == JFR_CONSTANT || kind == JFR_SIMPLE || kind == JFR_STRUCT || type == JFR_STRING;

	return apart || constant ? JFR_CONSTANT_ID(type) : type;
}

/* The annotation that says what a field's number is. */
static const struct {
	uint8_t annotation;
	const char *value;
} units[] = {
	[JFR_UNIT_NONE] = {0, NULL},
	[JFR_UNIT_TIME] = {JFR_TIMESTAMP, "TICKS"},
	[JFR_UNIT_TICKS] = {JFR_TIMESPAN, "TICKS"},
	[JFR_UNIT_NANOS] = {JFR_TIMESPAN, "NANOSECONDS"},
	[JFR_UNIT_MILLIS] = {JFR_TIMESPAN, "MILLISECONDS"},
	[JFR_UNIT_EPOCH_MS] = {JFR_TIMESTAMP, "MILLISECONDS_SINCE_EPOCH"},
	[JFR_UNIT_BYTES] = {JFR_DATA_AMOUNT, "BYTES"},
	[JFR_UNIT_SHARE] = {JFR_PERCENTAGE, NULL},
	[JFR_UNIT_ADDRESS] = {JFR_MEMORY_ADDRESS, NULL},
};

struct tree {
	struct buffer body;
	bool apart, no_spans;
	VECTOR(char *) texts;
};

/* The number of TEXT[0..N) in the table. */
static uint32_t number(struct tree *t, const char *text, size_t n)
{
	char **slot;
	size_t i;

	for (i = 0; i < t->texts.count; i++)
		if (strncmp(t->texts.items[i], text, n) == 0 && !t->texts.items[i][n])
			return (uint32_t)i;
	slot = VECTOR_PUSH(&t->texts);
	if (slot)
		*slot = strndup(text, n);
	if (!slot || !*slot)
		t->body.failed = ENOMEM;
	if (slot && !*slot)
		t->texts.count--;
	return (uint32_t)i;
}

static void put_text(struct tree *t, const char *text)
{
	jfr_put_number(&t->body, number(t, text, strlen(text)));
}

static void open_element(struct tree *t, const char *name, unsigned attributes)
{
	put_text(t, name);
	jfr_put_number(&t->body, attributes);
}

static void put_attribute(struct tree *t, const char *key, const char *value)
{
	put_text(t, key);
	put_text(t, value);
}

static void put_attribute_number(struct tree *t, const char *key, unsigned value)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", value);
	put_attribute(t, key, text);
}

/* An annotation with VALUE (NULL: without). */
static void put_annotation(struct tree *t, unsigned type, const char *value)
{
	open_element(t, "annotation", value ? 2 : 1);
	put_attribute_number(t, "class", jfr_type_id(type, t->apart));
	if (value)
		put_attribute(t, "value", value);
	jfr_put_number(&t->body, 0);
}

/* "Label|Category|Subcategory": two annotations. */
static void put_label(struct tree *t, const char *label)
{
	size_t n = strcspn(label, "|");
	unsigned count = 0, i;
	const char *p;
	char key[24];

	open_element(t, "annotation", 2);
	put_attribute_number(t, "class", jfr_type_id(JFR_LABEL, t->apart));
	put_text(t, "value");
	jfr_put_number(&t->body, number(t, label, n));
	jfr_put_number(&t->body, 0);
	if (!label[n])
		return;
	for (p = label; *p; p++)
		count += *p == '|';
	open_element(t, "annotation", count + 1);
	put_attribute_number(t, "class", jfr_type_id(JFR_CATEGORY, t->apart));
	for (i = 0, p = label + n; i < count; i++, p += n) {
		p++;
		n = strcspn(p, "|");
		snprintf(key, sizeof(key), "value-%u", i);
		put_text(t, key);
		jfr_put_number(&t->body, number(t, p, n));
	}
	jfr_put_number(&t->body, 0);
}

static void put_field(struct tree *t, const struct jfr_row *f)
{
	open_element(t, "field", f->flag == JFR_FLAG_0 ? 2 : 3);
	put_attribute(t, "name", f->name);
	put_attribute_number(t, "class", jfr_type_id(f->type, t->apart));
	if (f->flag == JFR_FLAG_POOL)
		put_attribute(t, "constantPool", "true");
	else if (f->flag == JFR_FLAG_LIST)
		put_attribute(t, "dimension", "1");
	jfr_put_number(&t->body, units[f->unit].annotation ? 1 : 0);
	if (units[f->unit].annotation)
		put_annotation(t, units[f->unit].annotation, units[f->unit].value);
}

/* The type in ROW and its fields, COUNT rows behind it. */
static void put_class(struct tree *t, const struct jfr_row *row, unsigned count)
{
	unsigned i, annotations = !row->label ? 0 : strchr(row->label, '|') ? 2 : 1;
	bool content = row->kind == JFR_CONTENT, annotation = row->kind == JFR_ANNOTATION || content;

	open_element(t, "class", row->kind == JFR_EVENT || annotation || row->kind == JFR_SIMPLE ? 3 : 2);
	put_attribute(t, "name", row->name);
	put_attribute_number(t, "id", jfr_type_id(row->type, t->apart));
	if (row->kind == JFR_EVENT)
		put_attribute(t, "superType", "jdk.jfr.Event");
	else if (annotation)
		put_attribute(t, "superType", "java.lang.annotation.Annotation");
	else if (row->kind == JFR_SIMPLE)
		put_attribute(t, "simpleType", "true");
	jfr_put_number(&t->body, count + annotations + content);
	if (row->label)
		put_label(t, row->label);
	if (content) /* without it the JDK's `jfr print` shows lengths of time as PT0.01S, addresses as numbers */
		put_annotation(t, JFR_CONTENT_TYPE, NULL);
	for (i = 1; i <= count; i++)
		put_field(t, &row[i]);
}

static void put_classes(struct tree *t)
{
	unsigned i, n, types = 0;

	for (i = 0; i < jfr_row_count; i++)
		types += !jfr_rows[i].is_field;
	open_element(t, "metadata", 0);
	jfr_put_number(&t->body, types);
	for (i = 0; i < jfr_row_count; i += n + 1) {
		for (n = 0; i + n + 1 < jfr_row_count && jfr_rows[i + n + 1].is_field; n++)
			;
		/* the last field of its event */
		put_class(t, &jfr_rows[i], n - (t->no_spans && jfr_rows[i].type == JFR_WALL_CLOCK_SAMPLE));
	}
}

void jfr_put_metadata(struct buffer *out, uint64_t now, unsigned dialect)
{
	struct tree t = {.body = BUFFER_INIT, .apart = dialect & JFR_DIALECT_APART,
			 .no_spans = dialect & JFR_DIALECT_NO_SPANS};
	size_t i, begin;

	open_element(&t, "root", 0);
	jfr_put_number(&t.body, 2);
	put_classes(&t);
	open_element(&t, "region", 2);
	put_attribute(&t, "locale", "en_US");
	put_attribute(&t, "gmtOffset", "0");
	jfr_put_number(&t.body, 0);

	begin = jfr_begin(out);
	jfr_put_number(out, JFR_METADATA);
	jfr_put_number(out, now);
	jfr_put_number(out, 0); /* duration */
	jfr_put_number(out, METADATA_ID);
	jfr_put_number(out, t.texts.count);
	for (i = 0; i < t.texts.count; i++) {
		jfr_put_symbol(out, t.texts.items[i]);
		free(t.texts.items[i]);
	}
	buffer_append(out, t.body.data, t.body.length);
	jfr_end(out, begin);
	out->failed = out->failed ? out->failed : t.body.failed;
	free(t.texts.items);
	buffer_free(&t.body);
}
