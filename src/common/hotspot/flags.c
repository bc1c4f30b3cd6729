#include "common/hotspot/flags.h"

#include <string.h>

#define ORIGIN_MASK 0xf /* JVMFlag::VALUE_ORIGIN_MASK: 0 = default */

/* The entry of flag NAME in the JVM's table, 0 if there is none. */
static uintptr_t find(const struct layout *l, const char *name)
{
	uintptr_t flag;
	size_t i, count;

	if (!l->flags || !l->flag_count || l->flag_name < 0 || l->flag_address < 0 || !l->flag_size)
		return 0;
	flag = *(const uintptr_t *)l->flags;
	count = *(const size_t *)l->flag_count;
	for (i = 0; i < count; i++, flag += (uintptr_t)l->flag_size) {
		const char *its = *(const char *const *)(flag + (uintptr_t)l->flag_name);

		if (its && strcmp(its, name) == 0)
			return flag;
	}
	return 0;
}

static void *value_of(const struct layout *l, uintptr_t flag)
{
	return *(void **)(flag + (uintptr_t)l->flag_address);
}

bool flag_set_default_bool(const struct layout *l, const char *name, bool value)
{
	uintptr_t flag = find(l, name);

	if (!flag || l->flag_origin < 0 ||
	    (*(const uint32_t *)(flag + (uintptr_t)l->flag_origin) & ORIGIN_MASK) != 0 ||
	    *(const bool *)value_of(l, flag) == value)
		return false;
	*(bool *)value_of(l, flag) = value;
	return true;
}

bool flag_write_bool(const struct layout *l, const char *name, bool value)
{
	uintptr_t flag = find(l, name);

	if (flag)
		*(bool *)value_of(l, flag) = value;
	return flag != 0;
}

bool flag_read_bool(const struct layout *l, const char *name, bool *value)
{
	uintptr_t flag = find(l, name);

	if (flag)
		*value = *(const bool *)value_of(l, flag);
	return flag != 0;
}

bool flag_read_size(const struct layout *l, const char *name, uint64_t *value)
{
	uintptr_t flag = find(l, name);

	if (flag)
		*value = *(const size_t *)value_of(l, flag);
	return flag != 0;
}
