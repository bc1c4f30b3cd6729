/*
 * recording_put.c - what was handed to a recording becomes its events.
 */
#include <stdlib.h>
#include <string.h>

#include "agent/collect/aggregate.h"
#include "agent/collect/survivors.h"
#include "agent/context/context_table.h"
#include "agent/sinks/recording/recording_state.h"
#include "agent/sinks/ring/ring.h"
#include "agent/zone/zone.h"
#include "common/base/buffer.h"
#include "common/base/pages.h"
#include "common/base/wide.h"
#include "common/os/os.h"
#include "profile/model/context_text.h"

void recording_put_settings(struct recording *r, uint64_t now)
{
	size_t i;

	for (i = 0; i < r->settings.count; i++)
		jfr_event(r->jfr, r->settings.items[i].type, now, r->settings.items[i].values,
			  r->settings.items[i].count);
	r->chunks++;
}

static void drop(struct recording *r, uint64_t samples)
{
	r->dropped += samples;
}

static void put_wait(struct recording *r, const struct sink_event *e, uint32_t thread, uint32_t stack)
{
	const struct sink_lock *l = e->lock;
	const char *name = l->class_name ? strings_get(&r->collector->frames.strings, l->class_name) : NULL;
	const struct jfr_wait w = {
		.time = e->time,
		.duration = l->duration,
		.thread = thread,
		.stack = stack,
		.owner = l->owner_thread ? recording_thread(r, l->owner_thread - 1, l->owner_context, 0) : 0,
		.owner_stack = l->owner_node ? recording_stack(r, l->owner_node) : 0,
		.class = name ? jfr_class(r->jfr, name) : 0,
		.identity = l->identity,
		.kind = (enum lock_kind)l->kind,
	};

	jfr_wait(r->jfr, &w);
}

/* What is known of the heap, before the first of its objects in a chunk. */
static void put_live_heap(struct recording *r, uint32_t event, uint64_t time)
{
	const struct collector *c = r->collector;
	const struct jfr_value v[] = {
		JFR_N(jfr_ticks(r->jfr, c->opened)), JFR_N(jfr_ticks(r->jfr, c->opened + c->growth_span[event])),
		JFR_N(c->sources->heap_used()), JFR_N(c->sources->heap_most()),
	};

	if (r->live_chunk != r->chunks)
		jfr_event(r->jfr, JFR_LIVE_HEAP, time, v, ARRAY_LEN(v));
	r->live_chunk = r->chunks;
}

static void put_fields(struct recording *r, const struct sink_event *e, uint32_t thread, uint32_t stack)
{
	uint32_t class_name = e->fields->class_name;
	const struct jfr_field_sample s = {
		.time = e->time,
		.weight = e->weight,
		.thread = thread,
		.stack = stack,
		.class = class_name ? jfr_class(r->jfr, strings_get(&r->collector->frames.strings, class_name)) : 0,
		.fields = r->collector->options.fields[e->event],
		.values = e->fields->values,
		.bare = r->options.object_samples,
	};

	if (survivors_are_of(r->collector, e->event))
		put_live_heap(r, e->event, e->time);
	jfr_field_sample(r->jfr, jfr_type_of_event(r->options.events[e->event].name), &s);
}

static void put_io(struct recording *r, const struct sink_event *e, uint32_t thread, uint32_t stack)
{
	uint32_t name = e->fields->class_name;
	const struct jfr_io io = {
		.time = e->time,
		.thread = thread,
		.stack = stack,
		.target = name ? strings_get(&r->collector->frames.strings, name) : "",
		.values = e->fields->values,
		.weight = e->weight,
	};

	jfr_io(r->jfr, &io);
}

