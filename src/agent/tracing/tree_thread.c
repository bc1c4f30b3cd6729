/*
 * tree_thread.c - which thread writes where: contexts by thread ids.
 *
 * A thread that ends leaves its tree behind under its name; from KEPT_ENDED on, or when a quarter of the memory is
 * used, the contexts of ended threads are given to new ones, which then share a tree. Virtual threads share some
 * from the start: each has one only as long as it is inside an instrumented method. So there are never many more
 * contexts than threads at the same time, however many come and go.
 */
#include <stdlib.h>
#include <string.h>

#include "agent/tracing/tree_state.h"
#include "common/base/vector.h"
#include "common/os/os.h"

#define KEPT_ENDED 256u /* contexts of ended threads that stay theirs */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* what follows */
static VECTOR(struct tree_thread) threads;
static uint64_t free_virtual, free_ended; /* contexts without owner, chained */
static uint32_t ended;

void tree_forget_threads(void)
{
	uint32_t i;

	for (i = 0; i < threads.count; i++)
		tree_at(threads.items[i].context)->key = 0;
	free(threads.items);
	memset(&threads, 0, sizeof(threads));
	ended = 0;
	free_virtual = free_ended = 0;
}

/* A fresh context with its root; lock held. */
static uint64_t new_context(bool is_virtual)
{
	bool room = VECTOR_RESERVE(&threads, threads.count + 1);
	uint64_t at = room ? tree_take(sizeof(struct tree_context)) : 0;
	struct tree_context *c = tree_at(at);

	if (!at)
		return 0;
	c->root = tree_make_root(c, at, is_virtual);
	if (!c->root)
		return 0;
	c->is_virtual = is_virtual;
	if (is_virtual)
		tree_share_carriers();
	c->current = c->root;
	c->thread = (uint32_t)threads.count;
	threads.items[threads.count++] = (struct tree_thread){.is_virtual = is_virtual, .context = at};
	return at;
}

static uint64_t pop_free(uint64_t *list)
{
	uint64_t at = *list;

	if (at)
		*list = tree_at(at)->next_free;
	return at;
}

/* Context C, whichever thread had it, is thread ID's now. */
static void hand_over(struct tree_context *c, uint64_t id)
{
	uint64_t tick = __atomic_load_n(&tree_board()->tick_time, __ATOMIC_RELAXED);

	c->current = c->root;
	c->follow = 0;
	c->seen = tree_ticks();
	c->last_cpu = os_thread_cpu(0);
	tree_stamp_cpu(c->last_cpu);
	c->last = c->stamped = os_monotonic(); /* the system call may have cost the CPU: see charge */
	/* the next tick stands for a whole period, also for who came within it; but not for more, should it be late */
	c->ticked = MAX(tick, c->last - MIN(c->last, 2 * tree_state.setup.period));
	c->tid = (uint64_t)os_gettid();
	tree_own(c, id);
	tree_put_owned((uintptr_t)c - tree_base, id);
}

/* Whether threads that have ended keep their trees to themselves; not those that came when memory had become scarce. */
static bool keeps_ended(void)
{
	return ended <= KEPT_ENDED && tree_bytes() < tree_state.setup.limit / 4;
}

/* Lock held. */
static uint64_t assign(uint64_t id, bool is_virtual, const char *name)
{
	uint64_t at = is_virtual ? pop_free(&free_virtual) : keeps_ended() ? 0 : pop_free(&free_ended);
	struct tree_thread *t;

	if (at && !is_virtual)
		ended--;
	if (!at)
		at = new_context(is_virtual);
	if (!at)
		return 0;
	t = &threads.items[tree_at(at)->thread];
	t->id = t->threads++ == 0 && !is_virtual ? id : 0;
	name = is_virtual ? "virtual threads" : t->threads > 1 ? "several threads" : name;
	strncpy(t->name, name, sizeof(t->name) - 1);
	hand_over(tree_at(at), id);
	return at;
}

uint64_t tree_find(uint64_t id)
{
	uint64_t at;

	pthread_rwlock_rdlock(&tree_state.life);
	at = tree_state.running && id ? tree_owned(id) : 0;
	pthread_rwlock_unlock(&tree_state.life);
	return at;
}

uint64_t tree_context(uint64_t id, bool is_virtual, const char *name)
{
	uint64_t at = 0;

	pthread_rwlock_rdlock(&tree_state.life);
	/* A thread that is just being attached has no number yet. */
	if (tree_state.running && id) {
		at = tree_owned(id);
		if (!at) {
			pthread_mutex_lock(&lock);
			at = assign(id, is_virtual, name);
			pthread_mutex_unlock(&lock);
		}
	}
	pthread_rwlock_unlock(&tree_state.life);
	return at;
}

uint64_t tree_unstamped_cpu(const struct tree_context *c, uint64_t cpu)
{
	uint64_t last_cpu = __atomic_load_n(&c->last_cpu, __ATOMIC_ACQUIRE);
	uint64_t stamped = __atomic_load_n(&c->stamped, __ATOMIC_ACQUIRE);
	uint64_t last = __atomic_load_n(&c->last, __ATOMIC_ACQUIRE);

	return cpu > last_cpu && last > stamped ? MIN(cpu - last_cpu, last - stamped) : 0;
}

/* Who ends between two ticks has run as well. */
static void last_cpu(struct tree_context *c)
{
	if (c->last > c->stamped && c->tid == (uint64_t)os_gettid())
		c->used_cpu += tree_unstamped_cpu(c, os_thread_cpu(0));
}

void tree_thread_end(uint64_t id)
{
	uint64_t at;

	pthread_rwlock_rdlock(&tree_state.life);
	at = tree_state.running ? tree_owned(id) : 0;
	if (at) {
		last_cpu(tree_at(at));
		tree_take_owned(at);
		pthread_mutex_lock(&lock);
		tree_at(at)->next_free = free_ended;
		free_ended = at;
		ended++;
		pthread_mutex_unlock(&lock);
	}
	pthread_rwlock_unlock(&tree_state.life);
}

void tree_release_virtual(uint64_t context)
{
	if (!tree_at(context)->key)
		return;
	tree_take_owned(context);
	pthread_mutex_lock(&lock);
	tree_at(context)->next_free = free_virtual;
	free_virtual = context;
	pthread_mutex_unlock(&lock);
}

uint32_t tree_threads(void)
{
	uint32_t count;

	pthread_mutex_lock(&lock);
	count = (uint32_t)threads.count;
	pthread_mutex_unlock(&lock);
	return count;
}

void tree_thread(uint32_t number, struct tree_thread *t)
{
	pthread_mutex_lock(&lock);
	*t = threads.items[number];
	pthread_mutex_unlock(&lock);
}

void tree_lengths(uint32_t id, uint64_t *sum, uint64_t *calls)
{
	uint32_t i;

	*sum = *calls = 0;
	pthread_mutex_lock(&lock);
	for (i = 0; i < threads.count; i++) {
		const struct tree_context *c = tree_at(threads.items[i].context);
		uint64_t at = tree_node(c->root)->first;

		*calls += c->timed_all;
		while (at && tree_node(at)->id != id)
			at = tree_node(at)->next;
		*sum += at ? tree_node(at)->wall : 0;
	}
	pthread_mutex_unlock(&lock);
}

void tree_forget_timed(void)
{
	uint32_t i;

	pthread_mutex_lock(&lock);
	for (i = 0; i < threads.count; i++)
		tree_at(threads.items[i].context)->timed_all = 0;
	pthread_mutex_unlock(&lock);
}
