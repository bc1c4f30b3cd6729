/*
 * stack_store_memory.c - the normal-code half of the stack store: reserving,
 * populating ahead, growing the index, giving back.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "agent/zone/stack_store.h"
#include "common/os/os.h"

#define AHEAD (256 * 1024)
#define WRITABLE_AHEAD (32u << 20) /* made writable in one step: more than handlers can use between two */
#define FIRST_SLOTS 8192u

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

static size_t index_bytes(uint32_t slots)
{
	return sizeof(struct stack_index) + slots * sizeof(uint64_t);
}

static struct stack_index *new_index(uint32_t slots)
{
	struct stack_index *x = os_reserve(index_bytes(slots));

	if (!x)
		return NULL;
	if (os_make_writable(x, index_bytes(slots))) {
		os_unreserve(x, index_bytes(slots));
		return NULL;
	}
	x->mask = slots - 1;
	return x;
}

/* Handlers may write up to `writable`; the rest is reserved. */
static bool make_writable(struct stack_arena *s)
{
	size_t writable = atomic_load(&s->writable), used = MIN(atomic_load(&s->used), s->size);
	size_t wanted = MIN(used + WRITABLE_AHEAD, s->size);

	if (writable == s->size || writable > used + WRITABLE_AHEAD / 2)
		return true;
	wanted = MIN((wanted + 4095) & ~(size_t)4095, s->size);
	if (os_make_writable((void *)s->base, wanted))
		return false; /* samples are lost as `store_full` when it comes to that */
	atomic_store_explicit(&s->writable, wanted, memory_order_release);
	return true;
}

static struct stack_arena *present(struct stack_store *s)
{
	return &s->arena[atomic_load(&s->generation) & 1];
}

static void drop_index(struct stack_index *x)
{
	if (x)
		os_unreserve(x, index_bytes(x->mask + 1));
}

static void close_arena(struct stack_arena *a)
{
	drop_index(atomic_load(&a->index));
	if (a->base)
		os_unreserve((void *)a->base, a->size);
	memset(a, 0, sizeof(*a));
}

/* Keep memory populated ahead of the handlers. */
static void populate(struct stack_arena *a)
{
	size_t ready = atomic_load(&a->ready);
	size_t wanted = (MIN(atomic_load(&a->used) + AHEAD, a->size) + 4095) & ~(size_t)4095;

	make_writable(a);
	wanted = MIN(wanted, atomic_load(&a->writable));
	if (wanted <= ready)
		return;
	/* Older kernels refuse the advice: handlers then take the page faults themselves. */
	madvise((void *)(a->base + ready), wanted - ready, MADV_POPULATE_WRITE);
	atomic_store(&a->ready, wanted);
}

/* SIZE bytes of address space, and what of it the first handlers need. False with errno. */
static bool open_arena(struct stack_arena *a, size_t size)
{
	struct stack_index *x;

	memset(a, 0, sizeof(*a));
	a->base = (uintptr_t)os_reserve(size);
	a->size = size;
	x = a->base ? new_index(FIRST_SLOTS) : NULL;
	atomic_store(&a->index, x);
	if (!x || !make_writable(a)) {
		close_arena(a);
		return false;
	}
	populate(a);
	return true;
}

int stack_store_open(struct stack_store *s, size_t size, struct error *err)
{
	memset(s, 0, sizeof(*s));
	if (!open_arena(&s->arena[0], size))
		return error_set(err, ENOMEM, "cannot reserve %zu MB of address space for stacks: %s; "
				 "raise the limit of virtual memory (ulimit -v)", size >> 20, error_text(errno));
	s->size = size;
	stack_store_prepare(s);
	return 0;
}

void stack_store_close(struct stack_store *s)
{
	stack_store_reclaim(s);
	close_arena(&s->arena[0]);
	close_arena(&s->arena[1]);
	memset(s, 0, sizeof(*s));
}

/* The number of the newest generation: the present one, or the next one if it is open. */
static uint32_t newest(struct stack_store *s)
{
	uint32_t generation = atomic_load(&s->generation);

	return !s->renewed && s->arena[(generation + 1) & 1].base ? generation + 1 : generation;
}

bool stack_store_open_next(struct stack_store *s)
{
	uint32_t generation = atomic_load(&s->generation);

	if (newest(s) != generation)
		return true;
	return !s->renewed && !s->retired && open_arena(&s->arena[(generation + 1) & 1], s->size);
}

