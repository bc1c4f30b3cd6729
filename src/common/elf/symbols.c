/*
 * Names of functions, read when the first one is asked for.
 *
 * The index has 12 bytes a symbol and leads into a copy of the string table: the file
 * may be cut or written over at any time. All of it is the collector's.
 *
 * Where several symbols share an address the most readable one is kept:
 * typed and sized, visible, with few leading underscores ("write", not
 * "__write"), short. Labels inside a sized function are dropped: assembly is full of them.
 */
#include "common/elf/symbols.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/base.h"
#include "common/base/pages.h"
#include "common/elf/elf.h"
#include "common/elf/symtab.h"
#include "cpu.h"

#define NAME_MAX_BYTES 4096
#define NESTING_MAX 8

struct symbol {
	uint32_t start; /* from image->start */
	uint32_t size;
	uint32_t name;  /* offset in the string table */
};

struct symbols {
	struct symbol *items; /* by start */
	size_t count;
	struct symtab table;  /* closed; its names are still there */
};

/* While the index is made. */
struct index {
	const struct object *o;
	const struct symtab *table;
	uint64_t *keys, *scratch; /* start << 32 | number in the table */
	size_t count;
};

/* ---- making the index ---- */

/* The address in the running process. */
static uintptr_t running_address(const struct object *o, const ElfW(Sym) *s)
{
	return (s->st_value & ~(uintptr_t)CPU_CODE_BITS) + o->image.bias;
}

static bool is_code(const struct index *x, const ElfW(Sym) *s)
{
	unsigned type = ELF64_ST_TYPE(s->st_info);
	uintptr_t at = running_address(x->o, s);

	return (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE) &&
	       s->st_shndx != SHN_UNDEF && s->st_shndx != SHN_ABS && s->st_name != 0 &&
	       s->st_name < x->table->names_size && x->table->names[s->st_name] != '$' && /* says: code, data */
	       at >= x->o->image.start && at < x->o->image.end && at - x->o->image.start < UINT32_MAX;
}

static void collect(struct index *x)
{
	size_t i;

	for (i = 0; i < x->table->count; i++) {
		const ElfW(Sym) *s = &x->table->symbols[i];

		if (is_code(x, s))
			x->keys[x->count++] =
				(uint64_t)(running_address(x->o, s) - x->o->image.start) << 32 | i;
	}
}

/* Radix sort by start; equal starts keep the order of the table. */
static void sort(struct index *x)
{
	unsigned shift;

	for (shift = 32; shift < 64; shift += 11) {
		size_t place[2048] = {0}, sum = 0, i;
		uint64_t *swap;

		for (i = 0; i < x->count; i++)
			place[x->keys[i] >> shift & 2047]++;
		for (i = 0; i < ARRAY_LEN(place); i++) {
			size_t n = place[i];

			place[i] = sum;
			sum += n;
		}
		for (i = 0; i < x->count; i++)
			x->scratch[place[x->keys[i] >> shift & 2047]++] = x->keys[i];
		swap = x->keys;
		x->keys = x->scratch;
		x->scratch = swap;
	}
}

/* How well S serves as the name of its address; more is better. */
static unsigned rank(const struct index *x, const ElfW(Sym) *s)
{
	const char *name = x->table->names + s->st_name;
	size_t underscores = strspn(name, "_");
	unsigned points = 0;

	/* "_Z…" is how mangled names begin; that one does not count. */
	if (name[underscores] == 'Z' && underscores == 1)
		underscores = 0;
	if (ELF64_ST_TYPE(s->st_info) != STT_NOTYPE)
		points += 64;
	if (s->st_size)
		points += 32;
	if (ELF64_ST_BIND(s->st_info) != STB_LOCAL)
		points += 16;
	return points + 7 - (unsigned)MIN(underscores, (size_t)7);
}

