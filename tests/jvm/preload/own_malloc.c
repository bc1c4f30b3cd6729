/*
 * own_malloc.c - an allocator of its own before libc's: each block has a mark in front of it, and what is freed without
 * one ends the process.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *p);

#define EXPORT __attribute__((visibility("default")))
#define MARK 0x6f776e206d616c6cull

struct front {
	uint64_t mark;
	size_t size;
	void *whole;
	uint64_t unused;
};

static void *made(size_t alignment, size_t size)
{
	size_t before = alignment > sizeof(struct front) ? alignment : sizeof(struct front);
	char *whole = size > SIZE_MAX / 2 ? NULL : __libc_memalign(before, size + before);
	struct front *f = whole ? (struct front *)(void *)(whole + before) - 1 : NULL;

	if (!f) {
		errno = ENOMEM;
		return NULL;
	}
	*f = (struct front){MARK, size, whole, 0};
	return f + 1;
}

static struct front *front(void *p)
{
	static const char text[] = "own_malloc: a block of another allocator\n";
	struct front *f = (struct front *)p - 1;

	if (f->mark != MARK && write(2, text, sizeof(text) - 1))
		_exit(99);
	return f;
}

EXPORT void free(void *p)
{
	struct front *f = p ? front(p) : NULL;

	if (f) {
		f->mark = 0;
		__libc_free(f->whole);
	}
}

EXPORT void *malloc(size_t size)
{
	return made(sizeof(struct front), size);
}

EXPORT void *calloc(size_t n, size_t size)
{
	void *p = size && n > SIZE_MAX / size ? NULL : malloc(n * size);

	return p ? memset(p, 0, n * size) : NULL;
}

EXPORT void *realloc(void *p, size_t size)
{
	void *q = malloc(size);

	if (q && p) {
		memcpy(q, p, size < front(p)->size ? size : front(p)->size);
		free(p);
	}
	return q;
}

EXPORT int posix_memalign(void **p, size_t alignment, size_t size)
{
	void *q = made(alignment, size);

	if (q)
		*p = q;
	return q ? 0 : ENOMEM;
}

EXPORT void *memalign(size_t alignment, size_t size)
{
	return made(alignment, size);
}

EXPORT void *aligned_alloc(size_t alignment, size_t size)
{
	return made(alignment, size);
}

EXPORT void *valloc(size_t size)
{
	return made(4096, size);
}

EXPORT void *pvalloc(size_t size)
{
	return made(4096, (size + 4095) & ~(size_t)4095);
}

EXPORT size_t malloc_usable_size(void *p)
{
	return p ? front(p)->size : 0;
}
