/*
 * carry_threads.c - the threads of a new aggregate: those that live, those that are referred to, and of those that
 * have ended the ENDED_KEPT with most samples. The samples of the others go to one entry for each pattern of names.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/collect/carry.h"
#include "common/os/os.h"

#define ENDED_KEPT 1000
#define PATTERNS 200             /* of names; beyond, all are one */
#define PATTERN_CHARS 128
#define MORE "(threads that ended)"

/* ---- one by one ---- */

static struct thread_sum *sum_of(struct collector *c, uint32_t thread, uint32_t e)
{
	return &c->sums.items[thread * c->options.events + e];
}

/* A thread without samples, equal to E but for NAME, which is of the new aggregate; its number + 1, 0 = no memory. */
static uint32_t push_thread(struct generation *g, const struct thread_entry *e, uint32_t name)
{
	struct collector *c = g->c;
	struct thread_entry *to;
	uint32_t i;

	for (i = 0; i < c->options.events; i++) {
		const struct thread_sum *sum = PAGED_PUSH(&c->sums);

		if (!sum)
			return 0;
	}
	to = PAGED_PUSH(&c->threads);
	if (!to)
		return 0;
	*to = *e;
	to->name = name;
	return (uint32_t)c->threads.count;
}

static uint32_t exact(struct generation *g, uint32_t thread)
{
	const struct thread_entry *e = &g->old.threads.items[thread];
	uint32_t *known = &g->threads[thread], *newest, *slot;

	if (*known)
		return *known;
	*known = push_thread(g, e, carry_text(g, e->name));
	if (!*known)
		return 0;
	g->c->threads.items[*known - 1].former = carry_text(g, e->former);
	newest = e->tid ? map_get(&g->old.by_tid, (uint64_t)e->tid) : NULL;
	slot = newest && *newest == thread + 1 ? map_put(&g->c->by_tid, (uint64_t)e->tid, NULL) : NULL;
	if (slot)
		*slot = *known;
	slot = e->vthread ? map_put(&g->c->by_vthread, e->vthread, NULL) : NULL;
	if (slot)
		*slot = *known;
	return *known;
}

uint32_t carry_thread(struct generation *g, uint32_t thread)
{
	uint32_t now = thread < g->old.threads.count ? exact(g, thread) : 0;

	return now ? now - 1 : g->rest_thread;
}

uint32_t carry_lives(const struct generation *g, uint32_t thread)
{
	return thread < g->old.threads.count ? g->threads[thread] : 0;
}

/* ---- those that ended ---- */

/* NAME with # for each number in it, to TEXT. */
static void pattern_of(const char *name, char *text)
{
	size_t n = 0;

	for (; *name && n < PATTERN_CHARS - 1; name++) {
		bool digit = *name >= '0' && *name <= '9';

		if (!digit || n == 0 || text[n - 1] != '#')
			text[n++] = digit ? '#' : *name;
	}
	text[n] = '\0';
}

/* The entry + 1 for threads called like NAME that have ended; 0 = out of memory. */
static uint32_t ended_like(struct generation *g, const char *name)
{
	struct strings *strings = &g->c->frames.strings;
	const struct thread_entry none = {.ended = 1};
	char pattern[PATTERN_CHARS], text[PATTERN_CHARS + 16];
	uint32_t number, *slot;

	pattern_of(name, pattern);
	snprintf(text, sizeof(text), "%s (ended)", pattern);
	number = strings_add(strings, text, strlen(text));
	if (g->ended.count >= PATTERNS && !map_get(&g->ended, number))
		number = strings_add(strings, MORE, strlen(MORE));
	slot = number ? map_put(&g->ended, number, NULL) : NULL;
	if (slot && !*slot)
		*slot = push_thread(g, &none, number);
	return slot ? *slot : 0;
}

/* The same for an entry that stands for several already. */
static uint32_t ended_again(struct generation *g, const struct thread_entry *e)
{
	uint32_t number = carry_text(g, e->name), *slot = number ? map_put(&g->ended, number, NULL) : NULL;

	if (slot && !*slot)
		*slot = push_thread(g, e, number);
	else if (slot)
		g->c->threads.items[*slot - 1].ended += e->ended;
	return slot ? *slot : 0;
}

static bool lives(pid_t tid)
{
	return record_find_tid(&zone.records, tid) || os_thread_exists(tid);
}

/* THREAD has not been asked for, and cannot have samples any more. */
static bool has_ended(const struct generation *g, uint32_t thread)
{
	const struct thread_entry *e = &g->old.threads.items[thread];
	const uint32_t *newest = map_get(&g->old.by_tid, (uint64_t)e->tid);

	return !e->vthread && !g->threads[thread] && !(newest && *newest == thread + 1 && lives(e->tid));
}

