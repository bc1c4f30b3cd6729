/*
 * wall_ready.c - of threads that are ready to run: which samples are of a CPU, and which of waiting for one.
 *
 * How late a signal comes does not tell: the thread that sends it has taken a CPU itself, and what is sampled gets one
 * the sooner. But the kernel counts, for each thread, the time on a CPU and the time that it was ready without one
 * (schedstat). The weight of samples is divided as these two are, in the time since the sample before.
 */
#include "agent/sources/wall/wall.h"
#include "common/os/os.h"

#define ASKED_MOST 64 /* threads a tick: each takes three system calls */
enum record_cpu wall_has_cpu(uint32_t i, const struct thread_record *r)
{
	struct wall_ready *w = &wall.ready[i], before = *w;
	struct os_schedule s;
	uint64_t on, ready;

	w->weight = 0;
	w->without = false;
	if (wall.nobatch || wall.asked >= ASKED_MOST || !os_thread_schedule(atomic_load(&r->tid), &s))
		return CPU_NOT_KNOWN;
	wall.asked++;
	w->on = s.on;
	w->ready = s.ready;
	on = s.on - before.on;
	ready = s.ready - before.ready;
	if (!before.on || on + ready == 0)
		return CPU_NOT_KNOWN;
	w->due += (int64_t)((double)before.weight * (double)ready / (double)(on + ready));
	w->due -= before.without ? (int64_t)before.weight : 0;
	w->without = w->due > (int64_t)zone.events[wall.event].interval / 2;
	return w->without ? CPU_HAS_NONE : CPU_HAS;
}

void wall_weighs(uint32_t i, uint64_t weight)
{
	wall.ready[i].weight = weight;
}
