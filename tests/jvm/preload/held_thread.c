/*
 * held_thread.c - preloaded into a JVM: a thread named JSTROBE_TEST_HELD that waits for a condition is held there, as
 * by a debugger, while the FIFO JSTROBE_TEST_FIFO is there: until it has been opened for writing.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

typedef int wait_fn(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);

static void hold(pthread_mutex_t *mutex, const char *fifo)
{
	int fd;

	pthread_mutex_unlock(mutex);
	fd = open(fifo, O_RDONLY | O_CLOEXEC); /* waits for who writes, and uses no CPU time meanwhile */
	if (fd >= 0)
		close(fd);
	pthread_mutex_lock(mutex);
}

int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until)
{
	static wait_fn *theirs;
	const char *held = getenv("JSTROBE_TEST_HELD"), *fifo = getenv("JSTROBE_TEST_FIFO");
	char name[16] = "";

	if (!theirs)
		theirs = (wait_fn *)dlvsym(RTLD_NEXT, "pthread_cond_timedwait", "GLIBC_2.3.2");
	if (!theirs)
		theirs = (wait_fn *)dlsym(RTLD_NEXT, "pthread_cond_timedwait");
	prctl(PR_GET_NAME, name);
	if (held && fifo && strcmp(name, held) == 0 && access(fifo, F_OK) == 0)
		hold(mutex, fifo);
	return theirs(condition, mutex, until);
}
