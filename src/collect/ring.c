#include "collect/ring.h"

#include <stdlib.h>
#include <string.h>

#include "collect/account.h"
#include "engine/engine.h"
#include "os/os.h"

#define BLOCK_BYTES (64u * 1024)
#define MARKS 300      /* in a window */
#define EVENT_BYTES 192 /* at most: nineteen numbers of at most 10 bytes */

struct block {
	struct block *next;
	uint64_t first, last;  /* times of its oldest and its newest sample */
	uint64_t base;         /* the time its first sample is relative to */
	uint32_t used, count;
	uint8_t bytes[BLOCK_BYTES];
};

/* The books at one moment: what lies between two of them is known. */
struct mark {
	uint64_t time, cpu, own, children;
	struct loss_totals lost[RECORD_EVENTS];
};

struct ring {
	struct sink sink;
	uint64_t last, limit;
	VECTOR(struct mark) marks; /* the oldest is older than the window, if there is one */
	uint64_t mark_every;
	struct block *oldest, *newest, *spare;
	size_t blocks;
	uint64_t previous;     /* time of the sample put last */
	uint64_t ended;        /* os_monotonic, 0 = it goes on */
	uint64_t lost;         /* no memory for a block */
};

/* ---- packing: LEB128, times as differences with their sign in the lowest bit ---- */

static void put(struct block *b, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		b->bytes[b->used++] = (uint8_t)(value | 0x80);
	b->bytes[b->used++] = (uint8_t)value;
}

static uint64_t get(const struct block *b, uint32_t *at)
{
	uint64_t value = 0;
	unsigned shift = 0;

	for (;; shift += 7) {
		uint8_t byte = b->bytes[(*at)++];

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return value;
	}
}

static void pack_lock(struct block *b, const struct sink_lock *l)
{
	put(b, l->kind);
	put(b, l->class_name);
	put(b, l->identity);
	put(b, l->duration);
	put(b, (uint64_t)l->owner_tid);
	put(b, l->owner_context);
	put(b, l->owner_thread);
	put(b, l->owner_name);
	put(b, l->owner_node);
}

static void unpack_lock(const struct block *b, uint32_t *at, struct sink_lock *l)
{
	l->kind = (uint8_t)get(b, at);
	l->class_name = (uint32_t)get(b, at);
	l->identity = get(b, at);
	l->duration = get(b, at);
	l->owner_tid = (int32_t)get(b, at);
	l->owner_context = get(b, at);
	l->owner_thread = (uint32_t)get(b, at);
	l->owner_name = (uint32_t)get(b, at);
	l->owner_node = (uint32_t)get(b, at);
}

static void pack(struct block *b, const struct sink_event *e, uint64_t before)
{
	int64_t step = (int64_t)(e->time - before);
	bool more = e->samples != 1 || e->span || e->context || e->lock;

	put(b, step < 0 ? (uint64_t)-step << 1 | 1 : (uint64_t)step << 1);
	put(b, (uint64_t)e->event << 9 | (uint64_t)e->state << 1 | more);
	put(b, e->node);
	put(b, e->thread);
	put(b, e->weight);
	if (more) {
		put(b, e->samples);
		put(b, e->span);
		put(b, e->context);
		put(b, e->lock != NULL);
	}
	if (e->lock)
		pack_lock(b, e->lock);
	b->count++;
}

/* LOCK: where to put what the event points to. */
static void unpack(const struct block *b, uint32_t *at, uint64_t before, struct sink_event *e, struct sink_lock *lock)
{
	uint64_t step = get(b, at), what;

	memset(e, 0, sizeof(*e));
	e->time = before + (step & 1 ? (uint64_t)-(int64_t)(step >> 1) : step >> 1);
	what = get(b, at);
	e->event = (uint32_t)(what >> 9);
	e->state = (uint8_t)(what >> 1);
	e->node = (uint32_t)get(b, at);
	e->thread = (uint32_t)get(b, at);
	e->weight = get(b, at);
	e->samples = 1;
	if (what & 1) {
		e->samples = get(b, at);
		e->span = get(b, at);
		e->context = get(b, at);
		e->lock = get(b, at) ? lock : NULL;
	}
	if (e->lock)
		unpack_lock(b, at, lock);
}

