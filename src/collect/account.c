/*
 * account.c - a sample becomes a number at a named stack.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/account.h"
#include "engine/runs.h"
#include "os/os.h"
#include "signal/frame_word.h"

#define VIRTUAL_THREADS 10000      /* kept apart with per_thread; all others are one entry */
#define ALL_VIRTUAL UINT64_MAX

static uint64_t versions_of(struct collector *c, const struct trace *t, uint64_t era)
{
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i < t->length; i++) {
		uint32_t version = frames_version(&c->frames, &zone, t->frame[i], era);

		if (version == FRAMES_GONE)
			return UINT64_MAX;
		sum += version;
	}
	return sum;
}

static uint8_t end_of(const struct trace *t)
{
	uint64_t root = t->length ? t->frame[t->length - 1] : 0;

	if (frame_kind_of(root) != FRAME_OTHER || frame_other_kind(root) != OTHER_END ||
	    (uint32_t)root >= WALK_ENDS)
		return 0;
	return (uint8_t)((uint32_t)root + 1);
}

/* Append FRAME to NODE, the last one; false when out of memory, also if FRAME says so. */
static bool push_frame(struct collector *c, struct node *node, uint32_t frame, uint32_t bci)
{
	uint32_t *slot = frame == FRAMES_NO_MEMORY ? NULL : VECTOR_PUSH(&c->frame_list);
	uint16_t *position = slot ? VECTOR_PUSH(&c->bcis) : NULL;

	if (!position)
		return false;
	*slot = frame;
	*position = (uint16_t)bci;
	node->depth++;
	return true;
}

/* Frame I of T belongs into the account's stack of it, which has N so far. */
static bool is_kept(const struct collector *c, const struct trace *t, uint32_t i, uint32_t n)
{
	enum frame_kind kind = frame_kind_of(t->frame[i]);

	if (kind == FRAME_OTHER)
		return true;
	if (c->options.java_only && (kind == FRAME_NATIVE || kind == FRAME_KERNEL))
		return false;
	return !c->options.depth_kept || n < c->options.depth_kept ||
	       end_of(t) != END_truncated + 1;
}

/* A stack is kept whole or not at all: the last node goes again. */
static uint32_t forget_node(struct collector *c)
{
	c->frame_list.count = c->bcis.count = c->nodes.items[--c->nodes.count].first;
	return 0;
}

/* A new node for T, with the names its words had in ERA. 0 = out of memory (node 0 is never used). */
static uint32_t new_node(struct collector *c, const struct trace *t, uint64_t versions, uint64_t era)
{
	struct node *n;
	uint32_t i;

	n = VECTOR_PUSH(&c->nodes);
	if (n && c->nodes.count == 1)
		n = VECTOR_PUSH(&c->nodes);
	if (!n)
		return 0;
	n->trace = t;
	n->first = (uint32_t)c->frame_list.count;
	n->versions = versions;
	n->checked = c->frames.drain;
	n->era = era;
	n->end = end_of(t);
	for (i = 0; i < t->length; i++)
		if (is_kept(c, t, i, n->depth) &&
		    !push_frame(c, n, frames_name(&c->frames, &zone, t->frame[i], era),
				frame_is_java(t->frame[i]) ? frame_bci(t->frame[i]) : FRAME_NO_BCI))
			return forget_node(c);
	if (!n->depth && c->options.java_only &&
	    !push_frame(c, n, frames_marker(&c->frames, "[no_Java_frame]"), FRAME_NO_BCI))
		return forget_node(c);
	return (uint32_t)c->nodes.count - 1;
}

/* The node of trace T as its names were in ERA. */
static uint32_t node_of(struct collector *c, const struct trace *t, uint64_t era)
{
	uint32_t id = atomic_load_explicit(&((struct trace *)t)->id, memory_order_relaxed);
	struct node *n = id ? &c->nodes.items[id] : NULL;
	uint64_t versions;

	if (n && n->checked == c->frames.drain && n->era == era)
		return id;
	versions = versions_of(c, t, era);
	if (n && n->versions == versions && versions != UINT64_MAX) {
		n->checked = c->frames.drain;
		n->era = era;
		return id;
	}
	id = new_node(c, t, versions, era);
	atomic_store_explicit(&((struct trace *)t)->id, id, memory_order_relaxed);
	return id;
}