bool stack_store_renew(struct stack_store *s)
{
	if (!stack_store_open_next(s))
		return false;
	atomic_store_explicit(&s->generation, newest(s), memory_order_release);
	s->renewed = true;
	return true;
}

void stack_store_forget(struct stack_store *s)
{
	if (s->renewed)
		close_arena(&s->arena[(atomic_load(&s->generation) + 1) & 1]);
	s->renewed = false;
}

void stack_store_populate(struct stack_store *s)
{
	populate(present(s));
}

/*
 * Twice the slots; traces that do not find room within the probes stay unshared. Returns the former index, NULL when
 * out of memory.
 */
static struct stack_index *grow_index(struct stack_arena *a)
{
	struct stack_index *old = atomic_load(&a->index);
	struct stack_index *x = new_index((old->mask + 1) * 2);
	uint32_t i, j;

	if (!x)
		return NULL;
	for (i = 0; i <= old->mask; i++) {
		uint64_t value = atomic_load(&old->slot[i]);
		const struct stack_trace *t = (const struct stack_trace *)(uintptr_t)(value & 0xffffffffffffull);

		for (j = 0; value && j < 8; j++) {
			_Atomic uint64_t *slot = &x->slot[((t->hash >> 8) + j) & x->mask];

			if (atomic_load(slot) == 0) {
				atomic_store(slot, value);
				atomic_fetch_add(&x->used, 1);
				break;
			}
		}
	}
	atomic_store_explicit(&a->index, x, memory_order_release);
	return old;
}

/* A trace that finds no slot is stored anew with each sample: fuller than this, 1 in 100 would. */
static bool is_crowded(const struct stack_arena *a)
{
	struct stack_index *x = atomic_load(&((struct stack_arena *)a)->index);

	return atomic_load(&x->used) > x->mask / 4;
}

static const struct stack_trace *copy(struct stack_store *s, struct stack_chunk *c, const struct stack_trace *t)
{
	struct stack_trace_writer w;

	return stack_trace_begin_in(&w, s, newest(s), c, t->length) ? stack_trace_end_as(&w, t) : NULL;
}

const struct stack_trace *stack_store_move(struct stack_store *s, struct stack_chunk *c, const struct stack_trace *t)
{
	struct stack_arena *a = &s->arena[newest(s) & 1];
	const struct stack_trace *now;

	if ((uintptr_t)t - a->base < a->size)
		return t;
	now = stack_trace_find(a, t);
	if (!now)
		now = copy(s, c, t);
	if (!now) {
		populate(a); /* there was no memory ahead for so many */
		now = copy(s, c, t);
	}
	if (a != present(s) && is_crowded(a))
		drop_index(grow_index(a)); /* no handler reads it yet */
	return now;
}

void stack_store_reserve(struct stack_store *s, struct stack_chunk *c, size_t bytes)
{
	uint32_t generation = newest(s);

	if (c->generation == generation && (size_t)((char *)c->end - (char *)c->pos) >= bytes)
		return;
	if (stack_chunk_take(&s->arena[generation & 1], c, bytes))
		c->generation = generation;
}

void stack_store_prepare(struct stack_store *s)
{
	stack_store_populate(s);
	if (!s->retired && is_crowded(present(s)))
		s->retired = grow_index(present(s));
}

void stack_store_reclaim(struct stack_store *s)
{
	drop_index(s->retired);
	s->retired = NULL;
}

void stack_store_each(struct stack_store *s, void (*fn)(struct stack_trace *, void *arg), void *arg)
{
	struct stack_index *x = atomic_load(&present(s)->index);
	uint32_t i;

	for (i = 0; i <= x->mask; i++) {
		uint64_t value = atomic_load(&x->slot[i]);

		if (value)
			fn((struct stack_trace *)(uintptr_t)(value & 0xffffffffffffull), arg);
	}
}

size_t stack_store_bytes(const struct stack_store *s)
{
	struct stack_store *store = (struct stack_store *)s;
	size_t i, bytes = 0;

	for (i = 0; i < ARRAY_LEN(store->arena); i++) {
		const struct stack_index *x = atomic_load(&store->arena[i].index);

		bytes += x ? atomic_load(&store->arena[i].used) + index_bytes(x->mask + 1) : 0;
	}
	return bytes;
}
