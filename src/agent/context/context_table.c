#include "agent/context/context_table.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "agent/zone/zone.h"
#include "common/base/map.h"
#include "common/base/vector.h"
#include "common/os/os.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* all but the cells */
static _Atomic uint64_t evicted, refused;
static struct map by_number;   /* set of labels → 1 + its place in texts */
static VECTOR(char *) texts;
static size_t text_bytes;

/* ---- cells ---- */

struct trace_context_cell *trace_contexts_table(void)
{
	struct trace_context_cell *cells = atomic_load(&zone.trace_contexts.cells);
	size_t bytes = TRACE_CONTEXT_CELLS * sizeof(*cells);

	if (cells)
		return cells;
	pthread_mutex_lock(&lock);
	cells = atomic_load(&zone.trace_contexts.cells);
	if (!cells) {
		cells = os_reserve(bytes);
		if (cells && os_make_writable(cells, bytes))
			cells = NULL; /* the reservation stays: a few page tables at most */
		atomic_store(&zone.trace_contexts.cells, cells);
	}
	pthread_mutex_unlock(&lock);
	return cells;
}

/* Cell C becomes THREAD's, if it is still FORMER's. */
static bool take(struct trace_context_cell *c, uint64_t former, uint64_t thread)
{
	return atomic_compare_exchange_strong(&c->thread, &former, thread);
}

uint32_t trace_contexts_claim(uint64_t thread)
{
	struct trace_context_cell *cells = atomic_load(&zone.trace_contexts.cells);
	uint32_t probe, place = 0;

	for (probe = 0; probe < TRACE_CONTEXT_PROBES; probe++) {
		uint64_t its;

		place = trace_context_place(thread, probe);
		its = atomic_load(&cells[place].thread);
		if (its == thread || (!its && take(&cells[place], 0, thread)))
			return place;
	}
	for (probe = 0; probe < TRACE_CONTEXT_PROBES; probe++) {
		place = trace_context_place(thread, probe);
		if (!atomic_load(&cells[place].check) &&
		    take(&cells[place], atomic_load(&cells[place].thread), thread))
			return place;
	}
	/* The check fits no other thread: what stands there belongs to none from here on. */
	place = trace_context_place(thread, (uint32_t)(atomic_fetch_add(&evicted, 1) % TRACE_CONTEXT_PROBES));
	atomic_store(&cells[place].thread, thread);
	return place;
}

/* ---- labels ---- */

bool trace_contexts_define(uint64_t number, const char *text)
{
	size_t bytes = strlen(text) + 1;
	char *copy = NULL, **place = NULL;
	uint32_t *slot;
	bool known;

	pthread_mutex_lock(&lock);
	slot = map_get(&by_number, number);
	if (!slot && texts.count < TRACE_CONTEXT_LABEL_SETS && text_bytes + bytes <= TRACE_CONTEXT_LABEL_BYTES) {
		copy = strdup(text);
		place = copy ? VECTOR_PUSH(&texts) : NULL;
		slot = place ? map_put(&by_number, number, NULL) : NULL;
		if (slot) {
			*place = copy;
			*slot = (uint32_t)texts.count;
			text_bytes += bytes;
		} else {
			texts.count -= place != NULL;
			free(copy);
		}
	}
	known = slot && strcmp(texts.items[*slot - 1], text) == 0;
	pthread_mutex_unlock(&lock);
	if (!known)
		trace_contexts_refuse(1);
	return known;
}

void trace_contexts_refuse(uint64_t n)
{
	atomic_fetch_add(&refused, n);
}

const char *trace_contexts_labels(uint64_t number)
{
	const char *text = "";
	uint32_t *slot;

	if (!number)
		return text;
	pthread_mutex_lock(&lock);
	slot = map_get(&by_number, number);
	if (slot)
		text = texts.items[*slot - 1];
	pthread_mutex_unlock(&lock);
	return text;
}

void trace_contexts_count(struct trace_contexts_counts *c)
{
	c->torn = atomic_load(&zone.trace_contexts.torn);
	c->evicted = atomic_load(&evicted);
	c->refused = atomic_load(&refused);
}