/*
 * The whole of the era that S carries the lower bits of: one between the last drain and now.
 * 0 = unknown, when so many have passed that the bits do not tell.
 */
static uint64_t era_of(struct collector *c, const struct sample *s)
{
	uint64_t now = era_now(&zone.eras);

	return now - c->era_floor > UINT16_MAX ? 0 : now - (uint16_t)((uint16_t)now - s->era);
}

static uint32_t thread_name(struct collector *c, pid_t tid)
{
	uint32_t *known = map_get(&c->names, (uint64_t)tid);
	char name[32];

	if (known && *known)
		return *known;
	os_thread_name(tid, name, sizeof(name));
	if (!name[0])
		snprintf(name, sizeof(name), "thread %d", tid);
	return strings_add(&c->frames.strings, name, strlen(name));
}

static void name_now(struct collector *c, const struct given_name *g)
{
	uint32_t number = strings_add(&c->frames.strings, g->name, strlen(g->name));
	uint32_t *slot = map_put(&c->names, (uint64_t)g->tid, NULL);
	uint32_t *entry = map_get(&c->by_tid, (uint64_t)g->tid);
	struct thread_entry *e = entry && *entry ? &c->threads.items[*entry - 1] : NULL;

	if (slot)
		*slot = number;
	slot = map_put(&c->java_ids, (uint64_t)g->tid, NULL);
	if (slot)
		*slot = (uint32_t)g->java_id;
	/* Not if the thread of today is another one, that began since. */
	if (e && number && e->name != number && os_thread_start(g->tid) <= e->first) {
		e->name = number;
		e->java_id = g->java_id;
		sink_thread_name(c, *entry - 1);
	}
}

void account_names(struct collector *c)
{
	size_t i;

	pthread_mutex_lock(&c->given_lock);
	for (i = 0; i < c->given.count; i++) {
		name_now(c, &c->given.items[i]);
		free(c->given.items[i].name);
	}
	c->given.count = 0;
	pthread_mutex_unlock(&c->given_lock);
}

/* A new entry; its number + 1, 0 = out of memory. */
static uint32_t new_thread(struct collector *c, pid_t tid, uint64_t context)
{
	struct thread_entry *e;
	uint32_t i, n = (uint32_t)c->threads.count;
	char name[48];

	while (c->sums.count < (n + 1) * (size_t)c->options.events) {
		struct thread_sum *sum = VECTOR_PUSH(&c->sums);

		if (!sum)
			return 0;
	}
	for (i = 0; i < c->options.events; i++)
		c->sums.items[n * c->options.events + i] = (struct thread_sum){0, 0};
	e = VECTOR_PUSH(&c->threads);
	if (!e)
		return 0;
	e->tid = tid;
	e->context = context;
	if (context == ALL_VIRTUAL) {
		e->name = strings_add(&c->frames.strings, "virtual threads", strlen("virtual threads"));
	} else if (context) {
		snprintf(name, sizeof(name), "virtual thread #%llu", (unsigned long long)context);
		e->name = strings_add(&c->frames.strings, name, strlen(name));
	} else {
		uint32_t *java_id = map_get(&c->java_ids, (uint64_t)tid);

		e->name = thread_name(c, tid);
		e->java_id = java_id ? *java_id : 0;
	}
	if (!e->name) {
		c->threads.count--;
		return 0;
	}
	return (uint32_t)c->threads.count;
}

/* Entry + 1 of the OS thread R, whose sample S is the first under this record. */
static uint32_t thread_of_record(struct collector *c, const struct sample *s, const struct thread_record *r)
{
	pid_t tid = atomic_load(&((struct thread_record *)r)->tid);
	uint32_t *slot = map_put(&c->by_tid, (uint64_t)tid, NULL);
	uint64_t start = slot && *slot ? os_thread_start(tid) : 0;
	uint32_t entry;

	/* It has one from before a stop and a resume. */
	if (start && start <= c->threads.items[*slot - 1].first)
		return *slot;
	entry = new_thread(c, tid, 0);
	if (entry) {
		c->threads.items[entry - 1].first = s->time;
		c->threads.items[entry - 1].since = r->since;
		sink_thread_begin(c, entry - 1);
	}
	if (slot)
		*slot = entry;
	return entry;
}

