#include "agent/collect/survivors.h"
#include "agent/collect/aggregate.h"
#include "agent/collect/carry.h"
#include "agent/collect/sink.h"

#include <string.h>

#include "profile/model/leaks.h"

static unsigned id_of(const struct collector *c, uint32_t e)
{
	return event_field_of_kind(&c->options.fields[e], EVENT_FIELD_ID);
}

bool survivors_are_of(const struct collector *c, uint32_t e)
{
	return id_of(c, e) < c->options.fields[e].count;
}

static bool has_place(struct collector *c, uint32_t place)
{
	while (c->survivors.count <= place) {
		const struct survivor *more = PAGED_PUSH(&c->survivors);

		if (!more)
			return false;
	}
	return true;
}

bool survivors_add(struct collector *c, const struct sink_event *e)
{
	const struct event_fields *fields = &c->options.fields[e->event];
	uint64_t id = e->fields->values[id_of(c, e->event)];
	uint32_t place = (uint32_t)(id % SOURCE_OBJECTS);

	if (!has_place(c, place))
		return false;
	/* queues are emptied one after the other: the sample of an object that was there before may come last */
	if (c->survivors.items[place].id > id)
		return true;
	c->survivors.items[place] = (struct survivor){
		.id = id, .time = e->time, .vthread = e->vthread, .weight = e->weight,
		.size = e->fields->values[event_field_of_kind(fields, EVENT_FIELD_SIZE)],
		.node = e->node, .thread = e->thread, .class_name = e->fields->class_name,
		.trace_context = aggregate_trace_context(c, &e->trace_context), .event = e->event};
	return true;
}

/* Nothing of event E is summed up. */
static void empty(struct collector *c, uint32_t e)
{
	struct event_aggregate *a = &c->events[e];
	size_t i;

	a->stored = a->weight_stored = a->complete = 0;
	memset(a->ended, 0, sizeof(a->ended));
	for (i = 0; i < c->stack_counts.count; i++) {
		struct stack_count *t = &c->stack_counts.items[i];

		if (t->event == e)
			t->samples = t->weight = t->objects = t->outside = 0;
	}
	for (i = 0; i < c->threads.count; i++)
		c->sums.items[i * c->options.events + e] = (struct thread_sum){0};
}

/* S as a sample that stands for all its object does; its fields go into F. */
static struct sink_event event_of(const struct collector *c, const struct survivor *s, struct sink_fields *f)
{
	const struct event_fields *fields = &c->options.fields[s->event];

	*f = (struct sink_fields){.class_name = s->class_name};
	f->values[event_field_of_kind(fields, EVENT_FIELD_SIZE)] = s->size;
	f->values[event_field_of_kind(fields, EVENT_FIELD_TIME)] = s->time;
	f->values[event_field_of_kind(fields, EVENT_FIELD_NUMBER)] = s->age;
	return (struct sink_event){.samples = 1, .weight = s->weight * s->stands_for, .vthread = s->vthread,
				   .node = s->node, .thread = s->thread, .event = s->event, .state = THREAD_RUNNING,
				   .fields = f};
}

/* It was there at the last collection: whether younger ones are still in use nothing is known of. */
static bool is_known(const struct collector *c, const struct survivor *s)
{
	return s->time <= c->opened + c->growth_span[s->event];
}

static bool add(struct collector *c, const struct survivor *s, bool half)
{
	struct sink_fields f;
	struct sink_event e = event_of(c, s, &f);
	uint32_t node = aggregate_fields_shown(c, &e);
	struct stack_count *t = node ? aggregate_stack_count(c, e.event, node, e.thread + 1, e.state,
							      s->trace_context) : NULL;

	struct profile_growth *g;

	if (t)
		aggregate_add(c, &e, c->nodes.items[e.node].end, t);
	if (t && !is_known(c, s))
		return true;
	g = t ? aggregate_grow(c, (size_t)(t - c->stack_counts.items), e.weight, half) : NULL;
	if (g)
		leaks_add_growth(g, &(struct profile_growth){.example = s->id, .since = s->time});
	return g;
}

static bool counts(const struct collector *c, const struct survivor *s)
{
	return s->stands_for && s->age >= c->options.survived;
}

void survivors_settle(struct collector *c)
{
	size_t i;

	for (i = 0; i < c->survivors.count; i++) {
		struct survivor *s = &c->survivors.items[i];

		s->stands_for = s->id ? c->sources->stands_for(s->id, &s->age) : 0;
	}
}

/* Some of event E were dropped to make room: what is missing is not for sure what a collection took away. */
static bool is_thinned(const struct collector *c, uint32_t e)
{
	size_t i;

	for (i = 0; i < c->survivors.count; i++)
		if (c->survivors.items[i].event == e && c->survivors.items[i].stands_for > 1)
			return true;
	return false;
}

/*
 * The last collection, as far as it is known: it came after the allocation of all that it has left or taken away. Not
 * only of what it has left: else a cache that was filled long ago seems to have grown all the time.
 */
static uint64_t last_time(const struct collector *c, uint32_t e)
{
	uint64_t last = c->sources->heap_collected ? MAX(c->opened, c->sources->heap_collected()) : c->opened;
	bool thinned = is_thinned(c, e);
	size_t i;

	for (i = 0; i < c->survivors.count; i++) {
		const struct survivor *s = &c->survivors.items[i];

		if (s->id && s->event == e && (!(s->stands_for || thinned) || (s->age && counts(c, s))))
			last = MAX(last, s->time);
	}
	return last;
}

/* How long it is known what was allocated and is there. */
static void span(struct collector *c)
{
	uint32_t e;

	for (e = 0; e < c->options.events; e++)
		if (survivors_are_of(c, e))
			c->growth_span[e] = last_time(c, e) - c->opened;
}

void survivors_tell(struct collector *c, struct sink *to, uint64_t now)
{
	size_t i;

	if (c->open)
		survivors_settle(c);
	span(c);
	for (i = 0; i < c->survivors.count; i++) {
		const struct survivor *s = &c->survivors.items[i];
		struct sink_fields f;
		struct sink_event e = event_of(c, s, &f);

		e.time = now;
		if (counts(c, s))
			to->ops->event(to, &e);
	}
}

bool survivors_sum(struct collector *c)
{
	bool ok = true;
	uint32_t e;
	size_t i;

	if (c->open)
		survivors_settle(c);
	c->growth.count = 0;
	span(c);
	for (e = 0; e < c->options.events; e++)
		if (survivors_are_of(c, e))
			empty(c, e);
	for (i = 0; i < c->survivors.count; i++) {
		const struct survivor *s = &c->survivors.items[i];

		if (counts(c, s))
			ok &= add(c, s, s->time > c->opened + c->growth_span[s->event] / 2);
	}
	return ok;
}

void survivors_carry(struct generation *g)
{
	size_t i;

	for (i = 0; i < g->c->survivors.count; i++) {
		struct survivor *s = &g->c->survivors.items[i];

		if (!s->id)
			continue;
		s->node = carry_node(g, s->node);
		s->thread = carry_thread(g, s->thread);
		s->class_name = carry_text(g, s->class_name);
		if (!s->node)
			s->id = 0; /* no memory for its stack */
	}
}
