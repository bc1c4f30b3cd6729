#include "agent/sources/lock/lock_waits.h"

#include <errno.h>
#include <string.h>

#include "agent/sample/handler.h"
#include "agent/sources/active.h"
#include "agent/sources/carried.h"
#include "agent/sources/class_names.h"
#include "agent/sources/kept_contexts.h"
#include "agent/sources/lock/lock_events.h"
#include "agent/sources/lock/lock_holder.h"
#include "agent/sources/slot_table.h"
#include "agent/walk/fault.h"
#include "agent/zone/trace_context_read.h"
#include "common/os/os.h"

#define CLOSED UINT64_MAX
#define DONE (UINT64_MAX - 1) /* key of a place */
#define KIND_SHIFT 61
#define TELL_FIRST NS_PER_S
#define TELL_EVERY (10 * NS_PER_S)

/*
 * Who tells of an open wait takes no place away: it reads, and changes `told`, which no two waits have in common. Where
 * it is still what it was at the begin, what was read is of one wait.
 *
 * A wait that is over, and whose thread's queue is full, stays in its place, DONE: the collector takes it from there.
 */
struct place {
	slot_key key;            /* see key_of; DONE */
	uint64_t began;
	uint64_t since;           /* this session has it from here on: its begin, or where the last session left off */
	_Atomic uint64_t over;    /* when it has ended while no session noted it; 0: it has not */
	_Atomic uint64_t told;    /* up to here its time is in samples; CLOSED: the wait has ended */
	kept_stack trace;
	uint64_t owner_id;
	struct holder_stack holder;
	uint64_t from, until, weight; /* DONE: what is to be told of it */
	uint32_t class, identity, owner_tid;
	uint32_t record;          /* index of its thread's */
	uint16_t epoch;
	uint8_t kind;             /* enum lock_kind */
	bool is_virtual, owner_virtual;
	bool noted;               /* what it works for stands in `trace_contexts` */
	uint64_t thread;          /* Thread.getId */
};

/* Address space once, memory as it is used. */
static struct slot_table places = {.bytes = sizeof(struct place), .few = WAITS_FEW};
static struct kept_trace_contexts trace_contexts;
static _Atomic uint32_t done; /* places with DONE */
static _Atomic int event = -1;
static int told_event = -1; /* from the start until the memory goes back */
static int wanted = -1;   /* from the start to the halt */
static uint64_t started;  /* when the present session did: waits that go on are its own from there on */
static uint64_t halted;   /* when the last session did; 0: it has not */
static _Atomic bool keeping; /* see waits_keep_open */
static struct carried carried;

int waits_event(void)
{
	return atomic_load_explicit(&event, memory_order_acquire);
}

bool waits_are_wanted(void)
{
	return wanted >= 0;
}

bool waits_listens(void)
{
	return waits_event() >= 0 || atomic_load(&keeping);
}

/* ---- the table ---- */

/* Keys of threads with numbers next to each other are, as long as they wait for the same kind of lock. */
static uint64_t key_of(uint64_t thread, enum lock_kind kind)
{
	return (thread + 1) | (uint64_t)kind << KIND_SHIFT;
}

/* ---- begin and end ---- */

static bool keep_trace_context(const struct thread_record *r, const struct place *p, const struct wait_begin *b)
{
	struct trace_context trace_context;
	bool noted = b->virtual_id ? trace_context_of(b->thread, &trace_context) :
				     trace_context_of_record(r, &trace_context);

	return kept_trace_context_set(&trace_contexts, slot_table_number(&places, p), noted, &trace_context);
}

static struct trace_context kept_trace_context(const struct place *p)
{
	return kept_trace_context_get(&trace_contexts, slot_table_number(&places, p), p->noted);
}

