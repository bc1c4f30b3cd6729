/*
 * memory.h - memory of this process: loads that cannot fault.
 *
 * Images may be unmapped by another thread while we look at them, and the file
 * under a mapping may shrink; so the bytes of an image are copied by the
 * kernel, which answers with an error where a load would crash the process.
 * Normal code, any thread.
 */
#ifndef JSTROBE_ELF_MEMORY_H
#define JSTROBE_ELF_MEMORY_H

#include "base/base.h"

/* Copy SIZE bytes from ADDRESS to TO; returns the bytes copied before the first unreadable page. */
size_t memory_copy(void *to, uintptr_t address, size_t size);

#endif
