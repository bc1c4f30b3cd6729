/*
 * vm_tables.c - the tables that libjvm.so exports for debuggers, read from outside: where fields lie in this JVM's
 * objects, and where its static ones are. The library is found in the process's map, the names in its dynamic symbols
 * as they are in memory: no file is opened, so it may be gone, or lie in a container.
 */
#include <elf.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "cli/memory/resident.h"

#define ENTRIES_MAX 20000
#define SYMBOLS_MAX 200000
#define NAME 96

struct entry {
	char type[NAME], field[NAME];
	bool is_static;
	uint64_t place; /* offset or address; of a type its size */
};

struct vm_tables {
	VECTOR(struct entry) fields, types;
};

/* The dynamic symbols of one library. */
struct library {
	uint64_t base, symbols, names, gnu_hash, hash;
};

static uint64_t find_base(const struct peek *p)
{
	size_t i;

	for (i = 0; i < p->maps->count; i++)
		if (strcmp(maps_name(p->maps->items[i].path), "libjvm.so") == 0 && p->maps->items[i].offset == 0)
			return p->maps->items[i].start;
	return 0;
}

/* glibc writes addresses over the offsets in the dynamic section, musl does not. */
static uint64_t placed(const struct library *l, uint64_t value)
{
	return value < l->base ? value + l->base : value;
}

static bool read_dynamic(struct peek *p, struct library *l, uint64_t at)
{
	ElfW(Dyn) d;
	unsigned i;

	for (i = 0; i < 200 && peek_read(p, at + i * sizeof(d), &d, sizeof(d)) && d.d_tag != DT_NULL; i++)
		switch (d.d_tag) {
		case DT_SYMTAB:
			l->symbols = placed(l, d.d_un.d_ptr);
			break;
		case DT_STRTAB:
			l->names = placed(l, d.d_un.d_ptr);
			break;
		case DT_GNU_HASH:
			l->gnu_hash = placed(l, d.d_un.d_ptr);
			break;
		case DT_HASH:
			l->hash = placed(l, d.d_un.d_ptr);
			break;
		}
	return l->symbols && l->names && (l->gnu_hash || l->hash);
}

static bool find_library(struct peek *p, struct library *l)
{
	uint64_t first = find_base(p), bias = first, dynamic = 0;
	bool loaded = false;
	ElfW(Ehdr) h;
	ElfW(Phdr) s;
	unsigned i;

	if (!first || !peek_read(p, first, &h, sizeof(h)) || memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 ||
	    h.e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) || h.e_phentsize != sizeof(s))
		return false;
	for (i = 0; i < h.e_phnum && peek_read(p, first + h.e_phoff + i * sizeof(s), &s, sizeof(s)); i++)
		if (s.p_type == PT_LOAD && !loaded) {
			bias = first - s.p_vaddr;
			loaded = true;
		} else if (s.p_type == PT_DYNAMIC) {
			dynamic = s.p_vaddr;
		}
	l->base = bias;
	return dynamic && read_dynamic(p, l, bias + dynamic);
}

static bool is_symbol(struct peek *p, const struct library *l, uint32_t index, const char *name, uint64_t *address)
{
	char text[NAME];
	ElfW(Sym) symbol;

	if (!peek_read(p, l->symbols + index * sizeof(symbol), &symbol, sizeof(symbol)) ||
	    symbol.st_shndx == SHN_UNDEF || !peek_text(p, l->names + symbol.st_name, text, sizeof(text)) ||
	    strcmp(text, name) != 0)
		return false;
	*address = l->base + symbol.st_value;
	return true;
}

static uint64_t find_by_gnu_hash(struct peek *p, const struct library *l, const char *name)
{
	uint32_t head[4], hash = 5381, index, one;
	uint64_t buckets, chains, address;
	const char *c;

	for (c = name; *c; c++)
		hash = hash * 33 + (unsigned char)*c;
	if (!peek_read(p, l->gnu_hash, head, sizeof(head)) || head[0] == 0)
		return 0;
	buckets = l->gnu_hash + sizeof(head) + head[2] * sizeof(ElfW(Addr));
	chains = buckets + head[0] * 4ull;
	if (!peek_read(p, buckets + hash % head[0] * 4ull, &index, 4) || index < head[1])
		return 0;
	for (; peek_read(p, chains + (index - head[1]) * 4ull, &one, 4); index++) {
		if ((one | 1) == (hash | 1) && is_symbol(p, l, index, name, &address))
			return address;
		if (one & 1)
			break;
	}
	return 0;
}

static uint64_t find_by_order(struct peek *p, const struct library *l, const char *name)
{
	uint32_t head[2], i;
	uint64_t address;

	if (!peek_read(p, l->hash, head, sizeof(head)))
		return 0;
	for (i = 0; i < MIN(head[1], SYMBOLS_MAX); i++)
		if (is_symbol(p, l, i, name, &address))
			return address;
	return 0;
}

/* What the pointer exported as NAME points to. */
static uint64_t pointer(struct peek *p, const struct library *l, const char *name)
{
	uint64_t at = l->gnu_hash ? find_by_gnu_hash(p, l, name) : find_by_order(p, l, name), value = 0;

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
	struct library l = {0};
	uint64_t fields, types;

	if (t && find_library(p, &l)) {
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
