/*
 * kallsyms.h - kernel_symbols on any file (inner header of the elf room).
 */
#ifndef JSTROBE_ELF_KALLSYMS_H
#define JSTROBE_ELF_KALLSYMS_H

#include "base/error.h"

/* As kernel_symbols, with PATH in place of /proc/kallsyms. */
struct kernel_range;
int kallsyms_read(const char *path, const uint64_t *addresses, size_t count, char **names,
		  struct kernel_range *ranges, struct error *err);

#endif
