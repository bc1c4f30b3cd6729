#include "agent/zone/sample_counter.h"

struct sample_counters sample_counters;

struct sample_counter *sample_counter_claim(uintptr_t tcb)
{
	uint64_t at = hash_mix(tcb);
	uint32_t i;

	for (i = 0; i < SAMPLE_COUNTER_PROBES; i++) {
		struct sample_counter *c = &sample_counters.slots[(at + i) % SAMPLE_COUNTERS];
		uintptr_t none = 0;

		if (!atomic_compare_exchange_strong(&c->tcb, &none, tcb))
			continue;
		atomic_store_explicit(&c->count, 0, memory_order_relaxed);
		atomic_store_explicit(&sample_counters.used, true, memory_order_relaxed);
		return c;
	}
	return NULL;
}

void sample_counter_release(struct sample_counter *c)
{
	atomic_store(&c->tcb, 0);
}
