/*
 * Names of threads that have ended, and of virtual threads, go on: in a new aggregate, and in the next round of a loop.
 */
#include "agent/collect/carry.h"
#include "agent/collect/collector.h"
#include "agent/collect/ended_threads.h"

#include <string.h>

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

		t.name = carry_text(g, t.name);
		t.thread = entry_now(g, t.thread);
		if (t.name && !ended_add(&g->c->ended, &t))
			return false;
	}
	for (i = 0; i < ARRAY_LEN(g->old.virtual_names); i++) {
		const struct map *names = &g->old.virtual_names[i];
		uint32_t s;

		for (s = 0; s < names->capacity; s++) {
			uint32_t *slot = names->slots[s].used
					 ? map_put(&g->c->virtual_names[i], names->slots[s].key, NULL) : NULL;

			if (slot)
				*slot = carry_text(g, names->slots[s].value);
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
			ended_add(&c->ended, &t);
	}
	c->ended.forgot |= old->ended.forgot;
	names_from(c, old, &old->virtual_names[0]);
	names_from(c, old, &old->virtual_names[1]);
}
