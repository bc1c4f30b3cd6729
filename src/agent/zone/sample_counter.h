/*
 * sample_counter.h - for threads that ask for it, how many samples they have taken: a word that they may read at any
 * time (asprof_get_thread_local_data).
 *
 * A small table by the thread's control block: a thread has the same place until it ends, whatever sessions come and
 * go, and no sample costs more than one load as long as no thread has asked.
 */
#ifndef JSTROBE_ZONE_SAMPLE_COUNTER_H
#define JSTROBE_ZONE_SAMPLE_COUNTER_H

#include <stdatomic.h>

#include "common/base/base.h"
#include "common/base/hash.h"

#define SAMPLE_COUNTERS 4096u /* threads at a time */
#define SAMPLE_COUNTER_PROBES 16u

struct sample_counter {
	_Atomic uintptr_t tcb; /* 0: free */
	_Atomic uint64_t count;
};

struct sample_counters {
	atomic_bool used;      /* a thread has asked, once */
	struct sample_counter slots[SAMPLE_COUNTERS];
};
extern struct sample_counters sample_counters;

/* The place of the thread with TCB; NULL: it has none. Any context. */
static inline struct sample_counter *sample_counter_of(uintptr_t tcb)
{
	uint64_t at = hash_mix(tcb);
	uint32_t i;

	for (i = 0; i < SAMPLE_COUNTER_PROBES; i++) {
		struct sample_counter *c = &sample_counters.slots[(at + i) % SAMPLE_COUNTERS];

		if (atomic_load_explicit(&c->tcb, memory_order_relaxed) == tcb)
			return c;
	}
	return NULL;
}

/* The thread with TCB, which is the calling one, takes a sample. Its handlers, and its own code. */
static inline void sample_counter_step(uintptr_t tcb)
{
	struct sample_counter *c;

	if (likely(!atomic_load_explicit(&sample_counters.used, memory_order_relaxed)))
		return;
	c = sample_counter_of(tcb);
	if (c)
		atomic_fetch_add_explicit(&c->count, 1, memory_order_relaxed);
}

/* A place for the calling thread, with TCB, that begins at 0; NULL: there is no room. Normal code. */
struct sample_counter *sample_counter_claim(uintptr_t tcb);
/* The thread ends: C is another's from now on. */
void sample_counter_release(struct sample_counter *c);

#endif
