#include "agent/zone/stack_store.h"

#include <string.h>

#include "common/base/wide.h"

#define HEADER_WORDS (sizeof(struct stack_trace) / sizeof(uint64_t))
#define FIRST_CHUNK 1024 /* most of ten thousand threads have one stack or two */
#define LAST_CHUNK (16 * 1024)
#define PROBES 8
#define ADDRESS_MASK 0xffffffffffffull

/* Take BYTES from the arena; 0 when it is used up. */
static uintptr_t take(struct stack_arena *s, size_t bytes)
{
	size_t at = atomic_fetch_add_explicit(&s->used, bytes, memory_order_relaxed);

	if (at + bytes > atomic_load_explicit(&s->writable, memory_order_acquire)) {
		/* Do not let the counter run away and wrap. */
		atomic_fetch_sub_explicit(&s->used, bytes, memory_order_relaxed);
		return 0;
	}
	return s->base + at;
}

bool stack_chunk_take(struct stack_arena *a, struct stack_chunk *c, size_t bytes)
{
	uintptr_t at = take(a, bytes);

	if (!at)
		return false;
	c->pos = (uint64_t *)at;
	c->end = (uint64_t *)(at + bytes);
	c->taken++;
	return true;
}

static bool new_chunk(struct stack_arena *s, struct stack_chunk *c, size_t words)
{
	size_t bytes = MIN((size_t)FIRST_CHUNK << 2 * MIN(c->taken, 2u), (size_t)LAST_CHUNK);

	while (bytes < (words + HEADER_WORDS) * sizeof(uint64_t))
		bytes *= 2;
	return stack_chunk_take(s, c, bytes);
}

bool stack_trace_begin(struct stack_trace_writer *w, struct stack_store *s, struct stack_chunk *c, uint32_t depth)
{
	return stack_trace_begin_in(w, s, atomic_load_explicit(&s->generation, memory_order_acquire), c, depth);
}

bool stack_trace_begin_in(struct stack_trace_writer *w, struct stack_store *s, uint32_t generation,
			  struct stack_chunk *c,
		    uint32_t depth)
{
	size_t room;

	w->arena = &s->arena[generation & 1];
	w->chunk = c;
	if (unlikely(c->generation != generation)) {
		c->pos = c->end = NULL;
		c->generation = generation;
	}
	w->full = w->store_full = w->unsure = false;
	if ((!c->pos || c->pos + HEADER_WORDS + 32 > c->end) && !new_chunk(w->arena, c, 0)) {
		w->full = w->store_full = true;
		return false;
	}
	w->trace = (struct stack_trace *)c->pos;
	w->pos = w->trace->frame;
	room = (size_t)(c->end - w->pos);
	w->limit = w->pos + MIN(room, (size_t)depth);
	w->depth_left = depth - (uint32_t)MIN(room, (size_t)depth);
	return true;
}

bool stack_trace_grow(struct stack_trace_writer *w)
{
	size_t have = (size_t)(w->pos - w->trace->frame);
	struct stack_trace *old = w->trace;
	size_t more;

	if (w->full || w->depth_left == 0) {
		w->full = true;
		return false;
	}
	/* The rest of the old chunk is given up; a deep stack needs a run of its own. */
	if (!new_chunk(w->arena, w->chunk, have * 2)) {
		w->full = w->store_full = true;
		return false;
	}
	w->trace = (struct stack_trace *)w->chunk->pos;
	memcpy(w->trace->frame, old->frame, have * sizeof(uint64_t));
	w->pos = w->trace->frame + have;
	more = MIN((size_t)(w->chunk->end - w->pos), (size_t)w->depth_left);
	w->limit = w->pos + more;
	w->depth_left -= (uint32_t)more;
	return true;
}

