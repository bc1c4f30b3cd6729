/*
 * tree_tick.c - how a tick reaches the threads.
 *
 * Contexts whose threads have seen the last tick are `quiet` and stand in a list. A tick empties it and marks each
 * one's key with TREE_DUE; the thread's next entry or exit sees that, stamps, takes the mark away and puts the context
 * back into the list. So a tick costs as much as there are threads that have called something since the last one, and
 * a probe looks at nothing but its own context.
 *
 * A tick also notes the CPU clock of each thread that it marks: the method on top then still is at the stamp, and
 * what the clock went on between the two is its own. (The time from the last stamp to the tick may be another one's.)
 *
 * A context without an owner leaves the list at the next tick; its next owner puts it back.
 */
#include "agent/tracing/tree_state.h"
#include "common/os/os.h"

static uint64_t quiet; /* the first one's place; next_quiet leads on */

static void list(struct tree_context *c)
{
	uint64_t at = (uintptr_t)c - tree_base, head = __atomic_load_n(&quiet, __ATOMIC_RELAXED);

	if (__atomic_exchange_n(&c->listed, 1, __ATOMIC_SEQ_CST))
		return;
	do
		c->next_quiet = head;
	while (!__atomic_compare_exchange_n(&quiet, &head, at, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

void tree_own(struct tree_context *c, uint64_t id)
{
	__atomic_store_n(&c->key, id + 1, __ATOMIC_SEQ_CST);
	list(c);
}

void tree_tick_seen(struct tree_context *c)
{
	uint64_t key = __atomic_load_n(&c->key, __ATOMIC_RELAXED);

	if (!(key & TREE_DUE))
		return;
	__atomic_store_n(&c->key, key & ~TREE_DUE, __ATOMIC_RELAXED);
	list(c);
}

/* C's thread is not to stamp for a tick meanwhile: C is in no list, and not marked yet. */
static void note_cpu(struct tree_context *c, uint64_t until)
{
	uint64_t at, cpu;

	if (c->is_virtual || tree_state.setup.timing == TREE_EXACT_CPU)
		return;
	at = os_monotonic();
	cpu = os_thread_cpu((pid_t)c->tid);
	__atomic_store_n(&c->tick_at, at, __ATOMIC_RELAXED);
	__atomic_store_n(&c->tick_until, until, __ATOMIC_RELAXED);
	/* two moments, if we lost our CPU between */
	__atomic_store_n(&c->tick_cpu, os_monotonic() - at < TREE_HELD_LONG ? cpu : 0, __ATOMIC_RELAXED);
}

/* The next owner of C finds it out of the list: see tree_own. */
static void mark(struct tree_context *c, uint64_t until)
{
	uint64_t key;

	__atomic_store_n(&c->listed, 0, __ATOMIC_SEQ_CST);
	key = __atomic_load_n(&c->key, __ATOMIC_SEQ_CST);
	if (key && !(key & TREE_DUE))
		note_cpu(c, until);
	while (key && !(key & TREE_DUE) &&
	       !__atomic_compare_exchange_n(&c->key, &key, key | TREE_DUE, false, __ATOMIC_SEQ_CST,
					    __ATOMIC_SEQ_CST))
		;
}

void tree_tick_silently(uint64_t until)
{
	__atomic_store_n(&tree_board()->tick_time, until, __ATOMIC_RELAXED);
	__atomic_fetch_add(&tree_board()->tick, 1, __ATOMIC_RELEASE);
}

void tree_tick(uint64_t until)
{
	uint64_t at, next;

	pthread_rwlock_rdlock(&tree_state.life);
	tree_tick_silently(until);
	for (at = __atomic_exchange_n(&quiet, 0, __ATOMIC_ACQUIRE); at; at = next) {
		next = tree_at(at)->next_quiet; /* marked, its thread may list it at once */
		mark(tree_at(at), until);
	}
	pthread_rwlock_unlock(&tree_state.life);
}

uint32_t tree_ticks(void)
{
	return __atomic_load_n(&tree_board()->tick, __ATOMIC_ACQUIRE);
}

void tree_forget_quiet(void)
{
	__atomic_store_n(&quiet, 0, __ATOMIC_RELAXED);
}
