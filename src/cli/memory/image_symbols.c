/*
 * image_symbols.c - what a library of another process exports, by its dynamic symbols as they are in memory: no file is
 * opened, so it may be gone, or lie in a container.
 */
#include <elf.h>
#include <link.h>
#include <string.h>

#include "cli/memory/resident.h"

#define SYMBOLS_MAX 200000
#define NAME 96

/* glibc writes addresses over the offsets in the dynamic section, musl does not. */
static uint64_t placed(const struct image_symbols *l, uint64_t value)
{
	return value < l->base ? value + l->base : value;
}

static bool read_dynamic(struct peek *p, struct image_symbols *l, uint64_t at)
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

bool image_symbols_open(struct peek *p, uint64_t first, struct image_symbols *l)
{
	uint64_t bias = first, dynamic = 0;
	bool loaded = false;
	ElfW(Ehdr) h;
	ElfW(Phdr) s;
	unsigned i;

	if (!first || !peek_read(p, first, &h, sizeof(h)) || memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 ||
	    h.e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) || h.e_phentsize != sizeof(s))
		return false;
	for (i = 0; i < h.e_phnum && peek_read(p, first + h.e_phoff + i * sizeof(s), &s, sizeof(s)); i++)
		if (s.p_type == PT_LOAD) {
			bias = loaded ? bias : first - s.p_vaddr;
			loaded = true;
			l->end = bias + s.p_vaddr + s.p_memsz;
		} else if (s.p_type == PT_DYNAMIC) {
			dynamic = s.p_vaddr;
		}
	l->base = bias;
	return dynamic && read_dynamic(p, l, bias + dynamic);
}

static bool is_symbol(struct peek *p, const struct image_symbols *l, uint32_t index, const char *name,
		      uint64_t *address)
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

static uint64_t find_by_gnu_hash(struct peek *p, const struct image_symbols *l, const char *name)
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

static uint64_t find_by_order(struct peek *p, const struct image_symbols *l, const char *name)
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

uint64_t image_symbols_find(struct peek *p, const struct image_symbols *l, const char *name)
{
	return l->gnu_hash ? find_by_gnu_hash(p, l, name) : find_by_order(p, l, name);
}
