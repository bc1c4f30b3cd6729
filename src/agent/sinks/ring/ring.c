#include "agent/sinks/ring/ring.h"

#include <stdlib.h>
#include <string.h>

#include "agent/collect/aggregate.h"
#include "agent/collect/carry.h"
#include "agent/sinks/ring/ring_state.h"
#include "agent/zone/zone.h"
#include "common/os/os.h"

#define MARKS 300 /* in a window */

/* ---- blocks ---- */

static void drop_oldest(struct ring *r)
{
	struct ring_block *b = r->oldest;

	r->oldest = b->next;
	if (!r->oldest)
		r->newest = NULL;
	r->blocks--;
	free(r->spare);
	r->spare = b;
}

const struct ring_position *ring_position_of_window(const struct ring *r)
{
	uint64_t end = r->ended ? r->ended : os_monotonic();
	uint64_t start = end > r->last ? end - r->last : 0;
	size_t i = 0;

	while (i + 1 < r->marks.count && r->marks.items[i + 1].time <= start)
		i++;
	return r->marks.count ? &r->marks.items[i] : NULL;
}

static uint64_t window_start(const struct ring *r)
{
	const struct ring_position *m = ring_position_of_window(r);

	return m ? m->time : 0;
}

/* The books as they stand. */
static void take_books(struct ring_position *m, struct collector *c, uint64_t now)
{
	const struct source_clocks clocks = c->sources->clocks();
	uint32_t e;

	m->time = now;
	m->cpu = clocks.cpu;
	m->own = clocks.own;
	m->children = os_children_cpu();
	for (e = 0; e < c->options.events; e++)
		aggregate_all_losses(c, e, &m->lost[e]);
}

const struct ring_position *ring_position_of_end(const struct ring *r, struct collector *c, struct ring_position *now)
{
	if (r->ended && r->marks.count)
		return &r->marks.items[r->marks.count - 1];
	memset(now, 0, sizeof(*now));
	take_books(now, c, os_monotonic());
	return now;
}

/* Note the books as they stand. Marks that the window has left behind go. */
static void mark(struct ring *r, struct collector *c, uint64_t now)
{
	const struct ring_position *first = ring_position_of_window(r);
	size_t past = first ? (size_t)(first - r->marks.items) : 0;
	struct ring_position *m;

	if (past) {
		r->marks.count -= past;
		memmove(r->marks.items, r->marks.items + past, r->marks.count * sizeof(*r->marks.items));
	}
	m = VECTOR_PUSH(&r->marks);
	if (m)
		take_books(m, c, now);
}

/* What those see who ask without the collector's lock. Lock held. */
static void tell(struct ring *r)
{
	atomic_store(&r->told_since, r->oldest ? MAX(r->oldest->first, window_start(r)) : 0);
	atomic_store(&r->told_bytes, r->blocks * sizeof(struct ring_block));
}

static struct ring_block *new_block(struct ring *r, uint64_t time)
{
	struct ring_block *b = r->spare ? r->spare : malloc(sizeof(*b));

	r->spare = NULL;
	if (!b)
		return NULL;
	b->next = NULL;
	b->first = b->last = b->base = time;
	b->used = b->count = 0;
	if (r->newest)
		r->newest->next = b;
	else
		r->oldest = b;
	r->newest = b;
	r->blocks++;
	r->previous = time;
	return b;
}

static void on_event(struct sink *s, const struct sink_event *e)
{
	struct ring *r = CONTAINER_OF(s, struct ring, sink);
	struct ring_block *b = r->newest;

	if (!b || b->used + RING_EVENT_BYTES > RING_BLOCK_BYTES) {
		if (b && (r->blocks + 1) * sizeof(*b) > r->limit)
			drop_oldest(r);
		b = new_block(r, e->time);
	}
	if (!b) {
		r->lost += e->samples;
		return;
	}
	ring_pack(b, e, r->previous);
	r->previous = e->time;
	b->first = MIN(b->first, e->time);
	b->last = MAX(b->last, e->time + e->span);
}

static void on_drained(struct sink *s, uint64_t now)
{
	struct ring *r = CONTAINER_OF(s, struct ring, sink);
	uint64_t start = now > r->last ? now - r->last : 0;

	if (!r->marks.count || now - r->marks.items[r->marks.count - 1].time >= r->mark_every)
		mark(r, s->collector, now);
	start = MIN(start, window_start(r));
	while (r->oldest && r->oldest != r->newest && r->oldest->last < start)
		drop_oldest(r);
	tell(r);
}

