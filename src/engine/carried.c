#include "engine/carried.h"

#include <stdlib.h>

#include "engine/engine.h"
#include "os/os.h"
#include "signal/handler.h"

uint32_t carried_add(struct carried *c, const struct trace *t)
{
	size_t bytes = t ? sizeof(*t) + t->length * sizeof(t->frame[0]) : 0;
	uint32_t *slot = t ? map_put(&c->by_trace, (uintptr_t)t, NULL) : NULL;
	struct carried_trace *to;

	if (!slot || *slot)
		return slot ? *slot : 0;
	to = VECTOR_PUSH(&c->traces);
	if (!to)
		return 0;
	to->copy = malloc(bytes);
	if (!to->copy) {
		c->traces.count--;
		return 0;
	}
	memcpy(to->copy, t, bytes);
	return *slot = (uint32_t)c->traces.count;
}

const struct trace *carried_put(struct carried *c, uint32_t n, struct thread_record *self)
{
	struct carried_trace *t = n ? &c->traces.items[n - 1] : NULL;
	struct trace_writer w;
	uint32_t i;

	if (!t || t->tried)
		return t ? t->now : NULL;
	t->tried = true;
	if (!trace_begin(&w, &zone.store, &self->chunk, t->copy->length))
		return NULL;
	for (i = 0; i < t->copy->length; i++)
		if (!trace_put(&w, t->copy->frame[i]))
			return NULL;
	return t->now = trace_end(&w);
}

void carried_free(struct carried *c)
{
	size_t i;

	for (i = 0; i < c->traces.count; i++)
		free(c->traces.items[i].copy);
	free(c->traces.items);
	free(c->waits.items);
	map_free(&c->by_trace);
	memset(c, 0, sizeof(*c));
}

struct thread_record *carried_enter(void)
{
	struct thread_record *self = records_found(os_gettid(), handler_thread_pointer());

	if (self)
		handler_enter(self);
	return self;
}

struct thread_record *carried_record(pid_t tid, bool is_virtual, struct thread_record *self)
{
	struct thread_record *r = record_find_tid(&zone.records, tid);

	return r || !is_virtual ? r : self;
}
