#include "agent/zone/window.h"

void window_open(struct window *w, uint64_t now)
{
	uint64_t shut = 0;

	atomic_compare_exchange_strong(&w->since, &shut, now);
}

static void note(struct window *w, uint64_t number, uint64_t since, uint64_t took, uint32_t thread)
{
	struct window_note *n = &w->notes[number % WINDOW_NOTES];

	atomic_store(&n->number, 0);
	atomic_store(&n->since, since);
	atomic_store(&n->took, took);
	atomic_store(&n->thread, thread);
	atomic_store(&n->number, number);
}

bool window_noted(const struct window *w, uint64_t number, struct window_note *to)
{
	struct window_note *n = (struct window_note *)&w->notes[number % WINDOW_NOTES];

	if (atomic_load(&n->number) != number)
		return false;
	atomic_store(&to->since, atomic_load(&n->since));
	atomic_store(&to->took, atomic_load(&n->took));
	atomic_store(&to->thread, atomic_load(&n->thread));
	return atomic_load(&n->number) == number;
}

void window_shut(struct window *w, uint64_t now, uint32_t thread)
{
	uint64_t since = atomic_exchange(&w->since, 0), longest, took;
	int tries;

	if (!since)
		return;
	took = now > since ? now - since : 0;
	note(w, atomic_fetch_add_explicit(&w->count, 1, memory_order_relaxed) + 1, since, took, thread);
	atomic_fetch_add_explicit(&w->total, took, memory_order_relaxed);
	longest = atomic_load_explicit(&w->longest, memory_order_relaxed);
	for (tries = 0; tries < 8 && took > longest; tries++)
		if (atomic_compare_exchange_weak(&w->longest, &longest, took))
			return;
}
