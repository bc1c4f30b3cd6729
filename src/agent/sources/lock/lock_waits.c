#include "agent/sources/lock/lock_waits.h"

#include <string.h>

#include "agent/sample/handler.h"
#include "agent/sample/record_sample.h"
#include "agent/sources/lock/lock_places.h"
#include "agent/walk/fault.h"
#include "agent/zone/trace_context_read.h"
#include "common/os/os.h"

#define LOCK_BYTES 64   /* the largest of libc's is smaller */
#define CALL_BYTES 4096 /* of stack that a call takes in which a thread waits */
#define KIND_NATIVE 7ull /* in keys: one wait of a thread at a time */
#define KIND_SHIFT 61
#define TELL_FIRST NS_PER_S
#define TELL_EVERY (10 * NS_PER_S)

struct waits_table waits_table = {
	.places = {.bytes = sizeof(struct waits_place), .few = WAITS_FEW},
	.event = {-1, -1}, .told_event = {-1, -1}, .wanted = {-1, -1},
};

int waits_event(enum waits_of of)
{
	return atomic_load_explicit(&waits_table.event[of], memory_order_acquire);
}

bool waits_are_wanted(enum waits_of of)
{
	return waits_table.wanted[of] >= 0;
}

bool waits_listens(enum waits_of of)
{
	return waits_event(of) >= 0 || atomic_load(&waits_table.keeping);
}

static int told_event_of(const struct waits_place *p)
{
	return waits_table.told_event[waits_of_kind((enum lock_kind)p->kind)];
}

/* ---- the table ---- */

/* Keys of threads with numbers next to each other are, as long as they wait for the same kind of lock. */
static uint64_t key_of(uint64_t thread, enum lock_kind kind)
{
	return (thread + 1) | (lock_kind_is_native(kind) ? KIND_NATIVE : (uint64_t)kind) << KIND_SHIFT;
}

/* ---- begin and end ---- */

static bool keep_trace_context(const struct thread_record *r, const struct waits_place *p, const struct wait_begin *b)
{
	struct trace_context trace_context;
	bool noted = b->virtual_id ? trace_context_of(b->virtual_id, &trace_context) :
				     trace_context_of_record(r, &trace_context);

	return kept_trace_context_set(&waits_table.trace_contexts, slot_table_number(&waits_table.places, p), noted,
				      &trace_context);
}

static struct trace_context kept_trace_context(const struct waits_place *p)
{
	return kept_trace_context_get(&waits_table.trace_contexts, slot_table_number(&waits_table.places, p), p->noted);
}

/* It began at SINCE, or, if that is 0, now. */
static void fill(struct waits_place *p, const struct wait_begin *b, const struct stack_trace *trace,
		 const struct thread_record *r, uint16_t epoch, uint64_t since)
{
	atomic_store(&p->told, WAITS_CLOSED); /* it may be that of a wait around this one */
	kept_stack_set(&p->trace, trace);
	p->thread = b->thread;
	p->kind = (uint8_t)b->kind;
	p->record = r->index;
	p->epoch = epoch;
	p->noted = keep_trace_context(r, p, b);
	p->vthread = b->virtual_id;
	p->owner_id = b->from ? b->address : b->owner_id;
	p->owner_tid = b->owner_tid;
	p->owner_virtual = b->owner_virtual;
	p->class = b->class;
	p->identity = b->identity;
	p->also = b->also;
	p->sp = b->from ? b->from->sp : 0;
	p->began = p->since = since ? since : os_monotonic();
	atomic_store_explicit(&p->over, 0, memory_order_relaxed);
	atomic_store_explicit(&p->told, p->began, memory_order_release);
}

static void find_owner(const struct thread_record *r, struct wait_begin *b)
{
	if (b->monitor)
		waits_monitor_owner(r, b->monitor, b);
	else if (b->owner_java)
		b->owner_tid = waits_tid_of(b->owner_java);
}

/* The running thread of R, entered, begins to wait: a place that is not let go yet; NULL: counted as lost. */
static struct waits_place *begin(struct thread_record *r, uint32_t e, struct wait_begin *b, uint64_t since)
{
	const struct stack_trace *trace;
	struct waits_place *p;
	uint16_t epoch;