/* Entry + 1 of the thread that S belongs to: the virtual thread that was mounted, or R. */
static uint32_t thread_of(struct collector *c, const struct sample *s, struct thread_record *r)
{
	uint64_t context = s->context;
	uint32_t *slot;

	if (!context) {
		if (!r->thread_entry || r->thread_entry > c->threads.count)
			r->thread_entry = thread_of_record(c, s, r);
		return r->thread_entry;
	}
	/* There may be millions of virtual threads in a day: only so many are kept apart. */
	if (!c->options.per_thread ||
	    (c->by_context.count >= VIRTUAL_THREADS && !map_get(&c->by_context, context)))
		context = ALL_VIRTUAL;
	slot = map_put(&c->by_context, context, NULL);
	if (slot && !*slot) {
		*slot = new_thread(c, 0, context);
		if (*slot)
			sink_thread_begin(c, *slot - 1);
	}
	return slot ? *slot : 0;
}

struct tally *account_tally(struct collector *c, uint32_t event, uint32_t node, uint32_t thread, uint8_t state)
{
	struct event_account *a = &c->events[event];
	struct tally *t;
	uint32_t *slot;

	thread = c->options.per_thread ? thread : 0;
	state = a->turns ? state : THREAD_NONE;
	slot = map_put(&a->by_node, (uint64_t)node << 32 | thread << 3 | state, NULL);

	if (!slot || *slot)
		return slot ? &c->tallies.items[*slot - 1] : NULL;
	t = VECTOR_PUSH(&c->tallies);
	if (!t)
		return NULL;
	t->node = node;
	t->thread = thread;
	t->event = event;
	t->state = state;
	*slot = (uint32_t)c->tallies.count;
	return t;
}

/*
 * NODE with the frames of CPU (a number + 1, 0 = not asked for) and POLICY (or NULL) at its root; 0 =
 * out of memory.
 */
static uint32_t node_at(struct collector *c, uint32_t node, uint32_t cpu, const char *policy)
{
	uint32_t name = policy ? frames_marker(&c->frames, policy) + 1 : 0;
	uint64_t key = map_hash(map_hash((uint64_t)node << 32 | name) ^ cpu);
	uint32_t *slot = map_put(&c->by_place, key, NULL), i;
	struct node n = c->nodes.items[node], *to;
	bool whole = true;
	char text[32];

	if (!slot || *slot)
		return slot ? *slot : 0;
	to = VECTOR_PUSH(&c->nodes);
	if (!to)
		return 0;
	to->end = n.end;
	to->first = (uint32_t)c->frame_list.count;
	for (i = 0; i < n.depth && whole; i++)
		whole = push_frame(c, to, c->frame_list.items[n.first + i], c->bcis.items[n.first + i]);
	if (policy && whole)
		whole = push_frame(c, to, name - 1, FRAME_NO_BCI);
	snprintf(text, sizeof(text), "[CPU-%u]", cpu - 1);
	if (cpu && whole)
		whole = push_frame(c, to, frames_marker(&c->frames, text), FRAME_NO_BCI);
	if (!whole)
		return forget_node(c);
	return *slot = (uint32_t)c->nodes.count - 1;
}

/* With `sched` and `record-cpu` the same stack at another place is another one. */
static uint32_t placed(struct collector *c, uint32_t node, const struct sample *s, struct thread_record *r)
{
	uint32_t cpu = c->options.record_cpu ? s->payload + 1 : 0;
	const char *policy;
	char text[32];

	if (likely(!c->options.sched && !cpu))
		return node;
	if (!c->options.sched)
		return node_at(c, node, cpu, NULL);
	policy = os_thread_policy(atomic_load(&r->tid));
	snprintf(text, sizeof(text), "[%s]", policy ? policy : "thread_gone");
	return node_at(c, node, cpu, text);
}

