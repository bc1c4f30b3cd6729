/*
 * symtab.h - where the symbols of an object can be read from.
 *
 *   SYMTAB_FILE     .symtab of the file: all functions
 *   SYMTAB_DEBUG    .symtab of a separate debug file with the same build id
 *   SYMTAB_DYNAMIC  .dynsym of the file: what the object exports
 *   SYMTAB_MEMORY   the same from memory: vdso, and files that are gone or were replaced
 */
#ifndef JSTROBE_ELF_SYMTAB_H
#define JSTROBE_ELF_SYMTAB_H

#include "elf/cursor.h"
#include "elf/object.h"

enum symtab_source {
	SYMTAB_FILE,
	SYMTAB_DEBUG,
	SYMTAB_DYNAMIC,
	SYMTAB_MEMORY,
	SYMTAB_SOURCES,
};

struct symtab {
	ElfW(Sym) *symbols;    /* a copy */
	size_t count;
	uintptr_t names;       /* where the string table lies in memory; read it by memory_copy only */
	size_t names_size;
	void *mapping;         /* of the file that holds the names; NULL if they are the object's own */
	size_t mapping_size;
	uintptr_t *section_end; /* by section number, as in the file; NULL from memory */
	size_t section_count;
};

/* Read O's symbols from SOURCE. False, nothing to close, when there are none. */
bool symtab_open(struct symtab *table, const struct object *o, enum symtab_source source);
/* Free all but the mapping of the names. */
void symtab_close(struct symtab *table);
void symtab_unmap(struct symtab *table);

/* The string table copied into pages, its last byte NUL; bytes NULL when memory is short. */
struct span symtab_copy_names(const struct symtab *table);

#endif
