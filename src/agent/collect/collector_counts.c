/*
 * collector_counts.c - what grows while a session samples, by the clocks of one moment.
 */
#include "agent/collect/aggregate.h"
#include "agent/collect/collector.h"
#include "agent/threads/records.h"
#include "common/os/os.h"

void collector_read_clocks(const struct collector *c, uint32_t e, struct collector_clocks *clocks)
{
	*clocks = (struct collector_clocks){os_monotonic(), os_process_cpu(), records_own_cpu(), os_children_cpu(),
					    c->sources->counted(e)};
}

void collector_advance(struct collector_counts *f, const struct collector_clocks *clocks)
{
	const struct collector_clocks before = f->clocks;

	if (!before.time || !clocks->time)
		return;
	f->duration += clocks->time - before.time;
	f->cpu_time += clocks->cpu - before.cpu;
	f->own_cpu += clocks->own - before.own;
	f->children_cpu += clocks->children - before.children;
	if (f->counted)
		f->counted += clocks->counted - before.counted;
	f->clocks = *clocks;
}

void collect_counts_now(const struct collector *c, const struct collector_cut *cut, struct collector_counts *counts)
{
	struct collector_clocks now = {0}, own;
	uint32_t i;

	for (i = 0; i < cut->count; i++) {
		counts[i] = cut->counts[i];
		if (!counts[i].clocks.time)
			continue;
		collector_read_clocks(c, cut->first + i, &own);
		if (!now.time)
			now = own;
		now.counted = own.counted;
		collector_advance(&counts[i], &now);
	}
}
