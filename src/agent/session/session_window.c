#include "agent/session/session_window.h"

#include <errno.h>

/* Time to safepoint: from the request until all threads have come to a halt. */
static const char *begin_of(const struct options *o)
{
	return o->ttsp && !o->begin[0] ? "SafepointSynchronize::begin" : o->begin;
}

static const char *end_of(const struct options *o)
{
	return o->ttsp && !o->end[0] ? "RuntimeService::record_safepoint_synchronized" : o->end;
}

int agent_window_add(const struct options *o, struct engine_event *events, uint32_t count, struct error *err)
{
	struct engine_event two[2];
	int more = window_resolve(begin_of(o), end_of(o), two, err), i;

	if (more < 0)
		return more;
	if (count + (uint32_t)more > RECORD_EVENTS)
		return error_set(err, EINVAL, "too many events: %s; with begin and end a session takes %d", o->event,
				 RECORD_EVENTS - more);
	for (i = 0; i < more; i++)
		events[count++] = two[i];
	return (int)count;
}

static void add(struct engine_window *sum, const struct engine_window *run)
{
	sum->count += run->count;
	sum->total += run->total;
	sum->longest = MAX(sum->longest, run->longest);
	sum->pauses += run->pauses;
	sum->open = run->open;
}

void agent_window_keep(struct engine_window *windows)
{
	struct engine_window run;

	engine_window(&run);
	add(windows, &run);
}

void agent_window_counts(const struct options *o, const struct engine_window *earlier, bool running,
			struct profile_window *w)
{
	struct engine_window all = *earlier;

	*w = (struct profile_window){.begin = NULL};
	if (!*begin_of(o) && !*end_of(o))
		return;
	if (running)
		agent_window_keep(&all);
	w->begin = begin_of(o);
	w->end = end_of(o);
	w->watched = o->nostop;
	w->open = all.open;
	w->count = all.count;
	w->total = all.total;
	w->longest = all.longest;
	w->pauses = all.pauses;
}
