/*
 * mappings.c - the native methods of truth.NativeMaps: mappings whose bytes are known, each function's own. Each returns
 * 0, or the number of what went wrong.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <jni.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MB (1024 * 1024l)
#define METHOD(name) JNIEXPORT jint JNICALL Java_truth_NativeMaps_##name(JNIEnv *env, jclass type)
#define SHOWN __attribute__((noinline, visibility("default")))
#define PLAIN (MAP_PRIVATE | MAP_ANONYMOUS)
#define RW (PROT_READ | PROT_WRITE)

static void pace(int n)
{
	struct timespec rest = {0, 1000000};

	if (n % 2 == 1)
		nanosleep(&rest, NULL); /* queues are emptied meanwhile */
}

/* Not a jump: the function that calls is on the stack. */
#define RETURN(value)                        \
	do {                                 \
		void *volatile got = (value); \
		return got;                  \
	} while (0)

SHOWN void *maps_keep(size_t bytes)
{
	RETURN(mmap(NULL, bytes, RW, PLAIN, -1, 0));
}

SHOWN void *maps_churn(size_t bytes)
{
	RETURN(mmap(NULL, bytes, RW, PLAIN, -1, 0));
}

SHOWN void *maps_partial(size_t bytes)
{
	RETURN(mmap(NULL, bytes, RW, PLAIN, -1, 0));
}

SHOWN void *maps_under(size_t bytes)
{
	RETURN(mmap(NULL, bytes, RW, PLAIN, -1, 0));
}

SHOWN void *maps_over(void *at, size_t bytes)
{
	RETURN(mmap(at, bytes, RW, PLAIN | MAP_FIXED, -1, 0));
}

SHOWN void *maps_reserve(void *at, size_t bytes)
{
	RETURN(mmap(at, bytes, PROT_NONE, PLAIN | MAP_NORESERVE | (at ? MAP_FIXED : 0), -1, 0));
}

SHOWN void *maps_commit(void *at, size_t bytes)
{
	RETURN(mmap(at, bytes, RW, PLAIN | MAP_FIXED, -1, 0));
}

SHOWN void *maps_small(size_t bytes)
{
	RETURN(mmap(NULL, bytes, RW, PLAIN, -1, 0));
}

SHOWN void *maps_resized(void *at, size_t from, size_t to)
{
	RETURN(mremap(at, from, to, MREMAP_MAYMOVE));
}

SHOWN void *maps_moved(void *at, size_t bytes, void *to)
{
	RETURN(mremap(at, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, to));
}

SHOWN void *maps_file(int fd, size_t bytes)
{
	RETURN(mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0));
}

SHOWN void *maps_break(intptr_t by)
{
	RETURN(sbrk(by));
}

SHOWN void *maps_failing(size_t bytes)
{
	RETURN(mmap(NULL, bytes, RW, PLAIN, -1, 0));
}

METHOD(keep)
{
	int i;

	for (i = 0; i < 64; i++, pace(i))
		if (maps_keep(MB / 4) == MAP_FAILED)
			return 1;
	for (i = 0; i < 400; i++, pace(i)) {
		void *p = maps_churn(MB / 4 + 1); /* a page more */

		if (p == MAP_FAILED || munmap(p, MB / 4 + 1))
			return 2;
	}
	return 0;
}

METHOD(parts)
{
	char *p = maps_partial(16 * MB), *q;

	/* its begin, its middle, its end, and more than there is */
	if (munmap(p, MB) || munmap(p + 8 * MB, 2 * MB) || munmap(p + 15 * MB, MB) || munmap(p + 8 * MB, 2 * MB))
		return 1;
	/* over the middle of one, and over parts of two at once */
	p = maps_under(8 * MB);
	if (maps_over(p + 2 * MB, MB) != p + 2 * MB)
		return 2;
	q = maps_under(4 * MB);
	if (q == p - 4 * MB && maps_over(p - MB, 2 * MB) != p - MB)
		return 3;
	if (q != p - 4 * MB && (maps_over(p, MB) != p || maps_over(q + 3 * MB, MB) != q + 3 * MB))
		return 4;
	return 0;
}

METHOD(reserve)
{
	char *p = maps_reserve(NULL, 1024 * MB);

	if (p == MAP_FAILED || maps_commit(p, 3 * MB) != p || maps_reserve(p + MB, MB) != p + MB)
		return 1;
	/* committed once more, as it is */
	return maps_commit(p, MB) != p;
}

METHOD(resize)
{
	char *p = maps_small(MB), *q, *to;

	p = maps_resized(p, MB, 5 * MB);
	q = maps_resized(maps_small(4 * MB), 4 * MB, MB);
	to = maps_reserve(NULL, 8 * MB);
	if (p == MAP_FAILED || q == MAP_FAILED || to == MAP_FAILED)
		return 1;
	return maps_moved(maps_small(2 * MB), 2 * MB, to + 2 * MB) != to + 2 * MB;
}

