/*
 * transfer_grant.c - which perf events the helper may open: those that were asked for when it was started.
 *
 * The process that is sampled resolves names of events and asks for what they stand for. It may be hostile, so the
 * command looks itself at what its own user has asked for. Tracepoints, probes and the CPU's own events are never
 * opened for others: they show what other processes do, or need rights in the process itself.
 */
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <string.h>

#include "cli/talk/transfer.h"
#include "common/base/ascii.h"
#include "common/words/events.h"

/* Events that are perf events, and what the kernel calls them. */
static const struct {
	const char *name;
	uint32_t type;
	uint64_t config;
} known[] = {
#define PERF_EVENT(name, type, config, how, weight, interval, least, help) \
	{name, PERF_TYPE_##type, PERF_COUNT_##config},
#include "common/words/events.def"
};

/* Neither a tracepoint nor a probe ("sched:sched_switch"), no raw counter, no event of one of perf's sources. */
static bool is_function(const char *name)
{
	const char *colon = strchr(name, ':');

	return (!colon || colon[1] == ':') && !strchr(name, '/') &&
	       !(name[0] == 'r' && ascii_is_digit(name[1]));
}

static void read_event(char *name, struct grant *g)
{
	char *at = strrchr(name, '@');
	size_t i;

	if (at && ascii_is_digit(at[1]))
		*at = '\0';
	for (i = 0; i < ARRAY_LEN(known); i++)
		if (strcmp(known[i].name, name) == 0)
			break;
	if (i < ARRAY_LEN(known) && g->count < GRANTS_MAX) {
		g->events[g->count].type = known[i].type;
		g->events[g->count++].config = known[i].config;
	} else if (text_begins(name, "mem:")) {
		g->breakpoints |= HW_BREAKPOINT_RW | HW_BREAKPOINT_X;
	} else if (!event_row_named(name) && is_function(name)) {
		g->breakpoints |= HW_BREAKPOINT_X;
	}
}

void grant_read(const struct options *o, struct grant *g)
{
	char list[sizeof(o->event)], *at = NULL, *name;

	memset(g, 0, sizeof(*g));
	g->kernel = !o->alluser;
	strcpy(list, o->event);
	for (name = strtok_r(list, ",", &at); name; name = strtok_r(NULL, ",", &at))
		read_event(name, g);
	if (o->begin[0] || o->end[0] || o->ttsp)
		g->breakpoints |= HW_BREAKPOINT_X;
}

bool grant_allows(const struct grant *g, const struct os_perf *s)
{
	size_t i;

	if (s->type == PERF_TYPE_BREAKPOINT)
		return !s->kernel && s->bp_type && !(s->bp_type & ~g->breakpoints);
	for (i = 0; i < g->count; i++)
		if (g->events[i].type == s->type && g->events[i].config == s->config)
			return (g->kernel || !s->kernel) && !s->config1 && !s->config2;
	return false;
}
