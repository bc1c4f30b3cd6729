#include "engine/parked.h"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>

#include "engine/claims.h"
#include "engine/rounds.h"
#include "engine/runs.h"
#include "os/os.h"
#include "signal/fault.h"
#include "signal/handler.h"
#include "signal/take.h"
#include "signal/wait.h"
#include "signal/walk.h"

/*
 * Who mounts a thread waits for nobody. A place whose time is being counted out keeps its key, with a bit: its thread,
 * mounted just then, leaves the moment there, with another bit, and the place to whoever counts.
 */
#define HELD (1ull << 63)
#define LEFT (1ull << 62)
#define TAKE_TRIES 4 /* a flush comes by a place once in seconds */

/* Parks that a carrier notes in such a time: more and it takes fewer, less than a quarter and it takes more. */
#define QUOTA 100
#define QUOTA_TIME (100 * NS_PER_MS)
#define RATIO_LIMIT 4096

#define FRAMES 256 /* that the JVM is asked for; deeper stacks end there */

struct place {
	claim_key key;               /* the thread's number; see claims.h */
	uint64_t began;              /* up to here its time is in samples */
	trace_kept trace;            /* NULL = none could be taken */
	_Atomic uint64_t ended;      /* where the key says LEFT: when the thread was mounted */
	uint32_t ratio;              /* one in so many was noted */
	uint16_t era;
};

/* Of a carrier, by the index of its record; its own. */
struct carrier {
	uint64_t since;              /* the present quota counts from here on */
	uint32_t used;
	uint64_t random;
	uint32_t ratio;
	uint32_t noted;              /* the ratio that led to the present one */
	uint32_t left;               /* parks until the next one that is noted */
};

static struct claims places = {.bytes = sizeof(struct place), .limit = PARKED_LIMIT, .few = PARKED_LIMIT / 16};
static struct carrier *carriers; /* RECORD_LIMIT */
static _Atomic int event = -1;
static int wanted = -1;
static _Atomic uint32_t count;   /* places that are in use */

/* ---- which ones are noted ---- */

/* The next one: 1 to 2 × ratio - 1 from now, each as likely, so that a program's rhythm is not met. */
static void draw(struct carrier *c)
{
	c->random ^= c->random << 13;
	c->random ^= c->random >> 7;
	c->random ^= c->random << 17;
	c->left = c->ratio == 1 ? 1 : 1 + (uint32_t)(c->random % (2 * c->ratio - 1));
}

static void adapt(struct carrier *c, uint64_t now)
{
	bool over = now - c->since >= QUOTA_TIME;

	if (++c->used < QUOTA && !over)
		return;
	if (!over && c->ratio < RATIO_LIMIT)
		c->ratio *= 2;
	else if (over && c->used < QUOTA / 4 && c->ratio > 1)
		c->ratio /= 2;
	c->since = now;
	c->used = 0;
}

static struct carrier *carrier(void)
{
	const struct thread_record *r = record_find(&zone.records, handler_thread_pointer());

	return r ? &carriers[r->index] : NULL;
}

bool parked_is_due(void)
{
	struct carrier *c = atomic_load_explicit(&event, memory_order_acquire) < 0 ? NULL : carrier();

	if (!c)
		return false;
	if (unlikely(!c->ratio)) {
		*c = (struct carrier){.since = os_monotonic(), .random = (uintptr_t)c | 1, .ratio = 1, .left = 1};
	}
	if (--c->left)
		return false;
	c->noted = c->ratio;
	adapt(c, os_monotonic());
	draw(c);
	return true;
}

/* ---- stacks ---- */

static bool is_method_of(uint64_t a, uint64_t b)
{
	return frame_is_java(a) && frame_method(a) == frame_method(b);
}

/* Where in COUNT FRAMES of the JVM's the last of the LENGTH frames at WALKED is; COUNT: nowhere. */
static uint32_t find_last(const uint64_t *walked, size_t length, const uint64_t *frames, uint32_t count)
{
	uint32_t i;

	for (i = 0; length && i < count; i++)
		if (is_method_of(walked[length - 1], frames[i]) &&
		    (length < 2 || i == 0 || is_method_of(walked[length - 2], frames[i - 1])) && i + 4 >= length)
			return i;
	return count;
}

/* The walk has ended where the frames in the heap begin. */
static bool lacks_frozen(uint64_t last)
{
	return last == frame_other(OTHER_END, END_frozen) || last == frame_other(OTHER_END, END_moving) ||
	       last == frame_other(OTHER_END, END_freezing);
}

/*
 * A virtual thread that was mounted has its innermost frames on the carrier's stack, the others are still in the heap.
 * Where we cannot find them, the JVM can: what it says of them takes the place of the walk's end.
 */
