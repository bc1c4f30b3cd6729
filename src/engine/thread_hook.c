/*
 * thread_hook.c - new threads are met at their first instruction, and at their end.
 *
 * pthread_create is replaced in the GOT of all images by a function that lets the new
 * thread register itself and then jumps to its own start routine (no frame of ours stays
 * on its stack). The end is told by a thread-specific key's destructor, which also runs
 * for pthread_exit. The key is made once and kept: given back, its number could become a key
 * of the program while a new thread is about to store under it.
 */
#include <pthread.h>
#include <stdlib.h>

#include "engine/engine.h"
#include "os/os.h"
#include "signal/handler.h"

struct start {
	void *(*routine)(void *);
	void *arg;
	uint64_t after; /* the thread begins after this moment */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool active;
static pthread_key_t key;
static bool has_key;
static bool unfinished; /* an image was still being loaded when we came by */

/* The value may be of an earlier session and its record somebody else's by now: the tid tells. */
static void on_end(void *value)
{
	struct thread_record *r = atomic_load(&active) ? records_by_tid(os_gettid()) : NULL;

	(void)value;
	if (r)
		records_ending(r);
}

static void register_thread(uint64_t after)
{
	struct thread_record *r = records_begun(os_gettid(), handler_thread_pointer(), after);

	if (r && pthread_setspecific(key, &key) == 0)
		atomic_store(&r->end_told, true);
}

static void *begin(void *p)
{
	struct start s = *(struct start *)p;

	free(p);
	if (atomic_load(&active))
		register_thread(s.after);
	return s.routine(s.arg);
}

static int create(pthread_t *thread, const pthread_attr_t *attr, void *(*routine)(void *), void *arg)
{
	struct start *s = atomic_load(&active) ? malloc(sizeof(*s)) : NULL;
	int rc;

	if (!s)
		return pthread_create(thread, attr, routine, arg);
	s->routine = routine;
	s->arg = arg;
	s->after = os_monotonic();
	rc = pthread_create(thread, attr, begin, s);
	if (rc)
		free(s);
	return rc;
}

/* Lock held. */
static void patch(void)
{
	unfinished = !got_patch("pthread_create", (void *)pthread_create, (void *)create);
}

void thread_hook_install(void)
{
	pthread_mutex_lock(&lock);
	if (!has_key)
		has_key = pthread_key_create(&key, on_end) == 0;
	if (has_key) {
		atomic_store(&active, true);
		patch();
	}
	pthread_mutex_unlock(&lock);
}

void thread_hook_refresh(void)
{
	pthread_mutex_lock(&lock);
	if (atomic_load(&active))
		patch();
	pthread_mutex_unlock(&lock);
}

void thread_hook_retry(void)
{
	pthread_mutex_lock(&lock);
	if (atomic_load(&active) && unfinished)
		patch();
	pthread_mutex_unlock(&lock);
}

void thread_hook_remove(void)
{
	pthread_mutex_lock(&lock);
	if (atomic_exchange(&active, false))
		got_restore("pthread_create", (void *)create, (void *)pthread_create);
	pthread_mutex_unlock(&lock);
}

void thread_hook_watch(struct thread_record *r)
{
	if (r && atomic_load(&active) && (pthread_getspecific(key) || pthread_setspecific(key, &key) == 0))
		atomic_store(&r->end_told, true);
}
