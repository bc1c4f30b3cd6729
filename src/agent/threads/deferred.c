#include "agent/threads/deferred.h"

#include <pthread.h>
#include <stdlib.h>

#include "agent/zone/zone.h"
#include "common/base/vector.h"
#include "common/os/os.h"

struct item {
	deferred_fn *fn;
	void *what, *with;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of `fresh`; a leaf */
static VECTOR(struct item) fresh;
/* The collector's: those that wait for the handlers of one epoch. */
static typeof(fresh) waiting;
static uint32_t waiting_for;

/* ---- whether handlers are out ---- */

void quiesce_open(void)
{
	atomic_store(&zone.fences, !os_barrier_open());
}

uint32_t quiesce_begin(void)
{
	uint32_t epoch = atomic_fetch_add(&zone.epoch, 1) + 1;

	if (!epoch) /* 0 is: outside */
		epoch = atomic_fetch_add(&zone.epoch, 1) + 1;
	if (atomic_load(&zone.fences)) {
		atomic_thread_fence(memory_order_seq_cst);
	} else if (!os_barrier()) {
		/* It was permitted before: who is inside without a fence has had time enough then. */
		atomic_store(&zone.fences, true);
		os_wait_for_cpus();
	}
	return epoch;
}

bool quiesced(uint32_t epoch)
{
	uint32_t i, count = atomic_load(&zone.records.count);

	for (i = 0; i < count; i++) {
		uint32_t inside = atomic_load_explicit(&zone.records.records[i].inside, memory_order_acquire);

		if (inside && (int32_t)(inside - epoch) < 0)
			return false;
	}
	return true;
}

/* ---- the list ---- */

bool deferred_free(deferred_fn *fn, void *what, void *with)
{
	struct item *i;

	pthread_mutex_lock(&lock);
	i = VECTOR_PUSH(&fresh);
	if (i)
		*i = (struct item){fn, what, with};
	pthread_mutex_unlock(&lock);
	return i;
}

static void take_fresh(void)
{
	pthread_mutex_lock(&lock);
	free(waiting.items);
	waiting = fresh;
	fresh = (typeof(fresh)){NULL, 0, 0};
	pthread_mutex_unlock(&lock);
}

/* Those that refuse stay. */
static void run_waiting(void)
{
	size_t i, left = 0;

	for (i = 0; i < waiting.count; i++) {
		struct item item = waiting.items[i];

		if (!item.fn(item.what, item.with))
			waiting.items[left++] = item;
	}
	waiting.count = left;
}

void deferred_drain(void)
{
	if (!waiting.count) {
		take_fresh();
		if (!waiting.count)
			return;
		waiting_for = quiesce_begin();
	}
	if (quiesced(waiting_for))
		run_waiting();
}

void deferred_end(void)
{
	int tries;

	for (tries = 0; tries < 1000; tries++) {
		run_waiting();
		if (waiting.count)
			os_sleep(NS_PER_MS); /* a thread looks names up in it */
		else
			take_fresh();
		if (!waiting.count)
			break;
	}
	free(waiting.items);
	waiting = (typeof(waiting)){NULL, 0, 0};
}
