/*
 * stream_tell.c - from the aggregate's numbers to the records of a stream.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/collect/aggregate.h"
#include "agent/collect/ended_threads.h"
#include "agent/context/context_table.h"
#include "agent/sinks/stream/stream_state.h"
#include "agent/zone/frame_word.h"
#include "agent/zone/zone.h"
#include "common/os/os.h"

#define DROPS_EVERY NS_PER_S
#define NAMES RECORD_EVENTS /* place of names in stream.lost */

static const char *text(const struct stream *s, uint32_t number)
{
	return number ? strings_get(&s->collector->frames.strings, number) : "";
}

/* ---- putting ---- */

/* Put what S->record holds, with SAMPLES samples; false: there was no room. */
static bool put(struct stream *s, uint64_t samples, bool urgent)
{
	bool ok = !s->record.failed && stream_out_put(s->out, s->record.data, s->record.length, samples, urgent);

	if (ok)
		s->bytes += s->record.length;
	s->records += ok;
	s->record.length = 0;
	s->record.failed = 0;
	return ok;
}

/* Something that is said again sooner or later: dropped, it is counted without an event. */
static void put_or_count(struct stream *s, bool urgent, uint64_t now)
{
	struct stream_lost *lost = &s->lost[NAMES];

	if (!s->record.length || put(s, 0, urgent))
		return;
	lost->since = lost->records ? lost->since : now;
	lost->records++;
}

void stream_lose(struct stream_lost *lost, const struct sink_event *e, uint64_t now)
{
	lost->since = lost->records ? lost->since : now;
	lost->records++;
	lost->samples += e->samples;
	lost->value += e->weight;
}

void stream_tell_drops(struct stream *s, uint64_t now)
{
	uint32_t e;

	/* Not at the first gap, for the next record would be dropped again; but now and then in any case. */
	if (stream_out_waiting(s->out) > STREAM_WAITING / 2 && now < s->drops_due)
		return;
	s->drops_due = now + DROPS_EVERY;
	for (e = 0; e <= NAMES; e++) {
		struct stream_lost *lost = &s->lost[e];
		const struct stream_drop d = {
			.time = now, .since = lost->since, .records = lost->records,
			.event = e == NAMES ? NULL : s->options.events[e].name, .samples = lost->samples,
			.value = lost->value,
		};

		if (!lost->records)
			continue;
		if (s->options.writer->drop)
			s->options.writer->drop(&s->record, &d);
		if (!s->record.length || put(s, 0, true))
			*lost = (struct stream_lost){0};
	}
}

/* ---- the session ---- */

/* Facts and books of all events; the array is the caller's. */
static void list_events(struct stream *s, struct stream_event *events)
{
	struct collector *c = s->collector;
	struct loss_totals all;
	uint32_t e;

	for (e = 0; e < c->options.events; e++) {
		events[e] = (struct stream_event){
			.name = s->options.events[e].name, .engine = c->sources->active(e),
			.interval = s->options.events[e].interval, .weight_kind = s->options.events[e].weight_kind,
			.stored = c->events[e].stored,
			.value = c->events[e].weight_stored, .dropped = s->dropped[e],
			.left_out = s->left_out[e],
		};
		aggregate_all_losses(c, e, &all);
		events[e].taken = all.taken;
		events[e].open = c->open ? c->sources->open_ticks(e) : 0;
		memcpy(events[e].lost, all.count, sizeof(events[e].lost));
	}
}

void stream_tell_header(struct stream *s, uint64_t now)
{
	struct stream_event events[RECORD_EVENTS];
	struct stream_header h = {
		.time = now, .real_offset = s->real_offset, .pid = getpid(), .cpus = os_cpus_online(),
		.main_class = s->options.main_class, .jdk = s->options.jdk, .events = events,
		.event_count = s->collector->options.events,
	};

	if (!s->options.writer->header)
		return;
	list_events(s, events);
	s->options.writer->header(&s->record, &h);
	put_or_count(s, true, now);
}

