/*
 * Demangling by libiberty. The two demanglers are called directly: the general
 * entry, cplus_demangle, may end the process when memory is short.
 */
#include <stdlib.h>
#include <string.h>

#include <libiberty/demangle.h>

#include "elf/elf.h"

/* libiberty recurses over the parts of a name; the collector's stack is small. */
#define NAME_LENGTH_MAX 1024

char *demangle(const char *name)
{
	char *text;

	if (name[0] != '_' || strnlen(name, NAME_LENGTH_MAX + 1) > NAME_LENGTH_MAX)
		return NULL;
	/* First: an older Rust name is a C++ name with a hash at its end. */
	text = rust_demangle(name, DMGL_NO_OPTS);
	return text ? text : cplus_demangle_v3(name, DMGL_NO_OPTS);
}