/* The best of the keys that share an address with keys[*I]; *I moves past them. */
static const ElfW(Sym) *best(const struct index *x, size_t *i)
{
	uint32_t start = (uint32_t)(x->keys[*i] >> 32);
	const char *names = x->table->names;
	const ElfW(Sym) *found = NULL;
	unsigned points = 0;

	for (; *i < x->count && x->keys[*i] >> 32 == start; ++*i) {
		const ElfW(Sym) *s = &x->table->symbols[(uint32_t)x->keys[*i]];
		unsigned p = rank(x, s);

		/* Of equals the shorter: "mmap", not "mmap64". */
		if (!found || p > points ||
		    (p == points && strlen(names + s->st_name) < strlen(names + found->st_name))) {
			found = s;
			points = p;
		}
	}
	return found;
}

/* How far S, which says no size, reaches at most. */
static uint64_t reach(const struct index *x, const ElfW(Sym) *s, size_t next)
{
	uint64_t size = x->o->image.end - x->o->image.bias - s->st_value;

	if (next < x->count)
		size = MIN(size, (x->keys[next] >> 32) + x->o->image.start - x->o->image.bias -
					 s->st_value);
	if (s->st_shndx < x->table->section_count &&
	    x->table->section_end[s->st_shndx] > s->st_value)
		size = MIN(size, x->table->section_end[s->st_shndx] - s->st_value);
	return size;
}

/* Fill ITEMS (room for all keys); returns how many stay. */
static size_t pick(const struct index *x, struct symbol *items)
{
	uint64_t covered = 0; /* end of the sized function reaching farthest */
	size_t i = 0, count = 0;

	while (i < x->count) {
		uint64_t start = x->keys[i] >> 32;
		const ElfW(Sym) *s = best(x, &i);
		uint64_t size = s->st_size;

		if (size)
			covered = MAX(covered, start + size);
		else if (start < covered)
			continue;
		else
			size = reach(x, s, i);
		items[count++] = (struct symbol){
			.start = (uint32_t)start,
			.size = (uint32_t)MIN(size, (uint64_t)UINT32_MAX - start),
			.name = s->st_name,
		};
	}
	return count;
}

static bool make_index(struct symbols *symbols, const struct object *o)
{
	struct index x = {.o = o, .table = &symbols->table};
	size_t room = x.table->count * sizeof(uint64_t);
	struct symbol *items = NULL;
	uint64_t *keys = pages_alloc(room), *scratch = pages_alloc(room);
	bool ok = false;

	x.keys = keys;
	x.scratch = scratch;
	if (!keys || !scratch)
		goto out;
	collect(&x);
	sort(&x);
	ok = x.count > 0 && (items = pages_alloc(x.count * sizeof(*items)));
	if (!ok)
		goto out;
	symbols->count = pick(&x, items);
	/* Give back what aliases and labels left over. */
	symbols->items = pages_grow(items, x.count * sizeof(*items),
				    symbols->count * sizeof(*items));
	ok = symbols->items != NULL;
	if (!ok)
		symbols->count = 0;
out:
	if (!ok && items)
		pages_free(items, x.count * sizeof(*items));
	pages_free(keys, room);
	pages_free(scratch, room);
	return ok;
}

/* ---- looking up ---- */

/* The symbols of O, read now if they were not yet. NULL when out of memory. */
static struct symbols *load(struct object *o)
{
	static const enum symtab_source order[] = {
		SYMTAB_FILE, SYMTAB_DEBUG, SYMTAB_DYNAMIC, SYMTAB_MEMORY,
	};
	struct symbols *s = o->image.symbols;
	size_t i;

	if (s)
		return s;
	s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	for (i = 0; i < ARRAY_LEN(order) && s->count == 0; i++) {
		if (!symtab_open(&s->table, o, order[i]))
			continue;
		if (!make_index(s, o))
			symtab_free_names(&s->table);
		symtab_close(&s->table);
	}
	/* An object without symbols keeps an empty index, so that it is not searched again. */
	o->image.symbols = s;
	return s;
}

static struct symbol *find(const struct symbols *s, uint32_t offset)
{
	size_t low = SEARCH(s->count, k, s->items[k].start <= offset), i;

	/* A small function may lie inside a larger one. */
	for (i = low; i > 0 && low - i < NESTING_MAX; i--) {
		struct symbol *item = &s->items[i - 1];

		if (offset - item->start < item->size)
			return item;
	}
	return NULL;
}