void stream_tell_stats(struct stream *s, uint64_t now)
{
	const struct source_clocks clocks = s->collector->sources->clocks();
	struct stream_event events[RECORD_EVENTS];
	struct stream_stats stats = {
		.time = now, .cpu_time = clocks.cpu - s->options.cpu_at_start,
		.own_cpu = clocks.own - s->options.own_at_start, .queue_bytes = s->collector->queues.bytes,
		.waiting = stream_out_waiting(s->out), .threads = (uint32_t)s->collector->threads.count,
		.events = events, .event_count = s->collector->options.events,
	};

	if (!s->options.writer->stats)
		return;
	list_events(s, events);
	s->options.writer->stats(&s->record, &stats);
	put_or_count(s, true, now);
}

/* ---- threads ---- */

/* Whose E is, as it was called then; for a virtual thread NAME may take its name. */
static struct stream_thread thread_of(struct stream *s, const struct sink_event *e, char *name)
{
	const struct thread_entry *t = &s->collector->threads.items[e->thread];

	if (!e->vthread)
		return (struct stream_thread){.tid = t->tid, .java_id = t->java_id,
					      .name = text(s, e->name ? e->name : t->name)};
	return (struct stream_thread){.java_id = e->vthread, .name = virtual_name(s->collector, e->vthread, name)};
}

static void tell_thread(struct stream *s, const struct stream_thread *t)
{
	s->options.writer->thread(&s->record, t);
	put_or_count(s, false, t->time);
}

void stream_tell_note(struct stream *s, const struct stream_note *n)
{
	tell_thread(s, &(struct stream_thread){.time = n->time, .tid = n->tid, .java_id = n->java_id,
						      .name = text(s, n->name), .ended = n->ended});
}

void stream_tell_threads(struct stream *s, uint64_t now)
{
	struct collector *c = s->collector;
	struct stream_note n = {.time = now};
	uint32_t i;
	size_t e;

	for (i = 0; i < c->names.capacity; i++) {
		const struct map_slot *slot = &c->names.slots[i];
		uint32_t *java_id = slot->used ? map_get(&c->java_ids, slot->key) : NULL;

		n.tid = (int32_t)slot->key;
		n.name = slot->value;
		n.java_id = java_id ? *java_id : 0;
		if (slot->used && n.name)
			stream_tell_note(s, &n);
	}
	/* sampled ones that have no name yet */
	for (e = 0; e < c->threads.count; e++) {
		const struct thread_entry *t = &c->threads.items[e];
		uint32_t *newest = t->tid ? map_get(&c->by_tid, (uint64_t)t->tid) : NULL;

		n = (struct stream_note){.tid = t->tid, .java_id = t->java_id, .name = t->name, .time = now};
		if (newest && *newest == e + 1 && !t->given)
			stream_tell_note(s, &n);
	}
}

/* ---- samples ---- */

/* The frames of NODE to TO, leaf first. */
static void list_frames(struct stream *s, const struct node *n, struct profile_frame *to)
{
	const struct collector *c = s->collector;
	uint32_t i;

	for (i = 0; i < n->depth; i++)
		to[i] = frames_spelled(&c->frames, c->frame_list.items[n->first + i]);
}

static struct stream_known *known_at(struct stream *s, uint32_t node)
{
	while (s->stacks.count <= node) {
		struct stream_known *fresh = VECTOR_PUSH(&s->stacks);

		if (!fresh)
			return NULL;
	}
	return &s->stacks.items[node];
}

/*
 * Stack of NODE, whose frames go to FRAMES; its definition is appended to the record if the reader has none yet. NULL
 * when out of memory.
 */
static struct stream_known *stack_at(struct stream *s, uint32_t node, uint64_t time, struct profile_frame *frames,
				     struct stream_stack *stack)
{
	const struct node *n = &s->collector->nodes.items[node];
	struct stream_known *k = known_at(s, node);

