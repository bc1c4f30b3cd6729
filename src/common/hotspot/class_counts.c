/*
 * class_counts.c - java.cls.loadedClasses and the like, at the place where the JVM adds to them.
 *
 * They are "performance data" (jvmstat): with -XX:+UsePerfData, the default, entries of one
 * region of memory, each with its name; with -XX:-UsePerfData still there and counted, since
 * java.lang.management reports them, but on the C heap, behind static pointers that no table
 * exports: ClassLoadingService::_classes_unloaded_count is a PerfData*, whose last field points to
 * the value (JDK 8 to 25). Symbols tell where, or a search (class_counts_search.c).
 */
#include "common/hotspot/class_counts.h"

#include <string.h>

#include "common/elf/elf.h"
#include "common/hotspot/perf_data.h"

#define COUNTS 4     /* of classes */
#define SAFEPOINTS 3 /* RuntimeService::record_safepoint_begin, _synchronized and _end change one each, JDK 8 to 28 */
#define PERF_DATA_OF_8 48 /* sizeof(PerfData), which JDK 8 does not export */

static const char *const names[COUNTS + SAFEPOINTS] = {
	"java.cls.unloadedClasses", "java.cls.sharedUnloadedClasses",
	"java.cls.loadedClasses", "java.cls.sharedLoadedClasses",
	"sun.rt.safepoints", "sun.rt.safepointSyncTime", "sun.rt.safepointTime",
};
static const char *const symbols[COUNTS] = {
	"_ZN19ClassLoadingService23_classes_unloaded_countE",
	"_ZN19ClassLoadingService30_shared_classes_unloaded_countE",
	"_ZN19ClassLoadingService21_classes_loaded_countE",
	"_ZN19ClassLoadingService28_shared_classes_loaded_countE",
};

static void take(const char *name, const uint64_t *value, void *arg)
{
	const uint64_t **found = arg;
	int i;

	for (i = 0; i < COUNTS + SAFEPOINTS; i++)
		if (strcmp(name, names[i]) == 0)
			found[i] = value;
}

/* On the C heap: by symbol, or where a stripped libjvm has none, by search. */
static void find_objects(const struct layout *l, const struct image *libjvm, const uint64_t **found)
{
	const struct class_count_names wanted = {names, COUNTS};
	uintptr_t objects[COUNTS] = {0}, size = (uintptr_t)(l->perf_data_size ? l->perf_data_size : PERF_DATA_OF_8);
	int i;

	for (i = 0; i < COUNTS; i++) {
		uintptr_t at = i == 0 || objects[0] ? image_address_of(libjvm, symbols[i]) : 0;

		objects[i] = at ? *(const uintptr_t *)at : 0;
	}
	if (!objects[0])
		class_counts_search(libjvm, &wanted, objects);
	for (i = 0; i < COUNTS; i++)
		if (objects[i])
			found[i] = *(const uint64_t *const *)(objects[i] + size - sizeof(uintptr_t));
}

bool class_counts_find(const struct layout *l, const struct image *libjvm, struct class_counts *c)
{
	const uint64_t *found[COUNTS + SAFEPOINTS] = {NULL}, *const *safepoints = found + COUNTS;
	int i;

	perf_data_each(l, take, found);
	if (!found[0] && libjvm)
		find_objects(l, libjvm, found);
	c->unloaded[0] = found[0];
	c->unloaded[1] = found[1];
	c->loaded[0] = found[2];
	c->loaded[1] = found[3];
	for (i = 0; i < SAFEPOINTS; i++)
		c->safepoints[i] = safepoints[0] && safepoints[1] && safepoints[2] ? safepoints[i] : NULL;
	return found[0] != NULL;
}
