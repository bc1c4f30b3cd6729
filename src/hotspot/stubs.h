/*
 * stubs.h - the pieces of code the JVM generated that are no Java methods:
 * arraycopy, intrinsics, vtable and itable stubs, adapters, the interpreter.
 *
 * The JVM names them by DynamicCodeGenerated events. Published as one immutable
 * sorted set: the walker needs their starts (to tell whether a frame has been
 * set up), the collector their names.
 */
#ifndef JSTROBE_HOTSPOT_STUBS_H
#define JSTROBE_HOTSPOT_STUBS_H

#include "base/base.h"

struct stub {
	uintptr_t start, end;
	const char *name; /* owned by the set */
	bool call_stub;   /* enters Java from native code */
	bool frozen;      /* continuation return barrier: what follows lies in the heap */
};

struct stub_set {
	uint32_t count;
	struct stub stubs[]; /* sorted by start */
};

/* The stub that holds PC, or NULL. SET may be NULL. Any context. */
static inline const struct stub *stub_find(const struct stub_set *set, uintptr_t pc)
{
	uint32_t low = 0, high = set ? set->count : 0;

	while (low < high) {
		uint32_t mid = (low + high) / 2;

		if (set->stubs[mid].end <= pc)
			low = mid + 1;
		else
			high = mid;
	}
	if (set && low < set->count && set->stubs[low].start <= pc)
		return &set->stubs[low];
	return NULL;
}

/*
 * A new set: OLD (may be NULL) plus one stub. Later news win where ranges
 * overlap. NULL when out of memory. Normal code; OLD stays the caller's.
 */
struct stub_set *stub_set_with(const struct stub_set *old, const char *name, uintptr_t start,
			       uintptr_t end);
void stub_set_free(struct stub_set *set);

#endif
