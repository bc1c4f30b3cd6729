/*
 * recording_load.c - events that tell how busy machine, process and threads are.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/collect/carry.h"
#include "agent/sinks/recording/recording_state.h"
#include "common/os/os.h"

#define THREADS_EVERY (10 * NS_PER_S)

static void put_cpu_load(struct recording *r, uint64_t now)
{
	struct load *l = &r->load;
	uint64_t user, system, busy, all, steal;

	if (os_process_times(&user, &system) || os_machine_times(&busy, &all, &steal))
		return;
	if (l->at && now > l->at && all > l->machine_all) {
		double cpus = (double)(now - l->at) * os_cpus_online();
		const struct jfr_value v[] = {
			JFR_F(MIN((double)(user - l->user) / cpus, 1.0)),
			JFR_F(MIN((double)(system - l->system) / cpus, 1.0)),
			JFR_F(MIN((double)(busy - l->machine_busy) / (double)(all - l->machine_all), 1.0)),
		};

		jfr_event(r->jfr, JFR_CPU_LOAD, now, v, ARRAY_LEN(v));
	}
	l->at = now;
	l->user = user;
	l->system = system;
	l->machine_busy = busy;
	l->machine_all = all;
}

/* Load of thread number I since it was last looked at; nothing if it did nothing. */
static void put_thread_load(struct recording *r, size_t i, int32_t tid, uint64_t now)
{
	double cpus = (double)(now - r->load.threads_at) * os_cpus_online();
	struct thread_load *t = &r->load.each.items[i];
	uint64_t user, system;
	uint32_t key;

	if (os_thread_times(tid, &user, &system))
		return;
	if (t->known && (user > t->user || system > t->system)) {
		pthread_mutex_lock(&r->collector->lock);
		key = recording_thread(r, (uint32_t)i, 0, 0);
		pthread_mutex_unlock(&r->collector->lock);
		if (key) {
			const struct jfr_value v[] = {
				JFR_N(key), JFR_F(MIN((double)(user - t->user) / cpus, 1.0)),
				JFR_F(MIN((double)(system - t->system) / cpus, 1.0)),
			};

			jfr_event(r->jfr, JFR_THREAD_CPU_LOAD, now, v, ARRAY_LEN(v));
		}
	}
	*t = (struct thread_load){user, system, true};
}

/* The threads that are alive, by their numbers; -1 for those that are none of the system's, or ended. */
static int32_t *list_threads(struct recording *r, size_t *count)
{
	struct collector *c = r->collector;
	int32_t *tids;
	size_t i;

	pthread_mutex_lock(&c->lock);
	*count = c->threads.count;
	tids = malloc((*count + 1) * sizeof(*tids));
	for (i = 0; tids && i < *count; i++) {
		const struct thread_entry *e = &c->threads.items[i];
		uint32_t *newest = map_get(&c->by_tid, (uint64_t)e->tid);

		tids[i] = e->tid && newest && *newest == i + 1 ? e->tid : -1;
	}
	pthread_mutex_unlock(&c->lock);
	return tids;
}

static void put_thread_loads(struct recording *r, uint64_t now)
{
	size_t i, count;
	int32_t *tids = list_threads(r, &count);

	for (i = 0; tids && i < count; i++) {
		struct thread_load *fresh = i < r->load.each.count ? &r->load.each.items[i]
								   : VECTOR_PUSH(&r->load.each);

		if (!fresh)
			break;
		if (tids[i] > 0)
			put_thread_load(r, i, tids[i], now);
	}
	free(tids);
	r->load.threads_at = now;
}

void recording_load(struct recording *r, uint64_t now)
{
	if (now - r->load.at < NS_PER_S / 2 && r->load.at)
		return;
	recording_heap(r, now);
	if (r->options.no_cpu_load) {
		r->load.at = now;
		return;
	}
	put_cpu_load(r, now);
	if (!r->load.threads_at || now - r->load.threads_at >= THREADS_EVERY)
		put_thread_loads(r, now);
}

void recording_load_carry(struct recording *r, struct generation *g)
{
	typeof(r->load.each) now = {0};
	size_t i;

	for (i = 0; i < r->load.each.count; i++) {
		uint32_t thread = carry_lives(g, (uint32_t)i);
		const struct thread_load *fresh = &r->load.each.items[i];

		while (fresh && now.count < thread)
			fresh = VECTOR_PUSH(&now);
		if (thread && thread <= now.count)
			now.items[thread - 1] = r->load.each.items[i];
	}
	free(r->load.each.items);
	memcpy(&r->load.each, &now, sizeof(now));
}

void recording_load_free(struct recording *r)
{
	free(r->load.each.items);
}
