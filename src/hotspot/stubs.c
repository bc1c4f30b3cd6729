#include "hotspot/stubs.h"

#include <stdlib.h>
#include <string.h>

static bool overlaps(const struct stub *s, uintptr_t start, uintptr_t end)
{
	return s->start < end && start < s->end;
}

/* HotSpot calls the barrier "cont_returnBarrier" (JDK 21+), in 25 "StubRoutines::cont_return_barrier". */
static bool is_return_barrier(const char *name)
{
	return strstr(name, "cont_return") != NULL;
}

static bool fill(struct stub *s, const char *name, uintptr_t start, uintptr_t end)
{
	s->start = start;
	s->end = end;
	s->name = strdup(name);
	s->call_stub = strstr(name, "call_stub") != NULL;
	s->frozen = is_return_barrier(name);
	return s->name != NULL;
}

struct stub_set *stub_set_with(const struct stub_set *old, const char *name, uintptr_t start,
			       uintptr_t end)
{
	uint32_t i, count = old ? old->count : 0;
	struct stub_set *set = calloc(1, sizeof(*set) + (count + 1) * sizeof(set->stubs[0]));
	bool placed = false;

	if (!set)
		return NULL;
	for (i = 0; i < count; i++) {
		const struct stub *s = &old->stubs[i];

		if (overlaps(s, start, end))
			continue;
		if (!placed && s->start > start) {
			placed = true;
			if (!fill(&set->stubs[set->count++], name, start, end))
				goto fail;
		}
		if (!fill(&set->stubs[set->count++], s->name, s->start, s->end))
			goto fail;
	}
	if (!placed && !fill(&set->stubs[set->count++], name, start, end))
		goto fail;
	return set;
fail:
	stub_set_free(set);
	return NULL;
}

void stub_set_free(struct stub_set *set)
{
	uint32_t i;

	if (!set)
		return;
	for (i = 0; i < set->count; i++)
		free((char *)set->stubs[i].name);
	free(set);
}