static void thaw(struct trace_writer *w, parked_ask_fn *ask, void *arg)
{
	size_t length = trace_length(w);
	uint64_t frames[FRAMES];
	uint32_t i, count;

	if (!length || !lacks_frozen(w->pos[-1]))
		return;
	count = ask(arg, frames, FRAMES);
	i = find_last(w->trace->frame, length - 1, frames, count);
	if (i == count)
		return;
	w->pos--;
	while (++i < count)
		trace_put(w, frames[i]);
	trace_put(w, frame_other(OTHER_VIRTUAL, 0));
}

static const struct trace *stack_of(struct thread_record *r, parked_ask_fn *ask, void *arg, uint16_t *era)
{
	struct trace_writer w;

	fault_look();
	*era = (uint16_t)era_now(&zone.eras);
	if (!trace_begin(&w, &zone.store, &r->chunk, zone.depth) || !walk_outside(&zone, r, &w))
		return NULL;
	thaw(&w, ask, arg);
	return w.store_full ? NULL : trace_end(&w);
}

/* ---- begin and end ---- */

/* The collector shall name T now, if it has not seen it, and not when the park is over: a sample in no state. */
static void announce(struct thread_record *r, uint32_t e, const struct trace *t, uint16_t era)
{
	struct sample s = {.trace = t, .thread = r->index, .event = (uint8_t)e, .state = THREAD_NONE, .era = era};

	if (!atomic_load_explicit(&((struct trace *)t)->id, memory_order_relaxed) && queue_push(take_queue(r), &s))
		record_stir(&zone.records, r->index);
}

/* Take the place at KEY from THREAD if it is its. *LEFT: it is, but a flush is at it and will give it back. */
static bool take_at(claim_key *key, uint64_t thread, uint64_t now, bool *left)
{
	struct place *p = (struct place *)key;
	int i;

	for (i = 0; i < TAKE_TRIES && !*left; i++) {
		uint64_t held = thread | HELD, now_there = atomic_load_explicit(key, memory_order_relaxed);

		if (now_there != thread && now_there != held)
			return false;
		if (claims_try(key, thread))
			return true;
		atomic_store_explicit(&p->ended, now, memory_order_relaxed);
		*left = atomic_compare_exchange_strong(key, &held, held | LEFT);
	}
	return false;
}

/* The place of THREAD, mounted NOW; NULL: it has none (any more). */
static struct place *take(uint64_t thread, uint64_t now)
{
	uint32_t i, tries = claims_tries(&places);
	bool left = false;

	for (i = 0; i < tries && !left; i++)
		if (take_at(claims_near(&places, thread, i), thread, now, &left))
			return (struct place *)claims_near(&places, thread, i);
	return NULL;
}

/* A place for THREAD, an old one of its own or a new one; NULL: there is none. */
static struct place *place_of(uint64_t thread, uint64_t now)
{
	struct place *p = take(thread, now);

	if (!p) {
		p = claims_take_or_claim(&places, thread);
		if (p)
			atomic_fetch_add(&count, 1);
	}
	return p;
}

/* P is free again; a free place keeps no trace. */
static void give_back(struct place *p)
{
	trace_kept_set(&p->trace, NULL);
	claims_let_go(p, 0);
	atomic_fetch_sub(&count, 1);
}

/* What a place gets. */
struct park {
	const struct trace *trace;
	uint64_t began;
	uint32_t ratio;
	uint16_t era;
};

static void note(struct thread_record *r, uint32_t e, uint64_t key, const struct park *seen)
{
	struct place *p = place_of(key, seen->began);

	if (!p) {
		/* How long it will be nobody knows: it is one sample without weight. */
		record_take(r, e);
		record_lose(r, e, LOSS_too_many_waits, 0);
		return;
	}
	trace_kept_set(&p->trace, seen->trace);
	p->era = seen->era;
	p->ratio = seen->ratio;
	p->began = seen->began;
	claims_let_go(p, key);
}

void parked_begin(uint64_t thread, parked_ask_fn *ask, void *arg)
{
	int e = atomic_load_explicit(&event, memory_order_acquire);
	struct thread_record *r = e < 0 ? NULL : wait_enter((uint32_t)e);
	struct carrier *c = r ? &carriers[r->index] : NULL;
	struct park seen = {.began = os_monotonic()};

	if (!c)
		return;
	seen.ratio = c->noted;
	seen.trace = stack_of(r, ask, arg, &seen.era);
	if (seen.trace)
		announce(r, (uint32_t)e, seen.trace, seen.era);
	note(r, (uint32_t)e, thread, &seen);
	wait_leave(r);
}

bool parked_any(void)
{
	return atomic_load_explicit(&count, memory_order_relaxed) > 0;
}

