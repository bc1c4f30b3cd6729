#include "agent/sources/nativemem/malloc_hooks.h"

#include <errno.h>

#include "agent/hooks/got.h"
#include "agent/hooks/hooked_calls.h"
#include "agent/sources/nativemem/blocks.h"
#include "agent/zone/zone.h"

/* What ours pass on to; NULL: libc has no such function, and no slot has ours. Set once. */
static struct {
	void *(*malloc)(size_t);
	void *(*calloc)(size_t, size_t);
	void *(*realloc)(void *, size_t);
	void *(*reallocarray)(void *, size_t, size_t);
	void (*free)(void *);
	int (*posix_memalign)(void **, size_t, size_t);
	void *(*aligned_alloc)(size_t, size_t);
	void *(*memalign)(size_t, size_t);
	void *(*valloc)(size_t);
	void *(*pvalloc)(size_t);
} libc;

static malloc_sampled_fn *_Atomic told;

/* ---- what the program calls: most calls pass on, and count down ---- */

static __attribute__((noinline)) void sample(void *address, size_t size, struct draw_stream *s,
					     struct walk_caller from)
{
	malloc_sampled_fn *fn = atomic_load_explicit(&told, memory_order_acquire);
	int saved = errno;

	draw_next(s);
	if (fn && !zone_in_child())
		fn(address, size, s, &from);
	errno = saved;
}

static inline struct draw_stream *stream(void)
{
	return likely(atomic_load_explicit(&draws.on, memory_order_acquire)) ? draw_stream() : NULL;
}

/* A block of SIZE has come to ADDRESS. Inlined: FROM is of the function that the program has called. */
#define ALLOCATED(s, address, size)                                \
	do {                                                       \
		if ((s) && (address) && draw_by((s), (size)))      \
			sample((address), (size), (s), WALK_CALLER); \
	} while (0)

/* CALL of libc, which may go through slots that have ours. */
#define NESTED(s, call)                                             \
	do {                                                        \
		uint64_t total_ = (s) ? draw_begin_nested(s) : 0;   \
		call;                                               \
		if (s)                                              \
			draw_end_nested(s, total_);                 \
	} while (0)

static void *our_malloc(size_t size)
{
	void *p = libc.malloc(size);
	struct draw_stream *s = stream();

	ALLOCATED(s, p, size);
	return p;
}

static void *our_calloc(size_t n, size_t size)
{
	struct draw_stream *s = stream();
	void *p;

	NESTED(s, p = libc.calloc(n, size));
	ALLOCATED(s, p, n * size);
	return p;
}

/* The block that is at P is about to move, or to stay where it is with another size: it is a new one then. */
static _Atomic uint64_t *moving(const void *p)
{
	return p && blocks_may_have((uintptr_t)p) ? blocks_hold((uintptr_t)p) : NULL;
}

static void moved(_Atomic uint64_t *held, bool gone)
{
	if (unlikely(held != NULL))
		blocks_let_go(held, gone);
}

static void *our_realloc(void *p, size_t size)
{
	_Atomic uint64_t *held = moving(p);
	struct draw_stream *s = stream();
	void *q;

	NESTED(s, q = libc.realloc(p, size));
	moved(held, q || !size);
	ALLOCATED(s, q, size);
	return q;
}

static void *our_reallocarray(void *p, size_t n, size_t size)
{
	_Atomic uint64_t *held = moving(p);
	struct draw_stream *s = stream();
	void *q;

	NESTED(s, q = libc.reallocarray(p, n, size));
	moved(held, q || !n || !size);
	ALLOCATED(s, q, n * size);
	return q;
}

static void our_free(void *p)
{
	if (p && blocks_may_have((uintptr_t)p))
		blocks_take_out((uintptr_t)p);
	libc.free(p);
}

static int our_posix_memalign(void **p, size_t alignment, size_t size)
{
	struct draw_stream *s = stream();
	int rc;

	NESTED(s, rc = libc.posix_memalign(p, alignment, size));
	if (rc == 0)
		ALLOCATED(s, *p, size);
	return rc;
}

/* NAME with PARAMETERS, ARGUMENTS of libc's, for a block of `size`. */
#define ALIGNED(name, parameters, arguments)       \
	static void *our_##name parameters         \
	{                                          \
		struct draw_stream *s = stream();  \
		void *p;                           \
                                                   \
		NESTED(s, p = libc.name arguments); \
		ALLOCATED(s, p, size);             \
		return p;                          \
	}
ALIGNED(aligned_alloc, (size_t alignment, size_t size), (alignment, size))
ALIGNED(memalign, (size_t alignment, size_t size), (alignment, size))
ALIGNED(valloc, (size_t size), (size))
ALIGNED(pvalloc, (size_t size), (size))

/* ---- in and out ---- */

static const struct hooked_call functions[] = {
#define FUNCTION(name) {#name, (void *)our_##name, (void **)&libc.name}
	/* free is first: what is freed by an image that has it is forgotten, allocated by any of them */
	FUNCTION(free), FUNCTION(malloc), FUNCTION(calloc), FUNCTION(realloc), FUNCTION(reallocarray),
	FUNCTION(posix_memalign), FUNCTION(aligned_alloc), FUNCTION(memalign), FUNCTION(valloc), FUNCTION(pvalloc),
};

/*
 * Where there is more than one definition (a preloaded allocator, an image with one of its own), a slot that is not
 * bound yet is left alone: a block must go back to where it is from. Bound slots show it.
 */
static bool are_defined_once(void)
{
	return got_definers("malloc") == 1 && got_definers("free") == 1;
}

static struct hooked_calls hooks = {functions, ARRAY_LEN(functions), .lazy = are_defined_once};

void malloc_hooks_refresh(void)
{
	hooked_calls_refresh(&hooks);
}

bool malloc_hooks_install(malloc_sampled_fn *fn)
{
	if (!hooked_calls_install(&hooks))
		return false;
	/* all frees are seen before the first block is remembered */
	atomic_store(&told, fn);
	atomic_store(&draws.on, true);
	return true;
}

void malloc_hooks_remove(void)
{
	atomic_store(&draws.on, false);
	atomic_store(&told, NULL);
	hooked_calls_remove(&hooks);
}
