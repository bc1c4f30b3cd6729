#include "agent/collect/names/method_epochs.h"

void era_look(struct eras *e)
{
	uint64_t sum = era_chances(e), others = era_others(e);
	uint64_t moves = atomic_load_explicit(&e->moves, memory_order_relaxed);

	if (!era_is_seen_late(e) || (moves && sum == atomic_load_explicit(&e->seen, memory_order_relaxed) &&
				     others == e->marks[moves % ERA_MARKS].others))
		return;
	atomic_store_explicit(&e->seen, sum, memory_order_relaxed);
	atomic_store_explicit(&e->moves, ++moves, memory_order_release);
	e->marks[moves % ERA_MARKS] = (struct era_mark){era_now(e), others};
}

/*
 * By the newest mark that is not younger than ERA: no class was loaded, unloaded or redefined since ERA, or none was
 * unloaded or redefined since the mark and no safepoint went on.
 */
static bool lasts_since(const struct eras *e, uint64_t era)
{
	uint64_t newest = atomic_load_explicit(&e->moves, memory_order_acquire), moves;
	const struct era_mark *m;

	for (moves = newest; moves && newest - moves < ERA_MARKS; moves--) {
		m = &e->marks[moves % ERA_MARKS];
		if (m->era > era)
			continue;
		return era - moves == era_now(e) - newest ||
		       (moves == newest && m->others == era_others(e) &&
			era_chances(e) == atomic_load_explicit(&e->seen, memory_order_relaxed));
	}
	return false;
}

bool era_is_still(const struct eras *e, uint64_t era)
{
	return era_is_seen_late(e) ? lasts_since(e, era) : era_now(e) == era;
}

bool era_is_one(const struct eras *e, uint64_t era)
{
	return !era_is_seen_late(e) || lasts_since(e, era);
}
