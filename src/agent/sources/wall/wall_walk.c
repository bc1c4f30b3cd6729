/*
 * wall_walk.c - the stack of a thread that waits, read from outside without waking it.
 *
 *   mark it ─▶ read its CPU clock ─▶ walk ─▶ state, frame and clock are as before, the marker is still there
 *
 * Only then the thread did not run meanwhile, and the stack is kept. A Java thread in the JVM's or in
 * native code has left its last Java frame in its JavaThread (JavaFrameAnchor); other threads are walked from the
 * registers that the kernel tells of a thread that waits, as far as the unwind tables lead without the others.
 *
 * Java threads of the Zero VM can tell their stacks only themselves. One is woken by a signal for that, once: as long
 * as it has had the CPU for nothing else since, and waits where it waited then, what it told holds.
 */
#include <string.h>

#include "agent/sample/record_sample.h"
#include "agent/sources/wall/wall.h"
#include "agent/walk/walk.h"
#include "agent/zone/trace_context_read.h"
#include "common/os/os.h"

#define SYSCALL_BYTES 2 /* a call that will be started again shows its own instruction, else the one behind */

/* ---- what the JVM says of a thread ---- */

struct java_place {
	uint32_t state;
	uintptr_t sp, pc, fp;
};

static bool read_place(uintptr_t java, struct java_place *p)
{
	const struct layout *l = &zone.layout;
	uintptr_t anchor = java + (uintptr_t)l->thread_anchor;

	return load_u32(java + (uintptr_t)l->thread_state, &p->state) &&
	       load_word(anchor + (uintptr_t)l->anchor_sp, &p->sp) &&
	       load_word(anchor + (uintptr_t)l->anchor_pc, &p->pc) &&
	       load_word(anchor + (uintptr_t)l->anchor_fp, &p->fp);
}

static bool is_same(const struct java_place *a, const struct java_place *b)
{
	return a->state == b->state && a->sp == b->sp && a->pc == b->pc && a->fp == b->fp;
}

static bool waits_for_monitor(uintptr_t java)
{
	uintptr_t monitor;

	return zone.layout.thread_pending_monitor >= 0 &&
	       load_word(java + (uintptr_t)zone.layout.thread_pending_monitor, &monitor) && monitor;
}

static bool is_as_noted(uint32_t i)
{
	uintptr_t java = wall.threads[i].anchor - (uintptr_t)zone.layout.thread_anchor;
	uint32_t state;

	return wall_frame(wall.threads[i].anchor) == wall.slots[i].frame &&
	       load_u32(java + (uintptr_t)zone.layout.thread_state, &state) &&
	       state == (uint32_t)zone.layout.state_blocked && wall_slots_hold(&wall.slots[i]);
}

bool wall_is_unmoved(uint32_t i)
{
	switch (wall.threads[i].proof) {
	case WALL_MARKER:
		return marker_is_set(wall.fields[i]);
	case WALL_WORDS:
		return is_as_noted(i);
	case WALL_CLOCK:
		return os_thread_cpu(atomic_load(&zone.records.records[i].tid)) == wall.threads[i].clock;
	default:
		return false;
	}
}

/* ---- the look ---- */

/* The marker's field of R, if its end will be told: written into a thread that is gone it would fall on others. */
static uintptr_t field_of(const struct thread_record *r)
{
	uintptr_t tcb = atomic_load(&((struct thread_record *)r)->tcb);

	if (!wall.marker || !tcb || !(atomic_load(&((struct thread_record *)r)->java_thread) || r->end_told))
		return 0;
	return marker_of(tcb);
}

/* The trace that W holds is done: it is S's, NULL when the store is full. */
static void done(struct stack_trace_writer *w, struct wall_sight *s)
{
	s->stack.trace = w->store_full ? NULL : stack_trace_end(w);
	s->stack.generation = w->chunk->generation;
}

/*
 * BY_FRAME: where it cannot be marked, an unchanged state and last Java frame prove that it slept. What is blocked in
 * the JVM uses no CPU time on its way that its clock could tell.
 */
static void mark(const struct thread_record *r, bool by_frame, struct wall_sight *s)
{
	s->field = field_of(r);
	if (s->field && !marker_set(s->field))
		s->field = 0;
	if (s->field || !by_frame)
		s->clock = os_thread_cpu(atomic_load(&((struct thread_record *)r)->tid));
	s->stack.epoch = (uint16_t)method_epoch_now(&zone.epochs);
}

/* Whether R has not run since mark(). */
static bool has_slept(const struct thread_record *r, const struct wall_sight *s)
{
	if (s->proof == WALL_WORDS)
		return true;
	return os_thread_cpu(atomic_load(&((struct thread_record *)r)->tid)) == s->clock &&
	       (!s->field || marker_is_set(s->field));
}

static bool look_at_java(struct thread_record *r, uintptr_t java, const struct java_place *p,
			 struct wall_sight *s)
{
	bool noted = false, native = p->state == (uint32_t)zone.layout.state_native;
	struct wall_slots *slots = &wall.slots[r->index];
	struct stack_trace_writer w;
	struct java_place now;
	uintptr_t sp, pc;

