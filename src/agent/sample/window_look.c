#include "agent/sample/window_look.h"

#include "agent/sample/perf_samples.h"
#include "agent/zone/window.h"
#include "agent/zone/zone.h"

/*
 * Each call of the function costs 10 to 15 µs, sampled or not, where a hypervisor has a say in debug
 * exceptions. A breakpoint that was met BURST times, each within EACH, is left off on this thread for a
 * second, the next time for two, then four … up to a minute: agent/sources/window_breakpoints.c switches it on again.
 */
#define BURST 64
#define EACH (2 * NS_PER_MS)
#define LONGEST_REST 6

static void tire(struct record_source *s, uint32_t e, uint64_t time)
{
	if (++s->burst < BURST)
		return;
	if (time - s->burst_began < BURST * EACH) {
		atomic_store(&s->rests_until, time + (NS_PER_S << MIN(s->rests, (uint32_t)LONGEST_REST)));
		s->rests++;
		atomic_fetch_add_explicit(&zone.raised[e], 1, memory_order_relaxed);
	}
	s->burst = 0;
	s->burst_began = time;
}

/* Whether R's breakpoint E has been met since the last look. */
static bool is_met(struct thread_record *r, uint32_t e, uint64_t time)
{
	struct record_source *s = &r->sources[e];
	uint64_t count;

	if (atomic_load_explicit(&s->arm, memory_order_acquire) != ARM_PERF)
		return false;
	count = perf_count(s, false);
	if (count <= s->last_count)
		return false;
	s->last_count = count;
	tire(s, e, time);
	return true;
}

void window_look(struct thread_record *r, uint32_t event, uint64_t time)
{
	bool met[3] = {false, false, false}, end_first;
	uint32_t e;

	for (e = 0; e < zone.event_count; e++)
		if (zone.events[e].role != WINDOW_NONE)
			met[zone.events[e].role] = is_met(r, e, time);
	/* Both behind one signal: it names the one that came first. */
	end_first = met[WINDOW_END] && event < zone.event_count && zone.events[event].role == WINDOW_END;
	if (end_first)
		window_shut(&zone.window, time, r->index + 1);
	if (met[WINDOW_BEGIN])
		window_open(&zone.window, time);
	if (met[WINDOW_END] && !end_first)
		window_shut(&zone.window, time, r->index + 1);
}
