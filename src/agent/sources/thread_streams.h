/*
 * thread_streams.h - what a source keeps for each thread that calls its hooks: how far it is to the thread's next
 * sample, for example. Inner header of the sources room; any thread in normal code.
 *
 * A stream belongs to an address of a thread control block, not to a thread record: it is found without a lock and
 * without thread-local storage, and need not be given back. Distances are drawn from an exponential distribution, which
 * has no memory, so a thread that gets the address of one that has ended goes on with its stream.
 *
 * Each begins with `_Atomic uintptr_t tcb`; 0: it is free.
 */
#ifndef AGENT_SOURCES_THREAD_STREAMS_H
#define AGENT_SOURCES_THREAD_STREAMS_H

#include "common/base/base.h"

#define THREAD_STREAMS 65536u /* threads at a time that have one of their own */

/* Where to look first. */
static inline uint32_t thread_stream_place(uintptr_t tcb)
{
	return (uint32_t)((uint64_t)tcb * 0x9e3779b97f4a7c15ull >> 48);
}

/* Memory for THREAD_STREAMS of SIZE bytes, all free; it is never given back. NULL: there is none. */
void *thread_streams_memory(size_t size);
/*
 * The one of TCB among STREAMS, of SIZE bytes each. TAKEN: a free one becomes its own if it has none, and then is true;
 * NULL: it is only looked for. NULL if there is none.
 */
void *thread_stream_find(void *streams, size_t size, uintptr_t tcb, bool *taken);

#endif
