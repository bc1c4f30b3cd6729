/*
 * kallsyms.h - the kernel's symbols from any file like /proc/kallsyms (inner header of the elf room).
 */
#ifndef JSTROBE_ELF_KALLSYMS_H
#define JSTROBE_ELF_KALLSYMS_H

#include "common/base/error.h"

#define KALLSYMS "/proc/kallsyms"

/* As kernel_symbols, with PATH in place of /proc/kallsyms. */
struct kernel_range;
int kallsyms_read(const char *path, const uint64_t *addresses, size_t count, char **names,
		  struct kernel_range *ranges, struct error *err);

/* A line that says where something lies; texts without NUL. */
struct kallsyms_line {
	uint64_t address;
	char type;
	bool is_text;
	const char *name;
	size_t name_length;
	const char *module; /* "[ext4]" or NULL */
	size_t module_length;
};

#define KALLSYMS_FUNCTION_MAX ((uint64_t)1 << 20) /* farther from its symbol is no part of it */

/*
 * Call FN for each line of PATH that names an address, data too; false from it is lack of memory. -EACCES: the
 * addresses are hidden.
 */
int kallsyms_each(const char *path, bool (*fn)(const struct kallsyms_line *line, void *arg), void *arg,
		  struct error *err);

#endif
