/*
 * tree_owner.c - whose a context is: a table of all contexts that have an owner, by thread ids.
 *
 * A slot is the head of a chain: contexts whose owners' ids have the same low bits. Contexts never become anything
 * else while a session lasts, and a key is its owner's alone; so a thread that finds its own key in a chain has found
 * his context, though others change the chain meanwhile, and only who finds nothing has to look again with the
 * lock. No thread looks for another one's.
 */
#include "agent/tracing/tree_state.h"

#define STRIPES 64u

static pthread_mutex_t stripes[STRIPES] = {[0 ... STRIPES - 1] = PTHREAD_MUTEX_INITIALIZER}; /* of slots' chains */

static pthread_mutex_t *stripe_of(uint64_t id)
{
	return &stripes[id & (STRIPES - 1)];
}

static bool is_of(const struct tree_context *c, uint64_t id)
{
	return (__atomic_load_n(&c->key, __ATOMIC_RELAXED) & ~TREE_DUE) == id + 1;
}

static uint64_t walk(uint64_t id)
{
	uint64_t at = __atomic_load_n(tree_slot(id), __ATOMIC_ACQUIRE);

	while (at && !is_of(tree_at(at), id))
		at = __atomic_load_n(&tree_at(at)->chain, __ATOMIC_ACQUIRE);
	return at;
}

uint64_t tree_owned(uint64_t id)
{
	uint64_t at = walk(id);

	/* one that was on its way to another chain may have led away from ours */
	if (!at && __atomic_load_n(tree_slot(id), __ATOMIC_RELAXED)) {
		pthread_mutex_lock(stripe_of(id));
		at = walk(id);
		pthread_mutex_unlock(stripe_of(id));
	}
	return at;
}

void tree_put_owned(uint64_t context, uint64_t id)
{
	uint64_t *slot = tree_slot(id);

	pthread_mutex_lock(stripe_of(id));
	__atomic_store_n(&tree_at(context)->chain, *slot, __ATOMIC_RELAXED);
	__atomic_store_n(slot, context, __ATOMIC_RELEASE);
	pthread_mutex_unlock(stripe_of(id));
}

void tree_take_owned(uint64_t context)
{
	struct tree_context *c = tree_at(context);
	uint64_t id = (c->key & ~TREE_DUE) - 1, *link = tree_slot(id);

	pthread_mutex_lock(stripe_of(id));
	while (*link && *link != context)
		link = &tree_at(*link)->chain;
	if (*link)
		__atomic_store_n(link, c->chain, __ATOMIC_RELEASE);
	/* a tick may mark the key at the same moment, but not one without an owner */
	__atomic_store_n(&c->key, 0, __ATOMIC_SEQ_CST);
	pthread_mutex_unlock(stripe_of(id));
}
