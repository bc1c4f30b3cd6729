#include "agent/threads/thread_counter.h"

#include <pthread.h>
#include <stdbool.h>

#include "agent/sample/handler.h"
#include "agent/zone/sample_counter.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key; /* its value's end is the thread's */
static bool has_key;

static void release(void *counter)
{
	sample_counter_release(counter);
}

static void make_key(void)
{
	has_key = pthread_key_create(&key, release) == 0;
}

volatile uint64_t *thread_counter(void)
{
	uintptr_t tcb = handler_thread_pointer();
	struct sample_counter *c = sample_counter_of(tcb);

	pthread_once(&once, make_key);
	if (!c && has_key) {
		c = sample_counter_claim(tcb);
		if (c && pthread_setspecific(key, c)) {
			sample_counter_release(c);
			c = NULL;
		}
	}
	return c ? (volatile uint64_t *)&c->count : NULL;
}
