/*
 * aggregate.c - a sample becomes a number at a named stack.
 */
#include <string.h>

#include "agent/collect/aggregate.h"
#include "agent/collect/sink.h"
#include "agent/threads/run_queue.h"
#include "agent/zone/zone.h"

struct stack_count *aggregate_stack_count(struct collector *c, uint32_t event, uint32_t node, uint32_t thread,
					uint8_t state, uint32_t trace_context)
{
	struct event_aggregate *a = &c->events[event];
	struct stack_count *t;
	uint32_t *slot, of;

	thread = c->options.per_thread || c->options.by_thread[event] ? thread : 0;
	state = a->ticks ? state : THREAD_NONE;
	of = aggregate_trace_context_on(c, thread, trace_context);
	if (trace_context && !of)
		return NULL;
	slot = map_put(&a->by_node, (uint64_t)node << 32 | of << 4 | state, NULL);

	if (!slot || *slot)
		return slot ? &c->stack_counts.items[*slot - 1] : NULL;
	t = PAGED_PUSH(&c->stack_counts);
	if (!t)
		return NULL;
	t->node = node;
	t->thread = thread;
	t->event = event;
	t->state = state;
	t->trace_context = trace_context;
	*slot = (uint32_t)c->stack_counts.count;
	return t;
}

/* When E, which is added to stack count number COUNT, was taken. */
static void note_time(struct collector *c, const struct sink_event *e, size_t count)
{
	uint64_t span = e->lock ? e->lock->duration - MIN(e->lock->duration, e->lock->told) : e->span;
	uint64_t from = MAX(e->time, c->began), until = MAX(e->time + span, from);

	timeline_add(&c->timelines[e->event], &(struct timeline_sample){
		.at = from - c->began, .span = until - from, .samples = e->samples, .weight = e->weight, .count = count,
		.thread = e->thread, .even = !c->options.waits[e->event] && !c->options.fields[e->event].count,
	}, c->timeline_most);
}

/* Stored samples E (its node and thread are set here) at PLACE; TALLY was found. */
void aggregate_add(struct collector *c, const struct sink_event *e, uint8_t end, struct stack_count *t)
{
	struct event_aggregate *a = &c->events[e->event];
	struct thread_sum *sum = &c->sums.items[e->thread * c->options.events + e->event];

	a->stored += e->samples;
	a->weight_stored += e->weight;
	if (end)
		a->ended[end - 1] += e->samples;
	else
		a->complete += e->samples;
	sum->samples += e->samples;
	sum->weight += e->weight;
	t->samples += e->samples;
	t->weight += e->weight;
	if (e->fields)
		aggregate_fields_objects(c, e, t);
	if (c->events[e->event].timed)
		note_time(c, e, (size_t)(t - c->stack_counts.items));
}

static void add(struct collector *c, struct sink_event *e, const struct place *place, struct stack_count *t)
{
	e->node = place->shown;
	e->thread = place->thread - 1;
	e->state = place->state;
	e->vthread = place->vthread;
	e->trace_context = place->trace_context;
	e->name = aggregate_name_at(c, e->thread, e->time);
	aggregate_add(c, e, c->nodes.items[place->node].end, t);
	sink_event(c, e);
}

/* Samples E at PLACE are kept, or lost for lack of memory. */
static bool store(struct collector *c, struct sink_event *e, const struct place *place)
{
	struct event_aggregate *a = &c->events[e->event];
	struct stack_count *t = NULL;

	if (place->shown)
		t = aggregate_stack_count(c, e->event, place->shown, place->thread, place->state,
					aggregate_trace_context(c, &place->trace_context));
	if (t) {
		add(c, e, place, t);
		return true;
	}
	a->losses_of_dead.count[LOSS_no_memory] += e->samples;
	a->losses_of_dead.weight[LOSS_no_memory] += e->weight;
	return false;
}

/*
 * What a thread does in the Java method that it waits in, by that method's name; OTHERWISE: it is none that waits. One
 * that has left its carrier did so by itself in any method of a class without a method here, else it is BLOCKED.
 */
static enum thread_state state_at(const struct collector *c, const struct node *n, enum thread_state otherwise)
{
	static const struct {
		const char *class_name, *name;
		enum thread_state state;
	} waits[] = {
		{"jdk/internal/misc/Unsafe", "park", THREAD_PARKED},
		{"sun/misc/Unsafe", "park", THREAD_PARKED},
		{"java/lang/ref/Reference", "waitForReferencePendingList", THREAD_WAITING},
		{"java/lang/Object", "wait", THREAD_WAITING},
		{"java/lang/Object", "wait0", THREAD_WAITING},
		{"java/lang/Thread", "sleep", THREAD_SLEEPING},
		{"java/lang/Thread", "sleep0", THREAD_SLEEPING},
		{"java/lang/Thread", "sleepNanos0", THREAD_SLEEPING}, /* 21+ */
		{"java/lang/VirtualThread", "takeVirtualThreadListToUnblock", THREAD_WAITING}, /* 24+ */
		{"java/lang/VirtualThread", "", THREAD_PARKED},
		{"jdk/internal/vm/Continuation", "", THREAD_PARKED},
	};
	const struct named_frame *f = NULL;
	uint32_t at;
	size_t i;

