#include "cli/live/top_history.h"

#include "common/base/base.h"
#include "common/base/decimal.h"

#define LATE (NS_PER_S * 3 / 2) /* from then on a second is missing */
#define BLOCKS 8
#define NAME "CPU "
#define WORDS 28 /* columns of what stands behind the blocks */

static void push(struct top_history *h, uint32_t value)
{
	h->seconds[h->count++ % TOP_SECONDS] = value;
}

/* Seconds without a figure between two that lie NS apart. */
static uint64_t missing(uint64_t ns)
{
	uint64_t seconds = ns < LATE ? 0 : (ns + NS_PER_S / 2) / NS_PER_S - 1;

	return MIN(seconds, (uint64_t)TOP_SECONDS);
}

void top_history_add(struct top_history *h, uint64_t time, uint64_t cpu, uint64_t now)
{
	uint64_t span = time - h->time, used = cpu - h->cpu, gap;

	if (!h->time && h->arrived && now > h->arrived)
		for (gap = missing(now - h->arrived); gap; gap--)
			push(h, TOP_GAP);
	/* two in one moment: the last counters of a session */
	if (h->time && time > h->time && span < NS_PER_S / 4)
		return;
	if (h->time && time > h->time && cpu >= h->cpu) {
		for (gap = missing(span); gap; gap--)
			push(h, TOP_GAP);
		push(h, (uint32_t)MIN((double)used * 1000 / (double)span, 1e9));
	}
	h->time = time;
	h->cpu = cpu;
	h->arrived = now;
}

void top_history_part(struct top_history *h)
{
	h->time = 0;
}

/* The value of the second that is BACK before the last one. */
static uint32_t at(const struct top_history *h, uint64_t back)
{
	return back < h->count && back < TOP_SECONDS ? h->seconds[(h->count - 1 - back) % TOP_SECONDS] : TOP_GAP;
}

static void put_block(struct buffer *out, uint32_t value, uint32_t most)
{
	static const char *const blocks[BLOCKS] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

	buffer_puts(out, value == TOP_GAP ? "·" : blocks[most ? (uint64_t)value * (BLOCKS - 1) / most : 0]);
}

void top_history_put(const struct top_history *h, uint64_t now, unsigned columns, struct buffer *out)
{
	uint64_t gap = h->arrived && now > h->arrived ? missing(now - h->arrived) : 0, i;
	unsigned room = columns > 2 * WORDS ? columns - WORDS : columns, gaps = 0;
	uint64_t seconds = MIN(MIN(h->count + gap, (uint64_t)TOP_SECONDS), (uint64_t)(room > 4 ? room - 4 : 0));
	uint32_t most = 0, value;

	for (i = 0; i < seconds; i++) {
		value = i < gap ? TOP_GAP : at(h, i - gap);
		gaps += value == TOP_GAP;
		if (value != TOP_GAP)
			most = MAX(most, value);
	}
	buffer_puts(out, NAME);
	for (i = seconds; i-- > 0;)
		put_block(out, i < gap ? TOP_GAP : at(h, i - gap), most);
	if (room == columns)
		return;
	if (!seconds)
		buffer_puts(out, "  from the second second on");
	else
		buffer_printf(out, "  %llu s, most %s %%%s", (unsigned long long)seconds,
			      decimal((double)most / 10, 0).text, gaps ? "  · no data" : "");
}
