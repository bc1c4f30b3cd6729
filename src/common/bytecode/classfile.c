#include "common/bytecode/classfile.h"

#include <stdlib.h>

#define MAGIC 0xcafebabeu
#define FIRST_MAJOR 45 /* JDK 1.1 */

/* Bytes behind the tag, 0 = no such tag; texts say their length themselves. */
static const uint8_t constant_size[] = {
	[CONSTANT_INTEGER] = 4,
	[CONSTANT_FLOAT] = 4,
	[CONSTANT_LONG] = 8,
	[CONSTANT_DOUBLE] = 8,
	[CONSTANT_CLASS] = 2,
	[CONSTANT_STRING] = 2,
	[CONSTANT_FIELDREF] = 4,
	[CONSTANT_METHODREF] = 4,
	[CONSTANT_INTERFACE_METHODREF] = 4,
	[CONSTANT_NAME_AND_TYPE] = 4,
	[CONSTANT_METHOD_HANDLE] = 3,
	[CONSTANT_METHOD_TYPE] = 2,
	[CONSTANT_DYNAMIC] = 4,
	[CONSTANT_INVOKE_DYNAMIC] = 4,
	[CONSTANT_MODULE] = 2,
	[CONSTANT_PACKAGE] = 2,
};

static void read_pool(struct class_file *c, struct cursor *at)
{
	unsigned i;

	for (i = 1; i < c->pool_count && !at->failed; i++) {
		uint8_t tag;

		c->pool[i] = class_offset(c, at);
		tag = cursor_u8(at);
		if (tag == CONSTANT_UTF8)
			cursor_skip(at, cursor_be16(at));
		else if (tag < ARRAY_LEN(constant_size) && constant_size[tag])
			cursor_skip(at, constant_size[tag]);
		else
			cursor_fail(at);
		/* these two take a second number, for which there is nothing (JVMS 4.4.5) */
		if (tag == CONSTANT_LONG || tag == CONSTANT_DOUBLE)
			i++;
	}
	if (i > c->pool_count)
		cursor_fail(at);
}

static void skip_attributes(const struct class_file *c, struct cursor *at)
{
	unsigned count = cursor_be16(at);
	struct attribute a;

	while (count-- > 0 && attribute_next(c, at, &a))
		;
}

static void skip_members(const struct class_file *c, struct cursor *at)
{
	unsigned count = cursor_be16(at);
	struct member m;

	while (count-- > 0 && member_next(c, at, &m))
		;
}

bool classfile_open(struct class_file *c, const uint8_t *bytes, size_t size)
{
	struct cursor at;

	memset(c, 0, sizeof(*c));
	c->file = (struct span){bytes, size, 0};
	at = cursor_at(&c->file, 0);
	if (size > INT32_MAX || cursor_be32(&at) != MAGIC)
		return false;
	cursor_be16(&at);
	c->major = cursor_be16(&at);
	c->pool_count = cursor_be16(&at);
	if (at.failed || c->major < FIRST_MAJOR || c->pool_count == 0)
		return false;
	c->pool = calloc(c->pool_count, sizeof(*c->pool));
	if (!c->pool)
		return false;
	read_pool(c, &at);
	c->pool_end = class_offset(c, &at);
	c->access = cursor_be16(&at);
	c->this_class = cursor_be16(&at);
	c->super_class = cursor_be16(&at);
	cursor_skip(&at, 2ull * cursor_be16(&at)); /* interfaces */
	skip_members(c, &at);
	c->methods = class_offset(c, &at);
	skip_members(c, &at);
	c->attributes = class_offset(c, &at);
	skip_attributes(c, &at);
	return !at.failed && !cursor_left(&at);
}

void classfile_close(struct class_file *c)
{
	free(c->pool);
	c->pool = NULL;
}

struct cursor classfile_constant(const struct class_file *c, uint16_t index, enum constant_tag tag)
{
	uint32_t offset = index < c->pool_count ? c->pool[index] : 0;
	struct cursor at = cursor_at(&c->file, offset);

	if (!offset || cursor_u8(&at) != tag)
		cursor_fail(&at);
	return at;
}

bool classfile_text(const struct class_file *c, uint16_t index, struct text *text)
{
	struct cursor at = classfile_constant(c, index, CONSTANT_UTF8);

	text->length = cursor_be16(&at);
	text->at = (const char *)at.at;
	cursor_skip(&at, text->length);
	return !at.failed;
}

bool classfile_name(const struct class_file *c, uint16_t index, struct text *text)
{
	struct cursor at = classfile_constant(c, index, CONSTANT_CLASS);

	return classfile_text(c, cursor_be16(&at), text) && !at.failed;
}

bool classfile_reference(const struct class_file *c, uint16_t index, struct text *name, struct text *type)
{
	uint32_t offset = index < c->pool_count ? c->pool[index] : 0;
	struct cursor at = cursor_at(&c->file, offset);
	uint8_t tag = cursor_u8(&at);

	if (!offset || !((tag >= CONSTANT_FIELDREF && tag <= CONSTANT_INTERFACE_METHODREF) ||
			 tag == CONSTANT_INVOKE_DYNAMIC || tag == CONSTANT_DYNAMIC))
		return false;
	cursor_be16(&at);
	at = classfile_constant(c, cursor_be16(&at), CONSTANT_NAME_AND_TYPE);
	return classfile_text(c, cursor_be16(&at), name) && classfile_text(c, cursor_be16(&at), type) &&
	       !at.failed;
}

bool attribute_next(const struct class_file *c, struct cursor *at, struct attribute *a)
{
	a->begin = class_offset(c, at);
	if (!classfile_text(c, cursor_be16(at), &a->name))
		cursor_fail(at);
	a->body = cursor_cut(at, cursor_be32(at));
	return !at->failed;
}

bool member_next(const struct class_file *c, struct cursor *at, struct member *m)
{
	struct cursor begin;

	m->begin = class_offset(c, at);
	m->access = cursor_be16(at);
	if (!classfile_text(c, cursor_be16(at), &m->name) || !classfile_text(c, cursor_be16(at), &m->type))
		cursor_fail(at);
	begin = *at;
	m->attribute_count = cursor_be16(&begin);
	m->attributes = begin;
	skip_attributes(c, at);
	return !at->failed;
}

bool descriptor_next(struct text *rest, struct text *type)
{
	unsigned n = 0;

	while (n < rest->length && rest->at[n] == '[')
		n++;
	if (n == rest->length || !strchr("BCDFIJSZLV", rest->at[n]) || !rest->at[n])
		return false;
	if (rest->at[n] == 'L') {
		const char *end = memchr(rest->at + n, ';', rest->length - n);

		if (!end)
			return false;
		n = (unsigned)(end - rest->at);
	}
	*type = (struct text){rest->at, (uint16_t)(n + 1)};
	rest->at += n + 1;
	rest->length = (uint16_t)(rest->length - (n + 1));
	return true;
}

bool descriptor_slots(const struct text *type, unsigned *parameters, unsigned *result)
{
	struct text rest = *type, one;

	*parameters = 0;
	if (!rest.length || rest.at[0] != '(')
		return false;
	rest.at++;
	rest.length--;
	while (descriptor_next(&rest, &one))
		*parameters += type_slots(&one);
	if (!rest.length || rest.at[0] != ')')
		return false;
	rest.at++;
	rest.length--;
	if (!descriptor_next(&rest, &one) || rest.length)
		return false;
	*result = type_slots(&one);
	return true;
}
