/*
 * failing_allocations.h - the program's allocations, one of which can be made to fail. For one file of a test program:
 * it defines malloc, calloc and realloc.
 *
 * AddressSanitizer brings its own allocator, which these would cut off: OWN_ALLOCATOR is 0 then, and nothing fails.
 */
#ifndef FAILING_ALLOCATIONS_H
#define FAILING_ALLOCATIONS_H

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#ifdef __SANITIZE_ADDRESS__
#define OWN_ALLOCATOR 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define OWN_ALLOCATOR 0
#endif
#endif
#ifndef OWN_ALLOCATOR
#define OWN_ALLOCATOR 1
#endif

static unsigned fail_at; /* 1: the next allocation fails; 0: none */
static unsigned allocations;

#if OWN_ALLOCATOR
static bool fails(void)
{
	allocations++;
	if (!fail_at || --fail_at)
		return false;
	errno = ENOMEM;
	return true;
}

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);

void *malloc(size_t size)
{
	return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	return fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
	return fails() ? NULL : __libc_realloc(old, size);
}
#endif

#endif
