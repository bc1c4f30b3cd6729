/*
 * class_counts.h - where the JVM counts the classes it loads and unloads, and what safepoints do.
 */
#ifndef JSTROBE_HOTSPOT_CLASS_COUNTS_H
#define JSTROBE_HOTSPOT_CLASS_COUNTS_H

#include "common/elf/unwind.h"
#include "common/hotspot/layout.h"

struct class_counts {
	const uint64_t *unloaded[2], *loaded[2]; /* of class files and of shared archives; NULL: not found */
	const uint64_t *safepoints[3]; /* how many began; ns until all threads had stopped; ns until they went on */
};

/*
 * Find the counts in the JVM's performance data or, where that is switched off, by the symbols
 * of LIBJVM (may be NULL), or in its static fields; those of safepoints are in performance data only (all or none).
 * False when the first of them is not found. The addresses are
 * good for as long as the process lives. Normal code; reads libjvm's symbol table in the second case, and all of
 * its data in the third (milliseconds).
 */
bool class_counts_find(const struct layout *l, const struct image *libjvm, struct class_counts *c);

/* Inner: FOUND[i] becomes the PerfData called ENTRIES[i] that a static field of LIBJVM points to, if there is one. */
struct class_count_names {
	const char *const *entries;
	unsigned count;
};
void class_counts_search(const struct image *libjvm, const struct class_count_names *names, uintptr_t *found);

#endif
