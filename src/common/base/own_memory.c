#include "common/base/own_memory.h"

#define PROBES 64u

__attribute__((visibility("default"))) struct own_memory jstrobe_memory; /* zeroed: no data of the file */

static struct own_mapping *slot_of(uintptr_t start, unsigned probe)
{
	uint32_t hash = (uint32_t)(start >> 12) * 2654435769u;

	return &jstrobe_memory.items[(hash / (UINT32_MAX / OWN_MEMORY_SLOTS + 1) + probe) % OWN_MEMORY_SLOTS];
}

void own_memory_add(const void *start, size_t bytes)
{
	uintptr_t at = (uintptr_t)start;
	unsigned probe;

	atomic_store_explicit(&jstrobe_memory.word, sizeof(uintptr_t), memory_order_relaxed);
	atomic_store_explicit(&jstrobe_memory.slots, OWN_MEMORY_SLOTS, memory_order_relaxed);
	for (probe = 0; at && probe < PROBES; probe++) {
		struct own_mapping *m = slot_of(at, probe);
		uintptr_t none = 0;

		/* BYTES is 0 of a place that is being taken, for who reads it meanwhile */
		if (atomic_load_explicit(&m->start, memory_order_relaxed) ||
		    !atomic_compare_exchange_strong(&m->start, &none, at))
			continue;
		atomic_store(&m->bytes, bytes);
		return;
	}
}

void own_memory_remove(const void *start)
{
	uintptr_t at = (uintptr_t)start;
	unsigned probe;

	for (probe = 0; at && probe < PROBES; probe++) {
		struct own_mapping *m = slot_of(at, probe);

		if (atomic_load_explicit(&m->start, memory_order_relaxed) != at)
			continue;
		atomic_store(&m->bytes, 0);
		atomic_store(&m->start, 0);
		return;
	}
}
