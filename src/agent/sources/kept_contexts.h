/*
 * kept_contexts.h - what threads worked for when their waits began, by the number of a place in a table of claims.
 * Inner header of the sources room.
 *
 * Who tells of a wait later, or after the session's end, cannot ask then: its thread may run again by that time, and
 * work for something else. Memory is used only where the program says what it works for.
 */
#ifndef JSTROBE_SOURCES_KEPT_CONTEXTS_H
#define JSTROBE_SOURCES_KEPT_CONTEXTS_H

#include <sys/mman.h>

#include "agent/zone/trace_context.h"
#include "common/os/os.h"

struct kept_trace_contexts {
	struct trace_context *of;
	size_t bytes;
};

/* Address space for COUNT of them, once; without it none is kept. */
static inline void kept_trace_contexts_open(struct kept_trace_contexts *k, uint32_t count)
{
	if (k->of)
		return;
	k->bytes = (size_t)count * sizeof(*k->of);
	k->of = os_reserve(k->bytes);
	if (k->of && os_make_writable(k->of, k->bytes)) {
		munmap(k->of, k->bytes);
		k->of = NULL;
	}
}

/* Q is what the thread of place I works for, if NOTED; whether it is kept. Who is alone with the place. */
static inline bool kept_trace_context_set(struct kept_trace_contexts *k, uint32_t i, bool noted,
					  const struct trace_context *q)
{
	if (!noted || !k->of)
		return false;
	k->of[i] = *q;
	return true;
}

/* What is kept of place I, if it is NOTED. Who is alone with it, or sees afterwards that nothing has changed. */
static inline struct trace_context kept_trace_context_get(const struct kept_trace_contexts *k, uint32_t i, bool noted)
{
	return noted ? k->of[i] : (struct trace_context){0};
}

/* Memory goes back. No thread is at the table. */
static inline void kept_trace_contexts_clear(struct kept_trace_contexts *k)
{
	if (k->of)
		madvise(k->of, k->bytes, MADV_DONTNEED);
}

#endif
