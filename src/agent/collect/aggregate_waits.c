/*
 * Waits for locks: their stacks, which end in the class of the lock, and their sums by lock and owner
 * (aggregate_sums.h).
 */
/*
 * aggregate_waits.c - a wait for a lock: its stack ends in the lock's class, who held it is a thread of the aggregate.
 */
#include "agent/collect/aggregate.h"
#include "agent/collect/ended_threads.h"
#include "agent/collect/sink.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/hash.h"
#include "common/os/os.h"

#define TICK (10 * NS_PER_MS) /* the system tells beginnings of threads by it, rounded down */

/* ---- whose lock it was ---- */

void aggregate_wait_thread(struct collector *c, uint64_t java_id, int tid)
{
	uint32_t *slot = java_id ? map_put(&c->waits.java_threads, java_id, NULL) : NULL;

	if (slot)
		*slot = (uint32_t)tid;
}

/* The system's number of Java thread JAVA_ID; 0: a virtual thread, or one that has ended. */
static uint32_t tid_of(struct collector *c, uint64_t java_id)
{
	uint32_t *tid = map_get(&c->waits.java_threads, java_id);
	uint32_t *its = tid ? map_get(&c->java_ids, *tid) : NULL;

	/* the tid may be another thread's by now */
	return its && *its == (uint32_t)java_id ? *tid : 0;
}

static uint32_t ended_entry(struct collector *c, struct ended_thread *t)
{
	if (!t->thread)
		t->thread = aggregate_thread_ended(c, t->tid, t->name);
	return t->thread;
}

/* TID's record, if its thread is the one that had the number at TIME; that of one that has just ended, too. */
static struct thread_record *record_of(uint32_t tid, uint64_t time)
{
	struct thread_record *r = record_find_tid(&zone.records, (pid_t)tid);

	if (!r) {
		r = record_find_closing(&zone.records, (pid_t)tid);
		return r && r->since <= time ? r : NULL;
	}
	/* where no event told of its begin it was found later than it began */
	return r->since <= time || os_thread_start((pid_t)tid) + TICK <= time ? r : NULL;
}

/* Entry + 1 of who had TID at TIME; 0 = not known. One entry, however often and from when on it is asked for. */
static uint32_t by_tid(struct collector *c, uint32_t tid, uint64_t time)
{
	struct thread_record *r = record_of(tid, time);
	struct ended_thread *gone = r ? NULL : ended_by_tid(c, (int)tid, time);
	uint32_t *name = r || gone ? NULL : map_get(&c->names, tid);

	if (r)
		return aggregate_thread(c, &(struct sample){.time = time}, r);
	if (gone)
		return ended_entry(c, gone);
	/* It has ended, and its record has not been closed yet, or is not found. */
	return name && *name && !record_find_tid(&zone.records, (pid_t)tid) ? aggregate_thread_ended(c, (int)tid, *name)
									   : 0;
}

/*
 * Whether the Java thread that N tells of, of TIME, is a virtual one: it said so itself, or is none of the others.
 * Those are all known from their begin to their end, but where so many have ended that some are forgotten, or before
 * the session has begun.
 */
static bool is_virtual(struct collector *c, const struct wait_note *n, uint64_t time)
{
	return n->owner_virtual || map_get(&c->by_vthread, n->owner_id) ||
	       (!c->ended.forgot && time >= c->opened && n->owner_id <= UINT32_MAX && !ended_by_java(c, n->owner_id));
}

static void by_java_id(struct collector *c, const struct wait_note *n, uint64_t time, struct sink_lock *l)
{
	struct ended_thread *gone;
	uint32_t tid;

	aggregate_names(c);
	tid = n->owner_virtual ? 0 : tid_of(c, n->owner_id);
	gone = tid || n->owner_virtual ? NULL : ended_by_java(c, n->owner_id);
	l->owner_tid = gone ? gone->tid : (int32_t)tid;
	if (tid) {
		l->owner_thread = by_tid(c, tid, time);
	} else if (gone) {
		l->owner_thread = ended_entry(c, gone);
	} else if (is_virtual(c, n, time)) {
		l->owner_context = n->owner_id;
		l->owner_thread = aggregate_thread(c, &(struct sample){.time = time, .vthread = n->owner_id}, NULL);
	}
}