/* ---- blocks ---- */

static void drop_oldest(struct ring *r)
{
	struct block *b = r->oldest;

	r->oldest = b->next;
	if (!r->oldest)
		r->newest = NULL;
	r->blocks--;
	free(r->spare);
	r->spare = b;
}

/* The last mark before the window is its true begin; NULL: there is no mark. */
static const struct mark *window_mark(const struct ring *r)
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
	const struct mark *m = window_mark(r);

	return m ? m->time : 0;
}

/* Note the books as they stand. Marks that the window has left behind go. */
static void mark(struct ring *r, struct collector *c, uint64_t now)
{
	const struct mark *first = window_mark(r);
	size_t past = first ? (size_t)(first - r->marks.items) : 0;
	struct mark *m;
	uint32_t e;

	if (past) {
		r->marks.count -= past;
		memmove(r->marks.items, r->marks.items + past, r->marks.count * sizeof(*r->marks.items));
	}
	m = VECTOR_PUSH(&r->marks);
	if (!m)
		return;
	m->time = now;
	m->cpu = os_process_cpu();
	m->own = records_own_cpu();
	m->children = os_children_cpu();
	for (e = 0; e < c->options.events; e++)
		account_all_losses(c, e, &m->lost[e]);
}

static struct block *new_block(struct ring *r, uint64_t time)
{
	struct block *b = r->spare ? r->spare : malloc(sizeof(*b));

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
	struct block *b = r->newest;

	if (!b || b->used + EVENT_BYTES > BLOCK_BYTES) {
		if (b && (r->blocks + 1) * sizeof(*b) > r->limit)
			drop_oldest(r);
		b = new_block(r, e->time);
	}
	if (!b) {
		r->lost += e->samples;
		return;
	}
	pack(b, e, r->previous);
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
}

static const struct sink_ops ops = {.event = on_event, .drained = on_drained};

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
	pthread_mutex_unlock(&c->lock);
	sink_add(c, &r->sink);
}

void ring_end(struct ring *r)
{
	struct collector *c = r->sink.collector;

	pthread_mutex_lock(&c->lock);
	mark(r, c, os_monotonic());
	r->ended = r->marks.count ? r->marks.items[r->marks.count - 1].time : os_monotonic();
	pthread_mutex_unlock(&c->lock);
	sink_remove(&r->sink);
}

void ring_free(struct ring *r)
{
	if (!r)
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
	const struct block *b;
	struct sink_event e;
	struct sink_lock lock;
	uint32_t i, at;

	for (b = r->oldest; b; b = b->next)
		for (i = at = 0, before = b->base; i < b->count; i++) {
			unpack(b, &at, before, &e, &lock);
			before = e.time;
			if (e.time + e.span >= start)
				fn(&e, arg);
		}
}

struct ring *ring_copy(const struct ring *r)
{
	struct ring *copy = ring_new(r->last, r->limit);
	struct block **end = copy ? &copy->oldest : NULL;
	const struct block *b;

	for (b = r->oldest; b && end; b = b->next) {
		*end = malloc(sizeof(*b));
		if (!*end) {
			ring_free(copy);
			return NULL;
		}
		memcpy(*end, b, offsetof(struct block, bytes) + b->used);
		(*end)->next = NULL;
		copy->newest = *end;
		copy->blocks++;
		end = &(*end)->next;
	}
	if (copy) {
		struct mark *m = VECTOR_PUSH(&copy->marks);

		copy->ended = r->ended ? r->ended : os_monotonic();
		if (m)
			m->time = window_start(r);
	}
	return copy;
}

uint64_t ring_since(const struct ring *r)
{
	return r->oldest ? MAX(r->oldest->first, window_start(r)) : 0;
}

size_t ring_bytes(const struct ring *r)
{
	return r->blocks * sizeof(struct block);
}

/* ---- a profile of it ---- */

