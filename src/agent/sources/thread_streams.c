#include "agent/sources/thread_streams.h"

#include <stdatomic.h>

#include "common/os/os.h"

#define PROBES 8u

void *thread_streams_memory(size_t size)
{
	void *streams = os_reserve(THREAD_STREAMS * size);

	/* the address space stays reserved; the next try may find memory */
	return streams && !os_make_writable(streams, THREAD_STREAMS * size) ? streams : NULL;
}

void *thread_stream_find(void *streams, size_t size, uintptr_t tcb, bool *taken)
{
	uint32_t i, at = thread_stream_place(tcb);

	for (i = 0; i < PROBES; i++) {
		void *stream = (char *)streams + (at + i) % THREAD_STREAMS * size;
		_Atomic uintptr_t *owner = stream;
		uintptr_t there = atomic_load_explicit(owner, memory_order_relaxed);

		if (there == tcb)
			return stream;
		if (taken && !there && atomic_compare_exchange_strong(owner, &there, tcb)) {
			*taken = true;
			return stream;
		}
	}
	return NULL;
}