/* Stored samples E (its node and thread are set here) at PLACE; TALLY was found. */
void account_add(struct collector *c, const struct sink_event *e, uint8_t end, struct tally *t)
{
	struct event_account *a = &c->events[e->event];
	struct thread_sum *sum = &c->sums.items[e->thread * c->options.events + e->event];

	a->stored += e->samples;
	a->weight_stored += e->weight;
	if (end)
		a->ended[end - 1] += e->samples;
	else
		a->complete += e->samples;
	sum->samples += e->samples;
	sum->weight += e->weight;
	t->samples += e->samples;
	t->weight += e->weight;
}

static void add(struct collector *c, struct sink_event *e, const struct place *place, struct tally *t)
{
	e->node = place->shown;
	e->thread = place->thread - 1;
	e->state = place->state;
	e->context = place->context;
	account_add(c, e, c->nodes.items[place->node].end, t);
	sink_event(c, e);
}

/* Samples E at PLACE are kept, or lost for lack of memory. */
static bool store(struct collector *c, struct sink_event *e, const struct place *place)
{
	struct event_account *a = &c->events[e->event];
	struct tally *t = place->shown ? account_tally(c, e->event, place->shown, place->thread, place->state) : NULL;

	if (t) {
		add(c, e, place, t);
		return true;
	}
	a->losses_of_dead.count[LOSS_no_memory] += e->samples;
	a->losses_of_dead.weight[LOSS_no_memory] += e->weight;
	return false;
}

static void find_place(struct collector *c, const struct sample *s, struct thread_record *r, struct place *p)
{
	p->node = node_of(c, s->trace, era_of(c, s));
	p->thread = p->node ? thread_of(c, s, r) : 0;
	p->shown = p->thread ? placed(c, p->node, s, r) : 0;
	p->state = s->state;
	p->context = s->context;
}

void account_sample(struct collector *c, const struct sample *s, struct thread_record *r)
{
	struct sink_event e = {.time = s->time, .samples = 1, .weight = s->weight, .event = s->event};
	struct place place;

	find_place(c, s, r, &place);
	if (!store(c, &e, &place))
		return;
	timing_add(&c->handler, s->handler_ns);
	if (c->options.stats && !c->options.record_cpu)
		timing_add(&c->walk, s->payload);
}

/* ---- runs ---- */

/* Methods in which a Java thread waits, by their own names: the JVM shows no more than "blocked". */
static enum thread_state state_at(const struct collector *c, const struct node *n)
{
	static const struct {
		const char *class_name, *name;
		enum thread_state state;
	} waits[] = {
		{"jdk/internal/misc/Unsafe", "park", THREAD_PARKED},
		{"sun/misc/Unsafe", "park", THREAD_PARKED},
		{"java/lang/ref/Reference", "waitForReferencePendingList", THREAD_WAITING},
		{"java/lang/Object", "wait", THREAD_WAITING},
		{"java/lang/Object", "wait0", THREAD_WAITING},
		{"java/lang/Thread", "sleep", THREAD_SLEEPING},
		{"java/lang/Thread", "sleep0", THREAD_SLEEPING},
		{"java/lang/Thread", "sleepNanos0", THREAD_SLEEPING}, /* 21+ */
	};
	const struct named_frame *f;
	size_t i;

	if (!n->depth)
		return THREAD_RUNNABLE;
	f = &c->frames.named.items[c->frame_list.items[n->first]];
	for (i = 0; f->class_name && i < ARRAY_LEN(waits); i++)
		if (strcmp(strings_get(&c->frames.strings, f->class_name), waits[i].class_name) == 0 &&
		    strcmp(strings_get(&c->frames.strings, f->name), waits[i].name) == 0)
			return waits[i].state;
	/* Held where it could be running: at a safepoint, or for a collection. */
	return THREAD_RUNNABLE;
}

static struct place *run_of(struct collector *c, uint32_t thread)
{
	while (c->runs.count <= thread) {
		struct place *p = VECTOR_PUSH(&c->runs);

		if (!p)
			return NULL;
		memset(p, 0, sizeof(*p));
	}
	return &c->runs.items[thread];
}