	fault_look();
	if (b->from) {
		b->thread = (uint64_t)atomic_load(&r->tid);
		b->virtual_id = zone_mounted(r);
	}
	find_owner(r, b);
	trace = b->from ? wait_walk_from(r, b->from, &epoch) : wait_walk(r, b->skip, b->method, &epoch);
	if (trace)
		wait_announce(r, e, trace, epoch);
	p = slot_table_take_or_claim(&waits_table.places, key_of(b->thread, b->kind));
	if (p) {
		waits_holder_look(r, e, b, &p->holder);
		fill(p, b, trace, r, epoch, since);
	} else {
		/* How long it will be is not known: it is one sample without weight. */
		record_take(r, e);
		record_lose(r, e, LOSS_too_many_waits, 0);
	}
	return p;
}

uint64_t waits_begin(struct wait_begin *b, uint64_t since)
{
	int e = waits_event(waits_of_kind(b->kind));
	struct thread_record *r = e < 0 ? NULL : wait_enter((uint32_t)e);
	uint64_t began = 0;
	struct waits_place *p;

	if (!r)
		return 0;
	p = begin(r, (uint32_t)e, b, since);
	if (p) {
		began = p->began;
		slot_table_let_go(p, key_of(b->thread, b->kind));
	}
	wait_leave(r);
	return began;
}

static enum thread_state state_of(enum lock_kind kind)
{
	static const enum thread_state states[LOCK_KINDS] = {
		[LOCK_MONITOR] = THREAD_BLOCKED, [LOCK_WAIT] = THREAD_WAITING,
		[LOCK_PARK] = THREAD_PARKED, [LOCK_SLEEP] = THREAD_SLEEPING,
	};

	return lock_kind_is_native(kind) ? THREAD_NATIVE : states[kind];
}

/* The wait at P from FROM to UNTIL as a sample of event E and its note. */
static void describe(const struct waits_place *p, uint32_t e, uint64_t from, uint64_t until, struct sample *s,
		     struct wait_note *n)
{
	*s = (struct sample){
		.time = from,
		.trace = kept_stack_get(&p->trace),
		.vthread = p->vthread,
		.thread = p->record,
		.event = (uint8_t)e,
		.state = (uint8_t)state_of((enum lock_kind)p->kind),
		.epoch = p->epoch,
		.noted = p->noted,
		.payload = UINT32_MAX, /* of no CPU */
	};
	*n = (struct wait_note){
		.duration = until > from ? until - from : 0,
		.told = from - p->began,
		.owner_id = p->owner_id,
		.owner_tid = p->owner_tid,
		.owner_virtual = p->owner_virtual,
		.owner_stack = kept_stack_get(&p->holder.trace),
		.owner_epoch = p->holder.epoch,
		.class = p->class,
		.identity = p->identity,
		.again = from != p->since,
		.kind = p->kind,
	};
}

/* The wait at P is over. False: P is not free yet, the collector will see to it. */
static bool note(struct thread_record *r, struct waits_place *p, uint32_t e, uint64_t now)
{
	uint64_t from = atomic_exchange(&p->told, WAITS_CLOSED);
	struct wait_note n;
	struct sample s;

	waits_holder_end(&p->holder);
	describe(p, e, from, now, &s, &n);
	if (!s.trace) {
		wait_lose(r, e, n.duration, LOSS_store_full);
		return true;
	}
	if (wait_take(r, &s, &n))
		return true;
	p->record = r->index;
	p->from = from;
	p->until = now;
	p->weight = s.weight;
	return false;
}

void waits_place_give_back(struct waits_place *p)
{
	atomic_store_explicit(&p->told, WAITS_CLOSED, memory_order_relaxed);
	kept_stack_set(&p->trace, NULL);
	kept_stack_set(&p->holder.trace, NULL);
	slot_table_let_go(p, 0);
}

/*
 * P's wait is over, and the collector fetches it: from another place if there is one, so that its own is free again. A
 * trace of a former generation stays where it is: the collector may have been at the other place already.
 */
static void leave_done(struct waits_place *p)
{
	const struct stack_trace *trace = kept_stack_get(&p->trace), *holder = kept_stack_get(&p->holder.trace);
	bool may = stack_trace_is_present(&zone.store, trace) && stack_trace_is_present(&zone.store, holder);
	struct waits_place *q = may ? slot_table_claim_anywhere(&waits_table.places, p->until ^ p->thread << 32) : NULL;
	struct trace_context trace_context;

	atomic_fetch_add_explicit(&waits_table.done, 1, memory_order_release);
	if (!q) {
		slot_table_let_go(p, WAITS_DONE);
		return;
	}
	trace_context = kept_trace_context(p);
	kept_trace_context_set(&waits_table.trace_contexts, slot_table_number(&waits_table.places, q), p->noted,
			       &trace_context);
	memcpy((char *)q + sizeof(q->key), (char *)p + sizeof(p->key), sizeof(*p) - sizeof(p->key));
	kept_stack_set(&q->trace, trace);
	kept_stack_set(&q->holder.trace, holder);
	waits_place_give_back(p);
	slot_table_let_go(q, WAITS_DONE);
}

