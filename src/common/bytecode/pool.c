#include "common/bytecode/pool.h"

#include "common/bytecode/emit.h"

#define POOL_MAX 65535u /* the count is a u2 */

void pool_init(struct pool *p, const struct class_file *file)
{
	memset(p, 0, sizeof(*p));
	p->file = file;
	p->added.fd = -1;
	p->count = file->pool_count;
}

void pool_free(struct pool *p)
{
	buffer_free(&p->added);
	strings_free(&p->names);
	map_free(&p->texts);
	map_free(&p->classes);
	map_free(&p->integers);
}

/* A number for one more constant, whose tag is written; 0, and nothing is to follow, when there is none. */
static uint16_t add(struct pool *p, enum constant_tag tag)
{
	if (p->count >= POOL_MAX)
		p->failed = true;
	if (p->failed)
		return 0;
	emit_u1(&p->added, tag);
	return (uint16_t)p->count++;
}

/* A constant that is made of two others. */
static uint16_t add_pair(struct pool *p, enum constant_tag tag, uint16_t first, uint16_t second)
{
	uint16_t number = add(p, tag);

	if (number) {
		emit_u2(&p->added, first);
		emit_u2(&p->added, second);
	}
	return number;
}

/* The number of TEXT as a key; texts of length 0 have 0. */
static uint64_t key_of(struct pool *p, const char *text, size_t length)
{
	uint32_t number = strings_add(&p->names, text, length);

	p->failed |= p->names.failed;
	return number;
}

/* Where the number behind KEY is kept; NULL with p->failed. *FRESH: it is not known yet. */
static uint32_t *place(struct pool *p, struct map *m, uint64_t key, bool *fresh)
{
	uint32_t *number = p->failed ? NULL : map_put(m, key, fresh);

	p->failed = !number;
	return number;
}

uint16_t pool_text(struct pool *p, const char *text, size_t length)
{
	bool fresh;
	uint32_t *number = place(p, &p->texts, key_of(p, text, length), &fresh);

	if (!number || !fresh)
		return number ? (uint16_t)*number : 0;
	*number = add(p, CONSTANT_UTF8);
	if (*number) {
		emit_u2(&p->added, (unsigned)length);
		buffer_append(&p->added, text, length);
	}
	return (uint16_t)*number;
}

/* The classes that the file names itself. */
static void learn_classes(struct pool *p)
{
	unsigned i;

	for (i = 1; i < p->file->pool_count && !p->failed; i++) {
		struct text name;
		uint32_t *number;
		bool fresh;

		if (!classfile_name(p->file, (uint16_t)i, &name))
			continue;
		number = place(p, &p->classes, key_of(p, name.at, name.length), &fresh);
		if (number && fresh)
			*number = i;
	}
	p->knows_classes = true;
}

uint16_t pool_class(struct pool *p, const char *name, size_t length)
{
	uint32_t *number;
	uint16_t text;
	bool fresh;

	if (!p->knows_classes)
		learn_classes(p);
	number = place(p, &p->classes, key_of(p, name, length), &fresh);
	if (!number || !fresh)
		return number ? (uint16_t)*number : 0;
	text = pool_text(p, name, length);
	*number = add(p, CONSTANT_CLASS);
	if (*number)
		emit_u2(&p->added, text);
	return (uint16_t)*number;
}

uint16_t pool_integer(struct pool *p, uint32_t value)
{
	bool fresh;
	uint32_t *number = place(p, &p->integers, value, &fresh);

	if (!number || !fresh)
		return number ? (uint16_t)*number : 0;
	*number = add(p, CONSTANT_INTEGER);
	if (*number)
		emit_u4(&p->added, value);
	return (uint16_t)*number;
}

uint16_t pool_method(struct pool *p, const char *class, const char *name, const char *type)
{
	uint16_t holder = pool_class(p, class, strlen(class));
	uint16_t named = pool_text(p, name, strlen(name));
	uint16_t typed = pool_text(p, type, strlen(type));
	uint16_t both = add_pair(p, CONSTANT_NAME_AND_TYPE, named, typed);

	return add_pair(p, CONSTANT_METHODREF, holder, both);
}