/* The owner that N tells of as a thread of the aggregate, into L; the wait began at TIME. */
static void find_owner(struct collector *c, const struct wait_note *n, uint64_t time, struct sink_lock *l)
{
	if (n->owner_tid) {
		l->owner_tid = (int32_t)n->owner_tid;
		aggregate_names(c);
		l->owner_thread = by_tid(c, n->owner_tid, time);
	} else if (n->owner_id && !lock_kind_is_native((enum lock_kind)n->kind)) {
		by_java_id(c, n, time, l);
	}
	if (!l->owner_thread) {
		l->owner_tid = 0;
		return;
	}
	if (n->owner_stack) {
		const struct sample of = {.time = time, .trace = n->owner_stack, .epoch = n->owner_epoch};

		l->owner_node = aggregate_stack(c, &of);
	}
	l->owner_name = c->threads.items[l->owner_thread - 1].name;
}

/* ---- the stack ---- */

uint32_t aggregate_leaf(struct collector *c, uint32_t node, uint32_t frame)
{
	uint32_t *slot;

	if (!node || frame == FRAMES_NO_MEMORY)
		return 0;
	slot = map_put(&c->waits.leaves, (uint64_t)node << 32 | frame, NULL);
	if (slot && !*slot)
		*slot = aggregate_stack_under(c, node, frame);
	return slot ? *slot : 0;
}

/* ---- sums ---- */

/* A wait of which several samples tell is one. */
static void sum_up(struct wait_sum *sum, const struct sink_event *e)
{
	sum->waits += e->weight && !e->lock->again;
	sum->time += e->weight;
	sum->longest = MAX(sum->longest, e->lock->told + e->lock->duration);
	sum->open += e->lock->open;
}

struct waits_sums *aggregate_waits_of(struct collector *c, uint32_t e)
{
	return &c->waits.sums[c->options.waits[e] - 1];
}

static uint64_t key_of(uint32_t name, uint64_t identity, uint8_t kind)
{
	return hash_mix((uint64_t)name << 32 ^ (identity <= UINT32_MAX ? identity : hash_mix(identity))) + kind;
}

uint64_t aggregate_wait_key(const struct wait_sum *l)
{
	return key_of(l->name, l->identity, l->kind);
}

uint64_t aggregate_holder_key(const struct wait_sum *h)
{
	return hash_mix((uint64_t)h->thread << 32 | h->node) + key_of(h->lock, h->identity, 0);
}

/* The line that SLOT knows, or FRESH as a new one; NULL: there is no memory. */
static struct wait_sum *line_at(struct wait_lines *lines, uint32_t *slot, const struct wait_sum *fresh)
{
	struct wait_sum *sum;

	if (slot && *slot)
		return &lines->items[*slot - 1];
	sum = slot ? PAGED_PUSH(lines) : NULL;
	if (!sum)
		return NULL;
	*sum = *fresh;
	*slot = (uint32_t)lines->count;
	return sum;
}

/* The line of lock L; when there are too many, that of its class. */
static struct wait_sum *lock_line(struct waits_sums *w, const struct sink_lock *l)
{
	uint64_t key = key_of(l->class_name, l->identity, l->kind);
	uint32_t *slot = map_get(&w->by_lock, key);
	bool full = w->locks.count >= WAITS_LOCKS;

	if (!slot) {
		if (full)
			key = key_of(l->class_name, 0, l->kind);
		slot = map_put(&w->by_lock, key, NULL);
	}
	return line_at(&w->locks, slot, &(struct wait_sum){
		.name = l->class_name, .identity = full ? 0 : l->identity, .kind = l->kind,
	});
}

/* The number of LINE, of a lock, if its stacks are apart from those of its class; 0: they are not. */
static uint32_t number_of(const struct waits_sums *w, const struct wait_sum *line)
{
	size_t number = line && line->identity ? (size_t)(line - w->locks.items) + 1 : 0;

	return number <= WAITS_APART ? (uint32_t)number : 0;
}

