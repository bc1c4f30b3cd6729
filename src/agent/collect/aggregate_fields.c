/*
 * aggregate_fields.c - a sample that says more than its stack: the class among its fields is the innermost frame of
 * results, sinks get all of them.
 */
#include <string.h>

#include "agent/collect/aggregate.h"

uint32_t aggregate_fields_shown(struct collector *c, const struct sink_event *e)
{
	uint32_t class_name = e->fields->class_name;

	return class_name ? aggregate_leaf(c, e->node, frames_class(&c->frames, class_name)) : e->node;
}

static struct sink_fields fields_of(struct collector *c, uint32_t event, const struct field_note *n)
{
	const struct event_fields *fields = &c->options.fields[event];
	unsigned class = event_field_of_kind(fields, EVENT_FIELD_CLASS);
	const char *name = class < fields->count ? c->sources->class_name((uint32_t)n->values[class]) : NULL;
	struct sink_fields f = {.class_name = name ? strings_add(&c->frames.strings, name, strlen(name)) : 0};

	memcpy(f.values, n->values, sizeof(f.values));
	return f;
}

void aggregate_fields(struct collector *c, const struct sample *s, const struct field_note *n,
		      const struct trace_context *trace_context, struct thread_record *r)
{
	struct sink_fields f = fields_of(c, s->event, n);
	struct sink_event e = {.time = s->time, .samples = 1, .weight = s->weight, .vthread = s->vthread,
			       .event = s->event, .state = s->state, .fields = &f};
	uint32_t thread, shown = 0;
	struct stack_count *t = NULL;

	if (trace_context)
		e.trace_context = *trace_context;
	e.node = aggregate_stack(c, s);
	thread = e.node ? aggregate_thread(c, s, r) : 0;
	if (thread)
		shown = aggregate_fields_shown(c, &e);
	if (shown)
		shown = aggregate_stack_placed(c, shown, s, r);
	if (shown)
		t = aggregate_stack_count(c, e.event, shown, thread, e.state,
					  aggregate_trace_context(c, &e.trace_context));
	if (!t) {
		aggregate_lose(c, s, LOSS_no_memory);
		return;
	}
	e.thread = thread - 1;
	e.name = aggregate_name_at(c, e.thread, e.time);
	timing_add(&c->handler, s->handler_ns);
	aggregate_add(c, &e, c->nodes.items[e.node].end, t);
	sink_event(c, &e);
}