/* Four lanes that do not wait for each other. */
static uint32_t hash_frames(const uint64_t *frame, uint32_t n)
{
	const uint64_t k0 = 0xa0761d6478bd642full, k1 = 0xe7037ed1a0b428dbull;
	uint64_t a = 0x9e3779b97f4a7c15ull ^ n, b = k0, c = k1, d = 0x8ebc6af09c88c6e3ull;
	uint32_t i;

	for (i = 0; i + 8 <= n; i += 8) {
		a = wide_fold(frame[i] ^ a, frame[i + 1] ^ k0);
		b = wide_fold(frame[i + 2] ^ b, frame[i + 3] ^ k1);
		c = wide_fold(frame[i + 4] ^ c, frame[i + 5] ^ k0);
		d = wide_fold(frame[i + 6] ^ d, frame[i + 7] ^ k1);
	}
	for (; i < n; i++)
		a = wide_fold(frame[i] ^ a, k1);
	a = wide_fold(a ^ c, b ^ d ^ k0);
	return (uint32_t)(a ^ a >> 32);
}

static bool equal(const struct stack_trace *a, const struct stack_trace *b)
{
	return a->hash == b->hash && a->length == b->length &&
	       memcmp(a->frame, b->frame, a->length * sizeof(uint64_t)) == 0;
}

static uint64_t slot_value(const struct stack_trace *t)
{
	return (uint64_t)(t->hash & 0xffff) << 48 | ((uintptr_t)t & ADDRESS_MASK);
}

/* Our trace is kept: the chunk's free part starts behind it. */
static const struct stack_trace *keep(struct stack_trace_writer *w)
{
	w->chunk->pos = w->trace->frame + w->trace->length;
	return w->trace;
}

const struct stack_trace *stack_trace_end(struct stack_trace_writer *w)
{
	struct stack_index *x = atomic_load_explicit(&w->arena->index, memory_order_acquire);
	struct stack_trace *t = w->trace;
	uint32_t i, at;
	uint64_t mine;

	t->length = (uint32_t)(w->pos - t->frame);
	t->hash = hash_frames(t->frame, t->length);
	atomic_store_explicit(&t->id, 0, memory_order_relaxed);
	t->generation = 0;
	mine = slot_value(t);
	at = t->hash >> 8;
	for (i = 0; i < PROBES; i++, at++) {
		_Atomic uint64_t *slot = &x->slot[at & x->mask];
		uint64_t found = atomic_load_explicit(slot, memory_order_acquire);

		if (found == 0 &&
		    atomic_compare_exchange_strong_explicit(slot, &found, mine, memory_order_acq_rel,
							    memory_order_acquire)) {
			atomic_fetch_add_explicit(&x->used, 1, memory_order_relaxed);
			return keep(w);
		}
		/* Either it was taken, or another thread won: FOUND holds what stands there now. */
		if (found >> 48 == mine >> 48) {
			const struct stack_trace *other = (const struct stack_trace *)(uintptr_t)(found & ADDRESS_MASK);

			if (equal(other, t))
				return other;
		}
	}
	return keep(w);
}

const struct stack_trace *stack_trace_end_as(struct stack_trace_writer *w, const struct stack_trace *t)
{
	uint32_t i;

	for (i = 0; i < t->length; i++)
		if (!stack_trace_put(w, t->frame[i]))
			return NULL;
	return stack_trace_end(w);
}

const struct stack_trace *stack_trace_find(const struct stack_arena *a, const struct stack_trace *t)
{
	struct stack_index *x = atomic_load_explicit(&((struct stack_arena *)a)->index, memory_order_acquire);
	uint64_t mine = slot_value(t);
	uint32_t i, at = t->hash >> 8;

	for (i = 0; i < PROBES; i++, at++) {
		uint64_t found = atomic_load_explicit(&x->slot[at & x->mask], memory_order_acquire);
		const struct stack_trace *other = (const struct stack_trace *)(uintptr_t)(found & ADDRESS_MASK);

		if (found && found >> 48 == mine >> 48 && equal(other, t))
			return other;
	}
	return NULL;
}
