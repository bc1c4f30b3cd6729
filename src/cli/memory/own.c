/*
 * own.c - what jstrobe's library has mapped for itself in that process, by the table that it keeps (own_memory.h): each
 * copy of it has one. What it asks malloc for is malloc's, its threads' stacks are stacks.
 */
#include <string.h>

#include "cli/memory/resident.h"
#include "common/base/own_memory.h"

#define SLOTS_MAX 65536u
#define PAGE 4096u

static void claim_table(struct peek *p, uint64_t at, struct ranges *c)
{
	uint64_t item = at + offsetof(struct own_memory, items);
	uintptr_t one[2]; /* struct own_mapping */
	uint32_t head[2], i;

	if (!at || !peek_read(p, at, head, sizeof(head)) || head[1] != sizeof(one[0]))
		return;
	for (i = 0; i < MIN(head[0], SLOTS_MAX); i++, item += sizeof(one))
		if (peek_read(p, item, one, sizeof(one)) && one[0] && one[1])
			ranges_add(c, one[0], one[0] + one[1], MEMORY_jstrobe, NULL);
}

void memory_claim_own(struct peek *p, struct ranges *c)
{
	size_t i;

	for (i = 0; i < p->maps->count; i++) {
		const struct mapping *m = &p->maps->items[i];
		struct image_symbols l = {0};

		if (m->offset || !strstr(m->path, "jstrobe") || !image_symbols_open(p, m->start, &l))
			continue;
		/* its zeroed data are more than those of others */
		ranges_add(c, m->start, (l.end + PAGE - 1) / PAGE * PAGE, MEMORY_libraries, NULL);
		claim_table(p, image_symbols_find(p, &l, "jstrobe_memory"), c);
	}
}
