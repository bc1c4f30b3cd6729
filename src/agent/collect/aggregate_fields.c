/*
 * aggregate_fields.c - a sample that says more than its stack: the class among its fields is the innermost frame of
 * results, sinks get all of them.
 */
#include <stdio.h>
#include <string.h>

#include "agent/collect/aggregate.h"
#include "agent/collect/sink.h"
#include "agent/collect/survivors.h"
#include "common/base/wide.h"
#include "common/words/io_fields.h"

bool aggregate_is_io(const struct collector *c, uint32_t e)
{
	const struct event_fields *fields = &c->options.fields[e];

	return event_field_of_kind(fields, EVENT_FIELD_TARGET) < fields->count;
}

/* The class of E's object with the power of two that its size is of: "[B of 1 KB to 2 KB"; of no array as it is. */
static uint32_t name_with_size(struct collector *c, const struct sink_event *e)
{
	static const char *const units[] = {"B", "KB", "MB", "GB"};
	const struct event_fields *fields = &c->options.fields[e->event];
	unsigned i = event_field_of_kind(fields, EVENT_FIELD_SIZE), power, next;
	const char *class = strings_get(&c->frames.strings, e->fields->class_name);
	uint64_t size = i < fields->count ? e->fields->values[i] : 0;
	char text[320];
	int length;

	if (class[0] != '[' || !size)
		return e->fields->class_name;
	power = MIN(63u - (unsigned)__builtin_clzll(size), 38u);
	next = power + 1;
	length = snprintf(text, sizeof(text), "%s of %u %s to %u %s", class, 1u << power % 10, units[power / 10],
			  1u << next % 10, units[next / 10]);
	if (length < 0 || (size_t)length >= sizeof(text))
		return e->fields->class_name;
	return strings_add(&c->frames.strings, text, (size_t)length);
}

uint32_t aggregate_leaf_frame(struct collector *c, const struct sink_event *e)
{
	uint32_t name = e->lock ? e->lock->class_name : e->fields ? e->fields->class_name : 0;

	if (!name)
		return FRAMES_NO_MEMORY;
	if (c->options.sizes && e->fields)
		name = name_with_size(c, e);
	return aggregate_is_io(c, e->event) ? frames_target(&c->frames, name) : frames_class(&c->frames, name);
}

uint32_t aggregate_fields_shown(struct collector *c, const struct sink_event *e)
{
	return e->fields->class_name ? aggregate_leaf(c, e->node, aggregate_leaf_frame(c, e)) : e->node;
}

static struct sink_fields fields_of(struct collector *c, uint32_t event, const struct field_note *n)
{
	const struct event_fields *fields = &c->options.fields[event];
	unsigned class = MIN(event_field_of_kind(fields, EVENT_FIELD_CLASS),
			     event_field_of_kind(fields, EVENT_FIELD_TARGET));
	const char *name = class < fields->count ? c->sources->class_name((uint32_t)n->values[class]) : NULL;
	struct sink_fields f = {.class_name = name ? strings_add(&c->frames.strings, name, strlen(name)) : 0};

	memcpy(f.values, n->values, sizeof(f.values));
	return f;
}

/* As many of its size as it weighs. */
void aggregate_fields_objects(const struct collector *c, const struct sink_event *e, struct stack_count *t)
{
	const struct event_fields *fields = &c->options.fields[e->event];
	unsigned i = event_field_of_kind(fields, EVENT_FIELD_SIZE);
	unsigned outside = event_field_of_kind(fields, EVENT_FIELD_OUTSIDE);
	uint64_t size = i < fields->count ? e->fields->values[i] : 0;

	if (size)
		t->objects += wide_scale(e->weight, OBJECT_PARTS, 0, size);
	if (outside < fields->count && e->fields->values[outside])
		t->outside += e->weight;
	if (aggregate_is_io(c, e->event) && io_stands_for_others(e->weight, e->fields->values))
		t->outside += e->weight;
}

uint64_t aggregate_fields_interval_most(const struct collector *c, uint32_t e)
{
	const struct event_fields *fields = &c->options.fields[e];
	uint64_t least, most;

	if (!c->sources->object_intervals || event_field_of_kind(fields, EVENT_FIELD_SIZE) == fields->count)
		return 0;
	c->sources->object_intervals(&least, &most);
	return most > least ? most : 0;
}

void aggregate_fields(struct collector *c, const struct sample *s, const struct field_note *n,
		      const struct trace_context *trace_context, struct thread_record *r)
{
	struct sink_fields f;
	struct sink_event e = {.time = s->time, .samples = 1, .weight = s->weight, .vthread = s->vthread,
			       .event = s->event, .state = s->state, .fields = &f};
	struct stack_count *t;

	if (s->state == THREAD_NONE) { /* of what goes on: its methods are there now, and get their names */
		aggregate_stack(c, s);
		return;
	}
	f = fields_of(c, s->event, n);
	if (trace_context)
		e.trace_context = *trace_context;
	t = aggregate_noted(c, s, r, &e);
	if (!t)
		return;
	timing_add(&c->handler, s->handler_ns);
	if (survivors_are_of(c, s->event)) {
		if (survivors_add(c, &e))
			c->events[s->event].kept++;
		else
			c->events[s->event].losses_of_dead.count[LOSS_no_memory]++;
		return;
	}
	if (aggregate_is_io(c, s->event))
		aggregate_io_sum(c, &e);
	aggregate_add(c, &e, c->nodes.items[e.node].end, t);
	if (c->sources->stored)
		c->sources->stored(s->event, n, (uint32_t)(t - c->stack_counts.items) + 1);
	sink_event(c, &e);
}
