#include "signal/wait.h"

#include <string.h>
#include <time.h>

#include "context.h"
#include "signal/handler.h"
#include "signal/perf_samples.h"
#include "signal/walk.h"

struct thread_record *wait_enter(uint32_t event)
{
	struct thread_record *r = record_find(&zone.records, context_tcb());

	if (!r || atomic_load_explicit(&r->inside, memory_order_relaxed))
		return NULL;
	handler_enter(r);
	/* Between the look-up and here the session may have ended, and the record be somebody else's. */
	if (atomic_load_explicit(&r->tcb, memory_order_relaxed) == context_tcb() &&
	    handler_refusal(r) == LOSS_REASONS && atomic_load(&r->sources[event].arm) == ARM_CALLS)
		return r;
	handler_leave(r);
	return NULL;
}

void wait_leave(struct thread_record *r)
{
	handler_leave(r);
}

/* The frames of W without the innermost SKIP. */
static void drop_innermost(struct trace_writer *w, size_t skip)
{
	size_t length = (size_t)(w->pos - w->trace->frame);

	skip = MIN(skip, length);
	memmove(w->trace->frame, w->trace->frame + skip, (length - skip) * sizeof(*w->pos));
	w->pos -= skip;
}

const struct trace *wait_walk(struct thread_record *r, uint32_t skip, uint16_t *era)
{
	struct trace_writer w;

	*era = (uint16_t)era_now(&zone.eras);
	if (!trace_begin(&w, &zone.store, &r->chunk, zone.depth) || !walk_outside(&zone, r, &w) || w.store_full)
		return NULL;
	drop_innermost(&w, skip);
	return trace_end(&w);
}

void wait_announce(struct thread_record *r, uint32_t event, const struct trace *t, uint16_t era)
{
	struct sample s = {.trace = t, .thread = r->index, .event = (uint8_t)event, .state = THREAD_NONE, .era = era};

	if (atomic_load_explicit(&((struct trace *)t)->id, memory_order_relaxed))
		return;
	if (queue_push_pair(handler_queue(r), &s, &s))
		record_stir(&zone.records, r->index);
}

/* Whether DURATION more makes a sample of R's EVENT; its weight then. */
static bool is_due(struct thread_record *r, uint32_t event, uint64_t duration, uint64_t *weight)
{
	struct record_source *source = &r->sources[event];

	source->carried += duration;
	if (source->carried < zone.events[event].interval)
		return false;
	*weight = source->carried;
	source->carried = 0;
	record_take(r, event);
	return true;
}

void wait_take(struct thread_record *r, struct sample *s, const struct wait_note *n)
{
	struct sample note;

	if (!is_due(r, s->event, n->duration, &s->weight))
		return;
	s->thread = r->index;
	memcpy(&note, n, sizeof(note));
	if (window_keeps_out(&zone.window))
		record_lose(r, s->event, LOSS_outside_window, s->weight);
	else if (!queue_push_pair(handler_queue(r), s, &note))
		record_lose(r, s->event, LOSS_queue_full, s->weight);
	record_stir(&zone.records, r->index);
}

void wait_lose(struct thread_record *r, uint32_t event, uint64_t duration, enum loss_reason why)
{
	uint64_t weight;

	if (is_due(r, event, duration, &weight))
		record_lose(r, event, why, weight);
}
