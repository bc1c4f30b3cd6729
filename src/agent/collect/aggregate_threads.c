/*
 * aggregate_threads.c - whose a sample is: OS threads with their names, virtual threads by number.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/collect/aggregate.h"
#include "agent/collect/ended_threads.h"
#include "agent/collect/sink.h"
#include "agent/threads/native_names.h"
#include "common/os/os.h"

#define VIRTUAL_THREADS 10000      /* kept apart with per_thread; all others are one entry */
#define GIVEN_KEPT (64u << 10)     /* bytes of names on their way, whose memory is used again */

static uint32_t thread_name(struct collector *c, pid_t tid)
{
	uint32_t *known = map_get(&c->names, (uint64_t)tid);
	char name[NATIVE_NAME];

	if (known && *known)
		return *known;
	native_name(tid, name);
	if (!name[0])
		snprintf(name, sizeof(name), "thread %d", tid);
	return strings_add(&c->frames.strings, name, strlen(name));
}

/* A virtual thread: it has no number of the system. */
static void name_virtual(struct collector *c, uint64_t vthread, uint32_t name)
{
	uint32_t *entry = map_get(&c->by_vthread, vthread);

	if (!name)
		return;
	virtual_name_note(c, vthread, name);
	if (entry && *entry)
		c->threads.items[*entry - 1].name = name;
}

/*
 * Whether entry E does not know all of it: its thread is called NUMBER. The kernel may have said the same before (the
 * JVM tells it names of up to 15 bytes whole): then the news is that the thread is one of Java's.
 */
static bool is_news(const struct thread_entry *e, const struct given_name *g, uint32_t number)
{
	return e->name != number || (g->java_id && (!e->java_id || !e->given));
}

static void name_entry(struct thread_entry *e, const struct given_name *g, uint32_t number)
{
	bool same = e->name == number;

	/* the kernel's first words for it are no name of its own */
	if (!same) {
		e->former = e->given ? e->name : 0;
		e->renamed = g->time;
	}
	e->java_id = same && e->java_id ? e->java_id : g->java_id;
	e->name = number;
	e->given = true;
}

static void name_now(struct collector *c, const struct given_name *g)
{
	const char *name = &c->given_text.items[g->name];
	uint32_t number = strings_add(&c->frames.strings, name, strlen(name));
	uint32_t *slot, *entry;
	struct thread_entry *e;

	if (!g->tid) {
		name_virtual(c, g->java_id, number);
		return;
	}
	slot = map_put(&c->names, (uint64_t)g->tid, NULL);
	entry = map_get(&c->by_tid, (uint64_t)g->tid);
	e = entry && *entry ? &c->threads.items[*entry - 1] : NULL;
	if (slot && number && *slot != number)
		sink_named(c, &(struct sink_name){.tid = g->tid, .java_id = g->java_id, .name = number,
						  .time = g->time});
	if (slot)
		*slot = number;
	slot = map_put(&c->java_ids, (uint64_t)g->tid, NULL);
	if (slot)
		*slot = (uint32_t)g->java_id;
	aggregate_wait_thread(c, g->java_id, g->tid);
	/* Not if the thread of today is another one, that began since. */
	if (e && number && is_news(e, g, number) && os_thread_start(g->tid) <= e->first)
		name_entry(e, g, number);
}

uint32_t aggregate_name_at(const struct collector *c, uint32_t thread, uint64_t time)
{
	const struct thread_entry *e = &c->threads.items[thread];

	return e->former && time < e->renamed ? e->former : e->name;
}

void aggregate_names(struct collector *c)
{
	size_t i;

	pthread_mutex_lock(&c->given_lock);
	for (i = 0; i < c->given.count; i++)
		name_now(c, &c->given.items[i]);
	c->given.count = c->given_text.count = 0;
	if (c->given_text.room > GIVEN_KEPT) { /* a crowd came */
		PAGED_FREE(&c->given);
		PAGED_FREE(&c->given_text);
	}
	pthread_mutex_unlock(&c->given_lock);
}

void aggregate_forget_number(struct collector *c, uint64_t tid)
{
	uint32_t *java_id = map_get(&c->java_ids, tid);
	uint32_t *its = java_id ? map_get(&c->waits.java_threads, *java_id) : NULL;

	/* beyond 2^32 the whole number is not known: those go with the aggregate */
	if (its && *its == tid)
		map_remove(&c->waits.java_threads, *java_id);
	map_remove(&c->names, tid);
	map_remove(&c->java_ids, tid);
}