/* What E's thread worked for, right before E: no event of the JDK has a place for it. */
static void put_trace_context(struct recording *r, const struct sink_event *e, uint32_t thread)
{
	const struct trace_context *w = &e->trace_context;
	const struct profile_trace_context trace_context = {w->trace_high, w->trace_low, w->span,
							    trace_contexts_labels(w->labels), false};
	char trace[TRACE_CONTEXT_TRACE_CHARS], span[TRACE_CONTEXT_SPAN_CHARS];
	struct jfr_value values[] = {JFR_N(thread), JFR_S(trace), JFR_S(span), JFR_N(0)};
	struct buffer labels = BUFFER_INIT;

	trace_context_trace_id(&trace_context, trace);
	trace_context_span_id(&trace_context, span);
	trace_context_labels(&labels, trace_context.labels);
	buffer_putc(&labels, '\0');
	/* the JDK's tools take an empty constant for none: it is none then */
	values[3].number = labels.failed || labels.length == 1 ? 0 : jfr_symbol(r->jfr, labels.data);
	jfr_event(r->jfr, JFR_SAMPLE_CONTEXT, e->time, values, ARRAY_LEN(values));
	buffer_free(&labels);
}

/* E as an event. */
static void write_sample(struct recording *r, const struct sink_event *e)
{
	uint32_t thread = recording_thread(r, e->thread, e->vthread, e->name), stack = recording_stack(r, e->node);
	const char *name = r->options.events[e->event].name;
	enum thread_state state = (enum thread_state)e->state;

	if (!thread || !stack) {
		drop(r, e->samples);
		return;
	}
	r->samples += e->samples;
	if (!trace_context_is_none(&e->trace_context))
		put_trace_context(r, e, thread);
	switch (r->options.events[e->event].kind) {
	case RECORDING_CPU:
		jfr_cpu_sample(r->jfr, e->time, thread, stack, e->weight);
		break;
	case RECORDING_WALL:
		if (r->options.nobatch && e->samples == 1)
			jfr_wall_sample(r->jfr, e->time, thread, stack, state, e->weight);
		else
			jfr_wall_run(r->jfr, e->time, thread, stack, state, e->samples, e->span, e->weight);
		break;
	case RECORDING_LOCK:
		if (e->lock)
			put_wait(r, e, thread, stack);
		break;
	case RECORDING_IO:
		if (e->fields)
			put_io(r, e, thread, stack);
		break;
	case RECORDING_EVENT:
		if (e->fields)
			put_fields(r, e, thread, stack);
		else
			jfr_event_sample(r->jfr, e->time, thread, stack, THREAD_RUNNING, name, e->weight);
		break;
	}
}

/* E, which is not needed any more. */
static void put_sample(struct recording *r, const struct sink_event *e)
{
	struct recording_sums *sums = &r->put[e->event];

	sums->samples += e->samples;
	sums->weight += e->weight;
	sums->complete += r->collector->nodes.items[e->node].end ? 0 : e->samples;
	if (shown_event(&r->shown, r->collector, e)) {
		write_sample(r, e);
	} else {
		r->left_out[e->event].samples += e->samples;
		r->left_out[e->event].weight += e->weight;
	}
	recording_let_go(e);
}

#define NOTE_DONE (UINT32_MAX - 1) /* as a thread: it is in the file */

static void put_free(struct recording *r, const struct thread_note *n)
{
	uint32_t thread = n->thread == UINT32_MAX ? 0 : recording_thread(r, n->thread, 0, 0);
	const struct jfr_value v[] = {JFR_N(thread), JFR_N(0), JFR_N(n->address), JFR_N(n->size)};

	if (n->size)
		jfr_event(r->jfr, JFR_NATIVE_UNMAP, n->time, v, ARRAY_LEN(v));
	else
		jfr_event(r->jfr, JFR_FREE, n->time, v, ARRAY_LEN(v) - 1);
}