/* All samples once more, in new blocks: their nodes have new numbers. */
static void on_renewed(struct sink *s, struct generation *g)
{
	struct ring *r = CONTAINER_OF(s, struct ring, sink);
	struct ring_block *b = r->oldest, *next;

	r->oldest = r->newest = NULL;
	r->blocks = 0;
	for (; b; b = next) {
		uint64_t before = b->base;
		uint32_t i, at = 0;

		for (i = 0; i < b->count; i++) {
			struct ring_more more;
			struct sink_event e;

			ring_unpack(b, &at, before, &e, &more);
			before = e.time;
			carry_event(g, &e, e.lock ? &more.lock : NULL, e.fields ? &more.fields : NULL);
			on_event(s, &e);
		}
		next = b->next;
		free(b);
	}
	tell(r);
}

static const struct sink_ops ops = {.event = on_event, .drained = on_drained, .renewed = on_renewed};

/* ---- the door ---- */

struct ring *ring_new(uint64_t last, uint64_t limit)
{
	struct ring *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->sink.ops = &ops;
	r->last = last;
	r->limit = limit;
	r->mark_every = MAX(last / MARKS, (uint64_t)NS_PER_S / 10);
	return r;
}

void ring_begin(struct ring *r, struct collector *c)
{
	r->ended = 0;
	pthread_mutex_lock(&c->lock);
	mark(r, c, os_monotonic());
	tell(r);
	pthread_mutex_unlock(&c->lock);
	sink_add(c, &r->sink);
}

void ring_end(struct ring *r)
{
	struct collector *c = r->sink.collector;

	if (!c)
		return;
	pthread_mutex_lock(&c->lock);
	mark(r, c, os_monotonic());
	r->ended = r->marks.count ? r->marks.items[r->marks.count - 1].time : os_monotonic();
	tell(r);
	pthread_mutex_unlock(&c->lock);
	sink_remove(&r->sink);
}

void ring_free(struct ring *r)
{
	/* where no end could be made it gets samples yet */
	if (!r || r->sink.collector)
		return;
	while (r->oldest)
		drop_oldest(r);
	free(r->spare);
	free(r->marks.items);
	free(r);
}

void ring_each(struct ring *r, void (*fn)(const struct sink_event *, void *arg), void *arg)
{
	uint64_t start = window_start(r), before;
	const struct ring_block *b;
	struct sink_event e;
	struct ring_more more;
	uint32_t i, at;

	for (b = r->oldest; b; b = b->next)
		for (i = at = 0, before = b->base; i < b->count; i++) {
			ring_unpack(b, &at, before, &e, &more);
			before = e.time;
			if (e.time + e.span >= start)
				fn(&e, arg);
		}
}

struct ring *ring_copy(const struct ring *r)
{
	struct ring *copy = ring_new(r->last, r->limit);
	struct ring_block **end = copy ? &copy->oldest : NULL;
	const struct ring_block *b;

	for (b = r->oldest; b && end; b = b->next) {
		*end = malloc(sizeof(*b));
		if (!*end) {
			ring_free(copy);
			return NULL;
		}
		memcpy(*end, b, offsetof(struct ring_block, bytes) + b->used);
		(*end)->next = NULL;
		copy->newest = *end;
		copy->blocks++;
		end = &(*end)->next;
	}
	if (copy) {
		struct ring_position *m = VECTOR_PUSH(&copy->marks);

		copy->ended = r->ended ? r->ended : os_monotonic();
		if (m)
			m->time = window_start(r);
	}
	return copy;
}

void ring_books(const struct ring *r, struct ring_books *b)
{
	const struct ring_position *from = ring_position_of_window(r);
	const struct ring_position *to;
	struct ring_position now;
	uint32_t e;
	int i;

	memset(b, 0, sizeof(*b));
	if (!from)
		return;
	to = ring_position_of_end(r, r->sink.collector, &now);
	b->cpu = to->cpu - from->cpu;
	b->own = to->own - from->own;
	for (e = 0; e < RECORD_EVENTS; e++)
		for (i = 0; i < LOSS_REASONS; i++) {
			b->lost[e].count[i] = to->lost[e].count[i] - from->lost[e].count[i];
			b->lost[e].weight[i] = to->lost[e].weight[i] - from->lost[e].weight[i];
		}
}

uint64_t ring_since(struct ring *r)
{
	return atomic_load(&r->told_since);
}

size_t ring_bytes(struct ring *r)
{
	return atomic_load(&r->told_bytes);
}
