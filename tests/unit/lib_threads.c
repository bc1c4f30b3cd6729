/* A library of a program: it starts threads, as far as jstrobe is concerned, on its own. */
#include <pthread.h>
#include <stddef.h>

#include "lib_threads.h"

#define EXPORT __attribute__((visibility("default")))

EXPORT int threads_start(pthread_t *thread, void *(*routine)(void *), void *arg)
{
	return pthread_create(thread, NULL, routine, arg);
}

/* A weak reference that no library defines: asking for it must go on giving NULL. */
extern void jstrobe_test_undefined(void) __attribute__((weak));

EXPORT void *threads_undefined(void)
{
	return (void *)jstrobe_test_undefined;
}
