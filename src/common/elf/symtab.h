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

#include "common/base/cursor.h"
#include "common/elf/object.h"

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
	size_t symbols_size;   /* bytes */
	char *names;           /* the string table, a copy: the file may be cut or written over */
	size_t names_size;     /* its last byte is NUL */
	uintptr_t *section_end; /* by section number, as in the file; NULL from memory */
	size_t section_count;
};

/* Read O's symbols from SOURCE. False, nothing to close, when there are none. */
bool symtab_open(struct symtab *table, const struct object *o, enum symtab_source source);
/* Free all but the names. */
void symtab_close(struct symtab *table);
void symtab_free_names(struct symtab *table);

/* Whether O's dynamic section says that it is called NAME (DT_SONAME), by what is mapped. */
bool symtab_soname_is(const struct object *o, const char *name);

#endif
