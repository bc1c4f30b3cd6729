/*
 * dynamic.h - what the loader knows of an image that is mapped: its symbols, its relocations, its name. Inner header of
 * the hooks room.
 *
 * Everything points into the image and is good for as long as that is mapped: within a callback of dl_iterate_phdr, or
 * for images that are never unmapped.
 */
#ifndef JSTROBE_HOOKS_DYNAMIC_H
#define JSTROBE_HOOKS_DYNAMIC_H

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>

/* Relocations, with addends or without: both begin with place and kind. */
struct relocations {
	const char *first;
	size_t size, stride;
};

struct dynamic {
	const ElfW(Sym) *symbols;
	const char *strings;
	const char *soname; /* NULL: it has none */
	const uint32_t *hash, *gnu_hash;
	struct relocations plt, data;
};

/* False: the image has no dynamic section, or is the kernel's. */
bool dynamic_read(const struct dl_phdr_info *image, struct dynamic *out);
/* Where the image has the object or function NAME that it shows to others; NULL: it shows none. */
void *dynamic_symbol(const struct dl_phdr_info *image, const struct dynamic *d, const char *name);
/* Whether ADDRESS lies in what of IMAGE is mapped with at least FLAGS (PF_X, …; 0: with any). */
bool dynamic_contains(const struct dl_phdr_info *image, uintptr_t address, unsigned flags);

#endif
