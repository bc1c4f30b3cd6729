/*
 * code_functions.c (arm) - where functions begin.
 *
 * Symbols and pointers to them tell it, calls do while they are followed. Others are looked for in what is left: they
 * begin with a push of lr.
 */
#include <stdlib.h>
#include <string.h>

#include "code_reader.h"
#include "common/elf/memory.h"
#include "common/elf/symtab.h"

/* Where the kind of what lies in the code changes. */
struct mapping {
	uint32_t at;
	bool data;
};

/* Threads begin here, and the process: what called them, if anything, is _start, which mostly has no symbol. */
static bool is_root(const char *name)
{
	static const char *const names[] = {"clone", "__clone", "__clone3", "_start", "__libc_start_main"};
	size_t i;

	for (i = 0; i < ARRAY_LEN(names); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

static int by_place(const void *a, const void *b)
{
	const struct mapping *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

/* What $d, $t and $a say. */
static void mark_data(struct code_reader *r, const struct object *o, const struct symtab *t)
{
	VECTOR(struct mapping) changes = {0};
	size_t i;

	for (i = 0; i < t->count && !r->failed; i++) {
		const ElfW(Sym) *s = &t->symbols[i];
		uintptr_t at = s->st_value + o->image.bias - o->image.start;
		struct mapping *m;

		if (ELF32_ST_TYPE(s->st_info) != STT_NOTYPE || s->st_name >= t->names_size || at >= r->size ||
		    t->names[s->st_name] != '$')
			continue;
		m = VECTOR_PUSH(&changes);
		if (m)
			*m = (struct mapping){(uint32_t)at, t->names[s->st_name + 1] == 'd'};
		else
			r->failed = true;
	}
	if (changes.count)
		qsort(changes.items, changes.count, sizeof(*changes.items), by_place);
	for (i = 0; i < changes.count; i++)
		if (changes.items[i].data)
			code_mark(r, r->data, changes.items[i].at & ~1u,
			     i + 1 < changes.count ? changes.items[i + 1].at : changes.items[i].at);
	free(changes.items);
}

#define DYNAMIC_MAX 128
#define POINTERS_MAX ((size_t)1 << 20) /* relocations of an object */

/* In a table of relocations: where pointers to functions lie, that the loader has filled in. */
static void add_pointed(struct code_reader *r, const struct object *o, uintptr_t table, size_t size)
{
	Elf32_Rel part[64];
	size_t i, n;

	for (size = MIN(size, POINTERS_MAX * sizeof(part[0])); size >= sizeof(part[0]); size -= n) {
		n = memory_copy(part, table, MIN(size, sizeof(part))) / sizeof(part[0]) * sizeof(part[0]);
		if (n == 0)
			return;
		for (i = 0; i < n / sizeof(part[0]); i++) {
			uint32_t kind = ELF32_R_TYPE(part[i].r_info), value;

			/* An even pointer may be one to data, unless it is what a choice of functions came to. */
			if ((kind == R_ARM_RELATIVE || kind == R_ARM_IRELATIVE) &&
			    memory_copy(&value, o->image.bias + part[i].r_offset, sizeof(value)) == sizeof(value) &&
			    (value & 1 || kind == R_ARM_IRELATIVE) && value >= (uint32_t)o->image.start)
				code_add_function(r, (value & ~1u) - (uint32_t)o->image.start, 0, !(value & 1), false);
		}
		table += n;
	}
}

/* Functions that no symbol names: what the object has pointers to. */
static void add_pointers(struct code_reader *r, const struct object *o)
{
	Elf32_Dyn entries[DYNAMIC_MAX];
	size_t count = memory_copy(entries, o->details.dynamic, MIN(o->details.dynamic_size, sizeof(entries))), i;
	uintptr_t table[2] = {0, 0};
	size_t size[2] = {0, 0};

	count /= sizeof(entries[0]);
	for (i = 0; i < count && entries[i].d_tag != DT_NULL; i++) {
		uint32_t value = entries[i].d_un.d_val;
		uintptr_t address = value >= o->details.low && value < o->details.high ? value : value + o->image.bias;

		switch (entries[i].d_tag) {
		case DT_REL: table[0] = address; break;
		case DT_RELSZ: size[0] = value; break;
		case DT_JMPREL: table[1] = address; break;
		case DT_PLTRELSZ: size[1] = value; break;
		default: break;
		}
	}
	for (i = 0; i < ARRAY_LEN(table); i++)
		if (table[i])
			add_pointed(r, o, table[i], size[i]);
}

static void add_symbols(struct code_reader *r, const struct object *o)
{
	enum symtab_source source;
	struct symtab t;
	size_t i;

	for (source = SYMTAB_FILE; source < SYMTAB_SOURCES && !symtab_open(&t, o, source); source++)
		;
	if (source == SYMTAB_SOURCES)
		return;
	mark_data(r, o, &t);
	for (i = 0; i < t.count; i++) {
		const ElfW(Sym) *s = &t.symbols[i];
		uintptr_t at = s->st_value + o->image.bias - o->image.start;

		if (ELF32_ST_TYPE(s->st_info) == STT_FUNC && s->st_shndx != SHN_UNDEF && s->st_name < t.names_size) {
			bool root = is_root(t.names + s->st_name);

			/* clone's size leaves out what the new thread does. */
			code_add_function(r, (uint32_t)at & ~1u, root ? 0 : s->st_size, !(at & 1), root);
		}
	}
	symtab_close(&t);
	symtab_free_names(&t);
}

void code_add_known(struct code_reader *r, const struct object *o)
{
	add_symbols(r, o);
	if (o->details.dynamic)
		add_pointers(r, o);
}

/* From the first function that is known to the last, if one is: around them there may be data. */
static void find_bounds(const struct code_reader *r, uint32_t *low, uint32_t *high)
{
	size_t i;

	*low = r->functions.count ? r->size : 0;
	*high = r->functions.count ? 0 : r->size;
	for (i = 0; i < r->functions.count; i++) {
		*low = MIN(*low, r->functions.items[i].at);
		*high = MAX(*high, r->functions.items[i].at);
	}
}

/* Code that was not reached and begins with a push of lr, behind one of arguments maybe. */
void code_find_others(struct code_reader *r)
{
	uint32_t at, end, former;

	find_bounds(r, &at, &end);
	for (; at < end && !r->failed; at += 2) {
		size_t count = r->functions.count;
		uint16_t number = r->reached[at >> 1];
		struct thumb t;

		if (code_marked(r->data, at))
			continue;
		code_decode(r, at, number && r->states.items[number - 1].wide, &t);
		if (number) {
			at += t.bytes - 2u;
			continue;
		}
		if (t.does == THUMB_PUSH && t.registers >> THUMB_LR & 1) {
			former = at;
			code_decode(r, at >= 2 ? at - 2 : at, false, &t);
			if (at >= 2 && !r->reached[(at - 2) >> 1] && t.bytes == 2 && t.does == THUMB_PUSH)
				former = at - 2;
			code_add_function(r, former, 0, false, false);
			code_follow(r, count);
		}
	}
}
