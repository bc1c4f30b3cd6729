/*
 * native_address.c - where a native function or variable lies.
 * Normal code; may read symbol tables (tens of ms) and take the loader's lock.
 */
#include "agent/sources/event_resolve.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/elf/elf.h"
#include "common/os/os.h"

/* "A::b" as the beginning of its mangled name: "_ZN1A1bE"; any overload will do. */
static bool mangle(const char *name, char *out, size_t size)
{
	size_t at = (size_t)snprintf(out, size, "_ZN");

	while (*name) {
		const char *end = strstr(name, "::");
		size_t n = end ? (size_t)(end - name) : strlen(name);

		if (n == 0 || at + n + 16 > size)
			return false;
		at += (size_t)snprintf(out + at, size - at, "%zu%.*s", n, (int)n, name);
		name += n + (end ? 2 : 0);
	}
	snprintf(out + at, size - at, "E");
	return true;
}

static uintptr_t search(const char *symbol, bool prefix, struct error *err)
{
	struct image_set *set = image_set_read(NULL, err);
	uintptr_t found = 0;
	uint32_t i;

	for (i = 0; set && i < set->count && !found; i++)
		found = prefix ? image_address_of_prefix(set->images[i], symbol)
			       : image_address_of(set->images[i], symbol);
	image_set_free(set, NULL);
	return found;
}

static int unknown(const char *symbol, struct error *err)
{
	return error_set(err, ENOENT, "%s: no event has this name, and no library of the process a function or "
			 "variable; `jstrobe list` shows the events, libraries without symbol tables hide their "
			 "functions", symbol);
}

int native_address(const char *symbol, uintptr_t *address, struct error *err)
{
	char mangled[512];
	bool cpp = strstr(symbol, "::") != NULL;
	size_t length = strlen(symbol);

	if (length > 1 && symbol[length - 1] == '*' && !cpp) {
		snprintf(mangled, sizeof(mangled), "%.*s", (int)length - 1, symbol);
		*address = search(mangled, true, err);
		return *address ? 0 : unknown(symbol, err);
	}
	if (cpp && !mangle(symbol, mangled, sizeof(mangled)))
		return error_set(err, EINVAL, "%s: no name of a C++ function", symbol);
	/* The loader knows which of several versions and variants is called. */
	*address = cpp ? 0 : (uintptr_t)dlsym(RTLD_DEFAULT, symbol);
	if (!*address)
		*address = search(cpp ? mangled : symbol, cpp, err);
	if (*address)
		return 0;
	return unknown(symbol, err);
}

int native_place(const char *symbol, char *path, size_t size, uint64_t *offset, struct error *err)
{
	uintptr_t address;
	int rc = native_address(symbol, &address, err);

	if (rc)
		return rc;
	rc = os_mapped_file(address, path, size, offset);
	if (rc)
		return error_set(err, -rc, "%s: the function is in no file: %s", symbol, error_text(-rc));
	return 0;
}