/* A new entry; its number + 1, 0 = out of memory. */
static uint32_t new_thread(struct collector *c, pid_t tid, uint64_t vthread)
{
	struct thread_entry *e;
	uint32_t i, n = (uint32_t)c->threads.count;
	char made[VIRTUAL_NAME];
	const char *name;

	while (c->sums.count < (n + 1) * (size_t)c->options.events) {
		struct thread_sum *sum = PAGED_PUSH(&c->sums);

		if (!sum)
			return 0;
	}
	for (i = 0; i < c->options.events; i++)
		c->sums.items[n * c->options.events + i] = (struct thread_sum){0, 0};
	e = PAGED_PUSH(&c->threads);
	if (!e)
		return 0;
	e->tid = tid;
	e->vthread = vthread;
	if (vthread == ALL_VIRTUAL) {
		e->name = strings_add(&c->frames.strings, "virtual threads", strlen("virtual threads"));
	} else if (vthread) {
		name = virtual_name(c, vthread, made);
		e->name = strings_add(&c->frames.strings, name, strlen(name));
	} else {
		uint32_t *java_id = map_get(&c->java_ids, (uint64_t)tid);

		uint32_t *known = map_get(&c->names, (uint64_t)tid);

		e->name = thread_name(c, tid);
		e->given = known && *known;
		e->java_id = java_id ? *java_id : 0;
	}
	if (!e->name) {
		c->threads.count--;
		return 0;
	}
	return (uint32_t)c->threads.count;
}

uint32_t aggregate_thread_ended(struct collector *c, int tid, uint32_t name)
{
	uint32_t entry = new_thread(c, tid, 0);

	if (entry) {
		c->threads.items[entry - 1].name = name;
		c->threads.items[entry - 1].java_id = 0;
	}
	return entry;
}

/* Entry + 1 of the OS thread TID, which is known SINCE then, and of which something of TIME is told. */
static uint32_t thread_of_tid(struct collector *c, pid_t tid, uint64_t time, uint64_t since)
{
	uint32_t *slot, entry;
	uint64_t start;

	aggregate_names(c); /* it began since the last tick, and its name came with it */
	slot = map_put(&c->by_tid, (uint64_t)tid, NULL);
	start = slot && *slot ? os_thread_start(tid) : 0;
	/* It has one from before a stop and a resume. */
	if (start && start <= c->threads.items[*slot - 1].first)
		return *slot;
	entry = new_thread(c, tid, 0);
	if (entry) {
		c->threads.items[entry - 1].first = time;
		c->threads.items[entry - 1].since = since;
		sink_thread_begin(c, entry - 1);
	}
	if (slot)
		*slot = entry;
	return entry;
}

uint32_t aggregate_thread_of(struct collector *c, pid_t tid, uint64_t time)
{
	uint32_t *known = map_get(&c->by_tid, (uint64_t)tid);

	return known && *known ? *known : thread_of_tid(c, tid, time, time);
}

uint32_t aggregate_thread(struct collector *c, const struct sample *s, struct thread_record *r)
{
	uint64_t vthread = s->vthread;
	uint32_t *slot;

	if (!vthread) {
		if (!r->thread_entry || r->thread_entry > c->threads.count)
			r->thread_entry = thread_of_tid(c, atomic_load(&r->tid), s->time, r->since);
		return r->thread_entry;
	}
	/* There may be millions of virtual threads in a day: only so many are kept apart. */
	if (!c->options.per_thread ||
	    (c->by_vthread.count >= VIRTUAL_THREADS && !map_get(&c->by_vthread, vthread)))
		vthread = ALL_VIRTUAL;
	if (vthread != ALL_VIRTUAL && !map_get(&c->by_vthread, vthread))
		aggregate_names(c); /* its own name may have come with it */
	slot = map_put(&c->by_vthread, vthread, NULL);
	if (slot && !*slot) {
		*slot = new_thread(c, 0, vthread);
		if (*slot)
			sink_thread_begin(c, *slot - 1);
	}
	return slot ? *slot : 0;
}