static void put_note(struct recording *r, const struct thread_note *n)
{
	uint32_t thread = recording_thread(r, n->thread, 0, 0);
	const struct jfr_value start[] = {JFR_N(thread), JFR_N(0), JFR_N(thread), JFR_N(0)};
	const struct jfr_value end[] = {JFR_N(thread), JFR_N(thread)};

	if (!thread)
		return;
	if (n->end)
		jfr_event(r->jfr, JFR_THREAD_END, n->time, end, ARRAY_LEN(end));
	else
		jfr_event(r->jfr, JFR_THREAD_START, n->time, start, ARRAY_LEN(start));
}

static void subtract(struct loss_totals *from, const struct loss_totals *t)
{
	int i;

	from->taken -= t->taken;
	for (i = 0; i < LOSS_REASONS; i++) {
		from->count[i] -= t->count[i];
		from->weight[i] -= t->weight[i];
	}
}

/* Losses of event E that belong to the recording, so far. */
static void losses_of(const struct recording *r, uint32_t e, struct loss_totals *t)
{
	if (r->window)
		*t = r->window->lost[e];
	else
		aggregate_all_losses(r->collector, e, t);
	subtract(t, &r->lost_before[e]);
}

void recording_put_losses(struct recording *r, uint64_t now)
{
	struct loss_totals all;
	uint32_t e;
	int i;

	for (e = 0; e < r->collector->options.events; e++) {
		struct loss_totals *told = &r->told[e];
		uint64_t sum = 0;

		losses_of(r, e, &all);
		for (i = 0; i < LOSS_REASONS; i++) {
			const struct jfr_value v[] = {
				JFR_S(r->options.events[e].name), JFR_S(loss_names[i].name),
				JFR_N(all.count[i] - told->count[i]), JFR_N(all.weight[i] - told->weight[i]),
			};

			if (v[2].number || v[3].number)
				jfr_event(r->jfr, JFR_SAMPLES_LOST, now, v, ARRAY_LEN(v));
			sum += v[2].number;
		}
		if (sum && r->options.events[e].kind == RECORDING_CPU) {
			const struct jfr_value v[] = {JFR_N(sum), JFR_N(0)};

			jfr_event(r->jfr, JFR_CPU_TIME_SAMPLES_LOST, now, v, ARRAY_LEN(v));
		}
		*told = all;
	}
}

void recording_put_windows(struct recording *r)
{
	uint64_t last = atomic_load(&zone.window.count);
	struct window_note n;

	/* Before the engine has started they are of the session before. */
	if (!zone.windowed || r->threads_known == UINT64_MAX)
		return;
	for (; r->windows < last; r->windows++) {
		uint32_t entry;

		if (window_noted(&zone.window, r->windows + 1, &n)) {
			entry = n.thread ? zone.records.records[n.thread - 1].thread_entry : 0;
			jfr_window(r->jfr, n.since, n.took, entry ? recording_thread(r, entry - 1, 0, 0) : 0);
		} else if (r->windows + WINDOW_NOTES > last) {
			return; /* its thread is about to note it */
		}
	}
}

/* The books of a recording that goes on with the session. */
static struct recording_sums aggregate_sums(const struct recording *r, uint32_t e)
{
	const struct event_aggregate *a = &r->collector->events[e];
	const struct recording_sums *before = &r->stored_before[e];

	return (struct recording_sums){a->stored - before->samples, a->weight_stored - before->weight,
				       a->complete - before->complete, a->ambiguous - before->ambiguous};
}

void recording_count_before(struct recording *r)
{
	uint32_t e;

	for (e = 0; e < r->collector->options.events; e++) {
		const struct event_aggregate *a = &r->collector->events[e];
		const struct recording_books *held = &r->books[e]; /* all 0 in a new file */

		memcpy(r->told[e].count, held->lost, sizeof(held->lost));
		memcpy(r->told[e].weight, held->lost_weight, sizeof(held->lost_weight));
		aggregate_all_losses(r->collector, e, &r->lost_before[e]);
		subtract(&r->lost_before[e], &r->told[e]);
		r->stored_before[e] = (struct recording_sums){a->stored - held->stored, a->weight_stored - held->weight,
							      a->complete - held->complete,
							      a->ambiguous - held->ambiguous};
	}
}

