#include "cli/live/top_window.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/hash.h"

/* What is looked for, and where. */
struct wanted {
	const struct top_window *window;
	const void *item;
};

typedef bool is_same_fn(uint32_t number, const void *wanted);

/* The place in MAP of what is the same as WANTED; only with ROOM, which may take memory, one that is made: 0. */
static uint32_t *place(struct map *map, uint64_t hash, is_same_fn *is_same, const struct wanted *wanted, bool room)
{
	uint32_t *slot;

	if (room)
		return map_intern(map, hash, is_same, wanted);
	do
		slot = map_get(map, hash++);
	while (slot && *slot && !is_same(*slot, wanted));
	return slot;
}

/* An item of LIST that is the same as WANTED, made of it if need be; NULL: no memory, or there are MOST of them. */
#define PLACE(w, map, list, hash, is_same, wanted_item, most)                                                \
	({                                                                                                   \
		struct wanted wanted_ = {w, wanted_item};                                                    \
		uint32_t *slot_ = place(&(w)->map, hash_mix(hash), is_same, &wanted_, (w)->list.count < (most)); \
		if (slot_ && !*slot_ && VECTOR_PUSH(&(w)->list)) {                                           \
			(w)->list.items[(w)->list.count - 1] = *(wanted_item);                               \
			*slot_ = (uint32_t)(w)->list.count;                                                  \
		}                                                                                            \
		slot_ && *slot_ ? &(w)->list.items[*slot_ - 1] : NULL;                                       \
	})

/* ---- threads ---- */

static bool is_same_thread(uint32_t number, const void *wanted)
{
	const struct wanted *want = wanted;
	const struct top_thread *a = &want->window->threads.items[number - 1], *b = want->item;

	return a->tid == b->tid && (b->tid || a->java_id == b->java_id);
}

struct top_thread *top_window_thread(struct top_window *w, uint64_t tid, uint64_t java_id, uint32_t name)
{
	struct top_thread thread = {.name = name, .tid = (int32_t)tid, .java_id = java_id}, *to;

	to = PLACE(w, by_thread, threads, seed() ^ (tid ? tid : java_id | 1ull << 63), is_same_thread, &thread,
		   TOP_MOST);
	if (to && name)
		to->name = name;
	return to;
}

/* ---- locks ---- */

static bool is_same_lock(uint32_t number, const void *wanted)
{
	const struct wanted *want = wanted;
	const struct top_lock *a = &want->window->locks.items[number - 1], *b = want->item;

	return a->class == b->class && a->kind == b->kind && a->id == b->id && a->event == b->event;
}

static bool is_same_holder(uint32_t number, const void *wanted)
{
	const struct wanted *want = wanted;
	const struct top_holder *a = &want->window->holders.items[number - 1], *b = want->item;

	return a->owner == b->owner && a->stack == b->stack && a->lock == b->lock;
}

static void add_wait(struct top_window *w, const struct top_sample *s)
{
	struct top_lock lock = {.class = s->class, .kind = s->lock, .id = s->id, .event = s->event}, *to;
	struct top_holder holder = {.owner = s->owner, .stack = (uint32_t)s->owner_stack}, *by;

	to = PLACE(w, by_lock, locks, seed() ^ hash_mix(s->id) ^ (uint64_t)s->class << 8 ^ s->lock, is_same_lock, &lock,
		   TOP_MOST_LOCKS);
	if (!to)
		return;
	to->waits += !s->open;
	to->time += s->value;
	to->longest = MAX(to->longest, s->duration);
	to->open += s->open;
	to->owner = s->owner ? s->owner : to->owner;
	if (!s->owner)
		return;
	holder.lock = (uint32_t)(to - w->locks.items);
	by = PLACE(w, by_holder, holders, seed() ^ hash_mix((uint64_t)holder.owner << 32 | holder.stack) ^ holder.lock,
		   is_same_holder, &holder, TOP_MOST_LOCKS);
	if (by) {
		by->waits += !s->open;
		by->time += s->value;
	}
}

/* ---- cells ---- */

static bool is_same_cell(uint32_t number, const void *wanted)
{
	const struct wanted *want = wanted;
	const struct top_cell *a = &want->window->cells.items[number - 1], *b = want->item;

	return a->stack == b->stack && a->thread == b->thread && a->class == b->class && a->event == b->event &&
	       a->state == b->state;
}

static struct top_cell *cell_at(struct top_window *w, const struct top_cell *cell, size_t most)
{
	uint64_t hash = seed() ^ hash_mix((uint64_t)cell->stack << 32 | cell->thread);

	return PLACE(w, by_cell, cells, hash ^ ((uint64_t)cell->class << 16 | (uint64_t)cell->event << 8 | cell->state),
		     is_same_cell, cell, most);
}

void top_window_add(struct top_window *w, const struct top_sample *s)
{
	struct top_thread *thread = top_window_thread(w, s->tid, s->java_id, s->thread);
	struct top_cell cell = {(uint32_t)s->stack, thread ? (uint32_t)(thread - w->threads.items) : TOP_NO_THREAD,
				s->class, s->event, s->state, 0, 0}, *to;

	w->began = w->began ? MIN(w->began, s->time) : s->time;
	w->now = MAX(w->now, s->time);
	w->samples[s->event] += s->samples;
	w->weight[s->event] += s->value;
	if (thread && s->cpu)
		thread->cpu += s->value;
	if (thread && s->wall)
		thread->wall[s->state] += s->value;
	if (s->wait)
		add_wait(w, s);
	to = cell_at(w, &cell, TOP_MOST - TOP_EVENTS);
	if (!to) {
		cell = (struct top_cell){.thread = TOP_NO_THREAD, .event = s->event};
		to = cell_at(w, &cell, TOP_MOST);
	}
	if (to) {
		to->samples += s->samples;
		to->weight += s->value;
	}
}

/* ---- all ---- */

void top_window_clear(struct top_window *w)
{
	w->cells.count = w->threads.count = w->locks.count = w->holders.count = 0;
	map_clear(&w->by_cell);
	map_clear(&w->by_thread);
	map_clear(&w->by_lock);
	map_clear(&w->by_holder);
	w->began = w->now = w->span = 0;
	memset(w->samples, 0, sizeof(w->samples));
	memset(w->weight, 0, sizeof(w->weight));
}

size_t top_window_bytes(const struct top_window *w)
{
	return w->cells.capacity * sizeof(*w->cells.items) + w->threads.capacity * sizeof(*w->threads.items) +
	       w->locks.capacity * sizeof(*w->locks.items) + w->holders.capacity * sizeof(*w->holders.items) +
	       map_bytes(&w->by_cell) + map_bytes(&w->by_thread) + map_bytes(&w->by_lock) + map_bytes(&w->by_holder);
}

void top_window_free(struct top_window *w)
{
	map_free(&w->by_cell);
	map_free(&w->by_thread);
	map_free(&w->by_lock);
	map_free(&w->by_holder);
	free(w->cells.items);
	free(w->threads.items);
	free(w->locks.items);
	free(w->holders.items);
	memset(w, 0, sizeof(*w));
}
