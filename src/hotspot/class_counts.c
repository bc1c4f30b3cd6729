/*
 * class_counts.c - java.cls.loadedClasses and the like, at the place where the JVM adds to them.
 *
 * They are "performance data" (jvmstat): with -XX:+UsePerfData, the default, entries of one
 * region of memory, each with its name; with -XX:-UsePerfData still there and counted, since
 * java.lang.management reports them, but on the C heap, behind static pointers that no table
 * exports: ClassLoadingService::_classes_unloaded_count is a PerfData*, whose last field points to
 * the value (JDK 8 to 25).
 */
#include "hotspot/class_counts.h"

#include <string.h>

#include "elf/elf.h"

#define COUNTS 4

static const struct {
	const char *entry, *symbol;
} names[COUNTS] = {
	{"java.cls.unloadedClasses", "_ZN19ClassLoadingService23_classes_unloaded_countE"},
	{"java.cls.sharedUnloadedClasses", "_ZN19ClassLoadingService30_shared_classes_unloaded_countE"},
	{"java.cls.loadedClasses", "_ZN19ClassLoadingService21_classes_loaded_countE"},
	{"java.cls.sharedLoadedClasses", "_ZN19ClassLoadingService28_shared_classes_loaded_countE"},
};

/* Format 2.0 of performance data, since JDK 5 (perfMemory.hpp). */
struct prologue {
	uint32_t magic;
	uint8_t byte_order, major, minor, accessible;
	int32_t used, overflow;
	int64_t modified;
	int32_t entry_offset, entries;
};
struct entry {
	int32_t length, name_offset, vector_length;
	uint8_t type, flags, units, variability;
	int32_t data_offset;
};

static void find_entry(const char *at, const struct entry *e, const uint64_t **found)
{
	const char *name = at + e->name_offset;
	size_t room = (size_t)(e->length - e->name_offset);
	int i;

	for (i = 0; i < COUNTS; i++)
		if (strnlen(name, room) < room && strcmp(name, names[i].entry) == 0 &&
		    e->data_offset <= e->length - (int32_t)sizeof(uint64_t))
			found[i] = (const uint64_t *)(at + e->data_offset);
}

/* The region stays mapped until the process ends, also after the JVM's end. */
static void search_region(const struct layout *l, const uint64_t **found)
{
	const char *start = l->perf_start ? *(const char *const *)l->perf_start : NULL;
	const struct prologue *p = (const void *)start;
	const char *at, *end;
	int i;

	if (!start || p->major != 2 || p->used < (int32_t)sizeof(*p) || p->entry_offset < (int32_t)sizeof(*p))
		return;
	end = start + p->used;
	if (p->entry_offset > p->used)
		return;
	at = start + p->entry_offset;
	for (i = 0; i < p->entries && at + sizeof(struct entry) <= end; i++) {
		const struct entry *e = (const void *)at;

		if (e->length < (int32_t)sizeof(*e) || e->length > end - at || e->name_offset <= 0 ||
		    e->name_offset >= e->length || e->data_offset <= 0)
			return;
		find_entry(at, e, found);
		at += e->length;
	}
}

static const uint64_t *behind_symbol(const struct layout *l, const struct image *libjvm, const char *symbol)
{
	uintptr_t at = image_address_of(libjvm, symbol);
	uintptr_t data = at ? *(const uintptr_t *)at : 0;

	return data ? *(const uint64_t *const *)(data + (uintptr_t)l->perf_data_size - sizeof(uintptr_t)) : NULL;
}

bool class_counts_find(const struct layout *l, const struct image *libjvm, struct class_counts *c)
{
	const uint64_t *found[COUNTS] = {NULL};
	int i;

	search_region(l, found);
	if (!found[0] && libjvm && l->perf_data_size)
		for (i = 0; i < COUNTS && (i == 0 || found[0]); i++)
			found[i] = behind_symbol(l, libjvm, names[i].symbol);
	c->unloaded[0] = found[0];
	c->unloaded[1] = found[1];
	c->loaded[0] = found[2];
	c->loaded[1] = found[3];
	return found[0] != NULL;
}
