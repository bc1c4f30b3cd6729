#include "agent/sources/lock/lock_holder.h"

#include "common/os/os.h"

#define EVERY (10 * NS_PER_MS)

static bool is_time(void)
{
	static _Atomic uint64_t next;
	uint64_t now = os_monotonic(), due = atomic_load_explicit(&next, memory_order_relaxed);

	return now >= due && atomic_compare_exchange_strong(&next, &due, now + EVERY);
}

/* Keep HOLDER from ending while it is looked at; one thread at a time. */
static bool hold(struct thread_record *holder, uint32_t event)
{
	uint32_t expected = 0;

	if (!atomic_compare_exchange_strong(&zone.held[event], &expected, holder->index + 1))
		return false;
	if (atomic_load(&holder->state) == RECORD_LIVE && atomic_load(&holder->java_thread))
		return true;
	atomic_store(&zone.held[event], 0);
	return false;
}

void waits_holder_look(struct thread_record *r, uint32_t event, const struct wait_begin *b, struct holder_stack *h)
{
	struct thread_record *holder;

	kept_stack_set(&h->trace, NULL);
	h->number = 0;
	if ((!b->owner_id && !b->owner_tid) || !is_time())
		return;
	holder = waits_owner_record(b);
	if (!holder || holder == r || holder->own || !hold(holder, event))
		return;
	kept_stack_set(&h->trace, wait_look(holder, r, event, &h->epoch));
	if (!kept_stack_get(&h->trace)) {
		h->number = wait_ask(holder);
		if (os_signal_thread(atomic_load(&holder->tid), zone.signo, zone_tick_word(holder, event)))
			h->number = 0;
	}
	atomic_store_explicit(&zone.held[event], 0, memory_order_release);
}

void waits_holder_end(struct holder_stack *h)
{
	if (!kept_stack_get(&h->trace) && h->number)
		kept_stack_set(&h->trace, wait_answered(h->number, &h->epoch));
}
