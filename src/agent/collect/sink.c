#include "agent/collect/sink.h"
#include "agent/collect/aggregate.h"
#include "agent/collect/collector_state.h"
#include "agent/collect/drain.h"
#include "agent/context/marks.h"

#include "agent/zone/zone.h"
#include "common/os/os.h"

void sink_add(struct collector *c, struct sink *s)
{
	pthread_mutex_lock(&c->lock);
	s->collector = c;
	s->next = c->sinks;
	c->sinks = s;
	pthread_mutex_unlock(&c->lock);
}

void sink_remove(struct sink *s)
{
	struct collector *c = s->collector;
	struct sink **at;

	if (!c)
		return;
	pthread_mutex_lock(&c->lock);
	if (c->open)
		drain_all(c);
	for (at = &c->sinks; *at; at = &(*at)->next)
		if (*at == s) {
			*at = s->next;
			break;
		}
	s->collector = NULL;
	s->next = NULL;
	pthread_mutex_unlock(&c->lock);
	if (s->ops->close)
		s->ops->close(s);
}

/* Call FUNCTION of all sinks that have it. */
#define TELL(c, function, ...)                                \
	do {                                                  \
		struct sink *s;                               \
		for (s = (c)->sinks; s; s = s->next)          \
			if (s->ops->function)                 \
				s->ops->function(s, __VA_ARGS__); \
	} while (0)

void sink_event(struct collector *c, const struct sink_event *e)
{
	TELL(c, event, e);
}

void sink_drained(struct collector *c)
{
	if (c->sinks)
		TELL(c, drained, os_monotonic());
}

void sink_thread_begin(struct collector *c, uint32_t thread)
{
	TELL(c, thread_begin, thread);
}

void sink_named(struct collector *c, const struct sink_name *n)
{
	TELL(c, named, n);
}

void sink_thread_end(struct collector *c, uint32_t thread)
{
	if (c->sinks)
		TELL(c, thread_end, thread, os_monotonic());
}

static void tell_freed(uint64_t time, uint32_t record, uint64_t address, uint64_t size, void *arg)
{
	struct collector *c = arg;
	uint32_t thread = record ? zone.records.records[record - 1].thread_entry : 0;

	TELL(c, freed, time, thread <= c->threads.count ? thread : 0, address, size);
}

void sink_freed(struct collector *c)
{
	bool wanted = false;
	uint64_t missed = 0;
	struct sink *s;

	for (s = c->sinks; s; s = s->next)
		wanted |= s->ops->freed != NULL;
	if (c->sources->blocks_freed)
		missed = c->sources->blocks_freed(wanted, tell_freed, c);
	for (; missed; missed--)
		TELL(c, freed, 0, 0, 0, 0);
}

void sink_renewed(struct collector *c, struct generation *g)
{
	TELL(c, renewed, g);
}

static void tell_mark(const struct mark *m, void *arg)
{
	struct collector *c = arg;
	uint32_t thread = aggregate_thread_of(c, m->tid, m->time);

	TELL(c, marked, m, thread, 0);
}

void sink_marked(struct collector *c)
{
	uint64_t lost = marks_each(tell_mark, c);

	if (lost)
		TELL(c, marked, NULL, 0, lost);
}