uint32_t aggregate_wait_shown(struct collector *c, const struct sink_event *e)
{
	uint32_t class_name = e->lock->class_name, number;
	struct waits_sums *sums = aggregate_waits_of(c, e->event);

	if (e->lock->kind == LOCK_SLEEP) /* there is none, and the innermost frame says so */
		return e->node;
	number = number_of(sums, lock_line(sums, e->lock));
	return aggregate_leaf(c, e->node, class_name ? frames_lock(&c->frames, class_name, number)
					      : frames_marker(&c->frames, "[no_lock]"));
}

static struct wait_sum *owner_line(struct waits_sums *w, uint32_t thread, uint32_t name)
{
	uint64_t key = w->owners.count < WAITS_OWNERS || map_get(&w->by_owner, thread) ? thread : 0;

	return line_at(&w->owners, map_put(&w->by_owner, key, NULL), &(struct wait_sum){.name = key ? name : 0});
}

/* APART: its lock is. */
static struct wait_sum *holder_line(struct waits_sums *w, const struct sink_lock *l, bool apart)
{
	const struct wait_sum fresh = {
		.name = l->owner_name, .identity = apart ? l->identity : 0, .node = l->owner_node,
		.lock = l->class_name, .thread = l->owner_thread,
	};
	uint64_t key = aggregate_holder_key(&fresh);
	uint32_t *slot = w->holders.count < WAITS_HOLDERS ? map_put(&w->by_holder, key, NULL)
							   : map_get(&w->by_holder, key);

	return line_at(&w->holders, slot, &fresh);
}

void aggregate_wait_sums(struct collector *c, const struct sink_event *e)
{
	struct waits_sums *sums = aggregate_waits_of(c, e->event);
	struct wait_sum *lock = lock_line(sums, e->lock), *owner;

	if (lock)
		sum_up(lock, e);
	if (!e->lock->owner_thread)
		return;
	owner = owner_line(sums, e->lock->owner_thread, e->lock->owner_name);
	if (owner)
		sum_up(owner, e);
	owner = e->lock->owner_node ? holder_line(sums, e->lock, number_of(sums, lock)) : NULL;
	if (owner)
		sum_up(owner, e);
}

/* ---- a wait ---- */

static uint32_t class_number(struct collector *c, uint32_t class)
{
	const char *name = c->sources->class_name(class);

	return name ? strings_add(&c->frames.strings, name, strlen(name)) : 0;
}

void aggregate_lose(struct collector *c, const struct sample *s, enum loss_reason why)
{
	struct event_aggregate *a = &c->events[s->event];

	a->losses_of_dead.count[why]++;
	a->losses_of_dead.weight[why] += s->weight;
}

void aggregate_wait(struct collector *c, const struct sample *s, const struct wait_note *n,
		  const struct trace_context *trace_context, struct thread_record *r)
{
	bool native = lock_kind_is_native((enum lock_kind)n->kind);
	struct sink_lock l = {.kind = n->kind, .identity = native ? n->address : n->identity,
			      .duration = n->duration, .told = n->told, .open = n->open, .again = n->again};
	struct sink_event e = {
		.time = s->time,
		.samples = 1,
		.weight = s->weight,
		.vthread = s->vthread,
		.event = s->event,
		.state = s->state,
		.lock = &l,
	};
	struct stack_count *t;

	if (s->state == THREAD_NONE) { /* it begins to wait: its methods are there now, and get their names */
		aggregate_stack(c, s);
		return;
	}
	if (trace_context)
		e.trace_context = *trace_context;
	l.class_name = class_number(c, n->class);
	t = aggregate_noted(c, s, r, &e);
	if (!t)
		return;
	find_owner(c, n, s->time - n->told, &l);
	aggregate_wait_sums(c, &e);
	if (!e.weight && n->open) /* all of its time is in samples already */
		return;
	aggregate_add(c, &e, c->nodes.items[e.node].end, t);
	sink_event(c, &e);
}

void aggregate_waits_sums_free(struct waits_sums *s)
{
	PAGED_FREE(&s->locks);
	PAGED_FREE(&s->owners);
	PAGED_FREE(&s->holders);
	map_free(&s->by_lock);
	map_free(&s->by_owner);
	map_free(&s->by_holder);
}
