/* Performance data made by hand: the counts of classes are found by name, hostile bytes are not followed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "common/elf/elf.h"
#include "common/hotspot/class_counts.h"

static _Alignas(8) uint8_t region[1024];
static const void *start = region;
static struct layout layout = {.perf_start = (uintptr_t)&start};
static size_t used;
static int32_t entries;

static void put32(size_t at, int32_t value)
{
	memcpy(region + at, &value, sizeof(value));
}

static void finish(void)
{
	region[5] = 2; /* major version */
	put32(8, (int32_t)used);
	put32(24, 32);
	put32(28, entries);
}

/* An entry of 20 bytes of head, its name, and 8 bytes of value; returns the value's place. */
static const uint64_t *entry(const char *name)
{
	size_t value = (20 + strlen(name) + 1 + 7) & ~(size_t)7;

	put32(used, (int32_t)value + 8);
	put32(used + 4, 20);
	put32(used + 16, (int32_t)value);
	memcpy(region + used + 20, name, strlen(name) + 1);
	used += value + 8;
	entries++;
	finish();
	return (const uint64_t *)(region + used - 8);
}

static int set_up(void **state)
{
	memset(region, 0, sizeof(region));
	start = region;
	used = 32;
	entries = 0;
	finish();
	return 0;
}

static void found(void **state)
{
	const uint64_t *loaded, *unloaded, *begun;
	struct class_counts c;

	entry("java.cls.loadedClassesX");
	loaded = entry("java.cls.loadedClasses");
	begun = entry("sun.rt.safepoints");
	entry("sun.rt.safepointTime");
	assert_false(class_counts_find(&layout, NULL, &c));
	unloaded = entry("java.cls.unloadedClasses");
	assert_true(class_counts_find(&layout, NULL, &c));
	assert_null(c.safepoints[0]); /* one of them is missing */
	entry("sun.rt.safepointSyncTime");
	assert_true(class_counts_find(&layout, NULL, &c));
	assert_ptr_equal(c.safepoints[0], begun);
	assert_true(c.safepoints[1] && c.safepoints[2]);
	assert_ptr_equal(c.unloaded[0], unloaded);
	assert_ptr_equal(c.loaded[0], loaded);
	assert_null(c.unloaded[1]);
}

static void absent(void **state)
{
	struct class_counts c;

	start = NULL; /* -XX:-UsePerfData */
	assert_false(class_counts_find(&layout, NULL, &c));
	start = region;
	entry("java.cls.unloadedClasses");
	region[5] = 3;
	assert_false(class_counts_find(&layout, NULL, &c));
}

/* Any one number of the head or the entry wrong: nothing, and nothing outside is read. */
static void broken(void **state)
{
	static const int32_t values[] = {0, -1, 1, 19, 1 << 20, INT32_MAX, INT32_MIN};
	static const size_t places[] = {8, 24, 32, 36, 48};
	struct class_counts c;
	size_t i, j;

	for (i = 0; i < ARRAY_LEN(places); i++)
		for (j = 0; j < ARRAY_LEN(values); j++) {
			set_up(state);
			entry("java.cls.unloadedClasses");
			put32(places[i], values[j]);
			if (class_counts_find(&layout, NULL, &c))
				assert_in_range((uintptr_t)c.unloaded[0], (uintptr_t)region,
						(uintptr_t)region + sizeof(region) - 8);
		}
}

/* As a stripped libjvm without performance data has them: a static field, an object, its name. */
static const int virtuals;
static struct object {
	const void *virtuals;
	const char *name;
	uint64_t more[3];
	const uint64_t *value;
} *volatile fields[3];

static void searched(void **state)
{
	static const char *const wrong[] = {"java.cls.unloadedClasse", "java.cls.unloadedClassesX", (const char *)8};
	struct layout bare = {.perf_start = 0, .perf_data_size = sizeof(struct object)};
	struct image_set *set;
	const struct image *here;
	struct class_counts c;
	struct error err;
	uint64_t value;
	size_t i;

	set = image_set_read(NULL, &err);
	assert_non_null(set);
	here = image_find(set, (uintptr_t)searched);
	assert_non_null(here);
	fields[0] = malloc(sizeof(struct object));
	fields[1] = (struct object *)8;
	*fields[0] = (struct object){.virtuals = &virtuals, .name = strdup("java.cls.unloadedClasses"), .value = &value};
	assert_true(class_counts_find(&bare, here, &c));
	assert_ptr_equal(c.unloaded[0], &value);
	assert_null(c.loaded[0]);
	for (i = 0; i < ARRAY_LEN(wrong); i++) {
		free((void *)(i ? NULL : fields[0]->name));
		fields[0]->name = wrong[i];
		assert_false(class_counts_find(&bare, here, &c));
	}
	free(fields[0]);
	image_set_free(set, NULL);
}

#define T(test) cmocka_unit_test_setup(test, set_up)

int main(void)
{
	const struct CMUnitTest tests[] = {T(found), T(absent), T(broken), T(searched)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