/* The name of ITEM, cut in place: linkers append the version of exported symbols ("fork@@GLIBC_2.2.5"). */
static const char *name_of(struct symbols *s, const struct symbol *item)
{
	char *name = s->table.names + item->name;
	size_t length = strcspn(name, "@");

	name[MIN(length, (size_t)NAME_MAX_BYTES)] = '\0';
	return length ? name : NULL;
}

const char *image_symbol(const struct image *image, uintptr_t pc, uintptr_t *offset)
{
	struct symbols *s;
	struct symbol *item;

	if (pc < image->start || pc >= image->end || pc - image->start >= UINT32_MAX)
		return NULL;
	s = load(object_of(image));
	item = s ? find(s, (uint32_t)(pc - image->start)) : NULL;
	if (!item)
		return NULL;
	if (offset)
		*offset = pc - image->start - item->start;
	return name_of(s, item);
}

bool image_symbol_range(const struct image *image, uintptr_t pc, uintptr_t *from, uintptr_t *to)
{
	uint32_t offset = (uint32_t)(pc - image->start);
	const struct symbols *s = image->symbols;
	uintptr_t at;
	struct symbol *item, *other;

	if (!image_symbol(image, pc, &at))
		return false;
	s = image->symbols;
	item = find(s, offset);
	*from = image->start + item->start;
	*to = *from + item->size;
	/* Functions that lie inside it have names of their own. */
	for (other = item + 1; other < s->items + s->count && other->start < item->start + item->size; other++) {
		if (other->start > offset) {
			*to = MIN(*to, image->start + other->start);
			break;
		}
		*from = MAX(*from, image->start + other->start + other->size);
	}
	return *from <= pc && pc < *to;
}

/* Whether TEXT is the SIZE bytes of NAME, with the mark of the default version or without. */
static bool is_name(const char *text, const char *name, size_t size)
{
	return memcmp(text, name, size) == 0 &&
	       (text[size] == '\0' || (text[size] == '@' && text[size + 1] == '@'));
}

static uintptr_t find_name(const struct symtab *t, const char *name, bool prefix)
{
	size_t length = strlen(name);
	size_t i;

	for (i = 0; i < t->count; i++) {
		const ElfW(Sym) *s = &t->symbols[i];

		if (s->st_shndx != SHN_UNDEF && s->st_shndx != SHN_ABS && s->st_name != 0 &&
		    ELF64_ST_TYPE(s->st_info) != STT_TLS && s->st_name < t->names_size &&
		    length < t->names_size - s->st_name &&
		    (prefix ? memcmp(t->names + s->st_name, name, length) == 0
			    : is_name(t->names + s->st_name, name, length)))
			return s->st_value;
	}
	return 0;
}

static uintptr_t address_of(const struct image *image, const char *name, bool prefix)
{
	static const enum symtab_source order[] = {
		SYMTAB_FILE, SYMTAB_DYNAMIC, SYMTAB_DEBUG, SYMTAB_MEMORY,
	};
	struct object *o = object_of(image);
	uintptr_t value = 0;
	size_t i;

	for (i = 0; i < ARRAY_LEN(order) && !value; i++) {
		struct symtab table;

		if (!symtab_open(&table, o, order[i]))
			continue;
		value = find_name(&table, name, prefix);
		symtab_close(&table);
		symtab_free_names(&table);
	}
	return value ? value + image->bias : 0;
}

uintptr_t image_address_of(const struct image *image, const char *name)
{
	return address_of(image, name, false);
}

uintptr_t image_address_of_prefix(const struct image *image, const char *prefix)
{
	return address_of(image, prefix, true);
}

/* ---- giving back ---- */

void symbols_free(struct symbols *s)
{
	if (!s)
		return;
	pages_free(s->items, s->count * sizeof(*s->items));
	symtab_free_names(&s->table);
	free(s);
}

size_t symbols_bytes(const struct symbols *s)
{
	if (!s)
		return 0;
	return sizeof(*s) + pages_bytes(s->count * sizeof(*s->items)) +
	       (s->table.names ? pages_bytes(s->table.names_size) : 0);
}

void image_symbols_release(const struct image_set *set)
{
	uint32_t i;

	for (i = 0; i < set->count; i++) {
		struct object *o = object_of(set->images[i]);

		symbols_free(o->image.symbols);
		o->image.symbols = NULL;
	}
}
