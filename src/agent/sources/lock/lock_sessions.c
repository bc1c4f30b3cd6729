/*
 * lock_sessions.c - begin and end of sessions for the table of waits, and how waits go on from one session to the next.
 */
#include <errno.h>

#include "agent/sample/handler.h"
#include "agent/sources/class_names.h"
#include "agent/sources/engine.h"
#include "agent/sources/lock/lock_events.h"
#include "agent/sources/lock/lock_places.h"

int waits_start(enum waits_of of, uint32_t e, const char *name, struct error *err)
{
	if (!slot_table_open(&waits_table.places, WAITS_LIMIT) || class_names_open())
		return error_set(err, ENOMEM, "%s: cannot reserve address space for waits; raise the limit of virtual "
				 "memory (ulimit -v)", name);
	kept_trace_contexts_open(&waits_table.trace_contexts, waits_table.places.limit);
	waits_table.wanted[of] = waits_table.told_event[of] = (int)e;
	waits_table.started = os_monotonic();
	waits_table.halted = 0;
	return 0;
}

static int start(struct engine_event *event_of_session, uint32_t e, struct buffer *notes, struct error *err)
{
	if (!zone.has_jvm)
		return error_set(err, ENOTSUP, "lock: this JVM's stacks cannot be walked");
	return waits_start(WAITS_OF_JAVA, e, event_of_session->name, err);
}

int waits_arm(struct thread_record *r, uint32_t e)
{
	atomic_store(&r->sources[e].arm, ARM_CALLS);
	return 0;
}

void waits_silence(struct thread_record *r, uint32_t e)
{
	atomic_store(&r->sources[e].arm, ARM_NONE);
}

void waits_disarm(struct thread_record *r, uint32_t e, bool at_work)
{
	waits_silence(r, e);
}

/* ---- from one session to the next ---- */

static const struct carried_table table;

/* The wait at PLACE goes on in the next session, unless it turns out that it has ended. False: it does not. */
static bool carry(void *place)
{
	struct waits_place *p = place;
	uint64_t key = atomic_load(&p->key);
	bool goes_on = key && key < WAITS_DONE && !atomic_load(&p->over) && kept_stack_get(&p->trace) &&
		       waits_place_is_there(p);

	if (!goes_on ||
	    !carried_note(&table, p, p->record, kept_stack_get(&p->trace), kept_stack_get(&p->holder.trace)))
		return false;
	class_name_keep(p->class);
	/* nothing of it is told before it has its stack again */
	atomic_store(&p->told, WAITS_CLOSED);
	kept_stack_set(&p->trace, NULL);
	kept_stack_set(&p->holder.trace, NULL);
	p->holder.number = 0;
	return true;
}

/* PLACE's wait goes on in this session, as W says. False: its thread has ended. */
static bool take_up(void *place, const struct carried_wait *w, struct thread_record *self)
{
	struct waits_place *p = place;
	struct thread_record *r = carried_record(w->tid, p->vthread && !waits_place_is_native(p), self);
	int e = waits_table.wanted[waits_of_kind((enum lock_kind)p->kind)];

	if (!r || e < 0 || atomic_load(&p->over))
		return false;
	p->record = r->index;
	p->since = waits_table.started;
	p->epoch = (uint16_t)method_epoch_now(&zone.epochs);
	kept_stack_set(&p->trace, carried_put(&waits_table.carried, w->trace, self));
	kept_stack_set(&p->holder.trace, carried_put(&waits_table.carried, w->holder, self));
	atomic_store_explicit(&p->told, p->since, memory_order_release);
	if (kept_stack_get(&p->trace))
		wait_announce(self, (uint32_t)e, kept_stack_get(&p->trace), p->epoch);
	return true;
}

static void drop(void *place)
{
	waits_place_give_back(place);
}

static const struct carried_table table = {&waits_table.places, &waits_table.trace_contexts, &waits_table.carried,
					   carry, take_up, drop};

void waits_open(enum waits_of of)
{
	if (waits_table.wanted[of] >= 0)
		carried_go_on(&table);
	atomic_store(&waits_table.event[of], waits_table.wanted[of]);
	atomic_store(&waits_table.keeping, false);
}

void waits_keep_open(bool keep)
{
	atomic_store(&waits_table.keeping, keep);
	if (!keep && waits_table.carried.waits.count) {
		carried_clear(&table);
		class_names_release();
	}
}

void waits_halt(enum waits_of of)
{
	if (waits_table.wanted[of] >= 0)
		waits_table.halted = os_monotonic();
	atomic_store(&waits_table.event[of], -1);
	waits_table.wanted[of] = -1;
}

static void halt(void)
{
	waits_halt(WAITS_OF_JAVA);
}

void waits_release(void)
{
	uint32_t i;

	waits_table.told_event[WAITS_OF_JAVA] = waits_table.told_event[WAITS_OF_NATIVE] = -1;
	atomic_store(&waits_table.done, 0);
	carried_release(&table, atomic_load(&waits_table.keeping));
	for (i = 0; i < WAIT_ANSWERS; i++)
		kept_stack_set(wait_answer_kept(i), NULL);
}

const struct engine_ops engine_lock = {
	.java = true,
	.name = "lock", .handler = handler_thread, .start = start, .arm = waits_arm, .silence = waits_silence,
	.disarm = waits_disarm, .halt = halt, .listen = lock_listen, .listen_no_more = lock_listen_no_more,
	.vm_init = lock_vm_init, .vm_death = lock_vm_death, .release = waits_release,
};
