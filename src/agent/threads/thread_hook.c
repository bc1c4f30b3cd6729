/*
 * thread_hook.c - new threads are met at their first instruction, and at their end.
 *
 * pthread_create is replaced in the GOT of all images by a function that lets the new
 * thread register itself and then jumps to its own start routine (no frame of ours stays
 * on its stack). The end is told by a thread-specific key's destructor, which also runs
 * for pthread_exit. The key is made once and kept: given back, its number could become a key
 * of the program while a new thread is about to store under it.
 */
#include "agent/threads/thread_hook.h"

#include <pthread.h>
#include <stdlib.h>

#include "agent/hooks/copies.h"
#include "agent/hooks/got.h"
#include "agent/hooks/libc_calls.h"
#include "agent/sample/handler.h"
#include "agent/threads/records.h"
#include "agent/zone/zone.h"
#include "common/os/os.h"

struct start {
	void *(*routine)(void *);
	void *arg;
	uint64_t after; /* the thread begins after this moment */
};

#define LIMIT_MS 5000 /* a copy changes slots for some milliseconds */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool active;
static pthread_key_t key;
static bool has_key;
static bool unfinished; /* an image was still being loaded when we came by */

/* A child of fork() has our hooks, but they are none of its business: it is not profiled. */
static bool hooks(void)
{
	return atomic_load(&active) && !zone_in_child();
}

/* The value may be of an earlier session and its record another thread's by now: the tid tells. */
static void on_end(void *value)
{
	struct thread_record *r = hooks() ? records_by_tid(os_gettid()) : NULL;

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
	if (hooks())
		register_thread(s.after);
	return s.routine(s.arg);
}

/* Whom we pass calls on to: the next copy before us that hooks as well, else libc. Never a slot of ours. */
static pthread_create_fn *next(void)
{
	struct copy *c;
	uint32_t i;

	for (i = 0; (c = copies_earlier(i)) != NULL; i++)
		if (atomic_load_explicit(&c->hooks, memory_order_acquire))
			return atomic_load(&c->create);
	return libc_pthread_create();
}

/* Slots may hold it for ever, where another tool has remembered it: then it passes on. */
static int create(pthread_t *thread, const pthread_attr_t *attr, void *(*routine)(void *), void *arg)
{
	struct start *s = hooks() ? malloc(sizeof(*s)) : NULL;
	int rc;

	if (!s)
		return next()(thread, attr, routine, arg);
	s->routine = routine;
	s->arg = arg;
	s->after = os_monotonic();
	rc = next()(thread, attr, begin, s);
	if (rc)
		free(s);
	return rc;
}

/*
 * Ours goes before libc's, and before what earlier copies have put there. Later copies' stay: they pass on to us.
 * Lock held. LIMIT_MS: how long another copy that changes slots is waited for.
 */
static void patch(int limit_ms)
{
	void *olds[COPIES_MAX + 1] = {(void *)libc_pthread_create()};
	size_t count = 1;
	struct copy *c;
	uint32_t i;

	unfinished = true;
	if (!copies_lock(limit_ms))
		return;
	for (i = 0; (c = copies_earlier(i)) != NULL; i++) {
		olds[count] = (void *)atomic_load(&c->create);
		count += olds[count] != NULL;
	}
	atomic_store(&jstrobe_copy.create, create);
	atomic_store(&jstrobe_copy.hooks, 1);
	unfinished = !got_patch("pthread_create", olds, count, (void *)create);
	copies_unlock();
}

void thread_hook_install(void)
{
	pthread_mutex_lock(&lock);
	if (!has_key)
		has_key = pthread_key_create(&key, on_end) == 0;
	if (has_key) {
		atomic_store(&active, true);
		patch(LIMIT_MS);
	}
	pthread_mutex_unlock(&lock);
}

void thread_hook_refresh(void)
{
	pthread_mutex_lock(&lock);
	if (atomic_load(&active))
		patch(0);
	pthread_mutex_unlock(&lock);
}

void thread_hook_retry(void)
{
	pthread_mutex_lock(&lock);
	if (atomic_load(&active) && unfinished)
		patch(0);
	pthread_mutex_unlock(&lock);
}

/* What stays when another copy does not let us, passes calls on and is put back after the next session. */
void thread_hook_remove(void)
{
	pthread_mutex_lock(&lock);
	if (atomic_exchange(&active, false) && copies_lock(LIMIT_MS)) {
		atomic_store(&jstrobe_copy.hooks, 0);
		got_restore("pthread_create", (void *)create, (void *)next());
		copies_unlock();
	}
	pthread_mutex_unlock(&lock);
}

void thread_hook_watch(struct thread_record *r)
{
	if (r && hooks() && (pthread_getspecific(key) || pthread_setspecific(key, &key) == 0))
		atomic_store(&r->end_told, true);
}
