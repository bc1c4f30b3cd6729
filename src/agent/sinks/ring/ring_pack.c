/*
 * ring_pack.c - samples as the flight recorder keeps them: LEB128, times as differences with their sign in the lowest
 * bit.
 */
#include <string.h>

#include "agent/sinks/ring/ring_state.h"
#include "common/base/leb.h"

static void put(struct ring_block *b, uint64_t value)
{
	b->used = (uint32_t)(leb_put(b->bytes + b->used, value) - b->bytes);
}

static uint64_t get(const struct ring_block *b, uint32_t *at)
{
	uint64_t value = 0;
	unsigned shift = 0;

	for (;; shift += 7) {
		uint8_t byte = b->bytes[(*at)++];

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return value;
	}
}

static void pack_lock(struct ring_block *b, const struct sink_lock *l)
{
	put(b, l->kind);
	put(b, l->class_name);
	put(b, l->identity);
	put(b, l->duration);
	put(b, l->told << 2 | (uint64_t)l->again << 1 | l->open);
	put(b, (uint64_t)l->owner_tid);
	put(b, l->owner_context);
	put(b, l->owner_thread);
	put(b, l->owner_name);
	put(b, l->owner_node);
}

static void unpack_lock(const struct ring_block *b, uint32_t *at, struct sink_lock *l)
{
	l->kind = (uint8_t)get(b, at);
	l->class_name = (uint32_t)get(b, at);
	l->identity = get(b, at);
	l->duration = get(b, at);
	l->told = get(b, at);
	l->open = l->told & 1;
	l->again = l->told >> 1 & 1;
	l->told >>= 2;
	l->owner_tid = (int32_t)get(b, at);
	l->owner_context = get(b, at);
	l->owner_thread = (uint32_t)get(b, at);
	l->owner_name = (uint32_t)get(b, at);
	l->owner_node = (uint32_t)get(b, at);
}

static void pack_fields(struct ring_block *b, const struct sink_fields *f)
{
	unsigned i;

	put(b, f->class_name);
	for (i = 0; i < EVENT_FIELDS_MAX; i++)
		put(b, f->values[i]);
}

static void unpack_fields(const struct ring_block *b, uint32_t *at, struct sink_fields *f)
{
	unsigned i;

	f->class_name = (uint32_t)get(b, at);
	for (i = 0; i < EVENT_FIELDS_MAX; i++)
		f->values[i] = get(b, at);
}

static void pack_trace_context(struct ring_block *b, const struct trace_context *r)
{
	put(b, r->trace_high);
	put(b, r->trace_low);
	put(b, r->span);
	put(b, r->labels);
}

static void unpack_trace_context(const struct ring_block *b, uint32_t *at, struct trace_context *r)
{
	r->trace_high = get(b, at);
	r->trace_low = get(b, at);
	r->span = get(b, at);
	r->labels = get(b, at);
}

void ring_pack(struct ring_block *b, const struct sink_event *e, uint64_t before)
{
	int64_t step = (int64_t)(e->time - before);
	bool has_trace_context = !trace_context_is_none(&e->trace_context);
	bool more = e->samples != 1 || e->span || e->vthread || e->lock || e->fields || has_trace_context;

	put(b, step < 0 ? (uint64_t)-step << 1 | 1 : (uint64_t)step << 1);
	put(b, (uint64_t)e->event << 9 | (uint64_t)e->state << 1 | more);
	put(b, e->node);
	put(b, e->thread);
	put(b, e->weight);
	if (more) {
		put(b, e->samples);
		put(b, e->span);
		put(b, e->vthread);
		put(b, (uint64_t)(e->fields != NULL) << 2 | (uint64_t)has_trace_context << 1 | (e->lock != NULL));
	}
	if (e->lock)
		pack_lock(b, e->lock);
	if (e->fields)
		pack_fields(b, e->fields);
	if (has_trace_context)
		pack_trace_context(b, &e->trace_context);
	b->count++;
}

void ring_unpack(const struct ring_block *b, uint32_t *at, uint64_t before, struct sink_event *e,
		 struct ring_more *more)
{
	uint64_t step = get(b, at), what, parts = 0;

	memset(e, 0, sizeof(*e));
	e->time = before + (step & 1 ? (uint64_t)-(int64_t)(step >> 1) : step >> 1);
	what = get(b, at);
	e->event = (uint32_t)(what >> 9);
	e->state = (uint8_t)(what >> 1);
	e->node = (uint32_t)get(b, at);
	e->thread = (uint32_t)get(b, at);
	e->weight = get(b, at);
	e->samples = 1;
	if (what & 1) {
		e->samples = get(b, at);
		e->span = get(b, at);
		e->vthread = get(b, at);
		parts = get(b, at);
		e->lock = parts & 1 ? &more->lock : NULL;
		e->fields = parts & 4 ? &more->fields : NULL;
	}
	if (e->lock)
		unpack_lock(b, at, &more->lock);
	if (e->fields)
		unpack_fields(b, at, &more->fields);
	if (parts & 2)
		unpack_trace_context(b, at, &e->trace_context);
}
