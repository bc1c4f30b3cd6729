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

struct request_cell *requests_table(void)
{
	struct request_cell *cells = atomic_load(&zone.requests.cells);
	size_t bytes = REQUEST_CELLS * sizeof(*cells);

	if (cells)
		return cells;
	pthread_mutex_lock(&lock);
	cells = atomic_load(&zone.requests.cells);
	if (!cells) {
		cells = os_reserve(bytes);
		if (cells && os_make_writable(cells, bytes))
			cells = NULL; /* the reservation stays: a few page tables at most */
		atomic_store(&zone.requests.cells, cells);
	}
	pthread_mutex_unlock(&lock);
	return cells;
}

/* Cell C becomes THREAD's, if it is still FORMER's. */
static bool take(struct request_cell *c, uint64_t former, uint64_t thread)
{
	return atomic_compare_exchange_strong(&c->thread, &former, thread);
}

uint32_t requests_claim(uint64_t thread)
{
	struct request_cell *cells = atomic_load(&zone.requests.cells);
	uint32_t probe, place = 0;

	for (probe = 0; probe < REQUEST_PROBES; probe++) {
		uint64_t its;

		place = request_place(thread, probe);
		its = atomic_load(&cells[place].thread);
		if (its == thread || (!its && take(&cells[place], 0, thread)))
			return place;
	}
	for (probe = 0; probe < REQUEST_PROBES; probe++) {
		place = request_place(thread, probe);
		if (!atomic_load(&cells[place].check) &&
		    take(&cells[place], atomic_load(&cells[place].thread), thread))
			return place;
	}
	/* The check fits no other thread: what stands there belongs to none from here on. */
	place = request_place(thread, (uint32_t)(atomic_fetch_add(&evicted, 1) % REQUEST_PROBES));
	atomic_store(&cells[place].thread, thread);
	return place;
}

/* ---- labels ---- */

bool requests_define(uint64_t number, const char *text)
{
	size_t bytes = strlen(text) + 1;
	char *copy = NULL, **place = NULL;
	uint32_t *slot;
	bool known;

	pthread_mutex_lock(&lock);
	slot = map_get(&by_number, number);
	if (!slot && texts.count < REQUESTS_LABEL_SETS && text_bytes + bytes <= REQUESTS_LABEL_BYTES) {
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
		requests_refuse(1);
	return known;
}

void requests_refuse(uint64_t n)
{
	atomic_fetch_add(&refused, n);
}

const char *requests_labels(uint64_t number)
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

void requests_count(struct requests_counts *c)
{
	c->torn = atomic_load(&zone.requests.torn);
	c->evicted = atomic_load(&evicted);
	c->refused = atomic_load(&refused);
}
