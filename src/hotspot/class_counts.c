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
#include "hotspot/perf_data.h"

#define COUNTS 4

static const struct {
	const char *entry, *symbol;
} names[COUNTS] = {
	{"java.cls.unloadedClasses", "_ZN19ClassLoadingService23_classes_unloaded_countE"},
	{"java.cls.sharedUnloadedClasses", "_ZN19ClassLoadingService30_shared_classes_unloaded_countE"},
	{"java.cls.loadedClasses", "_ZN19ClassLoadingService21_classes_loaded_countE"},
	{"java.cls.sharedLoadedClasses", "_ZN19ClassLoadingService28_shared_classes_loaded_countE"},
};

static void take(const char *name, const uint64_t *value, void *arg)
{
	const uint64_t **found = arg;
	int i;

	for (i = 0; i < COUNTS; i++)
		if (strcmp(name, names[i].entry) == 0)
			found[i] = value;
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

	perf_data_each(l, take, found);
	if (!found[0] && libjvm && l->perf_data_size)
		for (i = 0; i < COUNTS && (i == 0 || found[0]); i++)
			found[i] = behind_symbol(l, libjvm, names[i].symbol);
	c->unloaded[0] = found[0];
	c->unloaded[1] = found[1];
	c->loaded[0] = found[2];
	c->loaded[1] = found[3];
	return found[0] != NULL;
}