/* P's wait is over, and no record of ours runs here that could take it. */
static void lose(struct waits_place *p, uint32_t e, uint64_t now)
{
	uint64_t from = atomic_exchange(&p->told, WAITS_CLOSED), weight = now > from ? now - from : 0;

	if (weight >= zone.events[e].interval)
		zone_lose(e, LOSS_no_record, weight);
}

/* P's wait is over, on the thread of R, entered; NULL: it has none. */
static void end(struct thread_record *r, struct waits_place *p, uint32_t e, uint64_t now)
{
	if (r && !note(r, p, e, now)) {
		leave_done(p);
		return;
	}
	if (!r)
		lose(p, e, now);
	waits_place_give_back(p);
}

/*
 * A wait has ended between two sessions. The last one may be telling of it yet, as it was at its halt, and the next one
 * may have begun with it already: it stays in its place, which its thread takes again when it needs one.
 */
static void end_between(uint64_t key, uint64_t began)
{
	struct waits_place *p = slot_table_find(&waits_table.places, key);

	if (p && (!began || p->began == began))
		atomic_store(&p->over, os_monotonic());
}

void waits_end(uint64_t thread, enum lock_kind kind, uint64_t began)
{
	uint64_t now = os_monotonic(), key = key_of(thread, kind);
	struct thread_record *r;
	struct waits_place *p;
	int e = waits_event(waits_of_kind(kind));

	if (e < 0) {
		if (atomic_load(&waits_table.keeping))
			end_between(key, began);
		return;
	}
	r = wait_enter((uint32_t)e);
	p = slot_table_take(&waits_table.places, key);
	/* A park within a park (parkUntil of JDK 21 calls the other one) has taken the place of the outer one. */
	if (p && began && p->began != began) {
		slot_table_let_go(p, key);
	} else if (p && atomic_load(&p->over)) {
		waits_place_give_back(p); /* of an earlier wait; this one has begun between two sessions */
	} else if (p) {
		end(r, p, (uint32_t)e, now);
	}
	if (r)
		wait_leave(r);
}

void waits_brief(struct wait_begin *b, uint64_t since)
{
	int e = waits_event(waits_of_kind(b->kind));
	struct thread_record *r = e < 0 ? NULL : wait_enter((uint32_t)e);
	uint64_t now;
	struct waits_place *p;

	if (!r)
		return;
	now = os_monotonic();
	if (!wait_would_be_due(r, (uint32_t)e, now - since)) {
		wait_carry(r, (uint32_t)e, now - since);
	} else {
		p = begin(r, (uint32_t)e, b, since);
		if (p)
			end(r, p, (uint32_t)e, now);
	}
	wait_leave(r);
}

void waits_cancel(uint64_t thread, enum lock_kind kind)
{
	bool listens = waits_listens(waits_of_kind(kind));
	struct waits_place *p = listens ? slot_table_take(&waits_table.places, key_of(thread, kind)) : NULL;

	if (p)
		waits_place_give_back(p);
}

/* ---- waits that go on ---- */

/* Whether the last report is long enough ago: at 1 s, 2 s, 4 s, 8 s, and then every 10 s. */
static bool is_old_news(uint64_t began, uint64_t told, uint64_t now)
{
	return now - told >= MIN(MAX(told - began, TELL_FIRST), TELL_EVERY);
}

bool waits_place_is_there(const struct waits_place *p)
{
	struct thread_record *r = &zone.records.records[p->record];
	uint64_t id = waits_place_is_native(p) ? (uint64_t)atomic_load(&r->tid) : atomic_load(&r->java_id);

	return (p->vthread && !waits_place_is_native(p)) ||
	       (atomic_load(&r->state) == RECORD_LIVE && (!id || id == p->thread));
}

/*
 * Whether P's thread may be in the call that it waited in: it left that without a return if it jumped out of a handler
 * (longjmp). As the kernel says: on a word of the lock, or close below the caller's frame; a spin lock's waiter runs.
 */
