/*
 * hostile.c - preloaded into a JVM: what libjstrobe.so gives back cannot be touched any more, ever.
 *
 * Blocks that it allocates lie on pages of their own; freed, these become inaccessible and are not used again. So do
 * its mappings. Blocks that are too small for that are filled with a pattern when it frees them.
 *
 * The file that JSTROBE_TEST_HOSTILE names holds three 8-byte numbers that both sides map: where libjstrobe.so lies,
 * from and to, and how many blocks and mappings were given back (counted here).
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SPACE (1ull << 38) /* of addresses, for blocks */
#define LEAST 512          /* smaller ones stay with libc: there are too many of them */
#define PAGE 4096ull
#define BACK __builtin_return_address(0)

void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);
void __libc_free(void *p);

static struct shared {
	_Atomic uint64_t from, to, gone;
} *shared;
static uintptr_t space;
static _Atomic uint64_t used;

__attribute__((constructor)) static void open_shared(void)
{
	const char *path = getenv("JSTROBE_TEST_HOSTILE");
	int fd = path ? (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC) : -1;
	void *p = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	void *s = mmap(NULL, SPACE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (fd >= 0)
		close(fd);
	if (s != MAP_FAILED)
		space = (uintptr_t)s;
	if (p != MAP_FAILED && s != MAP_FAILED)
		shared = p;
}

static bool is_its(void *back)
{
	return shared && (uint64_t)back >= shared->from && (uint64_t)back < shared->to;
}

/* A block has its size in the word before it. */
static void *take(size_t n)
{
	uint64_t bytes = (n + 16 + PAGE - 1) & ~(PAGE - 1), at = atomic_fetch_add(&used, bytes + PAGE);
	char *p = (char *)space + at;

	if (at + bytes > SPACE || mprotect(p, bytes, PROT_READ | PROT_WRITE))
		return NULL;
	*(uint64_t *)p = bytes;
	return p + 16;
}

static bool is_block(void *p)
{
	return space && (uintptr_t)p >= space && (uintptr_t)p < space + SPACE;
}

/* Pages without memory that must not be touched. */
static void forbid(void *p, size_t bytes)
{
	atomic_fetch_add(&shared->gone, 1);
	mmap(p, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

void *malloc(size_t n)
{
	void *p = n >= LEAST && is_its(BACK) ? take(n) : NULL;

	return p ? p : __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
	void *p = n && size && n * size / size == n && n * size >= LEAST && is_its(BACK) ? take(n * size) : NULL;

	return p ? p : __libc_calloc(n, size);
}

void free(void *p)
{
	if (is_block(p)) {
		uint64_t *block = (uint64_t *)((char *)p - 16);

		forbid(block, *block);
		return;
	}
	if (p && is_its(BACK))
		memset(p, 0xa5, malloc_usable_size(p));
	__libc_free(p);
}

void *realloc(void *p, size_t n)
{
	bool its = is_its(BACK);
	void *fresh;
	size_t old;

	if (!is_block(p) && !(its && !p && n >= LEAST))
		return __libc_realloc(p, n);
	fresh = its && n >= LEAST ? take(n) : __libc_malloc(n);
	if (!fresh || !p)
		return fresh;
	old = *(uint64_t *)((char *)p - 16) - 16;
	memcpy(fresh, p, old < n ? old : n);
	free(p);
	return fresh;
}

int munmap(void *p, size_t bytes)
{
	if (!is_its(BACK))
		return (int)syscall(SYS_munmap, p, bytes);
	forbid(p, (bytes + PAGE - 1) & ~(PAGE - 1));
	return 0;
}