static void fill(struct place *p, const struct wait_begin *b, const struct stack_trace *trace,
		 const struct thread_record *r,
		 uint16_t epoch)
{
	atomic_store(&p->told, CLOSED); /* it may be that of a wait around this one */
	kept_stack_set(&p->trace, trace);
	p->thread = b->thread;
	p->kind = (uint8_t)b->kind;
	p->record = r->index;
	p->epoch = epoch;
	p->noted = keep_trace_context(r, p, b);
	p->is_virtual = b->virtual_id;
	p->owner_id = b->owner_id;
	p->owner_tid = b->owner_tid;
	p->owner_virtual = b->owner_virtual;
	p->class = b->class;
	p->identity = b->identity;
	p->began = p->since = os_monotonic();
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

uint64_t waits_begin(struct wait_begin *b)
{
	uint64_t key = key_of(b->thread, b->kind), began = 0;
	int e = waits_event();
	struct thread_record *r = e < 0 ? NULL : wait_enter((uint32_t)e);
	const struct stack_trace *trace;
	struct place *p;
	uint16_t epoch;

	if (!r)
		return 0;
	fault_look();
	find_owner(r, b);
	trace = wait_walk(r, b->skip, b->method, &epoch);
	if (trace)
		wait_announce(r, (uint32_t)e, trace, epoch);
	p = slot_table_take_or_claim(&places, key);
	if (p) {
		waits_holder_look(r, (uint32_t)e, b, &p->holder);
		fill(p, b, trace, r, epoch);
		began = p->began;
		slot_table_let_go(p, key);
	} else {
		/* How long it will be is not known: it is one sample without weight. */
		record_take(r, (uint32_t)e);
		record_lose(r, (uint32_t)e, LOSS_too_many_waits, 0);
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

	return states[kind];
}

/* The wait at P from FROM to UNTIL as a sample of event E and its note. */
static void describe(const struct place *p, uint32_t e, uint64_t from, uint64_t until, struct sample *s,
		     struct wait_note *n)
{
	*s = (struct sample){
		.time = from,
		.trace = kept_stack_get(&p->trace),
		.vthread = p->is_virtual ? p->thread : 0,
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
	};
}

/* The wait at P is over. False: P is not free yet, the collector will see to it. */
static bool note(struct thread_record *r, struct place *p, uint32_t e, uint64_t now)
{
	uint64_t from = atomic_exchange(&p->told, CLOSED);
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

/* P is free again; a free place keeps no trace. */
static void give_back(struct place *p)
{
	atomic_store_explicit(&p->told, CLOSED, memory_order_relaxed);
	kept_stack_set(&p->trace, NULL);
	kept_stack_set(&p->holder.trace, NULL);
	slot_table_let_go(p, 0);
}

/*
 * P's wait is over, and the collector fetches it: from another place if there is one, so that its own is free again. A
 * trace of a former generation stays where it is: the collector may have been at the other place already.
 */
static void leave_done(struct place *p)
{
	const struct stack_trace *trace = kept_stack_get(&p->trace), *holder = kept_stack_get(&p->holder.trace);
	bool may = stack_trace_is_present(&zone.store, trace) && stack_trace_is_present(&zone.store, holder);
	struct place *q = may ? slot_table_claim_anywhere(&places, p->until ^ p->thread << 32) : NULL;
	struct trace_context trace_context;

	atomic_fetch_add_explicit(&done, 1, memory_order_release);
	if (!q) {
		slot_table_let_go(p, DONE);
		return;
	}
	trace_context = kept_trace_context(p);
	kept_trace_context_set(&trace_contexts, slot_table_number(&places, q), p->noted, &trace_context);
	memcpy((char *)q + sizeof(q->key), (char *)p + sizeof(p->key), sizeof(*p) - sizeof(p->key));
	kept_stack_set(&q->trace, trace);
	kept_stack_set(&q->holder.trace, holder);
	give_back(p);
	slot_table_let_go(q, DONE);
}

/* P's wait is over, and no record of ours runs here that could take it. */
static void lose(struct place *p, uint32_t e, uint64_t now)
{
	uint64_t from = atomic_exchange(&p->told, CLOSED), weight = now > from ? now - from : 0;

	if (weight < zone.events[e].interval)
		return;
	atomic_fetch_add_explicit(&zone.lost_count[e][LOSS_no_record], 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&zone.lost_weight[e][LOSS_no_record], weight, memory_order_relaxed);
}

/*
 * A wait has ended between two sessions. The last one may be telling of it yet, as it was at its halt, and the next one
 * may have begun with it already: it stays in its place, which its thread takes again when it needs one.
 */
static void end_between(uint64_t key, uint64_t began)
{
	struct place *p = slot_table_find(&places, key);

	if (p && (!began || p->began == began))
		atomic_store(&p->over, os_monotonic());
}

void waits_end(uint64_t thread, enum lock_kind kind, uint64_t began)
{
	uint64_t now = os_monotonic(), key = key_of(thread, kind);
	struct thread_record *r;
	struct place *p;
	int e = waits_event();

	if (e < 0) {
		if (atomic_load(&keeping))
			end_between(key, began);
		return;
	}
	r = wait_enter((uint32_t)e);
	p = slot_table_take(&places, key);
	/* A park within a park (parkUntil of JDK 21 calls the other one) has taken the place of the outer one. */
	if (p && began && p->began != began) {
		slot_table_let_go(p, key);
	} else if (p && atomic_load(&p->over)) {
		give_back(p); /* of an earlier wait; this one has begun between two sessions */
	} else if (p && r && !note(r, p, (uint32_t)e, now)) {
		leave_done(p);
	} else if (p) {
		if (!r)
			lose(p, (uint32_t)e, now);
		give_back(p);
	}
	if (r)
		wait_leave(r);
}

/* ---- waits that go on ---- */

/* Whether the last report is long enough ago: at 1 s, 2 s, 4 s, 8 s, and then every 10 s. */
static bool is_old_news(uint64_t began, uint64_t told, uint64_t now)
{
	return now - told >= MIN(MAX(told - began, TELL_FIRST), TELL_EVERY);
}

/* Whether P's thread is there: one that has ended told of no end. Of a virtual one only the JVM knows. */
static bool is_there(const struct place *p)
{
	struct thread_record *r = &zone.records.records[p->record];
	uint64_t id = atomic_load(&r->java_id);

	return p->is_virtual || (atomic_load(&r->state) == RECORD_LIVE && (!id || id == p->thread));
}

/* What is told of the table's places, up to NOW, and to whom. */
struct telling {
	uint64_t now;
	bool lately;
	waits_told_fn *fn;
	void *arg;
};

static void tell_open(struct place *p, const struct telling *t)
{
	uint64_t key = atomic_load_explicit(&p->key, memory_order_acquire);
	uint64_t told = atomic_load_explicit(&p->told, memory_order_acquire), fresh;
	struct trace_context trace_context;
	struct wait_note n;
	struct sample s;

	if (!key || key >= DONE || told >= t->now || (t->lately && !is_old_news(p->since, told, t->now)) ||
	    !is_there(p) || carried_has_ended(&p->over, halted))
		return;
	describe(p, (uint32_t)told_event, told, t->now, &s, &n);
	trace_context = kept_trace_context(p);
	atomic_thread_fence(memory_order_acquire);
	if (atomic_load_explicit(&p->key, memory_order_relaxed) != key)
		return;
	fresh = n.duration >= zone.events[told_event].interval ? n.duration : 0;
	if (fresh ? !atomic_compare_exchange_strong(&p->told, &told, t->now) : atomic_load(&p->told) != told)
		return;
	s.weight = n.duration = fresh;
	n.open = true;
	t->fn(&s, &n, &trace_context, t->arg);
}

static bool each_open(void *place, void *telling)
{
	tell_open(place, telling);
	return true;
}

void waits_tell_open(bool lately, waits_told_fn *fn, void *arg)
{
	struct telling t = {halted ? halted : os_monotonic(), lately, fn, arg};

	if (told_event >= 0)
		slot_table_each(&places, each_open, &t);
}

/* ---- waits that are over, and found no room in a queue ---- */

static bool each_done(void *place, void *telling)
{
	const struct telling *t = telling;
	struct place *p = place;
	struct trace_context trace_context;
	struct wait_note n;
	struct sample s;

	if (!slot_table_try(&p->key, DONE))
		return false;
	describe(p, (uint32_t)told_event, p->from, p->until, &s, &n);
	trace_context = kept_trace_context(p);
	s.weight = p->weight;
	t->fn(&s, &n, &trace_context, t->arg);
	give_back(p);
	return true;
}

void waits_tell_done(waits_told_fn *fn, void *arg)
{
	slot_table_fetch(&places, &done, each_done, &(struct telling){.fn = fn, .arg = arg});
}

/* ---- their stacks ---- */

struct changing {
	kept_stack_fn *fn;
	void *arg;
};

static bool each_stack(void *place, void *changing)
{
	const struct changing *c = changing;
	struct place *p = place;

	kept_stack_change(&p->trace, c->fn, c->arg);
	kept_stack_change(&p->holder.trace, c->fn, c->arg);
	return true;
}

void waits_change_kept(kept_stack_fn *fn, void *arg)
{
	uint32_t i;

	/* also between the halt and the last that is told */
	if (told_event < 0)
		return;
	slot_table_each(&places, each_stack, &(struct changing){fn, arg});
	for (i = 0; i < WAIT_ANSWERS; i++)
		kept_stack_change(wait_answer_kept(i), fn, arg);
}

/* ---- the engine ---- */

static int start(struct engine_event *event_of_session, uint32_t e, struct buffer *notes, struct error *err)
{
	(void)event_of_session;
	(void)notes;
	if (!zone.has_jvm)
		return error_set(err, ENOTSUP, "lock: this JVM's stacks cannot be walked");
	if (!slot_table_open(&places, WAITS_LIMIT) || class_names_open())
		return error_set(err, ENOMEM, "lock: cannot reserve address space for waits; raise the limit of "
				 "virtual memory (ulimit -v)");
	kept_trace_contexts_open(&trace_contexts, places.limit);
	wanted = told_event = (int)e;
	started = os_monotonic();
	halted = 0;
	return 0;
}

static int arm(struct thread_record *r, uint32_t e)
{
	atomic_store(&r->sources[e].arm, ARM_CALLS);
	return 0;
}

static void silence(struct thread_record *r, uint32_t e)
{
	atomic_store(&r->sources[e].arm, ARM_NONE);
}

static void disarm(struct thread_record *r, uint32_t e, bool at_work)
{
	(void)at_work;
	silence(r, e);
}

/* ---- from one session to the next ---- */

static const struct carried_table table;

/* The wait at PLACE goes on in the next session, unless it turns out that it has ended. False: it does not. */
static bool carry(void *place)
{
	struct place *p = place;
	uint64_t key = atomic_load(&p->key);
	bool goes_on = key && key < DONE && !atomic_load(&p->over) && kept_stack_get(&p->trace) && is_there(p);

	if (!goes_on ||
	    !carried_note(&table, p, p->record, kept_stack_get(&p->trace), kept_stack_get(&p->holder.trace)))
		return false;
	class_name_keep(p->class);
	/* nothing of it is told before it has its stack again */
	atomic_store(&p->told, CLOSED);
	kept_stack_set(&p->trace, NULL);
	kept_stack_set(&p->holder.trace, NULL);
	p->holder.number = 0;
	return true;
}

/* PLACE's wait goes on in this session, as W says. False: its thread has ended. */
static bool take_up(void *place, const struct carried_wait *w, struct thread_record *self)
{
	struct place *p = place;
	struct thread_record *r = carried_record(w->tid, p->is_virtual, self);

	if (!r || atomic_load(&p->over))
		return false;
	p->record = r->index;
	p->since = started;
	p->epoch = (uint16_t)method_epoch_now(&zone.epochs);
	kept_stack_set(&p->trace, carried_put(&carried, w->trace, self));
	kept_stack_set(&p->holder.trace, carried_put(&carried, w->holder, self));
	atomic_store_explicit(&p->told, p->since, memory_order_release);
	if (kept_stack_get(&p->trace))
		wait_announce(self, (uint32_t)wanted, kept_stack_get(&p->trace), p->epoch);
	return true;
}

static void drop(void *place)
{
	give_back(place);
}

static const struct carried_table table = {&places, &trace_contexts, &carried, carry, take_up, drop};

void waits_open(void)
{
	if (wanted >= 0)
		carried_go_on(&table);
	atomic_store(&event, wanted);
	atomic_store(&keeping, false);
}

void waits_keep_open(bool keep)
{
	atomic_store(&keeping, keep);
	if (!keep && carried.waits.count) {
		carried_clear(&table);
		class_names_release();
	}
}

void waits_halt(void)
{
	if (wanted >= 0)
		halted = os_monotonic();
	atomic_store(&event, -1);
	wanted = -1;
}

void waits_release(void)
{
	uint32_t i;

	told_event = -1;
	atomic_store(&done, 0);
	carried_release(&table, atomic_load(&keeping));
	for (i = 0; i < WAIT_ANSWERS; i++)
		kept_stack_set(wait_answer_kept(i), NULL);
}

const struct engine_ops engine_lock = {
	.name = "lock", .handler = handler_thread, .start = start, .arm = arm, .silence = silence, .disarm = disarm,
	.halt = waits_halt, .listen = lock_listen, .listen_no_more = lock_listen_no_more, .vm_init = lock_vm_init,
	.vm_death = lock_vm_death, .release = waits_release,
};
