#include "agent/sources/nativemap/map_calls.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/hooks/got.h"
#include "agent/hooks/hooked_calls.h"
#include "agent/zone/zone.h"

/* What ours pass on to; NULL: libc has no such function, and no slot has ours. Set once. */
static struct {
	void *(*mmap)(void *, size_t, int, int, int, off_t);
	void *(*mmap64)(void *, size_t, int, int, int, off64_t);
	int (*munmap)(void *, size_t);
	void *(*mremap)(void *, size_t, size_t, int, ...);
	int (*brk)(void *);
	void *(*sbrk)(intptr_t);
} libc;

static const struct map_told *_Atomic told;
static uint64_t page; /* bytes; set before the first slot is */

static uint64_t up(uint64_t address)
{
	return (address + page - 1) & ~(page - 1);
}

static const struct map_told *listener(void)
{
	const struct map_told *t = atomic_load_explicit(&told, memory_order_acquire);

	return t && !zone_in_child() ? t : NULL;
}

/* ---- what the program calls ---- */

static __attribute__((noinline)) void brought(uint64_t start, uint64_t end, int protection, int flags,
					      struct walk_caller from)
{
	const struct map_told *t = listener();
	int saved = errno;

	if (t && end > start)
		t->brought(&(struct map_call){start, end, protection != PROT_NONE, !(flags & MAP_ANONYMOUS)}, &from);
	errno = saved;
}

/* The kernel takes whole pages, and refuses what does not begin with one. */
static uint64_t going(uint64_t start, uint64_t size)
{
	const struct map_told *t = listener();
	uint64_t end = up(start + size), ticket;
	int saved = errno;

	if (!t || start % page || !size || end <= start)
		return 0;
	ticket = t->going(start, end);
	errno = saved;
	return ticket;
}

static void gone(uint64_t ticket, bool happened)
{
	const struct map_told *t = ticket ? listener() : NULL;
	int saved = errno;

	/* a session that is over waits for no ticket */
	if (t)
		t->gone(ticket, happened);
	errno = saved;
}

/* Inlined: FROM is of the function that the program has called. */
#define BROUGHT(at, size, protection, flags)                                                               \
	do {                                                                                               \
		if ((at) != MAP_FAILED)                                                                    \
			brought((uintptr_t)(at), up((uintptr_t)(at) + (size)), protection, flags, WALK_CALLER); \
	} while (0)

static void *our_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
	void *p = libc.mmap(at, size, protection, flags, fd, offset);

	BROUGHT(p, size, protection, flags);
	return p;
}

static void *our_mmap64(void *at, size_t size, int protection, int flags, int fd, off64_t offset)
{
	void *p = libc.mmap64(at, size, protection, flags, fd, offset);

	BROUGHT(p, size, protection, flags);
	return p;
}

static int our_munmap(void *at, size_t size)
{
	uint64_t ticket = going((uintptr_t)at, size);
	int rc = libc.munmap(at, size);

	gone(ticket, rc == 0);
	return rc;
}

#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

/* What changes its size or moves is new, of who has changed it, as a block that realloc has changed. */
static void *our_mremap(void *at, size_t size, size_t wanted, int flags, void *to)
{
	uint64_t ticket = flags & MREMAP_DONTUNMAP ? 0 : going((uintptr_t)at, size);
	void *p = libc.mremap(at, size, wanted, flags, to);

	gone(ticket, p != MAP_FAILED);
	BROUGHT(p, wanted, PROT_READ, MAP_ANONYMOUS);
	return p;
}

static int our_brk(void *to)
{
	uint64_t before = libc.sbrk ? up((uintptr_t)libc.sbrk(0)) : 0, end = up((uintptr_t)to), ticket = 0;
	int rc;

	if (before && end < before)
		ticket = going(end, before - end);
	rc = libc.brk(to);
	gone(ticket, rc == 0);
	if (rc == 0 && before && end > before)
		brought(before, end, PROT_READ, MAP_ANONYMOUS, WALK_CALLER);
	return rc;
}

static void *our_sbrk(intptr_t by)
{
	uint64_t before = by ? (uintptr_t)libc.sbrk(0) : 0, after = up(before + (uint64_t)by), ticket = 0;
	void *p;

	if (by < 0)
		ticket = going(after, up(before) - after);
	p = libc.sbrk(by);
	gone(ticket, p != MAP_FAILED);
	if (by > 0 && p != MAP_FAILED)
		brought(up((uintptr_t)p), up((uintptr_t)p + (uint64_t)by), PROT_READ, MAP_ANONYMOUS, WALK_CALLER);
	return p;
}

/* ---- in and out ---- */

static const struct hooked_call functions[] = {
#define FUNCTION(name) {#name, (void *)our_##name, (void **)&libc.name}
	/* munmap is first: what goes is seen before what comes is known */
	FUNCTION(munmap), FUNCTION(mremap), FUNCTION(mmap), FUNCTION(mmap64), FUNCTION(brk), FUNCTION(sbrk),
};

/* As with malloc: what an unbound slot will be bound to is known where there is one definition. */
static bool are_defined_once(void)
{
	return got_definers("mmap") == 1 && got_definers("munmap") == 1;
}

static struct hooked_calls hooks = {functions, ARRAY_LEN(functions), .lazy = are_defined_once};

bool map_calls_install(const struct map_told *t)
{
	page = (uint64_t)sysconf(_SC_PAGESIZE);
	atomic_store(&told, t);
	if (hooked_calls_install(&hooks))
		return true;
	atomic_store(&told, NULL);
	return false;
}

void map_calls_refresh(void)
{
	hooked_calls_refresh(&hooks);
}

void map_calls_remove(void)
{
	atomic_store(&told, NULL);
	hooked_calls_remove(&hooks);
}