/* Samples in a ring do not say whether they are ambiguous: of those of a window it is the share of the session's. */
static struct recording_sums stored_sums(const struct recording *r, uint32_t e)
{
	const struct event_aggregate *a = &r->collector->events[e];
	struct recording_sums sums = r->window ? r->put[e] : aggregate_sums(r, e);

	if (r->window)
		sums.ambiguous = wide_scale(a->ambiguous, sums.samples, 0, MAX(a->stored, (uint64_t)1));
	sums.ambiguous = MIN(sums.ambiguous, sums.samples);
	return sums;
}

void recording_count_stored(struct recording *r)
{
	uint32_t e;

	for (e = 0; e < r->collector->options.events; e++) {
		struct recording_sums stored = stored_sums(r, e);

		r->books[e].stored = stored.samples;
		r->books[e].weight = stored.weight;
		r->books[e].complete = stored.complete;
		r->books[e].ambiguous = stored.ambiguous;
		r->books[e].clocks = (struct collector_clocks){0};
		if (!r->window && r->collector->open)
			collector_read_clocks(r->collector, e, &r->books[e].clocks);
	}
}

void recording_count_rest(struct recording *r)
{
	uint32_t e;

	for (e = 0; e < r->collector->options.events; e++) {
		struct recording_books *b = &r->books[e];

		b->left_out = r->left_out[e];
		b->window_cpu = r->window ? r->window->cpu : 0;
		b->window_own = r->window ? r->window->own : 0;
		memcpy(b->lost, r->told[e].count, sizeof(b->lost));
		memcpy(b->lost_weight, r->told[e].weight, sizeof(b->lost_weight));
	}
}

static void put_counters(struct recording *r, uint32_t e, uint64_t cpu, uint64_t own, uint64_t now)
{
	struct recording_sums stored = stored_sums(r, e);
	struct loss_totals all;
	uint64_t lost = 0, weight = 0;
	int i;

	losses_of(r, e, &all);
	for (i = 0; i < LOSS_REASONS; i++) {
		lost += all.count[i];
		weight += all.weight[i];
	}
	{
		const struct jfr_value v[] = {
			JFR_S(r->options.events[e].name), JFR_S(r->collector->sources->active(e)),
			JFR_N(r->options.events[e].interval), JFR_N(stored.samples + lost), JFR_N(stored.samples),
			JFR_N(lost), JFR_N(r->dropped), JFR_N(stored.complete), JFR_N(stored.weight), JFR_N(weight),
			JFR_N(cpu), JFR_N(own), JFR_N(r->left_out[e].samples), JFR_N(r->left_out[e].weight),
			JFR_N(r->options.partial), JFR_N(stored.ambiguous),
		};

		jfr_event(r->jfr, JFR_COUNTERS, now, v, ARRAY_LEN(v));
	}
}

void recording_put_counters(struct recording *r, uint64_t now)
{
	const struct source_clocks clocks = r->collector->sources->clocks();
	uint64_t cpu = r->window ? r->window->cpu : clocks.cpu - r->clocks.cpu;
	uint64_t own = r->window ? r->window->own : clocks.own - r->clocks.own;
	uint32_t e;

	for (e = 0; e < r->collector->options.events; e++)
		put_counters(r, e, cpu, own, now);
}

/* NEXT goes on where RUN ended: they are one. */
static bool goes_on(const struct sink_event *run, const struct sink_event *next, uint64_t interval)
{
	return next->node == run->node && next->state == run->state && next->vthread == run->vthread &&
	       next->event == run->event && trace_context_equals(&next->trace_context, &run->trace_context) &&
	       next->time >= run->time + run->span && next->time - run->time - run->span < 2 * interval;
}

