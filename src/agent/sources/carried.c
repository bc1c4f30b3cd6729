#include "agent/sources/carried.h"

#include <stdlib.h>

#include "agent/sample/handler.h"
#include "agent/threads/records.h"
#include "agent/zone/zone.h"
#include "common/os/os.h"

/* T is copied, once for all who keep it. Its number; 0: T is NULL, or there is no memory. */
static uint32_t add(struct carried *c, const struct stack_trace *t)
{
	size_t bytes = t ? sizeof(*t) + t->length * sizeof(t->frame[0]) : 0;
	uint32_t *slot = t ? map_put(&c->by_stack, (uintptr_t)t, NULL) : NULL;
	struct carried_stack *to;

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

const struct stack_trace *carried_put(struct carried *c, uint32_t n, struct thread_record *self)
{
	struct carried_stack *t = n ? &c->traces.items[n - 1] : NULL;
	struct stack_trace_writer w;

	if (!t || t->tried)
		return t ? t->now : NULL;
	t->tried = true;
	if (stack_trace_begin(&w, &zone.store, &self->chunk, t->copy->length))
		t->now = stack_trace_end_as(&w, t->copy);
	return t->now;
}

static void free_copies(struct carried *c)
{
	size_t i;

	for (i = 0; i < c->traces.count; i++)
		free(c->traces.items[i].copy);
	free(c->traces.items);
	free(c->waits.items);
	map_free(&c->by_stack);
	memset(c, 0, sizeof(*c));
}

bool carried_note(const struct carried_table *t, const void *place, uint32_t record, const struct stack_trace *trace,
		  const struct stack_trace *holder)
{
	struct carried_wait *w = VECTOR_PUSH(&t->carried->waits);

	if (!w)
		return false;
	*w = (struct carried_wait){
		.place = slot_table_number(t->places, place),
		.tid = atomic_load(&zone.records.records[record].tid),
		.trace = add(t->carried, trace),
		.holder = add(t->carried, holder),
	};
	return true;
}

void carried_clear(const struct carried_table *t)
{
	free_copies(t->carried);
	if (t->places->places)
		slot_table_clear(t->places);
	kept_trace_contexts_clear(t->trace_contexts);
}

static void carry_all(const struct carried_table *t)
{
	uint32_t i, reach = slot_table_reach(t->places);

	for (i = 0; i < reach; i++) {
		slot_key *place = slot_table_at(t->places, i);
		uint64_t key = atomic_load(place);

		if (key && key != SLOT_TAKEN && !t->carry(place))
			t->give_back(place);
	}
}

void carried_release(const struct carried_table *t, bool keep)
{
	if (keep && t->places->places && !t->carried->waits.count)
		carry_all(t);
	if (!t->carried->waits.count)
		carried_clear(t);
}

/* The running thread's record, one of ours, entered: what it stores stays until handler_leave. NULL: it has none. */
static struct thread_record *enter(void)
{
	struct thread_record *self = records_found(os_gettid(), handler_thread_pointer());

	if (self)
		handler_enter(self);
	return self;
}

void carried_go_on(const struct carried_table *t)
{
	struct thread_record *self = t->carried->waits.count ? enter() : NULL;
	size_t i;

	for (i = 0; i < t->carried->waits.count; i++) {
		const struct carried_wait *w = &t->carried->waits.items[i];
		slot_key *place = slot_table_at(t->places, w->place);

		if (!self || !t->take_up(place, w, self))
			t->give_back(place);
	}
	if (self)
		handler_leave(self);
	free_copies(t->carried);
}

struct thread_record *carried_record(pid_t tid, bool is_virtual, struct thread_record *self)
{
	struct thread_record *r = record_find_tid(&zone.records, tid);

	return r || !is_virtual ? r : self;
}
