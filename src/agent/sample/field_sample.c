#include "agent/sample/field_sample.h"

#include "agent/sample/handler.h"
#include "agent/sample/record_sample.h"
#include "agent/walk/fault.h"
#include "agent/zone/trace_context_read.h"
#include "common/base/clock_ns.h"
#include "context.h"

#define TRIES 100 /* who has come to the wrong record is out of it in no time */

static bool is_left_out(const struct thread_record *known, uint32_t event)
{
	return known && atomic_load(&known->sources[event].arm) == ARM_NONE;
}

bool field_sample_leaves_out(uint32_t event)
{
	return is_left_out(record_find(&zone.records, context_tcb()), event);
}

struct thread_record *field_sample_enter(uint32_t event, uint64_t weight)
{
	struct thread_record *known = record_find(&zone.records, context_tcb()), *r;
	int i;

	if (!known && handler_learn())
		known = record_find(&zone.records, context_tcb());
	r = wait_enter(event);
	for (i = 0; !r && i < TRIES && known && !is_left_out(known, event); i++)
		r = wait_enter(event);
	if (r || !atomic_load(&zone.enabled) || is_left_out(known, event))
		return r;
	zone_lose(event, LOSS_no_record, weight);
	return NULL;
}

/* Whether S could be put, with FIELDS (NULL: its event has none) behind it. */
static bool push(struct thread_record *r, struct sample *s, const struct field_note *fields)
{
	struct trace_context_note trace_context = {.unused = {0}};
	const struct sample *row[3] = {s};
	uint32_t n = 1;

	if (fields)
		row[n++] = (const void *)fields;
	s->noted = trace_context_of_record(r, &trace_context.trace_context);
	if (s->noted)
		row[n++] = (const void *)&trace_context;
	return queue_push_row(take_queue(r), row, n);
}

/* FROM NULL: from the last Java frame on, without OWN of them. */
static bool take(struct thread_record *r, uint32_t event, uint64_t time, uint64_t since, uint64_t weight,
		 const struct field_note *fields, const struct walk_caller *from, uint32_t own)
{
	struct sample s = {.time = time, .event = (uint8_t)event, .thread = r->index, .weight = weight,
			   .state = THREAD_RUNNING, .payload = UINT32_MAX /* of no CPU */};
	bool stored;

	record_take(r, event);
	if (window_keeps_out(&zone.window)) {
		record_lose(r, event, LOSS_outside_window, weight);
		return false;
	}
	fault_look();
	s.trace = from ? wait_walk_from(r, from, &s.epoch) : wait_walk(r, own, 0, &s.epoch);
	if (!s.trace) {
		record_lose(r, event, LOSS_store_full, weight);
		return false;
	}
	s.vthread = zone_mounted(r);
	s.handler_ns = (uint32_t)MIN(clock_ns(CLOCK_MONOTONIC) - since, (uint64_t)UINT32_MAX);
	stored = push(r, &s, fields);
	if (!stored)
		record_lose(r, event, LOSS_queue_full, weight);
	record_stir(&zone.records, r->index);
	return stored;
}

bool field_sample_take_since(struct thread_record *r, uint32_t event, uint64_t time, uint64_t since, uint64_t weight,
			     const struct field_note *fields, const struct walk_caller *from)
{
	return take(r, event, time, since, weight, fields, from, 0);
}

void field_sample_take_below(struct thread_record *r, uint32_t event, uint64_t time, uint64_t weight, uint32_t own)
{
	take(r, event, time, time, weight, NULL, NULL, own);
}

bool field_sample_take_from(struct thread_record *r, uint32_t event, uint64_t time, uint64_t weight,
			    const struct field_note *fields, const struct walk_caller *from)
{
	return field_sample_take_since(r, event, time, time, weight, fields, from);
}

void field_sample_take(struct thread_record *r, uint32_t event, uint64_t time, uint64_t weight,
		       const struct field_note *fields)
{
	field_sample_take_from(r, event, time, weight, fields, NULL);
}
