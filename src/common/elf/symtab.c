#include "common/elf/symtab.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/pages.h"
#include "common/elf/file.h"
#include "common/elf/memory.h"

#define SYMBOLS_MAX ((size_t)1 << 24)
#define DYNAMIC_MAX 512
#define DEBUG_ROOT "/usr/lib/debug"

/* NAMES, pages of SIZE bytes, are T's from now on. */
static void take_names(struct symtab *t, char *names, size_t size)
{
	names[size - 1] = '\0';
	t->names = names;
	t->names_size = size;
}

static bool note_sections(struct symtab *t, const struct elf_file *file)
{
	size_t i;

	t->section_end = calloc(file->count, sizeof(*t->section_end));
	if (!t->section_end)
		return false;
	t->section_count = file->count;
	for (i = 0; i < file->count; i++)
		t->section_end[i] = file->headers[i].sh_addr + file->headers[i].sh_size;
	return true;
}

/* The symbol table of TYPE in FILE. */
static bool read_table(struct symtab *t, const struct elf_file *file, uint32_t type)
{
	const ElfW(Shdr) *header = elf_file_find_type(file, type);
	const ElfW(Shdr) *names;
	struct span symbols, text;

	if (!header || header->sh_link >= file->count ||
	    header->sh_size > SYMBOLS_MAX * sizeof(*t->symbols))
		return false;
	names = &file->headers[header->sh_link];
	if (names->sh_type != SHT_STRTAB || names->sh_size > INT32_MAX)
		return false;
	if (!elf_file_read(file, header, &symbols))
		return false;
	t->symbols = (ElfW(Sym) *)symbols.bytes;
	t->symbols_size = symbols.size;
	t->count = symbols.size / sizeof(*t->symbols);
	if (!elf_file_read(file, names, &text))
		return false;
	take_names(t, (char *)(uintptr_t)text.bytes, text.size);
	return note_sections(t, file);
}

/* Open the debug file PATH if it has O's build id. */
static bool open_debug(struct elf_file *file, const char *path, const struct build_id *wanted)
{
	struct build_id id;

	if (!elf_file_open(file, path))
		return false;
	id = elf_file_build_id(file);
	if (memcmp(&id, wanted, sizeof(id)) == 0)
		return true;
	elf_file_close(file);
	return false;
}

static bool find_debug_by_id(struct elf_file *debug, const struct build_id *id)
{
	char path[sizeof(DEBUG_ROOT) + 32 + 2 * BUILD_ID_MAX];
	int n = snprintf(path, sizeof(path), DEBUG_ROOT "/.build-id/%02x/", id->bytes[0]);
	unsigned i;

	for (i = 1; i < id->size; i++)
		n += snprintf(path + n, sizeof(path) - (size_t)n, "%02x", id->bytes[i]);
	snprintf(path + n, sizeof(path) - (size_t)n, ".debug");
	return open_debug(debug, path, id);
}

/* Beside the object, in .debug/ there, and under the debug root. */
static bool find_debug_by_link(struct elf_file *debug, const struct object *o,
			       const struct elf_file *file)
{
	static const char *const forms[] = {"%.*s/%s", "%.*s/.debug/%s", DEBUG_ROOT "%.*s/%s"};
	const char *slash = strrchr(o->path, '/');
	char path[PATH_MAX];
	struct span link;
	struct cursor c;
	const char *name;
	bool found = false;
	size_t i;

	if (!slash || !elf_file_section(file, ".gnu_debuglink", &link))
		return false;
	c = cursor_at(&link, 0);
	name = cursor_string(&c);
	for (i = 0; i < ARRAY_LEN(forms) && !found && name[0] && !strchr(name, '/'); i++) {
		int n = snprintf(path, sizeof(path), forms[i], (int)(slash - o->path), o->path, name);

		found = n < (int)sizeof(path) && open_debug(debug, path, &o->build_id);
	}
	elf_file_free_section(&link);
	return found;
}

static bool read_debug(struct symtab *t, const struct object *o, const struct elf_file *file)
{
	struct elf_file debug;
	bool ok;

	if (!o->build_id.size || (!find_debug_by_id(&debug, &o->build_id) &&
				  !find_debug_by_link(&debug, o, file)))
		return false;
	ok = read_table(t, &debug, SHT_SYMTAB);
	elf_file_close(&debug);
	return ok;
}

/* The few entries of a dynamic section that lead to the symbols. */
struct dynamic {
	uintptr_t symbols, names, hash, gnu_hash;
	size_t names_size, soname; /* soname: in the names; 0: there is none */
};

static void read_dynamic(const struct object *o, struct dynamic *d)
{
	ElfW(Dyn) entries[DYNAMIC_MAX];
	const struct object_details *f = &o->details;
	size_t size = MIN(f->dynamic_size, sizeof(entries));
	size_t count = memory_copy(entries, f->dynamic, size) / sizeof(*entries);
	size_t i;

	*d = (struct dynamic){0};
	for (i = 0; i < count && entries[i].d_tag != DT_NULL; i++) {
		uintptr_t value = entries[i].d_un.d_val;
		/* Some loaders turn these into addresses in place, some do not. */
		uintptr_t address = value >= f->low && value < f->high ? value : value + f->bias;

		if (entries[i].d_tag == DT_SYMTAB)
			d->symbols = address;
		else if (entries[i].d_tag == DT_STRTAB)
			d->names = address;
		else if (entries[i].d_tag == DT_HASH)
			d->hash = address;
		else if (entries[i].d_tag == DT_GNU_HASH)
			d->gnu_hash = address;
		else if (entries[i].d_tag == DT_STRSZ)
			d->names_size = value;
		else if (entries[i].d_tag == DT_SONAME)
			d->soname = value;
	}
}