	s->state = THREAD_RUNNING;
	mark(r, !native, s);
	s->proof = s->field || native ? WALL_CLOCK : WALL_WORDS;
	/* In native code it may well be running, or want to. */
	if (native && !wall_waits(atomic_load(&r->tid), &sp, &pc))
		return false;
	if (s->proof == WALL_WORDS)
		noted = wall_slots_note(slots, p->sp, p->pc, p->fp, r->stack_high);
	if (!stack_trace_begin(&w, &zone.store, &wall.ticker->self->chunk, zone.depth) || !walk_outside(&zone, r, &w))
		return false;
	done(&w, s);
	s->stack.vthread = zone_mounted(r);
	trace_context_of_record(r, &s->stack.trace_context);
	if (!read_place(java, &now) || !is_same(p, &now) || !has_slept(r, s) || (noted && !wall_slots_hold(slots)))
		return false;
	s->state = native ? THREAD_NATIVE : waits_for_monitor(java) ? THREAD_BLOCKED : THREAD_NONE;
	if (s->proof == WALL_WORDS) {
		s->clock = java + (uintptr_t)zone.layout.thread_anchor;
		slots->frame = wall_frame_of(p->sp, p->pc, p->fp);
	}
	return s->stack.trace != NULL;
}

/* Whether the stack S, which ended early, shows what a handler saw when the thread stood at the same place. */
static bool is_as_handled(const struct wall_stack *s, const struct record_place *place)
{
	const struct stack_trace *was = place->generation == s->generation ? place->trace : NULL, *t = s->trace;

	return was && t && was->length == t->length && t->length > 0 &&
	       memcmp(was->frame + 1, t->frame + 1, (t->length - 1) * sizeof(*t->frame)) == 0;
}

static bool look_at_native(struct thread_record *r, struct wall_sight *s)
{
	struct walk_regs regs = {.pc = 0};
	struct stack_trace_writer w;
	bool whole, same;

	s->state = THREAD_RUNNING;
	mark(r, false, s);
	s->proof = WALL_CLOCK;
	if (!wall_waits(atomic_load(&r->tid), &regs.sp, &regs.pc))
		return false;
	same = r->place.sp == regs.sp &&
	       (r->place.pc == regs.pc || r->place.pc + SYSCALL_BYTES == regs.pc);
	/* The frame pointer it had there then, for functions that have not saved it. */
	regs.fp = same ? r->place.fp : 0;
	if (!stack_trace_begin(&w, &zone.store, &wall.ticker->self->chunk, zone.depth))
		return false;
	whole = walk_thread(&zone, r, &regs, &w);
	done(&w, s);
	if (!has_slept(r, s))
		return false;
	s->state = THREAD_NATIVE;
	return s->stack.trace && (whole || (same && is_as_handled(&s->stack, &r->place)));
}

/* What R's handler saw, again. */
static bool told_before(struct thread_record *r, struct wall_sight *s)
{
	const struct record_place *place = &r->place;
	struct stack_trace_writer w;
	uint32_t i;

	if (!stack_trace_begin(&w, &zone.store, &wall.ticker->self->chunk, zone.depth))
		return false;
	/* that of a former generation may be gone */
	for (i = 0; place->trace && place->generation == w.chunk->generation && i < place->trace->length; i++)
		stack_trace_put(&w, place->trace->frame[i]);
	done(&w, s);
	return i && s->stack.trace;
}

static bool look_at_asked(struct thread_record *r, struct wall_sight *s)
{
	uint32_t before = wall.threads[r->index].ticks;
	pid_t tid = atomic_load(&r->tid);
	uintptr_t sp, pc;

	mark(r, false, s);
	s->proof = WALL_CLOCK;
	if (!wall_waits(tid, &sp, &pc))
		return false;
	s->state = THREAD_NATIVE;
	s->ticks = os_thread_turns(tid);
	if (!before || s->ticks != before + 1 || r->place.sp != sp ||
	    (r->place.pc != pc && r->place.pc + SYSCALL_BYTES != pc) || !told_before(r, s))
		return false;
	s->stack.vthread = zone_mounted(r);
	trace_context_of_record(r, &s->stack.trace_context);
	return has_slept(r, s);
}

bool wall_look(struct thread_record *r, struct wall_sight *s)
{
	uintptr_t java = atomic_load(&r->java_thread);
	struct java_place place;

	memset(s, 0, sizeof(*s));
	s->state = THREAD_RUNNING;
	if (wall.nobatch)
		return false;
	if (java && atomic_load_explicit(&zone.agct, memory_order_relaxed))
		return look_at_asked(r, s);
	if (!java || !zone.has_jvm)
		return look_at_native(r, s);
	if (!read_place(java, &place) || (place.state != (uint32_t)zone.layout.state_blocked &&
					  place.state != (uint32_t)zone.layout.state_native))
		return false;
	return place.sp ? look_at_java(r, java, &place, s) : look_at_native(r, s);
}
