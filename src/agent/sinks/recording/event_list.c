#include "agent/sinks/recording/event_list.h"

#include <stdlib.h>

#include "common/base/pages.h"

#define BLOCK_BYTES (EVENT_BLOCK * sizeof(struct sink_event))
#define KEPT 4 /* blocks */

struct sink_event *event_list_push(struct event_list *l)
{
	struct sink_event **place, *e;

	if (l->count == l->blocks.count * EVENT_BLOCK) {
		place = VECTOR_PUSH(&l->blocks);
		if (place)
			*place = pages_alloc(BLOCK_BYTES);
		if (!place || !*place) {
			l->blocks.count -= place != NULL;
			return NULL;
		}
	}
	e = event_list_at(l, l->count++);
	memset(e, 0, sizeof(*e));
	return e;
}

static void keep_blocks(struct event_list *l, size_t n)
{
	while (l->blocks.count > n)
		pages_free(l->blocks.items[--l->blocks.count], BLOCK_BYTES);
}

void event_list_cut(struct event_list *l, size_t count)
{
	l->count = count;
	keep_blocks(l, count / EVENT_BLOCK + KEPT);
}

void event_list_free(struct event_list *l)
{
	keep_blocks(l, 0);
	free(l->blocks.items);
	*l = (struct event_list){0};
}