/* A run that was cut, by its length or because a result was asked for, is one event if it is written at once. */
static void join_runs(struct recording *r)
{
	struct map last = {0}; /* thread and event → 1 + index of its last run */
	size_t i;

	for (i = 0; i < r->batch.count && !r->options.nobatch; i++) {
		struct sink_event *e = event_list_at(&r->batch, i), *run;
		uint32_t *slot;

		if (r->options.events[e->event].kind != RECORDING_WALL)
			continue;
		slot = map_put(&last, (uint64_t)e->thread << 8 | e->event, NULL);
		if (!slot)
			break;
		run = *slot ? event_list_at(&r->batch, *slot - 1) : NULL;
		if (!run || !goes_on(run, e, r->options.events[e->event].interval)) {
			*slot = (uint32_t)i + 1;
			continue;
		}
		run->span = e->time + e->span - run->time;
		run->samples += e->samples;
		run->weight += e->weight;
		e->samples = 0;
	}
	map_free(&last);
}

/* E goes into the file, or waits for names, unless EVERYTHING is to go. */
static void put_or_hold(struct recording *r, const struct sink_event *e, bool everything)
{
	struct sink_event *slot;

	if (!e->samples)
		return;
	if (everything || !recording_is_late(r, e->node)) {
		put_sample(r, e);
		return;
	}
	slot = event_list_push(&r->held);
	if (slot) {
		*slot = *e;
	} else {
		drop(r, e->samples);
		recording_let_go(e);
	}
}

struct moment {
	uint64_t time;
	size_t event, note; /* one of the batch; SIZE_MAX: it is the other */
};

static int by_time(const void *a, const void *b)
{
	uint64_t x = ((const struct moment *)a)->time, y = ((const struct moment *)b)->time;

	return x < y ? -1 : x > y;
}

/*
 * Blocks that are freed, and addresses that are given out again: a recording has times in microseconds, in which all of
 * this may happen, and who reads it goes by the order in the file. False: there is none of it, or no memory.
 */
static bool put_in_order(struct recording *r, bool everything)
{
	size_t i, n = 0, frees = 0;
	struct moment *all;

	for (i = 0; i < r->batch_notes.count; i++)
		frees += r->batch_notes.items[i].address != 0;
	all = frees ? pages_alloc((r->batch.count + frees) * sizeof(*all)) : NULL;
	if (!all)
		return false;
	for (i = 0; i < r->batch.count; i++)
		all[n++] = (struct moment){event_list_at(&r->batch, i)->time, i, SIZE_MAX};
	for (i = 0; i < r->batch_notes.count; i++)
		if (r->batch_notes.items[i].address)
			all[n++] = (struct moment){r->batch_notes.items[i].time, SIZE_MAX, i};
	qsort(all, n, sizeof(*all), by_time);
	for (i = 0; i < n; i++) {
		if (all[i].event != SIZE_MAX) {
			put_or_hold(r, event_list_at(&r->batch, all[i].event), everything);
		} else {
			put_free(r, &r->batch_notes.items[all[i].note]);
			r->batch_notes.items[all[i].note].thread = NOTE_DONE;
		}
	}
	pages_free(all, (r->batch.count + frees) * sizeof(*all));
	return true;
}

void recording_put_batch(struct recording *r, bool everything)
{
	size_t i, kept = 0;

	join_runs(r);
	for (i = 0; i < r->held.count; i++) {
		const struct sink_event *e = event_list_at(&r->held, i);

		if (!everything && recording_is_late(r, e->node))
			*event_list_at(&r->held, kept++) = *e;
		else
			put_sample(r, e);
	}
	event_list_cut(&r->held, kept);
	if (!put_in_order(r, everything))
		for (i = 0; i < r->batch.count; i++)
			put_or_hold(r, event_list_at(&r->batch, i), everything);
	for (i = 0; i < r->batch_notes.count; i++) {
		const struct thread_note *n = &r->batch_notes.items[i];

		if (!n->address)
			put_note(r, n);
		else if (n->thread != NOTE_DONE)
			put_free(r, n);
	}
	event_list_cut(&r->batch, 0);
	r->batch_notes.count = 0;
}
