/*
 * memory.h - memory of this process: loads that cannot fault, and whole pages.
 *
 * Images may be unmapped by another thread while we look at them, and the file
 * under a mapping may shrink; so the bytes of an image are copied by the
 * kernel, which answers with an error where a load would crash the process.
 * Working memory comes in pages of its own and goes straight back: the heap of
 * the host program must not grow because of us. Normal code, any thread.
 */
#ifndef JSTROBE_ELF_MEMORY_H
#define JSTROBE_ELF_MEMORY_H

#include "base/base.h"

/* Copy SIZE bytes from ADDRESS to TO; returns the bytes copied before the first unreadable page. */
size_t memory_copy(void *to, uintptr_t address, size_t size);

/* Zeroed pages for SIZE (> 0) bytes, or NULL. Free with the same SIZE. */
void *pages_alloc(size_t size);
void *pages_grow(void *pages, size_t old_size, size_t new_size);
void pages_free(void *pages, size_t size);
/* Bytes really taken by pages_alloc(SIZE). */
size_t pages_bytes(size_t size);

#endif
