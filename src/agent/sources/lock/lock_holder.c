#include "agent/sources/lock/lock_holder.h"

#include "common/base/hash.h"
#include "common/os/os.h"

#define EVERY (10 * NS_PER_MS)
#define EVERY_OF_LOCK (500 * NS_PER_MS)
#define LOCKS 64u /* by hash */

static bool is_due(_Atomic uint64_t *next, uint64_t now, uint64_t every)
{
	uint64_t due = atomic_load_explicit(next, memory_order_relaxed);

	return now >= due && atomic_compare_exchange_strong(next, &due, now + every);
}

/*
 * How long a wait will be is not known when it begins. A lock that many want for moments would take all looks, so that
 * one that is held rarely, and for long, had none: each has some of its own.
 */
static bool is_time(const struct wait_begin *b)
{
	static _Atomic uint64_t next, next_of[LOCKS];
	uint64_t lock = ((uint64_t)b->class << 32 | b->identity) ^ (uint64_t)b->address ^ b->kind, now = os_monotonic();

	return is_due(&next_of[hash_mix(lock) % LOCKS], now, EVERY_OF_LOCK) || is_due(&next, now, EVERY);
}

void waits_holder_look(struct thread_record *r, uint32_t event, const struct wait_begin *b, struct holder_stack *h)
{
	struct thread_record *holder;

	kept_stack_set(&h->trace, NULL);
	h->number = 0;
	if ((!b->owner_id && !b->owner_tid) || !is_time(b))
		return;
	holder = waits_owner_record(b);
	if (!holder || holder == r || holder->own || !zone_hold(holder, event))
		return;
	kept_stack_set(&h->trace, wait_look(holder, r, event, &h->epoch));
	if (!kept_stack_get(&h->trace)) {
		h->number = wait_ask(holder);
		if (os_signal_thread(atomic_load(&holder->tid), zone.signo, zone_tick_word(holder, event)))
			h->number = 0;
	}
	zone_let_go(event);
}

void waits_holder_end(struct holder_stack *h)
{
	if (!kept_stack_get(&h->trace) && h->number)
		kept_stack_set(&h->trace, wait_answered(h->number, &h->epoch));
}
