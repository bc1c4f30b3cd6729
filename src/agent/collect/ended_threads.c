#include "agent/collect/ended_threads.h"

#include <stdio.h>
#include <string.h>

#include "agent/collect/carry.h"
#include "common/os/os.h"

/* ---- threads of the system ---- */

static void enter(struct ended_threads *e, uint32_t index)
{
	struct ended_thread *t = &e->list.items[index];
	uint32_t *slot = map_put(&e->by_tid, (uint64_t)t->tid, NULL);

	t->before = slot ? *slot : 0;
	if (slot)
		*slot = index + 1;
	slot = t->java_id ? map_put(&e->by_java, t->java_id, NULL) : NULL;
	if (slot)
		*slot = index + 1;
}

static bool push(struct ended_threads *e, const struct ended_thread *t)
{
	struct ended_thread *slot = PAGED_PUSH(&e->list);

	if (!slot) {
		e->forgot = true;
		return false;
	}
	*slot = *t;
	enter(e, (uint32_t)e->list.count - 1);
	return true;
}

static void drop(struct ended_threads *e)
{
	PAGED_FREE(&e->list);
	map_free(&e->by_tid);
	map_free(&e->by_java);
}

static void forget_half(struct ended_threads *e)
{
	struct ended_threads fresh = {.forgot = true};
	size_t i;

	for (i = e->list.count / 2; i < e->list.count; i++)
		push(&fresh, &e->list.items[i]);
	drop(e);
	*e = fresh;
}

void ended_note(struct collector *c, struct thread_record *r)
{
	uint64_t tid = (uint64_t)atomic_load(&r->tid);
	const uint32_t *name = map_get(&c->names, tid), *java_id = map_get(&c->java_ids, tid);
	struct ended_thread t = {
		.tid = (int32_t)tid,
		.java_id = java_id ? *java_id : 0,
		.since = r->since,
		.until = os_monotonic(),
		.name = name ? *name : 0,
		.thread = r->thread_entry <= c->threads.count ? r->thread_entry : 0,
	};

	if (!t.name)
		return;
	if (c->ended.list.count >= ENDED_LIMIT)
		forget_half(&c->ended);
	push(&c->ended, &t);
}

struct ended_thread *ended_by_tid(struct collector *c, int tid, uint64_t time)
{
	struct ended_threads *e = &c->ended;
	const uint32_t *newest = map_get(&e->by_tid, (uint64_t)tid);
	uint32_t at;

	for (at = newest ? *newest : 0; at; at = e->list.items[at - 1].before)
		if (e->list.items[at - 1].since <= time)
			return time <= e->list.items[at - 1].until ? &e->list.items[at - 1] : NULL;
	return NULL;
}

struct ended_thread *ended_by_java(struct collector *c, uint64_t java_id)
{
	const uint32_t *at = java_id <= UINT32_MAX ? map_get(&c->ended.by_java, java_id) : NULL;

	return at ? &c->ended.list.items[*at - 1] : NULL;
}

/* The number + 1 of THREAD in the new aggregate; 0 = it has none, or only one with others. */
static uint32_t entry_now(const struct generation *g, uint32_t thread)
{
	uint32_t now = thread ? g->threads[thread - 1] : 0;

	return now && !g->c->threads.items[now - 1].ended ? now : 0;
}

bool carry_ended(struct generation *g)
{
	const struct ended_threads *from = &g->old.ended;
	size_t i;

	for (i = 0; i < from->list.count; i++) {
		struct ended_thread t = from->list.items[i];

		t.name = generation_text(g, t.name);
		t.thread = entry_now(g, t.thread);
		if (t.name && !push(&g->c->ended, &t))
			return false;
	}
	for (i = 0; i < ARRAY_LEN(g->old.virtual_names); i++) {
		const struct map *names = &g->old.virtual_names[i];
		uint32_t s;

		for (s = 0; s < names->capacity; s++) {
			uint32_t *slot = names->slots[s].used
					 ? map_put(&g->c->virtual_names[i], names->slots[s].key, NULL) : NULL;

			if (slot)
				*slot = generation_text(g, names->slots[s].value);
		}
	}
	return true;
}

/* ---- from one session to the next ---- */

static uint32_t same_text(struct collector *c, const struct collector *old, uint32_t name)
{
	const char *text = name ? strings_get(&old->frames.strings, name) : "";

	return text[0] ? strings_add(&c->frames.strings, text, strlen(text)) : 0;
}

static void names_from(struct collector *c, const struct collector *old, const struct map *names)
{
	uint32_t i;

	for (i = 0; i < names->capacity && c->virtual_names[0].count < NAMES_CARRIED; i++) {
		uint32_t name = names->slots[i].used && !map_get(&c->virtual_names[0], names->slots[i].key)
					? same_text(c, old, names->slots[i].value) : 0;

		if (name)
			virtual_name_note(c, names->slots[i].key, name);
	}
}

void collector_names_from(struct collector *c, const struct collector *old)
{
	size_t i;

	for (i = 0; i < old->ended.list.count; i++) {
		struct ended_thread t = old->ended.list.items[i];

		t.name = same_text(c, old, t.name);
		t.thread = 0;
		if (t.name)
			push(&c->ended, &t);
	}
	c->ended.forgot |= old->ended.forgot;
	names_from(c, old, &old->virtual_names[0]);
	names_from(c, old, &old->virtual_names[1]);
}

/* ---- virtual threads ---- */

void virtual_name_note(struct collector *c, uint64_t vthread, uint32_t name)
{
	uint32_t *slot;

	if (c->virtual_names[0].count >= VIRTUAL_NAMES) {
		map_free(&c->virtual_names[1]);
		c->virtual_names[1] = c->virtual_names[0];
		memset(&c->virtual_names[0], 0, sizeof(c->virtual_names[0]));
	}
	slot = map_put(&c->virtual_names[0], vthread, NULL);
	if (slot)
		*slot = name;
}

const char *virtual_name(const struct collector *c, uint64_t vthread, char room[VIRTUAL_NAME])
{
	const uint32_t *name = map_get(&c->virtual_names[0], vthread);

	name = name ? name : map_get(&c->virtual_names[1], vthread);
	if (name && *name)
		return strings_get(&c->frames.strings, *name);
	snprintf(room, VIRTUAL_NAME, "virtual thread #%llu", (unsigned long long)vthread);
	return room;
}
