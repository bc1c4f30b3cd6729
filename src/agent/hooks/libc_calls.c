#include "agent/hooks/libc_calls.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

/* No libc that we load with lacks it; should one, a thread that cannot be made is better than a jump to nowhere. */
static int lacking(pthread_t *thread, const pthread_attr_t *attr, void *(*routine)(void *), void *arg)
{
	return EAGAIN;
}

pthread_create_fn *libc_pthread_create(void)
{
	static pthread_create_fn *_Atomic found;
	pthread_create_fn *fn = atomic_load_explicit(&found, memory_order_relaxed);

	if (!fn) {
		fn = (pthread_create_fn *)dlsym(RTLD_DEFAULT, "pthread_create");
		fn = fn ? fn : lacking;
		atomic_store(&found, fn);
	}
	return fn;
}

void libc_at_fork_in_child(void (*fn)(void))
{
	typedef void handler(void);
	int (*glibc)(handler *, handler *, handler *, void *);
	int (*others)(handler *, handler *, handler *);

	glibc = (int (*)(handler *, handler *, handler *, void *))dlsym(RTLD_DEFAULT, "__register_atfork");
	others = (int (*)(handler *, handler *, handler *))dlsym(RTLD_DEFAULT, "pthread_atfork");
	if (glibc)
		glibc(NULL, NULL, fn, NULL);
	else if (others)
		others(NULL, NULL, fn);
}
