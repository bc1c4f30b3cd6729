/*
 * Demangling by libiberty.
 *
 * The two demanglers are called directly: the general entry, cplus_demangle,
 * ends the process when memory is short. And they are called in the form that
 * hands out the text piece by piece: a name of some hundred bytes can stand for
 * gigabytes (each argument twice the one before), so a text that grows beyond
 * all use is left half-way. That jump leaves nothing behind, since this form
 * keeps everything on the stack (but for the buffer of a Rust name in punycode).
 */
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <libiberty/demangle.h>

#include "common/elf/elf.h"

/* libiberty recurses over the parts of a name; the collector's stack is small. */
#define NAME_LENGTH_MAX 1024
#define TEXT_LENGTH_MAX 4096

struct output {
	jmp_buf full;
	size_t length;
	char text[TEXT_LENGTH_MAX];
};

static void append(const char *piece, size_t size, void *data)
{
	struct output *out = data;

	if (size >= sizeof(out->text) - out->length)
		longjmp(out->full, 1);
	if (size)
		memcpy(out->text + out->length, piece, size);
	out->length += size;
}

static char *demangle_with(const char *name, int options)
{
	struct output out;

	if (name[0] != '_' || strnlen(name, NAME_LENGTH_MAX + 1) > NAME_LENGTH_MAX)
		return NULL;
	if (setjmp(out.full))
		return NULL;
	/* Rust first: an older Rust name is a C++ name with a hash at its end. */
	out.length = 0;
	if (rust_demangle_callback(name, DMGL_NO_OPTS, append, &out))
		return strndup(out.text, out.length);
	out.length = 0;
	if (cplus_demangle_v3_callback(name, options, append, &out))
		return strndup(out.text, out.length);
	return NULL;
}

char *demangle(const char *name)
{
	return demangle_with(name, DMGL_NO_OPTS);
}

char *demangle_full(const char *name)
{
	return demangle_with(name, DMGL_PARAMS | DMGL_ANSI);
}