static void begin_run(struct collector *c, const struct run_note *n, struct place *p)
{
	struct sample s = {
		.time = n->time,
		.trace = n->trace,
		.context = n->context,
		.thread = n->thread,
		.event = n->event,
		.state = n->state,
		.era = n->era,
		.payload = UINT32_MAX, /* of no CPU */
	};

	find_place(c, &s, &zone.records.records[n->thread], p);
	if (p->node && n->state == THREAD_NONE)
		p->state = (uint8_t)state_at(c, &c->nodes.items[p->node]);
}

void account_run(struct collector *c, const struct run_note *n)
{
	struct place *p = run_of(c, n->thread), none = {0};
	struct sink_event e = {
		.time = n->time,
		.span = n->span,
		.samples = n->samples,
		.weight = n->weight,
		.event = n->event,
	};

	if (n->trace && p)
		begin_run(c, n, p);
	else if (!n->trace)
		store(c, &e, p ? p : &none);
}

void account_carried(struct thread_record *r)
{
	uint32_t e;

	for (e = 0; e < RECORD_EVENTS; e++) {
		if (atomic_load(&r->state) != RECORD_FREE && r->sources[e].carried)
			atomic_fetch_add(&r->lost[e].weight[LOSS_recursion], r->sources[e].carried);
		r->sources[e].carried = 0;
	}
}

/* Losses of R's event E added to T. */
static void add_losses(struct thread_record *r, uint32_t e, struct loss_totals *t)
{
	struct record_losses *lost = &r->lost[e];
	int i;

	t->taken += atomic_load(&lost->taken);
	for (i = 0; i < LOSS_REASONS; i++) {
		t->count[i] += atomic_load(&lost->count[i]);
		t->weight[i] += atomic_load(&lost->weight[i]);
	}
}

void account_end(struct collector *c, struct thread_record *r)
{
	uint32_t e;

	account_carried(r);
	for (e = 0; e < c->options.events; e++)
		add_losses(r, e, &c->events[e].losses_of_dead);
}

static void forget_unknown(void)
{
	uint32_t e;
	int i;

	for (e = 0; e < RECORD_EVENTS; e++) {
		atomic_store(&zone.due[e], 0);
		for (i = 0; i < LOSS_REASONS; i++) {
			atomic_store(&zone.lost_count[e][i], 0);
			atomic_store(&zone.lost_weight[e][i], 0);
		}
	}
}

void account_open(struct collector *c)
{
	uint32_t n, e, count = atomic_load(&zone.records.count);

	forget_unknown();
	c->runs.count = 0;
	for (e = 0; e < c->options.events; e++)
		c->events[e].turns = c->options.turns[e];
	atomic_store(&zone.own_weight, 0);
	/* A record that outlived its session has the number of that one's entry. */
	for (n = 0; n < count; n++)
		zone.records.records[n].thread_entry = 0;
}

void account_close(struct collector *c)
{
	uint32_t e, n, count = atomic_load(&zone.records.count);
	struct loss_totals all;

	for (n = 0; n < count; n++)
		account_carried(&zone.records.records[n]);
	for (e = 0; e < c->options.events; e++) {
		account_all_losses(c, e, &all);
		c->events[e].losses_of_dead = all;
	}
	forget_unknown();
	for (n = 0; n < count; n++)
		memset(zone.records.records[n].lost, 0, sizeof(zone.records.records[n].lost));
}

void account_all_losses(struct collector *c, uint32_t e, struct loss_totals *t)
{
	uint32_t n, count = atomic_load(&zone.records.count);
	int i;

	*t = c->events[e].losses_of_dead;
	t->taken += atomic_load(&zone.due[e]);
	for (n = 0; n < count; n++)
		if (atomic_load(&zone.records.records[n].state) != RECORD_FREE)
			add_losses(&zone.records.records[n], e, t);
	for (i = 0; i < LOSS_REASONS; i++) {
		uint64_t lost = atomic_load(&zone.lost_count[e][i]);

		t->count[i] += lost;
		/* Turns that were missed are among those that were due. */
		if (!zone.events[e].turns)
			t->taken += lost;
		t->weight[i] += atomic_load(&zone.lost_weight[e][i]);
	}
}
