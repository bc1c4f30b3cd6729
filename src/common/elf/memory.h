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

#include "common/base/base.h"

/* A way to it, to read often; the caller's to open and close. */
struct memory {
	int fd;      /* /proc/self/mem, -1: process_vm_readv is asked */
	int pipe[2]; /* -1: not open */
};

void memory_open(struct memory *r);
void memory_close(const struct memory *r);
/* As memory_copy. */
size_t memory_read(const struct memory *r, void *to, uintptr_t address, size_t size);

/* Copy SIZE bytes from ADDRESS to TO; returns the bytes copied before the first unreadable page. */
size_t memory_copy(void *to, uintptr_t address, size_t size);

#endif
