#include "agent/sources/wall/vthreads.h"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>

#include "agent/sample/handler.h"
#include "agent/sample/record_sample.h"
#include "agent/sample/wait_sample.h"
#include "agent/sources/carried.h"
#include "agent/sources/kept_contexts.h"
#include "agent/sources/slot_table.h"
#include "agent/walk/fault.h"
#include "agent/walk/walk.h"
#include "agent/zone/trace_context_read.h"
#include "common/os/os.h"

/*
 * A thread that mounts one waits for none, and one that counts its time so far takes no place away: it reads, and
 * changes `told`, which no two parks have in common. Where it is still what it was at the begin, what was read is of
 * one park.
 */
#define CLOSED UINT64_MAX
#define DONE (1ull << 63) /* of a key: the park is over, and the carrier's queue was full */
#define TELL_EVERY (10 * NS_PER_S)

/* Parks that a carrier notes in such a time: more and it takes fewer, less than a quarter and it takes more. */
#define QUOTA 100
#define QUOTA_TIME (100 * NS_PER_MS)
#define RATIO_LIMIT 4096

#define FRAMES 256 /* that the JVM is asked for; deeper stacks end there */

struct place {
	slot_key key;               /* the thread's number; see slot_table.h */
	_Atomic uint64_t told;       /* up to here its time is in samples; CLOSED: it runs */
	_Atomic uint64_t over;       /* when it was mounted while no session noted it; 0: it was not */
	uint64_t from, until;        /* DONE: what is to be told of it */
	kept_stack trace;            /* NULL = none could be taken */
	uint32_t ratio;              /* one in so many was noted */
	uint32_t record;             /* index of the carrier's */
	uint16_t epoch;
	bool noted;                  /* what it works for stands in `trace_contexts` */
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

static struct slot_table places = {.bytes = sizeof(struct place), .few = PARKED_FEW};
static struct kept_trace_contexts trace_contexts;
static struct carrier *carriers; /* RECORD_LIMIT */
static _Atomic int event = -1;
static int wanted = -1;
static _Atomic uint32_t count;   /* places that are in use */
static _Atomic uint32_t done;    /* of them DONE */
static uint64_t started;         /* when the present session did */
static uint64_t halted;          /* when the last session did; 0: it has not */
static _Atomic bool keeping;     /* see vthreads_parked_keep */
static struct carried carried;

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

bool vthreads_parked_is_due(void)
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
static bool has_no_frozen_part(uint64_t last)
{
	return last == frame_other(OTHER_END, END_frozen) || last == frame_other(OTHER_END, END_moving) ||
	       last == frame_other(OTHER_END, END_freezing);
}

/*
 * A virtual thread that was mounted has its innermost frames on the carrier's stack, the others are still in the heap.
 * Where we cannot find them, the JVM can: what it says of them takes the place of the walk's end.
 */
static void thaw(struct stack_trace_writer *w, parked_ask_fn *ask, void *arg)
{
	size_t length = stack_trace_length(w);
	uint64_t frames[FRAMES];
	uint32_t i, count;

	if (!length || !has_no_frozen_part(w->pos[-1]))
		return;
	count = ask(arg, frames, FRAMES);
	i = find_last(w->trace->frame, length - 1, frames, count);
	if (i == count)
		return;
	w->pos--;
	while (++i < count)
		stack_trace_put(w, frames[i]);
	stack_trace_put(w, frame_other(OTHER_VIRTUAL, 0));
}

static const struct stack_trace *stack_of(struct thread_record *r, parked_ask_fn *ask, void *arg, uint16_t *epoch)
{
	struct stack_trace_writer w;

	fault_look();
	*epoch = (uint16_t)method_epoch_now(&zone.epochs);
	if (!stack_trace_begin(&w, &zone.store, &r->chunk, zone.depth) || !walk_outside(&zone, r, &w))
		return NULL;
	thaw(&w, ask, arg);
	return w.store_full ? NULL : stack_trace_end(&w);
}

/* ---- begin and end ---- */

/* The collector shall name T now, if it has not seen it, and not when the park is over: a sample in no state. */
static void announce(struct thread_record *r, uint32_t e, const struct stack_trace *t, uint16_t epoch)
{
	struct sample s = {.trace = t, .thread = r->index, .event = (uint8_t)e, .state = THREAD_NONE, .epoch = epoch};

	if (!atomic_load_explicit(&((struct stack_trace *)t)->id, memory_order_relaxed) &&
	    queue_has_plenty(take_queue(r), 1) && queue_push(take_queue(r), &s))
		record_stir(&zone.records, r->index);
}

/* A place for THREAD, an old one of its own or a new one; NULL: there is none. */
static struct place *place_of(uint64_t thread)
{
	struct place *p = slot_table_take(&places, thread);