static bool is_in_call(const struct waits_place *p)
{
	uintptr_t word;

	if (!waits_place_is_native(p) || p->kind == LOCK_SPIN || !os_thread_futex_word((pid_t)p->thread, &word))
		return true;
	return (word >= p->address && word - p->address < LOCK_BYTES) ||
	       (p->also && word >= p->also && word - p->also < LOCK_BYTES) ||
	       (word < p->sp && p->sp - word < CALL_BYTES);
}

/* What is told of the table's places, up to NOW, and to whom. */
struct telling {
	uint64_t now;
	bool lately;
	waits_told_fn *fn;
	void *arg;
};

static void tell_open(struct waits_place *p, const struct telling *t)
{
	uint64_t key = atomic_load_explicit(&p->key, memory_order_acquire);
	uint64_t told = atomic_load_explicit(&p->told, memory_order_acquire), fresh;
	int e = told_event_of(p);
	struct trace_context trace_context;
	struct wait_note n;
	struct sample s;

	if (!key || key >= WAITS_DONE || told >= t->now || (t->lately && !is_old_news(p->since, told, t->now)) ||
	    e < 0 || !waits_place_is_there(p) || carried_has_ended(&p->over, waits_table.halted) || !is_in_call(p))
		return;
	describe(p, (uint32_t)e, told, t->now, &s, &n);
	trace_context = kept_trace_context(p);
	atomic_thread_fence(memory_order_acquire);
	if (atomic_load_explicit(&p->key, memory_order_relaxed) != key)
		return;
	fresh = n.duration >= zone.events[e].interval ? n.duration : 0;
	if (fresh ? !atomic_compare_exchange_strong(&p->told, &told, t->now) : atomic_load(&p->told) != told)
		return;
	s.weight = n.duration = fresh;
	n.open = true;
	t->fn(&s, &n, &trace_context, t->arg);
}

/* A thread that was cancelled in its wait has ended: its place is free. */
static void forget_ended(struct waits_place *p)
{
	uint64_t key = atomic_load(&p->key);

	if (key && key < WAITS_DONE && key >> KIND_SHIFT == KIND_NATIVE && !waits_place_is_there(p) &&
	    slot_table_try(&p->key, key))
		waits_place_give_back(p);
}

static bool each_open(void *place, void *telling)
{
	tell_open(place, telling);
	forget_ended(place);
	return true;
}

static bool is_told(void)
{
	return waits_table.told_event[WAITS_OF_JAVA] >= 0 || waits_table.told_event[WAITS_OF_NATIVE] >= 0;
}

void waits_tell_open(bool lately, waits_told_fn *fn, void *arg)
{
	struct telling t = {waits_table.halted ? waits_table.halted : os_monotonic(), lately, fn, arg};

	if (is_told())
		slot_table_each(&waits_table.places, each_open, &t);
}

/* ---- waits that are over, and found no room in a queue ---- */

static bool each_done(void *place, void *telling)
{
	const struct telling *t = telling;
	struct waits_place *p = place;
	struct trace_context trace_context;
	struct wait_note n;
	struct sample s;

	if (!slot_table_try(&p->key, WAITS_DONE))
		return false;
	describe(p, (uint32_t)told_event_of(p), p->from, p->until, &s, &n);
	trace_context = kept_trace_context(p);
	s.weight = p->weight;
	t->fn(&s, &n, &trace_context, t->arg);
	waits_place_give_back(p);
	return true;
}

void waits_tell_done(waits_told_fn *fn, void *arg)
{
	slot_table_fetch(&waits_table.places, &waits_table.done, each_done, &(struct telling){.fn = fn, .arg = arg});
}

/* ---- their stacks ---- */

struct changing {
	kept_stack_fn *fn;
	void *arg;
};

static bool each_stack(void *place, void *changing)
{
	const struct changing *c = changing;
	struct waits_place *p = place;

	kept_stack_change(&p->trace, c->fn, c->arg);
	kept_stack_change(&p->holder.trace, c->fn, c->arg);
	return true;
}

void waits_change_kept(kept_stack_fn *fn, void *arg)
{
	uint32_t i;

	/* also between the halt and the last that is told */
	if (!is_told())
		return;
	slot_table_each(&waits_table.places, each_stack, &(struct changing){fn, arg});
	for (i = 0; i < WAIT_ANSWERS; i++)
		kept_stack_change(wait_answer_kept(i), fn, arg);
}