struct summing {
	struct collector *c;
	bool failed;
};

static void add(const struct sink_event *e, void *arg)
{
	struct summing *w = arg;
	struct collector *c = w->c;
	uint32_t node = e->lock ? account_wait_shown(c, e) : e->node;
	struct tally *t = node ? account_tally(c, e->event, node, e->thread + 1, e->state) : NULL;

	if (t)
		account_add(c, e, c->nodes.items[e->node].end, t);
	else
		w->failed = true;
	if (e->lock)
		account_wait_sums(c, e);
}

/* Losses of EVENT in the window are those of now less those of the mark at its begin. */
static void subtract(struct event_account *a, const struct loss_totals *lost)
{
	int i;

	for (i = 0; i < LOSS_REASONS; i++) {
		a->losses_of_dead.count[i] -= lost->count[i];
		a->losses_of_dead.weight[i] -= lost->weight[i];
	}
}

/* What was on its way as the window began belongs to it or not: taken is what is accounted for. */
static void add_up(struct profile *p)
{
	int i;

	p->taken = p->stored;
	for (i = 0; i < LOSS_REASONS; i++)
		p->taken += p->lost[i];
}

/* FACTS as of the window that begins with M. */
static struct collector_facts facts_of(const struct ring *r, const struct mark *m,
				       const struct collector_facts *facts)
{
	const struct mark *end = r->ended ? &r->marks.items[r->marks.count - 1] : NULL;
	uint64_t now = end ? end->time : os_monotonic();
	struct collector_facts f = *facts;

	f.started_at += f.duration - MIN(f.duration, now - m->time);
	f.duration = MIN(f.duration, now - m->time);
	f.cpu_time = (end ? end->cpu : os_process_cpu()) - m->cpu;
	f.own_cpu = (end ? end->own : records_own_cpu()) - m->own;
	f.children_cpu = (end ? end->children : os_children_cpu()) - m->children;
	/* the kernel's count of events is only known of the whole session */
	f.counted = 0;
	return f;
}

/* The account's sums are put aside for as long as the lock is held, and those of the window in their place. */
struct profile *ring_view(struct ring *r, struct collector *c, uint32_t e, const struct collector_facts *facts)
{
	struct event_account accounts[RECORD_EVENTS];
	struct summing w = {c, false};
	const struct mark *m;
	struct collector_facts window;
	typeof(c->tallies) *tallies = &c->tallies;
	struct tally *items;
	size_t count, capacity, sums_count;
	struct thread_sum *sums;
	struct waits_sums waits;
	struct profile *p = NULL;
	uint32_t i;

	collect_all_and_lock(c);
	memcpy(accounts, c->events, sizeof(accounts));
	items = tallies->items;
	count = tallies->count;
	capacity = tallies->capacity;
	sums = c->sums.items;
	waits = c->waits.sums;
	memset(&c->waits.sums, 0, sizeof(waits));
	sums_count = c->sums.count;
	memset(tallies, 0, sizeof(*tallies));
	m = window_mark(r);
	c->sums.items = calloc(sums_count + 1, sizeof(*sums));
	for (i = 0; i < RECORD_EVENTS; i++) {
		c->events[i] = (struct event_account){.turns = accounts[i].turns,
						      .losses_of_dead = accounts[i].losses_of_dead};
		if (m)
			subtract(&c->events[i], &m->lost[i]);
	}
	if (c->sums.items && m) {
		ring_each(r, add, &w);
		window = facts_of(r, m, facts);
		p = w.failed ? NULL : collect_fill_view(c, e, &window);
	}
	if (p)
		add_up(p);
	for (i = 0; i < RECORD_EVENTS; i++)
		map_free(&c->events[i].by_node);
	free(tallies->items);
	free(c->sums.items);
	tallies->items = items;
	tallies->count = count;
	tallies->capacity = capacity;
	c->sums.items = sums;
	account_waits_sums_free(&c->waits.sums);
	c->waits.sums = waits;
	memcpy(c->events, accounts, sizeof(accounts));
	pthread_mutex_unlock(&c->lock);
	return p;
}
