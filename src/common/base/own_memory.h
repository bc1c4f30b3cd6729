/*
 * own_memory.h - which mappings of the process are ours: a table that is read from outside (`jstrobe memory`), as the
 * kernel has no names for them unless it was built with CONFIG_ANON_VMA_NAME. What finds no place in it stays "not
 * named". Any thread; none waits. Not in signal handlers.
 */
#ifndef JSTROBE_BASE_OWN_MEMORY_H
#define JSTROBE_BASE_OWN_MEMORY_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define OWN_MEMORY_SLOTS 4096u

/* As another process reads it, of any later build, too. */
struct own_memory {
	_Atomic uint32_t slots, word; /* … of `items`, sizeof(uintptr_t); 0, 0 before the first one comes */
	struct own_mapping {
		_Atomic uintptr_t start; /* 0: none */
		_Atomic uintptr_t bytes; /* 0: it comes or goes */
	} items[OWN_MEMORY_SLOTS];
};

extern struct own_memory jstrobe_memory; /* exported from the library */

void own_memory_add(const void *start, size_t bytes);
/* Before it is given back: another mapping may take its place then. */
void own_memory_remove(const void *start);

#endif
