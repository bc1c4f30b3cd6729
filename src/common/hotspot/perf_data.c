#include "common/hotspot/perf_data.h"

#include <string.h>

/* Format 2.0, since JDK 5 (perfMemory.hpp). */
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

static const char *name_of(const struct entry *e)
{
	const char *name = (const char *)e + e->name_offset;
	size_t room = (size_t)(e->length - e->name_offset);

	return strnlen(name, room) < room ? name : NULL;
}

void perf_data_each(const struct layout *l, void (*fn)(const char *name, const uint64_t *value, void *arg),
		    void *arg)
{
	const char *start = l->perf_start ? *(const char *const *)l->perf_start : NULL, *at, *end;
	const struct prologue *p = (const void *)start;
	int i;

	if (!start || p->major != 2 || p->used < (int32_t)sizeof(*p) || p->entry_offset < (int32_t)sizeof(*p) ||
	    p->entry_offset > p->used)
		return;
	end = start + p->used;
	at = start + p->entry_offset;
	for (i = 0; i < p->entries && at + sizeof(struct entry) <= end; i++) {
		const struct entry *e = (const void *)at;

		if (e->length < (int32_t)sizeof(*e) || e->length > end - at || e->name_offset <= 0 ||
		    e->name_offset >= e->length || e->data_offset <= 0)
			return;
		if (name_of(e) && e->data_offset <= e->length - (int32_t)sizeof(uint64_t))
			fn(name_of(e), (const uint64_t *)(at + e->data_offset), arg);
		at += e->length;
	}
}
