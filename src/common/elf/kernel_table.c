/*
 * kernel_table.c - the kernel's functions in memory: by address, with one copy of all names.
 *
 * Data symbols are kept without a name: where one lies between, there is no function.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/base.h"
#include "common/base/buffer.h"
#include "common/base/vector.h"
#include "common/elf/elf.h"
#include "common/elf/kallsyms.h"

struct entry {
	uint64_t address;
	uint32_t name;     /* offset in the names; 0 = data */
};

struct kernel_table {
	VECTOR(struct entry) entries;
	struct buffer names;
};

static bool take(const struct kallsyms_line *line, void *arg)
{
	struct kernel_table *t = arg;
	struct entry *e = VECTOR_PUSH(&t->entries);

	if (!e)
		return false;
	e->address = line->address;
	if (!line->is_text)
		return true;
	e->name = (uint32_t)t->names.length;
	buffer_append(&t->names, line->name, line->name_length);
	if (line->module) {
		buffer_putc(&t->names, ' ');
		buffer_append(&t->names, line->module, line->module_length);
	}
	buffer_putc(&t->names, '\0');
	return !t->names.failed && t->names.length < UINT32_MAX / 2;
}

/* Of symbols at one address functions come last, and of those the ones without underscore. */
static int compare(const void *left, const void *right, void *names)
{
	const struct entry *a = left, *b = right;
	const char *text = names;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	if (!a->name || !b->name)
		return (a->name != 0) - (b->name != 0);
	return (text[a->name] != '_') - (text[b->name] != '_');
}

struct kernel_table *kernel_table_read(struct error *err)
{
	struct kernel_table *t = calloc(1, sizeof(*t));

	if (!t) {
		error_set(err, ENOMEM, "kernel symbols: no memory");
		return NULL;
	}
	buffer_init(&t->names, -1);
	buffer_putc(&t->names, '\0'); /* 0 is no name */
	if (kallsyms_each(KALLSYMS, take, t, err)) {
		kernel_table_free(t);
		return NULL;
	}
	qsort_r(t->entries.items, t->entries.count, sizeof(*t->entries.items), compare, t->names.data);
	return t;
}

char *kernel_table_name(const struct kernel_table *t, uint64_t address, struct kernel_range *range)
{
	size_t low = SEARCH(t->entries.count, i, t->entries.items[i].address <= address);
	const struct entry *e;

	*range = (struct kernel_range){0, 0};
	e = low ? &t->entries.items[low - 1] : NULL;
	if (!e || !e->name || address - e->address >= KALLSYMS_FUNCTION_MAX)
		return NULL;
	if (low < t->entries.count)
		*range = (struct kernel_range){e->address, MIN(t->entries.items[low].address,
							       e->address + KALLSYMS_FUNCTION_MAX)};
	return strdup(t->names.data + e->name);
}

void kernel_table_free(struct kernel_table *t)
{
	if (!t)
		return;
	free(t->entries.items);
	buffer_free(&t->names);
	free(t);
}
