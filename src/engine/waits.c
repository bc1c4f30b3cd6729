#include "engine/waits.h"

#include <errno.h>
#include <string.h>

#include "engine/claims.h"
#include "engine/force.h"
#include "engine/waits_holder.h"
#include "engine/waits_owner.h"
#include "os/os.h"
#include "signal/fault.h"
#include "signal/handler.h"

struct place {
	claim_key key;            /* see key_of */
	uint64_t began;
	trace_kept trace;
	uint64_t virtual_id;
	struct wait_note note;
	struct holder_stack holder;
	uint16_t era;
};

/* Address space once, memory as it is used. */
static struct claims places = {.bytes = sizeof(struct place), .limit = WAITS_LIMIT, .few = WAITS_LIMIT / 16};
static _Atomic int event = -1;
static int wanted = -1;   /* from the start to the halt */

int waits_event(void)
{
	return atomic_load_explicit(&event, memory_order_acquire);
}

bool waits_are_wanted(void)
{
	return wanted >= 0;
}

void waits_open(void)
{
	atomic_store(&event, wanted);
}

/* ---- the table ---- */

static uint64_t key_of(uint64_t thread, enum lock_kind kind)
{
	return (thread + 1) * LOCK_KINDS + kind;
}

/* ---- begin and end ---- */

static void fill(struct place *p, const struct wait_begin *b, const struct trace *trace, uint16_t era)
{
	trace_kept_set(&p->trace, trace);
	p->era = era;
	p->virtual_id = b->virtual_id;
	p->note = (struct wait_note){
		.owner_id = b->owner_id,
		.owner_tid = b->owner_tid,
		.class = b->class,
		.identity = b->identity,
	};
	p->began = os_monotonic();
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
	const struct trace *trace;
	struct place *p;
	uint16_t era;

	if (!r)
		return 0;
	fault_look();
	find_owner(r, b);
	trace = wait_walk(r, b->skip, b->method, &era);
	if (trace)
		wait_announce(r, (uint32_t)e, trace, era);
	p = claims_take_or_claim(&places, key);
	if (p) {
		waits_holder_look(r, (uint32_t)e, b, &p->holder);
		fill(p, b, trace, era);
		began = p->began;
		claims_let_go(p, key);
	} else {
		/* How long it will be nobody knows: it is one sample without weight. */
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

static void note(struct thread_record *r, struct place *p, uint32_t e, enum lock_kind kind, uint64_t now)
{
	struct sample s = {
		.time = p->began,
		.trace = trace_kept_get(&p->trace),
		.context = p->virtual_id,
		.event = (uint8_t)e,
		.state = (uint8_t)state_of(kind),
		.era = p->era,
		.payload = UINT32_MAX, /* of no CPU */
	};

	waits_holder_end(&p->holder);
	p->note.owner_trace = trace_kept_get(&p->holder.trace);
	p->note.owner_era = p->holder.era;
	p->note.duration = now > p->began ? now - p->began : 0;
	if (s.trace)
		wait_take(r, &s, &p->note);
	else
		wait_lose(r, e, p->note.duration, LOSS_store_full);
}

/* P is free again; a free place keeps no trace. */
static void give_back(struct place *p)
{
	trace_kept_set(&p->trace, NULL);
	trace_kept_set(&p->holder.trace, NULL);
	claims_let_go(p, 0);
}

void waits_end(uint64_t thread, enum lock_kind kind, uint64_t began)
{
	uint64_t now = os_monotonic(), key = key_of(thread, kind);
	struct thread_record *r;
	struct place *p;
	int e = waits_event();

	if (e < 0)
		return;
	r = wait_enter((uint32_t)e);
	p = claims_take(&places, key);
	/* A park within a park (parkUntil of JDK 21 calls the other one) has taken the place of the outer one. */
	if (p && began && p->began != began) {
		claims_let_go(p, key);
		p = NULL;
	}
	if (p && r)
		note(r, p, (uint32_t)e, kind, now);
	if (p)
		give_back(p);
	if (r)
		wait_leave(r);
}

void waits_change_kept(trace_kept_fn *fn, void *arg)
{
	uint32_t i, reach = claims_reach(&places);

	if (wanted < 0)
		return;
	for (i = 0; i < reach; i++) {
		struct place *p = (struct place *)claims_at(&places, i);

		trace_kept_change(&p->trace, fn, arg);
		trace_kept_change(&p->holder.trace, fn, arg);
	}
	for (i = 0; i < WAIT_ANSWERS; i++)
		trace_kept_change(wait_answer_kept(i), fn, arg);
}

/* ---- the engine ---- */

static int start(struct engine_event *event_of_session, uint32_t e, struct buffer *notes, struct error *err)
{
	size_t bytes = WAITS_LIMIT * sizeof(struct place);

	(void)event_of_session;
	(void)notes;
	if (!zone.has_jvm)
		return error_set(err, ENOTSUP, "lock: this JVM's stacks cannot be walked");
	if (!places.places)
		places.places = os_reserve(bytes);
	if (!places.places || os_make_writable(places.places, bytes) || waits_classes_open())
		return error_set(err, ENOMEM, "lock: cannot reserve address space for waits; raise the limit of "
				 "virtual memory (ulimit -v)");
	wanted = (int)e;
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

void waits_halt(void)
{
	atomic_store(&event, -1);
	wanted = -1;
}

void waits_release(void)
{
	uint32_t i;

	if (places.places)
		claims_clear(&places);
	for (i = 0; i < WAIT_ANSWERS; i++)
		trace_kept_set(wait_answer_kept(i), NULL);
	waits_classes_release();
}

const struct engine_ops engine_lock = {
	.name = "lock", .handler = handler_thread, .start = start, .arm = arm, .silence = silence, .disarm = disarm,
	.halt = waits_halt,
};
