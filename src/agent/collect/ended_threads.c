#include "agent/collect/ended_threads.h"

#include <stdio.h>
#include <string.h>

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

bool ended_add(struct ended_threads *e, const struct ended_thread *t)
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
		ended_add(&fresh, &e->list.items[i]);
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
	ended_add(&c->ended, &t);
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