	/* of the Zero VM a stack may have native frames further in */
	for (at = 0; at < n->depth && (!f || !f->class_name); at++)
		f = &c->frames.named.items[c->frame_list.items[n->first + at]];
	for (i = 0; f && f->class_name && i < ARRAY_LEN(waits); i++)
		if (strcmp(strings_get(&c->frames.strings, f->class_name), waits[i].class_name) == 0 &&
		    (*waits[i].name ? strcmp(strings_get(&c->frames.strings, f->name), waits[i].name) == 0 :
				      otherwise == THREAD_BLOCKED))
			return waits[i].state;
	return otherwise;
}

/* TRACE_CONTEXT may be NULL. */
static void find_place(struct collector *c, const struct sample *s, const struct trace_context *trace_context,
		       struct thread_record *r, struct place *p)
{
	p->node = aggregate_stack(c, s);
	p->thread = p->node ? aggregate_thread(c, s, r) : 0;
	p->shown = p->thread ? aggregate_stack_placed(c, p->node, s, r) : 0;
	p->state = s->state;
	if (p->node && s->state == THREAD_NONE && s->weight && c->events[s->event].ticks)
		p->state = (uint8_t)state_at(c, &c->nodes.items[p->node], THREAD_HELD); /* a tick by a signal */
	else if (p->node && s->state == THREAD_NATIVE)
		p->state = (uint8_t)state_at(c, &c->nodes.items[p->node], THREAD_NATIVE);
	else if (p->node && s->state == THREAD_PARKED && c->events[s->event].ticks)
		/* from JDK 24 on the JVM takes one off its carrier, in whatever method, that waits for a monitor */
		p->state = (uint8_t)state_at(c, &c->nodes.items[p->node], THREAD_BLOCKED);
	p->vthread = s->vthread;
	p->trace_context = trace_context ? *trace_context : (struct trace_context){0};
}

bool aggregate_reported(struct collector *c, const struct sample *s, const struct trace_context *trace_context,
		  struct thread_record *r)
{
	struct sink_event e = {.time = s->time, .samples = 1, .weight = s->weight, .event = s->event};
	struct place place;

	find_place(c, s, trace_context, r, &place);
	/*
	 * In no state and without weight: it is announced, so that its stack gets its names
	 * (agent/sources/wall/vthreads.c).
	 */
	return (s->state != THREAD_NONE || s->weight) && store(c, &e, &place);
}

void aggregate_sample(struct collector *c, const struct sample *s, const struct trace_context *trace_context,
		    struct thread_record *r)
{
	if (!aggregate_reported(c, s, trace_context, r))
		return;
	c->events[s->event].ambiguous += s->unsure;
	timing_add(&c->handler, s->handler_ns);
	if (c->options.stats && !c->options.record_cpu)
		timing_add(&c->walk, s->payload);
}

/* ---- runs ---- */

static struct place *run_of(struct collector *c, uint32_t thread)
{
	while (c->runs.count <= thread) {
		struct place *p = PAGED_PUSH(&c->runs);

		if (!p)
			return NULL;
		memset(p, 0, sizeof(*p));
	}
	return &c->runs.items[thread];
}

/* Whether NODE has a frame whose name could not be proved. */
static bool has_unloaded(struct collector *c, const struct node *n)
{
	uint32_t unloaded = frames_marker(&c->frames, "[unloaded]"), i;

	for (i = 0; i < n->depth; i++)
		if (c->frame_list.items[n->first + i] == unloaded)
			return true;
	return false;
}

uint32_t aggregate_shown(struct collector *c, const struct sink_event *e)
{
	return e->lock ? aggregate_wait_shown(c, e) : e->fields ? aggregate_fields_shown(c, e) : e->node;
}

struct stack_count *aggregate_noted(struct collector *c, const struct sample *s, struct thread_record *r,
				    struct sink_event *e)
{
	struct stack_count *t = NULL;
	uint32_t thread, shown = 0;

	e->node = aggregate_stack(c, s);
	thread = e->node ? aggregate_thread(c, s, r) : 0;
	if (thread)
		shown = aggregate_shown(c, e);
	if (shown)
		shown = aggregate_stack_placed(c, shown, s, r);
	if (shown)
		t = aggregate_stack_count(c, e->event, shown, thread, e->state,
					  aggregate_trace_context(c, &e->trace_context));
	if (!t) {
		aggregate_lose(c, s, LOSS_no_memory);
		return NULL;
	}
	e->thread = thread - 1;
	e->name = aggregate_name_at(c, e->thread, e->time);
	return t;
}

static void begin_run(struct collector *c, const struct run_note *n, struct place *p)
{
	struct sample s = {
		.time = n->time,
		.trace = n->trace,
		.vthread = n->vthread,
		.thread = n->thread,
		.event = n->event,
		.state = n->state,
		.epoch = n->epoch,
		.payload = UINT32_MAX, /* of no CPU */
	};

	find_place(c, &s, &n->trace_context, &zone.records.records[n->thread], p);
	/* the JVM says no more than "blocked": or it is held where it could run, at a safepoint, for a collection */
	if (p->node && n->state == THREAD_NONE)
		p->state = (uint8_t)state_at(c, &c->nodes.items[p->node], THREAD_HELD);
	/* Classes may have been loaded or unloaded just then, and the thread may never move. */
	if (p->node && has_unloaded(c, &c->nodes.items[p->node]))
		c->sources->look_again(n->thread);
}

void aggregate_run(struct collector *c, const struct run_note *n)
{
	struct place *p = run_of(c, n->thread), none = {0};
	struct sink_event e = {
		.time = n->time,
		.span = n->span,
		.samples = n->samples,
		.weight = n->weight,
		.event = n->event,
	};

	if (n->trace && p)
		begin_run(c, n, p);
	else if (!n->trace)
		store(c, &e, p ? p : &none);
}
