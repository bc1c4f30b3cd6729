/*
 * method_epochs.c - which eras (agent/zone/method_epoch.h) are still on, as far as the collector can tell.
 *
 * Safepoints are seen afterwards: the collector looks before and after each drain, and begins a new era where one went
 * on. So the last samples of an era may be of the next. All functions are the collector's.
 */
#include "agent/collect/names/method_identity.h"

void method_epoch_look(struct method_epochs *e)
{
	uint64_t sum = method_epoch_chances(e), others = method_epoch_others(e);
	uint64_t moves = atomic_load_explicit(&e->moves, memory_order_relaxed);

	if (!method_epoch_is_seen_late(e) || (moves && sum == atomic_load_explicit(&e->seen, memory_order_relaxed) &&
				     others == e->marks[moves % EPOCH_MARKS].others))
		return;
	atomic_store_explicit(&e->seen, sum, memory_order_relaxed);
	atomic_store_explicit(&e->moves, ++moves, memory_order_release);
	e->marks[moves % EPOCH_MARKS] = (struct method_epoch_move){method_epoch_now(e), others};
}

/*
 * By the newest mark that is not younger than ERA: no class was loaded, unloaded or redefined since ERA, or none was
 * unloaded or redefined since the mark and no safepoint went on.
 */
static bool lasts_since(const struct method_epochs *e, uint64_t epoch)
{
	uint64_t newest = atomic_load_explicit(&e->moves, memory_order_acquire), moves;
	const struct method_epoch_move *m;

	for (moves = newest; moves && newest - moves < EPOCH_MARKS; moves--) {
		m = &e->marks[moves % EPOCH_MARKS];
		if (m->epoch > epoch)
			continue;
		return epoch - moves == method_epoch_now(e) - newest ||
		       (moves == newest && m->others == method_epoch_others(e) &&
			method_epoch_chances(e) == atomic_load_explicit(&e->seen, memory_order_relaxed));
	}
	return false;
}

bool method_epoch_is_current(const struct method_epochs *e, uint64_t epoch)
{
	return method_epoch_is_seen_late(e) ? lasts_since(e, epoch) : method_epoch_now(e) == epoch;
}

bool method_epoch_is_one(const struct method_epochs *e, uint64_t epoch)
{
	return !method_epoch_is_seen_late(e) || lasts_since(e, epoch);
}
