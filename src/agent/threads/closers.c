#include "agent/threads/closers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/threads/own_thread.h"
#include "common/base/vector.h"
#include "common/os/os.h"

struct closer {
	pthread_t thread;
	bool started;     /* and not joined yet */
	atomic_bool done;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* the list */
static VECTOR(int) waiting;
static _Atomic unsigned closed;
static struct closer closers[CLOSERS]; /* of the thread that calls closers_keep and closers_end: one at a time */

void closers_take(int fd)
{
	int *slot;

	pthread_mutex_lock(&lock);
	slot = VECTOR_PUSH(&waiting);
	if (slot)
		*slot = fd;
	pthread_mutex_unlock(&lock);
	if (slot)
		return;
	close(fd);
	atomic_fetch_add(&closed, 1);
}

unsigned closers_done(void)
{
	return atomic_exchange(&closed, 0);
}

/* The last that was put on the list, -1 = there is none. */
static int take(void)
{
	int fd = -1;

	pthread_mutex_lock(&lock);
	if (waiting.count)
		fd = waiting.items[--waiting.count];
	pthread_mutex_unlock(&lock);
	return fd;
}

static void close_all(void)
{
	int fd;

	while ((fd = take()) >= 0) {
		close(fd);
		atomic_fetch_add(&closed, 1);
	}
}

static void *run(void *arg)
{
	struct closer *c = arg;

	own_thread_begin("jstrobe close");
	close_all();
	own_thread_end();
	atomic_store(&c->done, true);
	return NULL;
}

static void join(struct closer *c)
{
	own_thread_join(c->thread, OWN_THREAD_PATIENCE);
	c->started = false;
}

void closers_keep(void)
{
	struct error ignored;
	size_t count, i;

	pthread_mutex_lock(&lock);
	count = waiting.count;
	pthread_mutex_unlock(&lock);
	for (i = 0; i < CLOSERS; i++) {
		struct closer *c = &closers[i];

		if (c->started && atomic_load(&c->done))
			join(c);
		/* one for each few that wait */
		if (c->started || count <= i * CLOSERS)
			continue;
		atomic_store(&c->done, false);
		c->started = own_thread_start(&c->thread, run, c, "closer", &ignored) == 0;
	}
}

void closers_end(void)
{
	size_t i;

	closers_keep();
	close_all();
	for (i = 0; i < CLOSERS; i++)
		if (closers[i].started)
			join(&closers[i]);
	pthread_mutex_lock(&lock);
	free(waiting.items);
	memset(&waiting, 0, sizeof(waiting));
	pthread_mutex_unlock(&lock);
	atomic_store(&closed, 0);
}