METHOD(failing)
{
	char *p = maps_keep(MB);

	errno = 0;
	if (munmap(p + 1, MB) == 0 || errno != EINVAL)
		return 1;
	errno = 0;
	if (munmap(p, 0) == 0 || errno != EINVAL)
		return 2;
	errno = 0;
	if (munmap(p, SIZE_MAX & ~4095ul) == 0 || errno != EINVAL)
		return 3;
	errno = 0;
	if (maps_failing(0) != MAP_FAILED || errno != EINVAL)
		return 4;
	errno = 0;
	if (maps_failing(SIZE_MAX / 4) != MAP_FAILED || errno != ENOMEM)
		return 5;
	errno = 0;
	if (maps_resized(p, MB, SIZE_MAX / 4) != MAP_FAILED || (errno != ENOMEM && errno != EINVAL))
		return 6;
	errno = EDOM;
	if (maps_keep(MB) == MAP_FAILED || errno != EDOM)
		return 7;
	errno = EDOM;
	return munmap(p, MB) || errno != EDOM ? 8 : 0;
}

METHOD(other)
{
	char name[] = "/tmp/mappingsXXXXXX";
	int fd = mkstemp(name);
	void *p;

	if (fd < 0 || unlink(name) || ftruncate(fd, 3 * MB))
		return 1;
	p = maps_file(fd, 3 * MB);
	close(fd);
	if (p == MAP_FAILED)
		return 2;
	p = sbrk(0);
	if (p != (void *)-1 && maps_break(0) != (void *)-1) {
		uintptr_t odd = (uintptr_t)p % 4096;

		/* the break of the process: libc's own malloc is at it as well, so only what can be known is told */
		if (odd && sbrk((intptr_t)(4096 - odd)) == (void *)-1)
			return 0;
	}
	return 0;
}

/* ---- mappings that change hands: who puts one into a slot unmaps the one that was there ---- */

#define SLOTS 64
#define CROSSED (64 * 1024ul)

static void *_Atomic slots[SLOTS];

SHOWN void *maps_crossed(void)
{
	RETURN(mmap(NULL, CROSSED, RW, PLAIN, -1, 0));
}

static void *cross(void *arg)
{
	unsigned seed = (unsigned)(uintptr_t)arg;
	int i;

	for (i = 0; i < 3000; i++, pace(i)) {
		void *p = maps_crossed(), *q;

		if (p == MAP_FAILED)
			return (void *)1;
		q = atomic_exchange(&slots[rand_r(&seed) % SLOTS], p);
		if (q && munmap(q, CROSSED))
			return (void *)1;
	}
	return NULL;
}

/* Also a thread that ends within a handler which maps, and one that maps in a handler while it maps. */
static sigjmp_buf away;
static _Atomic int in_handler;

SHOWN void maps_in_handler(int signo)
{
	void *p = mmap(NULL, 4096, RW, PLAIN, -1, 0);

	if (p != MAP_FAILED)
		munmap(p, 4096);
	atomic_fetch_add(&in_handler, 1);
}

static void leave(int signo)
{
	siglongjmp(away, 1);
}

static void *storm(void *arg)
{
	atomic_int *stop = arg;

	while (!atomic_load(stop)) {
		void *p = mmap(NULL, 8192, RW, PLAIN, -1, 0);

		if (p != MAP_FAILED)
			munmap(p, 8192);
	}
	return NULL;
}

METHOD(crossed)
{
	pthread_t threads[4];
	void *failed = NULL, *one;
	int i, n = 0;

	for (i = 0; i < 4; i++)
		if (pthread_create(&threads[i], NULL, cross, (void *)(uintptr_t)(i + 1)))
			return 1;
	for (i = 0; i < 4; i++) {
		pthread_join(threads[i], &one);
		failed = failed ? failed : one;
	}
	for (i = 0; i < SLOTS; i++)
		n += slots[i] != NULL;
	return failed ? 2 : n != SLOTS ? 3 : 0;
}

METHOD(handlers)
{
	struct sigaction action = {.sa_handler = maps_in_handler}, before, left = {.sa_handler = leave}, former;
	atomic_int stop = 0;
	pthread_t thread;
	int i, status;
	pid_t child;

	if (sigaction(SIGUSR2, &action, &before) || pthread_create(&thread, NULL, storm, &stop))
		return 1;
	for (i = 0; i < 300; i++, pace(i))
		pthread_kill(thread, SIGUSR2);
	atomic_store(&stop, 1);
	pthread_join(thread, NULL);
	if (sigaction(SIGUSR2, &left, &former))
		return 2;
	if (sigsetjmp(away, 1) == 0) {
		raise(SIGUSR2);
		return 3;
	}
	sigaction(SIGUSR2, &before, NULL);
	child = fork();
	if (child == 0) {
		for (i = 0; i < 100; i++) {
			void *p = mmap(NULL, 4096, RW, PLAIN, -1, 0);

			if (p == MAP_FAILED || munmap(p, 4096))
				_exit(1);
		}
		_exit(0);
	}
	return child < 0 || waitpid(child, &status, 0) != child || status ? 4 : 0;
}