static uint32_t word_at(uintptr_t address)
{
	uint32_t word = 0;

	return memory_copy(&word, address, sizeof(word)) == sizeof(word) ? word : 0;
}

/* Whether the SIZE bytes at ADDRESS are O's own: nothing else is worth a copy, however long. */
static bool is_inside(const struct object *o, uintptr_t address, size_t size)
{
	return address >= o->details.low && address < o->details.high && size <= o->details.high - address;
}

/* A GNU hash table has no count: it is one more than the end of the chain that starts last. */
static size_t count_by_gnu_hash(const struct object *o, uintptr_t table)
{
	uint32_t head[4]; /* buckets, first symbol, bloom words, bloom shift */
	uint32_t part[256];
	uintptr_t buckets, chains;
	uint32_t last = 0, i, n;

	if (memory_copy(head, table, sizeof(head)) < sizeof(head) || head[0] > SYMBOLS_MAX)
		return 0;
	buckets = table + sizeof(head) + (uintptr_t)head[2] * sizeof(uintptr_t);
	chains = buckets + (uintptr_t)head[0] * sizeof(uint32_t);
	if (!is_inside(o, buckets, (size_t)head[0] * sizeof(uint32_t)))
		return 0;
	for (i = 0; i < head[0]; i += n) {
		uint32_t j;

		n = MIN(head[0] - i, (uint32_t)ARRAY_LEN(part));
		if (memory_copy(part, buckets + (uintptr_t)i * 4, n * 4ul) < n * 4ul)
			return 0;
		for (j = 0; j < n; j++)
			last = MAX(last, part[j]);
	}
	if (last < head[1])
		return head[1];
	/* Not word by word: a table that is being unmapped, or nonsense, may seem to have no end. */
	for (; last < SYMBOLS_MAX && is_inside(o, chains + (uintptr_t)(last - head[1]) * 4, 4); last += n) {
		n = (uint32_t)(memory_copy(part, chains + (uintptr_t)(last - head[1]) * 4, sizeof(part)) / 4);
		for (i = 0; i < n; i++)
			if (part[i] & 1)
				return (size_t)last + i + 1;
		if (n < ARRAY_LEN(part))
			break;
	}
	return 0;
}

bool symtab_soname_is(const struct object *o, const char *name)
{
	char there[64] = "";
	size_t size = strlen(name) + 1;
	struct dynamic d;

	if (!o->details.dynamic || size > sizeof(there))
		return false;
	read_dynamic(o, &d);
	return d.soname && d.names && is_inside(o, d.names + d.soname, size) &&
	       memory_copy(there, d.names + d.soname, size) == size && memcmp(there, name, size) == 0;
}

static bool read_memory(struct symtab *t, const struct object *o)
{
	struct dynamic d;
	char *names;

	if (!o->details.dynamic)
		return false;
	read_dynamic(o, &d);
	if (d.names_size == 0 || !is_inside(o, d.names, d.names_size))
		return false;
	t->count = d.hash ? word_at(d.hash + 4) : d.gnu_hash ? count_by_gnu_hash(o, d.gnu_hash) : 0;
	t->symbols_size = t->count * sizeof(*t->symbols);
	if (t->count == 0 || t->count > SYMBOLS_MAX || !is_inside(o, d.symbols, t->symbols_size))
		return false;
	t->symbols = pages_alloc(t->symbols_size);
	names = t->symbols ? pages_alloc(d.names_size) : NULL;
	if (!names)
		return false;
	take_names(t, names, d.names_size);
	/* Whatever cannot be read stays zero: undefined symbols, empty names. */
	memory_copy(t->symbols, d.symbols, t->symbols_size);
	memory_copy(names, d.names, d.names_size - 1);
	return true;
}

bool symtab_open(struct symtab *t, const struct object *o, enum symtab_source source)
{
	struct elf_file file;
	bool ok;

	memset(t, 0, sizeof(*t));
	if (source == SYMTAB_MEMORY) {
		ok = read_memory(t, o);
	} else {
		if (!elf_file_open_object(&file, o))
			return false;
		if (source == SYMTAB_DEBUG)
			ok = read_debug(t, o, &file);
		else
			ok = read_table(t, &file, source == SYMTAB_FILE ? SHT_SYMTAB : SHT_DYNSYM);
		elf_file_close(&file);
	}
	if (!ok) {
		symtab_close(t);
		symtab_free_names(t);
	}
	return ok;
}

void symtab_close(struct symtab *t)
{
	pages_free(t->symbols, t->symbols_size);
	free(t->section_end);
	t->symbols = NULL;
	t->section_end = NULL;
}

void symtab_free_names(struct symtab *t)
{
	pages_free(t->names, t->names_size);
	t->names = NULL;
}