static uint64_t samples_of(const struct generation *g, uint32_t thread)
{
	uint32_t e, events = g->c->options.events;
	uint64_t samples = 0;

	for (e = 0; e < events; e++)
		samples += g->old.sums.items[thread * events + e].samples;
	return samples;
}

static int most_first(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? 1 : x > y ? -1 : 0;
}

/* Samples a thread that ended must have to be kept apart: so many are few enough. *LEFT of those with just as many. */
static bool find_bound(const struct generation *g, uint64_t *bound, uint32_t *left)
{
	uint64_t *samples = calloc(g->old.threads.count + 1, sizeof(*samples));
	size_t n = 0, above = 0;
	uint32_t i;

	for (i = 0; samples && i < g->old.threads.count; i++)
		if (has_ended(g, i) && !g->old.threads.items[i].ended && samples_of(g, i))
			samples[n++] = samples_of(g, i);
	*bound = 1;
	*left = UINT32_MAX;
	if (n > ENDED_KEPT) {
		qsort(samples, n, sizeof(*samples), most_first);
		*bound = samples[ENDED_KEPT - 1];
		while (samples[above] > *bound)
			above++;
		*left = (uint32_t)(ENDED_KEPT - above);
	}
	free(samples);
	return samples;
}

/* Where the samples of THREAD, which ended, go: its number + 1, 0 = out of memory. */
static uint32_t place_of_ended(struct generation *g, uint32_t thread, uint64_t bound, uint32_t *left)
{
	const struct thread_entry *e = &g->old.threads.items[thread];
	uint64_t samples = samples_of(g, thread);
	uint32_t now;

	if (e->ended)
		return ended_again(g, e);
	if (samples > bound || (samples == bound && *left)) {
		*left -= samples == bound;
		return exact(g, thread);
	}
	now = ended_like(g, strings_get(&g->old.frames.strings, e->name));
	if (now) {
		g->c->threads.items[now - 1].ended++;
		g->merged.threads++;
	}
	return now;
}

static void add_sums(struct generation *g, uint32_t thread, uint32_t to)
{
	uint32_t e, events = g->c->options.events;

	for (e = 0; e < events; e++) {
		const struct thread_sum *from = &g->old.sums.items[thread * events + e];

		sum_of(g->c, to, e)->samples += from->samples;
		sum_of(g->c, to, e)->weight += from->weight;
	}
}

/* Those that records, runs and numbers lead to. */
static bool carry_living(struct generation *g)
{
	uint32_t i, count = atomic_load(&zone.records.count);
	bool whole = true;

	for (i = 0; i < g->old.threads.count && whole; i++) {
		const struct thread_entry *e = &g->old.threads.items[i];

		if (e->vthread || !has_ended(g, i))
			whole = exact(g, i);
	}
	for (i = 0; i < count && whole; i++) {
		struct thread_record *r = &zone.records.records[i];

		if (atomic_load(&r->state) != RECORD_FREE && r->thread_entry &&
		    r->thread_entry <= g->old.threads.count)
			whole = exact(g, r->thread_entry - 1);
	}
	return whole;
}

bool carry_threads(struct generation *g)
{
	const struct thread_entry none = {.ended = 1};
	uint32_t i, left, name = strings_add(&g->c->frames.strings, MORE, strlen(MORE));
	uint64_t bound;

	g->rest_thread = name ? push_thread(g, &none, name) : 0;
	if (!g->rest_thread-- || !carry_living(g) || !find_bound(g, &bound, &left))
		return false;
	for (i = 0; i < g->old.threads.count; i++) {
		if (!samples_of(g, i))
			continue;
		g->sums[i] = g->threads[i] ? g->threads[i] : place_of_ended(g, i, bound, &left);
		if (!g->sums[i])
			return false;
		add_sums(g, i, g->sums[i] - 1);
	}
	return true;
}

/* ---- by number of the system ---- */

static bool put(struct map *m, uint64_t key, uint32_t value)
{
	uint32_t *slot = map_put(m, key, NULL);

	if (slot)
		*slot = value;
	return slot;
}

bool carry_numbers(struct generation *g)
{
	const struct map *names = &g->old.names, *java = &g->old.waits.java_threads;
	bool whole = true;
	uint32_t i;

	for (i = 0; i < names->capacity && whole; i++) {
		const struct map_slot *s = &names->slots[i];
		const uint32_t *java_id = s->used ? map_get(&g->old.java_ids, s->key) : NULL;

		if (s->used && s->value && lives((pid_t)s->key))
			whole = put(&g->c->names, s->key, carry_text(g, s->value)) &&
				(!java_id || put(&g->c->java_ids, s->key, *java_id));
	}
	for (i = 0; i < java->capacity && whole; i++) {
		const struct map_slot *s = &java->slots[i];
		const uint32_t *its = s->used ? map_get(&g->c->java_ids, s->value) : NULL;

		if (its && *its == (uint32_t)s->key)
			whole = put(&g->c->waits.java_threads, s->key, s->value);
	}
	return whole;
}