static void push(struct thread_record *r, uint32_t e, uint64_t thread, const struct place *p, uint64_t now)
{
	struct sample s = {
		.time = now,
		.trace = trace_kept_get(&p->trace),
		.weight = (now > p->began ? now - p->began : 0) * p->ratio,
		.context = thread,
		.thread = r->index,
		.event = (uint8_t)e,
		.state = THREAD_PARKED,
		.era = p->era,
		.payload = UINT32_MAX, /* of no CPU */
	};
	struct request_note note = {.unused = {0}};

	s.noted = request_of(thread, &note.request);
	record_take(r, e);
	if (!s.trace)
		record_lose(r, e, LOSS_store_full, s.weight);
	else if (window_keeps_out(&zone.window))
		record_lose(r, e, LOSS_outside_window, s.weight);
	else if (!take_push(r, &s, &note))
		record_lose(r, e, LOSS_queue_full, s.weight);
	record_stir(&zone.records, r->index);
}

void parked_end(uint64_t thread)
{
	int e = atomic_load_explicit(&event, memory_order_acquire);
	uint64_t now = os_monotonic();
	struct place *p = e < 0 ? NULL : take(thread, now);
	struct thread_record *r = p ? wait_enter((uint32_t)e) : NULL;

	if (r) {
		push(r, (uint32_t)e, thread, p, now);
		wait_leave(r);
	}
	if (p)
		give_back(p);
}

/* ---- by the engine's thread ---- */

/*
 * The thread of P, held, is still parked: the methods of its stack are there, so that their names of today are its
 * stack's, too.
 */
static void still_parked(struct place *p, claim_key *key)
{
	uint16_t era = (uint16_t)era_now(&zone.eras);

	if (!(atomic_load_explicit(key, memory_order_acquire) & LEFT))
		p->era = era;
}

/* The time of P, held, up to NOW, as a run of one sample of the record SELF. False: no room, it waits. */
static bool count_out(struct place *p, uint64_t thread, uint32_t self, uint64_t now)
{
	struct run_note n = {
		.trace = trace_kept_get(&p->trace),
		.time = now,
		.context = thread,
		.thread = self,
		.era = p->era,
		.event = (uint8_t)wanted,
		.state = THREAD_PARKED,
	};

	if (now <= p->began)
		return true;
	request_of(thread, &n.request);
	turn_due((uint32_t)wanted, 1);
	if (!n.trace || !runs_push(&n)) {
		turn_miss((uint32_t)wanted, n.trace ? LOSS_queue_full : LOSS_store_full, 1);
		return false;
	}
	n.trace = NULL;
	n.weight = (now - p->began) * p->ratio;
	n.samples = 1;
	if (runs_push(&n)) {
		p->began = now;
		return true;
	}
	turn_miss((uint32_t)wanted, LOSS_queue_full, 1);
	return false;
}

/* The place at KEY, if one is noted there; LAST: and none any more. */
static void flush_one(claim_key *key, uint32_t self, uint64_t now, bool last)
{
	uint64_t thread = atomic_load_explicit(key, memory_order_relaxed), held = thread | HELD;
	struct place *p = (struct place *)key;

	if (!thread || (thread & (HELD | LEFT)) || !atomic_compare_exchange_strong(key, &thread, held))
		return;
	still_parked(p, key);
	count_out(p, thread, self, now);
	if (!last && atomic_compare_exchange_strong(key, &held, thread))
		return;
	if (atomic_exchange(key, CLAIM_TAKEN) & LEFT)
		count_out(p, thread, self, atomic_load(&p->ended));
	give_back(p);
}

void parked_flush(uint32_t self, bool last)
{
	uint64_t now = os_monotonic();
	uint32_t i, reach = claims_reach(&places);

	if (wanted < 0 || !parked_any())
		return;
	for (i = 0; i < reach; i++)
		flush_one(claims_at(&places, i), self, now, last);
}

void parked_change_kept(trace_kept_fn *fn, void *arg)
{
	uint32_t i, reach = claims_reach(&places);

	if (wanted < 0 || !parked_any())
		return;
	for (i = 0; i < reach; i++)
		trace_kept_change(&((struct place *)claims_at(&places, i))->trace, fn, arg);
}

int parked_start(uint32_t e, struct error *err)
{
	size_t bytes = PARKED_LIMIT * sizeof(struct place), more = RECORD_LIMIT * sizeof(*carriers);

	if (!places.places)
		places.places = os_reserve(bytes);
	if (!carriers)
		carriers = os_reserve(more);
	if (!places.places || !carriers || os_make_writable(places.places, bytes) || os_make_writable(carriers, more))
		return error_set(err, ENOMEM, "vthreads: cannot reserve address space for parked threads; raise the "
				 "limit of virtual memory (ulimit -v)");
	atomic_store(&count, 0);
	wanted = (int)e;
	return 0;
}

bool parked_are_wanted(void)
{
	return wanted >= 0;
}

void parked_open(void)
{
	atomic_store(&event, wanted);
}

void parked_halt(void)
{
	atomic_store(&event, -1);
}

void parked_release(void)
{
	wanted = -1;
	if (places.places)
		claims_clear(&places);
	if (carriers)
		madvise(carriers, RECORD_LIMIT * sizeof(*carriers), MADV_DONTNEED);
}
