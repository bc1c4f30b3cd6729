/*
 * chunk_part.c - what of an event lies in the part of the time that is asked for (--from, --to), or in the recording:
 * samples of a batch one by one, and of a wait the time inside. A page takes a part of its time the same way (partOf of
 * web/timeline.js).
 */
#include "profile/readers/jfr/event_handlers.h"

#include "common/base/wide.h"

/* How long the event that HANDLER has read took. */
static uint64_t handler_ticks(const struct chunk_handlers *w, const struct event_handler *handler)
{
	uint64_t took = handler->slots[SLOT_WEIGHT], rate = w->chunk->ticks_per_second;

	if ((int64_t)took < 0)
		return 0;
	return handler->unit == UNIT_TICKS ? took :
	       wide_scale(wide_scale(took, metadata_unit_ns(handler->unit), 0, 1), rate, 0, NS_PER_S);
}

/* The end of P; the last moment there can be, if it is beyond. */
static int64_t end_of(const struct event_part *p)
{
	int64_t end;

	return __builtin_add_overflow(p->at, (int64_t)p->span, &end) ? INT64_MAX : end;
}

/* Of P's samples, evenly spread over its time, those inside. */
static void take_samples(const struct chunk_handlers *w, struct event_part *p)
{
	uint64_t steps = p->samples - 1, at = (uint64_t)p->at, span = p->span, first_in, last_in;
	int64_t end = end_of(p);

	if (end < w->from || p->at >= w->to) {
		p->samples = 0;
		return;
	}
	/* sample i is at AT + i × SPAN / STEPS */
	first_in = p->at >= w->from ? 0 : wide_scale((uint64_t)w->from - at, steps, span - 1, span);
	last_in = end < w->to ? steps : wide_scale((uint64_t)w->to - 1 - at, steps, 0, span);
	p->samples = last_in < first_in ? 0 : last_in - first_in + 1;
	p->at = (int64_t)(at + wide_scale(span, first_in, 0, steps));
	p->span = p->samples ? wide_scale(span, last_in - first_in, 0, steps) : 0;
}

/* Of the time that P lasts, that inside. */
static void take_time(const struct chunk_handlers *w, struct event_part *p)
{
	int64_t begin = MAX(p->at, w->from), end = MIN(end_of(p), w->to);

	p->samples = end > begin ? p->samples : 0;
	p->whole = p->span;
	p->at = begin;
	p->of = p->span = end > begin ? (uint64_t)end - (uint64_t)begin : 0;
}

void handler_part(const struct chunk_handlers *w, const struct event_handler *handler, uint64_t samples,
		  struct event_part *p)
{
	uint64_t span = handler->lasts ? handler_ticks(w, handler) :
			handler->kind == HANDLE_WALL ? handler->slots[SLOT_SPAN] : 0;

	p->at = (int64_t)handler->slots[SLOT_TIME];
	p->span = (int64_t)span < 0 ? 0 : span;
	p->samples = samples;
	p->of = p->whole = 1;

	/* of a wait that began before the recording the time inside is its, as of any other part of the time */
	if (p->span && handler->lasts && (w->selection->in_range || (p->at < w->from && end_of(p) > w->from)))
		take_time(w, p);
	else if (w->selection->in_range && p->span && samples > 1)
		take_samples(w, p);
	else if (w->selection->in_range && (p->at < w->from || p->at >= w->to))
		p->samples = 0;
}

uint64_t part_of(const struct event_part *p, uint64_t weight)
{
	return p->of == p->whole ? weight : wide_scale(weight, p->of, 0, p->whole);
}
