/*
 * class_counts.h - where the JVM counts the classes it loads and unloads.
 */
#ifndef JSTROBE_HOTSPOT_CLASS_COUNTS_H
#define JSTROBE_HOTSPOT_CLASS_COUNTS_H

#include "elf/unwind.h"
#include "hotspot/layout.h"

struct class_counts {
	const uint64_t *unloaded[2], *loaded[2]; /* of class files and of shared archives; NULL: not found */
};

/*
 * Find the counts in the JVM's performance data or, where that is switched off, by the symbols
 * of LIBJVM (may be NULL). False when the first of them is not found. The addresses are good for
 * as long as the process lives. Normal code; reads libjvm's symbol table in the second case.
 */
bool class_counts_find(const struct layout *l, const struct image *libjvm, struct class_counts *c);

#endif
