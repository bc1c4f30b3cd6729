/*
 * vm_tables.c - the tables that libjvm.so exports for debuggers, read from outside: where fields lie in this JVM's
 * objects, and where its static ones are. The library is found in the process's map, the names in its dynamic symbols
 * as they are in memory: no file is opened, so it may be gone, or lie in a container.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/memory/resident.h"

#define ENTRIES_MAX 20000
#define NAME 96

struct entry {
	char type[NAME], field[NAME];
	bool is_static;
	uint64_t place; /* offset or address; of a type its size */
};

struct vm_tables {
	VECTOR(struct entry) fields, types;
};

static uint64_t find_base(const struct peek *p)
{
	size_t i;

	for (i = 0; i < p->maps->count; i++)
		if (strcmp(maps_name(p->maps->items[i].path), "libjvm.so") == 0 && p->maps->items[i].offset == 0)
			return p->maps->items[i].start;
	return 0;
}

/* What the pointer exported as NAME points to. */
static uint64_t pointer(struct peek *p, const struct image_symbols *l, const char *name)
{
	uint64_t at = image_symbols_find(p, l, name), value = 0;

	return at && peek_word(p, at, &value) ? value : 0;
}

/* As vmStructs.hpp has them. */
struct field_row {
	uintptr_t type, field, kind;
	int32_t is_static;
	uint64_t offset;
	uintptr_t address;
};
struct type_row {
	uintptr_t type, super;
	int32_t is_oop, is_integer, is_unsigned;
	uint64_t size;
};

static bool read_fields(struct peek *p, struct vm_tables *t, uint64_t at)
{
	struct field_row row;
	unsigned i;

	for (i = 0; i < ENTRIES_MAX && peek_read(p, at + i * sizeof(row), &row, sizeof(row)) && row.type; i++) {
		struct entry *e = VECTOR_PUSH(&t->fields);

		if (!e || !peek_text(p, row.type, e->type, sizeof(e->type)) ||
		    !peek_text(p, row.field, e->field, sizeof(e->field)))
			return false;
		e->is_static = row.is_static;
		e->place = row.is_static ? row.address : row.offset;
	}
	return t->fields.count > 0;
}

static bool read_types(struct peek *p, struct vm_tables *t, uint64_t at)
{
	struct type_row row;
	unsigned i;

	for (i = 0; i < ENTRIES_MAX && peek_read(p, at + i * sizeof(row), &row, sizeof(row)) && row.type; i++) {
		struct entry *e = VECTOR_PUSH(&t->types);

		if (!e || !peek_text(p, row.type, e->type, sizeof(e->type)))
			return false;
		e->place = row.size;
	}
	return t->types.count > 0;
}

struct vm_tables *vm_tables_open(struct peek *p)
{
	struct vm_tables *t = calloc(1, sizeof(*t));
	struct image_symbols l = {0};
	uint64_t fields, types;

	if (t && image_symbols_open(p, find_base(p), &l)) {
		fields = pointer(p, &l, "gHotSpotVMStructs");
		types = pointer(p, &l, "gHotSpotVMTypes");
		if (fields && types && read_fields(p, t, fields) && read_types(p, t, types))
			return t;
	}
	vm_tables_close(t);
	return NULL;
}

void vm_tables_close(struct vm_tables *t)
{
	if (!t)
		return;
	free(t->fields.items);
	free(t->types.items);
	free(t);
}

static const struct entry *find(const struct vm_tables *t, const char *type, const char *field)
{
	size_t i;

	for (i = 0; i < t->fields.count; i++)
		if (strcmp(t->fields.items[i].field, field) == 0 && strcmp(t->fields.items[i].type, type) == 0)
			return &t->fields.items[i];
	return NULL;
}

int64_t vm_tables_offset(const struct vm_tables *t, const char *type, const char *field)
{
	const struct entry *e = find(t, type, field);

	return e && !e->is_static ? (int64_t)e->place : -1;
}

uint64_t vm_tables_static(const struct vm_tables *t, const char *type, const char *field)
{
	const struct entry *e = find(t, type, field);

	return e && e->is_static ? e->place : 0;
}

uint64_t vm_tables_value(const struct vm_tables *t, struct peek *p, const char *type, const char *field)
{
	uint64_t at = vm_tables_static(t, type, field), value = 0;

	return at && peek_word(p, at, &value) ? value : 0;
}

uint64_t vm_tables_at(const struct vm_tables *t, struct peek *p, uint64_t object, const char *type, const char *field)
{
	int64_t offset = vm_tables_offset(t, type, field);
	uint64_t value = 0;

	return object && offset >= 0 && peek_word(p, object + (uint64_t)offset, &value) ? value : 0;
}
