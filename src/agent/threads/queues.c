/*
 * queues.c - the memory of threads' queues (agent/zone/queue.h).
 *
 * The first queue of a record has its place beside the record, and is used again with it: a thread that begins
 * allocates nothing, in the program's heap least of all, where what short threads left behind would make holes. A
 * bigger one has pages of its own.
 */
#include "agent/threads/record_table.h"

#include "agent/zone/thread_record.h"
#include "common/base/pages.h"

static struct group {
	uint8_t *pages;
	uint32_t capacity; /* of each queue */
} groups[RECORD_LIMIT / QUEUES_GROUP];

static size_t row(uint32_t capacity)
{
	return (queue_bytes(capacity) + 15) & ~(size_t)15;
}

static struct queue *empty(void *memory, uint32_t capacity)
{
	struct queue *q = memory;

	if (!q)
		return NULL;
	q->capacity = capacity;
	q->max_fill = 0;
	atomic_store(&q->head, 0);
	atomic_store(&q->tail, 0);
	return q;
}

struct queue *queues_bigger(uint32_t capacity)
{
	return empty(pages_alloc(queue_bytes(capacity)), capacity);
}

struct queue *queues_first(uint32_t index, uint32_t capacity)
{
	struct group *g = &groups[index / QUEUES_GROUP];

	if (!g->pages) {
		g->pages = pages_alloc(QUEUES_GROUP * row(capacity));
		g->capacity = capacity;
	}
	if (!g->pages)
		return NULL;
	/* Others of its group were made before the session's engine had said how many entries it wants. */
	if (g->capacity != capacity)
		return queues_bigger(capacity);
	return empty(g->pages + index % QUEUES_GROUP * row(capacity), capacity);
}

void queues_free(uint32_t index, struct queue *q)
{
	const struct group *g = &groups[index / QUEUES_GROUP];

	if (!q || (g->pages && (uintptr_t)q - (uintptr_t)g->pages < QUEUES_GROUP * row(g->capacity)))
		return;
	pages_free(q, queue_bytes(q->capacity));
}

void queues_release(uint32_t from, uint32_t end)
{
	uint32_t i;

	for (i = from / QUEUES_GROUP; i < end / QUEUES_GROUP; i++) {
		pages_free(groups[i].pages, QUEUES_GROUP * row(groups[i].capacity));
		groups[i] = (struct group){NULL, 0};
	}
}
