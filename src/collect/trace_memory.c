/*
 * trace_memory.c - the normal-code half of the trace store: reserving,
 * populating ahead, growing the index, giving back.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "signal/trace.h"

#define AHEAD (256 * 1024)
#define FIRST_SLOTS 8192u

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

static void *map(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	/* A huge page for the first word of a range would be paid for in a handler. */
	madvise(p, bytes, MADV_NOHUGEPAGE);
	return p;
}

static size_t index_bytes(uint32_t slots)
{
	return sizeof(struct trace_index) + slots * sizeof(uint64_t);
}

static struct trace_index *new_index(uint32_t slots)
{
	struct trace_index *x = map(index_bytes(slots));

	if (x)
		x->mask = slots - 1;
	return x;
}

int trace_store_open(struct trace_store *s, size_t size, struct error *err)
{
	void *arena = map(size);
	struct trace_index *x = new_index(FIRST_SLOTS);

	memset(s, 0, sizeof(*s));
	if (!arena || !x) {
		if (arena)
			munmap(arena, size);
		return error_set(err, ENOMEM, "cannot reserve %zu MB of address space for stacks: %s; "
				 "raise the limit of virtual memory (ulimit -v)",
				 size >> 20, strerror(errno));
	}
	s->base = (uintptr_t)arena;
	s->size = size;
	atomic_store(&s->index, x);
	trace_store_prepare(s);
	return 0;
}

void trace_store_close(struct trace_store *s)
{
	struct trace_index *x = atomic_load(&s->index);

	trace_store_reclaim(s);
	if (x)
		munmap(x, index_bytes(x->mask + 1));
	if (s->base)
		munmap((void *)s->base, s->size);
	memset(s, 0, sizeof(*s));
}

void trace_store_populate(struct trace_store *s)
{
	size_t ready = atomic_load(&s->ready);
	size_t wanted = (MIN(atomic_load(&s->used) + AHEAD, s->size) + 4095) & ~(size_t)4095;

	if (wanted <= ready)
		return;
	/* Older kernels refuse the advice: handlers then take the page faults themselves. */
	madvise((void *)(s->base + ready), wanted - ready, MADV_POPULATE_WRITE);
	atomic_store(&s->ready, wanted);
}

/* Twice the slots; traces that do not find room within the probes stay unshared. */
static void grow_index(struct trace_store *s)
{
	struct trace_index *old = atomic_load(&s->index);
	struct trace_index *x = new_index((old->mask + 1) * 2);
	uint32_t i, j;

	if (!x)
		return;
	for (i = 0; i <= old->mask; i++) {
		uint64_t value = atomic_load(&old->slot[i]);
		const struct trace *t = (const struct trace *)(uintptr_t)(value & 0xffffffffffffull);

		for (j = 0; value && j < 8; j++) {
			_Atomic uint64_t *slot = &x->slot[((t->hash >> 8) + j) & x->mask];

			if (atomic_load(slot) == 0) {
				atomic_store(slot, value);
				atomic_fetch_add(&x->used, 1);
				break;
			}
		}
	}
	s->retired = old;
	atomic_store_explicit(&s->index, x, memory_order_release);
}

void trace_store_prepare(struct trace_store *s)
{
	struct trace_index *x = atomic_load(&s->index);

	trace_store_populate(s);
	/* A trace that finds no slot is stored anew with each sample: fuller than this, 1 in 100 would. */
	if (!s->retired && atomic_load(&x->used) > x->mask / 4)
		grow_index(s);
}

void trace_store_reclaim(struct trace_store *s)
{
	if (s->retired)
		munmap(s->retired, index_bytes(s->retired->mask + 1));
	s->retired = NULL;
}

size_t trace_store_bytes(const struct trace_store *s)
{
	struct trace_index *x = atomic_load(&((struct trace_store *)s)->index);

	return atomic_load(&((struct trace_store *)s)->used) + index_bytes(x->mask + 1);
}