	if (!k)
		return NULL;
	if (!k->id)
		k->id = ++s->last_id;
	*stack = (struct stream_stack){.time = time, .id = k->id, .frames = frames, .depth = n->depth,
				       .complete = !n->end, .lasting = s->options.filter.lasting};
	if (!s->options.writer->stacks_apart || k->round != s->round)
		list_frames(s, n, frames);
	if (s->options.writer->stacks_apart && k->round != s->round)
		s->options.writer->stack(&s->record, stack);
	return k;
}

static struct stream_lock lock_at(struct stream *s, const struct sink_lock *l, const struct stream_stack *holder)
{
	return (struct stream_lock){
		.kind = (enum lock_kind)l->kind, .class_name = text(s, l->class_name), .identity = l->identity,
		.duration = l->told + l->duration, .open = l->open,
		.owner_tid = l->owner_tid, .owner_java_id = l->owner_context,
		.owner = text(s, l->owner_name), .owner_stack = l->owner_node ? holder : NULL,
	};
}

/* Definitions and the sample itself into the record; false when out of memory. */
static bool write_item(struct stream *s, const struct stream_item *item, struct stream_known **stack_known,
		       struct stream_known **holder_known)
{
	const struct sink_event *e = &item->event;
	const struct sink_lock *l = e->lock ? &item->lock : NULL;
	const struct node *nodes = s->collector->nodes.items;
	uint32_t depth = nodes[e->node].depth, more = l && l->owner_node ? nodes[l->owner_node].depth : 0;
	struct stream_stack stack, holder;
	struct stream_lock lock;
	char name[VIRTUAL_NAME];
	const struct trace_context *w = &e->trace_context;
	struct profile_trace_context trace_context = {w->trace_high, w->trace_low, w->span,
						      trace_contexts_labels(w->labels), false};
	struct stream_sample sample = {
		.time = stream_time(item), .span = e->span, .samples = e->samples, .value = e->weight,
		.event = s->options.events[e->event].name, .state = (enum thread_state)e->state,
		.thread = thread_of(s, e, name), .stack = &stack, .lock = l ? &lock : NULL,
		.trace_context = trace_context_is_none(&e->trace_context) ? NULL : &trace_context,
	};
	struct stream_fields fields = {.list = s->collector->options.fields[e->event], .values = item->fields.values,
				       .class_name = text(s, e->fields ? item->fields.class_name : 0)};

	if (!VECTOR_RESERVE(&s->frames, (size_t)depth + more))
		return false;
	*stack_known = stack_at(s, e->node, e->time, s->frames.items, &stack);
	*holder_known = more ? stack_at(s, l->owner_node, e->time, s->frames.items + depth, &holder) : *stack_known;
	if (l)
		lock = lock_at(s, l, &holder);
	if (e->fields)
		sample.fields = &fields;
	if (!*stack_known || !*holder_known)
		return false;
	s->options.writer->sample(&s->record, &sample, s->real_offset);
	return true;
}

void stream_tell_item(struct stream *s, const struct stream_item *item)
{
	struct stream_known *stack, *holder;
	struct sink_event e = item->event;
	bool ok;

	e.lock = e.lock ? &item->lock : NULL;
	e.fields = e.fields ? &item->fields : NULL;
	if (!shown_event(&s->shown, s->collector, &e)) {
		s->left_out[item->event.event] += item->event.samples;
		return;
	}
	ok = write_item(s, item, &stack, &holder);
	if (ok && put(s, item->event.samples, false)) {
		/* looked up anew: the second one may have moved the list */
		s->stacks.items[item->event.node].round = s->round;
		if (item->event.lock && item->lock.owner_node)
			s->stacks.items[item->lock.owner_node].round = s->round;
		s->samples += item->event.samples;
		return;
	}
	s->record.length = 0;
	stream_lose(&s->lost[item->event.event], &item->event, os_monotonic());
	s->dropped[item->event.event] += item->event.samples;
	s->dropped_all += item->event.samples;
}