	if (!p) {
		p = slot_table_claim(&places, thread);
		if (p)
			atomic_fetch_add(&count, 1);
	}
	return p;
}

/* P is free again; a free place keeps no trace. */
static void give_back(struct place *p)
{
	atomic_store_explicit(&p->told, CLOSED, memory_order_relaxed);
	kept_stack_set(&p->trace, NULL);
	slot_table_let_go(p, 0);
	atomic_fetch_sub(&count, 1);
}

/* What a place gets. */
struct park {
	const struct stack_trace *trace;
	uint64_t began;
	uint32_t ratio;
	uint16_t epoch;
};

static void note(struct thread_record *r, uint32_t e, uint64_t key, const struct park *seen)
{
	struct place *p = place_of(key);
	struct trace_context trace_context;

	if (!p) {
		/* How long it will be is not known: it is one sample without weight. */
		record_take(r, e);
		record_lose(r, e, LOSS_too_many_waits, 0);
		return;
	}
	atomic_store(&p->told, CLOSED);
	kept_stack_set(&p->trace, seen->trace);
	p->epoch = seen->epoch;
	p->ratio = seen->ratio;
	p->record = r->index;
	p->noted = kept_trace_context_set(&trace_contexts, slot_table_number(&places, p),
					  trace_context_of(key, &trace_context), &trace_context);
	atomic_store_explicit(&p->over, 0, memory_order_relaxed);
	atomic_store_explicit(&p->told, seen->began, memory_order_release);
	slot_table_let_go(p, key);
}

void vthreads_parked_begin(uint64_t thread, parked_ask_fn *ask, void *arg)
{
	int e = atomic_load_explicit(&event, memory_order_acquire);
	struct thread_record *r = e < 0 ? NULL : wait_enter((uint32_t)e);
	struct carrier *c = r ? &carriers[r->index] : NULL;
	struct park seen = {.began = os_monotonic()};

	if (!c)
		return;
	seen.ratio = c->noted;
	seen.trace = stack_of(r, ask, arg, &seen.epoch);
	if (seen.trace)
		announce(r, (uint32_t)e, seen.trace, seen.epoch);
	note(r, (uint32_t)e, thread, &seen);
	wait_leave(r);
}

bool vthreads_parked_any(void)
{
	return atomic_load_explicit(&count, memory_order_relaxed) > 0;
}

static struct trace_context kept_trace_context(const struct place *p)
{
	return kept_trace_context_get(&trace_contexts, slot_table_number(&places, p), p->noted);
}

/* The park of THREAD at P from FROM to UNTIL as a sample. */
static struct sample describe(const struct place *p, uint64_t thread, uint64_t from, uint64_t until)
{
	return (struct sample){
		.time = until,
		.trace = kept_stack_get(&p->trace),
		.weight = (until > from ? until - from : 0) * p->ratio,
		.vthread = thread,
		.thread = p->record,
		.event = (uint8_t)wanted,
		.state = THREAD_PARKED,
		.epoch = p->epoch,
		.noted = p->noted,
		.payload = UINT32_MAX, /* of no CPU */
	};
}

/* S is lost for WHY, or in R's queue; false: there is no room. */
static bool push(struct thread_record *r, struct sample *s)
{
	struct trace_context_note note = {.unused = {0}};
	enum loss_reason why = !s->trace ? LOSS_store_full
				: window_keeps_out(&zone.window) ? LOSS_outside_window : LOSS_REASONS;
	bool fits = true;

	s->thread = r->index;
	s->noted = trace_context_of(s->vthread, &note.trace_context);
	if (why == LOSS_REASONS)
		fits = queue_has_plenty(take_queue(r), 2) && take_push(r, s, &note);
	record_stir(&zone.records, r->index);
	if (!fits)
		return false;
	record_take(r, s->event);
	if (why != LOSS_REASONS)
		record_lose(r, s->event, why, s->weight);
	return true;
}

/* P stays, DONE, until the collector comes by; its thread, which runs again, may have another one meanwhile. */
static void leave_done(struct place *p, uint64_t thread, uint64_t from, uint64_t until)
{
	p->from = from;
	p->until = until;
	slot_table_let_go(p, thread | DONE);
	atomic_fetch_add_explicit(&done, 1, memory_order_release);
}

/* As of waits for locks (lock_waits.c). */
static void end_between(uint64_t thread)
{
	struct place *p = atomic_load(&keeping) ? slot_table_find(&places, thread) : NULL;

	if (p)
		atomic_store(&p->over, os_monotonic());
}

void vthreads_parked_end(uint64_t thread)
{
	int e = atomic_load_explicit(&event, memory_order_acquire);
	uint64_t now = os_monotonic(), from;
	struct place *p = e < 0 ? NULL : slot_table_take(&places, thread);
	struct thread_record *r;
	struct sample s;
	bool told = false;

	if (e < 0)
		end_between(thread);
	if (!p)
		return;
	if (atomic_load(&p->over)) {
		give_back(p); /* of an earlier park: this one has begun between two sessions */
		return;
	}
	from = atomic_exchange(&p->told, CLOSED);
	s = describe(p, thread, from, now);
	r = wait_enter((uint32_t)e);
	if (r) {
		told = push(r, &s);
		wait_leave(r);
	}
	if (told)
		give_back(p);
	else
		leave_done(p, thread, from, now);
}

/* ---- by the collector ---- */

/* To whom places are told of. */
struct listener {
	parked_told_fn *told;
	kept_stack_fn *stack;
	void *arg;
	uint64_t now; /* open parks: up to when */
	bool lately;
};

/*
 * The thread of PLACE is still parked: the methods of its stack are there, so that their names of today are its
 * stack's, too.
 */
static bool still_parked(void *place, void *listener)
{
	uint16_t epoch = (uint16_t)method_epoch_now(&zone.epochs);
	const struct listener *l = listener;
	struct place *p = place;
	uint64_t thread = atomic_load_explicit(&p->key, memory_order_acquire);
	uint64_t told = atomic_load_explicit(&p->told, memory_order_acquire);
	struct trace_context trace_context;
	struct sample s;

	if (!thread || thread & DONE || told >= l->now || (l->lately && l->now - told < TELL_EVERY) ||
	    carried_has_ended(&p->over, halted))
		return true;
	s = describe(p, thread, told, l->now);
	trace_context = kept_trace_context(p);
	atomic_thread_fence(memory_order_acquire);
	if (atomic_load_explicit(&p->key, memory_order_relaxed) != thread ||
	    !atomic_compare_exchange_strong(&p->told, &told, l->now))
		return true;
	if (!halted)
		s.epoch = epoch;
	l->told(&s, &trace_context, l->arg);
	return true;
}

void vthreads_parked_tell_open(bool lately, parked_told_fn *fn, void *arg)
{
	struct listener l = {.told = fn, .arg = arg, .now = halted ? halted : os_monotonic(), .lately = lately};

	if (wanted >= 0 && vthreads_parked_any())
		slot_table_each(&places, still_parked, &l);
}

static bool parked_before(void *place, void *listener)
{
	const struct listener *l = listener;
	struct place *p = place;
	uint64_t key = atomic_load_explicit(&p->key, memory_order_relaxed);
	struct trace_context trace_context;
	struct sample s;

	if (!(key & DONE) || key == SLOT_TAKEN || !slot_table_try(&p->key, key))
		return false;
	s = describe(p, key & ~DONE, p->from, p->until);
	trace_context = kept_trace_context(p);
	l->told(&s, &trace_context, l->arg);
	give_back(p);
	return true;
}

void vthreads_parked_tell_done(parked_told_fn *fn, void *arg)
{
	slot_table_fetch(&places, &done, parked_before, &(struct listener){.told = fn, .arg = arg});
}

static bool change_stack(void *place, void *listener)
{
	const struct listener *l = listener;

	kept_stack_change(&((struct place *)place)->trace, l->stack, l->arg);
	return true;
}

void vthreads_parked_change_kept(kept_stack_fn *fn, void *arg)
{
	if (wanted >= 0 && vthreads_parked_any())
		slot_table_each(&places, change_stack, &(struct listener){.stack = fn, .arg = arg});
}

int vthreads_parked_start(uint32_t e, struct error *err)
{
	size_t more = RECORD_LIMIT * sizeof(*carriers);

	if (!carriers)
		carriers = os_reserve(more);
	if (!slot_table_open(&places, PARKED_LIMIT) || !carriers || os_make_writable(carriers, more))
		return error_set(err, ENOMEM, "vthreads: cannot reserve address space for parked threads; raise the "
				 "limit of virtual memory (ulimit -v)");
	kept_trace_contexts_open(&trace_contexts, places.limit);
	atomic_store(&done, 0);
	halted = 0;
	started = os_monotonic();
	wanted = (int)e;
	return 0;
}

bool vthreads_parked_are_wanted(void)
{
	return wanted >= 0;
}

/* ---- from one session to the next: as of waits for locks (lock_waits.c) ---- */

static const struct carried_table table;

static bool carry(void *place)
{
	struct place *p = place;
	uint64_t key = atomic_load(&p->key);
	bool goes_on = key && !(key & DONE) && !atomic_load(&p->over) && kept_stack_get(&p->trace);

	if (!goes_on || !carried_note(&table, p, p->record, kept_stack_get(&p->trace), NULL))
		return false;
	atomic_store(&p->told, CLOSED);
	kept_stack_set(&p->trace, NULL);
	return true;
}

static bool take_up(void *place, const struct carried_wait *w, struct thread_record *self)
{
	struct place *p = place;

	if (atomic_load(&p->over))
		return false;
	p->record = carried_record(w->tid, true, self)->index;
	p->epoch = (uint16_t)method_epoch_now(&zone.epochs);
	kept_stack_set(&p->trace, carried_put(&carried, w->trace, self));
	atomic_store_explicit(&p->told, started, memory_order_release);
	return true;
}

static void drop(void *place)
{
	give_back(place);
}

static const struct carried_table table = {&places, &trace_contexts, &carried, carry, take_up, drop};

void vthreads_parked_open(void)
{
	carried_go_on(&table);
	atomic_store(&event, wanted);
	atomic_store(&keeping, false);
}

void vthreads_parked_keep(bool keep)
{
	atomic_store(&keeping, keep);
	if (keep || !carried.waits.count)
		return;
	carried_clear(&table);
	atomic_store(&count, 0);
}

void vthreads_parked_halt(void)
{
	if (atomic_load(&event) >= 0)
		halted = os_monotonic();
	atomic_store(&event, -1);
}

void vthreads_parked_release(void)
{
	wanted = -1;
	carried_release(&table, atomic_load(&keeping));
	if (!carried.waits.count)
		atomic_store(&count, 0);
	if (carriers)
		madvise(carriers, RECORD_LIMIT * sizeof(*carriers), MADV_DONTNEED);
}
