#include "slots.h"

#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/hooks/dynamic.h"

struct look {
	const char *function;
	FILE *out;
};

static void look_at(const struct dl_phdr_info *image, const struct dynamic *d, const struct relocations *table,
		    const struct look *l)
{
	size_t at;

	for (at = 0; table->first && table->stride && at < table->size; at += table->stride) {
		const ElfW(Rel) *r = (const void *)(table->first + at);
		const ElfW(Sym) *symbol = &d->symbols[r->r_info >> (sizeof(ElfW(Addr)) == 8 ? 32 : 8)];
		Dl_info info;
		void *value;

		if (strcmp(d->strings + symbol->st_name, l->function) != 0)
			continue;
		value = *(void **)(image->dlpi_addr + r->r_offset);
		if (!value || !dladdr(value, &info) || (uintptr_t)info.dli_fbase == image->dlpi_addr)
			continue;
		fprintf(l->out, "%s +%lx: %p\n", image->dlpi_name, (unsigned long)r->r_offset, value);
	}
}

static int look(struct dl_phdr_info *image, size_t size, void *arg)
{
	struct dynamic d;

	if (dynamic_read(image, &d)) {
		look_at(image, &d, &d.plt, arg);
		look_at(image, &d, &d.data, arg);
	}
	return 0;
}

char *slots_of(const char *function)
{
	struct look l = {.function = function};
	char *text = NULL;
	size_t size = 0;

	l.out = open_memstream(&text, &size);
	dl_iterate_phdr(look, &l);
	fclose(l.out);
	return text;
}
