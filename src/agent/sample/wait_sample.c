#include "agent/sample/wait_sample.h"

#include <string.h>

#include "agent/sample/handler.h"
#include "agent/sample/record_sample.h"
#include "agent/walk/walk.h"
#include "agent/zone/trace_context_read.h"
#include "context.h"

#define INNERMOST 16 /* frames among which the one is looked for that the program called */

struct thread_record *wait_enter(uint32_t event)
{
	struct thread_record *r = record_find(&zone.records, context_tcb());
	uint32_t epoch = handler_epoch();

	if (!r || !handler_try(r, epoch))
		return NULL;
	/* Between the look-up and here the session may have ended, and the record be another thread's. */
	if (atomic_load_explicit(&r->tcb, memory_order_relaxed) == context_tcb() &&
	    take_refusal(r) == LOSS_REASONS && atomic_load(&r->sources[event].arm) != ARM_NONE)
		return r;
	handler_back_out(r, epoch);
	return NULL;
}

void wait_leave(struct thread_record *r)
{
	handler_leave(r);
}

/* The frames of W without the innermost ones up to METHOD's, or SKIP. */
static void drop_innermost(struct stack_trace_writer *w, size_t skip, uintptr_t method)
{
	size_t length = (size_t)(w->pos - w->trace->frame), i;

	for (i = 0; method && i < MIN(length, INNERMOST); i++) {
		if (frame_is_java(w->trace->frame[i]) && frame_method(w->trace->frame[i]) == method) {
			skip = i;
			break;
		}
	}
	skip = MIN(skip, length);
	memmove(w->trace->frame, w->trace->frame + skip, (length - skip) * sizeof(*w->pos));
	w->pos -= skip;
}

const struct stack_trace *wait_walk(struct thread_record *r, uint32_t skip, uintptr_t method, uint16_t *epoch)
{
	struct stack_trace_writer w;

	*epoch = (uint16_t)method_epoch_now(&zone.epochs);
	if (!stack_trace_begin(&w, &zone.store, &r->chunk, zone.depth))
		return NULL;
	/* a native thread may enter a monitor, too, by JNI */
	if (walk_outside(&zone, r, &w))
		drop_innermost(&w, skip, method);
	else
		walk_put_end(&w, END_no_java);
	return w.store_full ? NULL : stack_trace_end(&w);
}

const struct stack_trace *wait_walk_from(struct thread_record *r, const struct walk_caller *from, uint16_t *epoch)
{
	struct stack_trace_writer w;

	*epoch = (uint16_t)method_epoch_now(&zone.epochs);
	if (!stack_trace_begin(&w, &zone.store, &r->chunk, zone.depth))
		return NULL;
	walk_from_caller(&zone, r, from, &w);
	return w.store_full ? NULL : stack_trace_end(&w);
}

void wait_announce(struct thread_record *r, uint32_t event, const struct stack_trace *t, uint16_t epoch)
{
	struct sample s = {.trace = t, .thread = r->index, .event = (uint8_t)event, .state = THREAD_NONE,
			   .epoch = epoch};

	if (atomic_load_explicit(&((struct stack_trace *)t)->id, memory_order_relaxed))
		return;
	if (queue_push_pair(take_queue(r), &s, &s))
		record_stir(&zone.records, r->index);
}

bool wait_would_be_due(const struct thread_record *r, uint32_t event, uint64_t duration)
{
	return r->sources[event].carried + duration >= zone.events[event].interval;
}

void wait_carry(struct thread_record *r, uint32_t event, uint64_t duration)
{
	r->sources[event].carried += duration;
}

/* Whether DURATION more makes a sample of R's EVENT; its weight then. */
static bool is_due(struct thread_record *r, uint32_t event, uint64_t duration, uint64_t *weight)
{
	struct record_source *source = &r->sources[event];

	source->carried += duration;
	if (source->carried < zone.events[event].interval)
		return false;
	*weight = source->carried;
	source->carried = 0;
	record_take(r, event);
	return true;
}

bool wait_take(struct thread_record *r, struct sample *s, const struct wait_note *n)
{
	struct trace_context_note trace_context = {.unused = {0}};
	const struct sample *const row[] = {s, (const void *)n, (const void *)&trace_context};

	bool done = true;

	if (!is_due(r, s->event, n->duration, &s->weight))
		return true;
	s->thread = r->index;
	/* callbacks know a virtual thread where the JVM does not note it (before JDK 24) */
	s->noted = s->vthread ? trace_context_of(s->vthread, &trace_context.trace_context) :
				trace_context_of_record(r, &trace_context.trace_context);
	if (window_keeps_out(&zone.window))
		record_lose(r, s->event, LOSS_outside_window, s->weight);
	else
		done = queue_has_plenty(take_queue(r), 3) && queue_push_row(take_queue(r), row, s->noted ? 3 : 2);
	record_stir(&zone.records, r->index);
	return done;
}

void wait_lose(struct thread_record *r, uint32_t event, uint64_t duration, enum loss_reason why)
{
	uint64_t weight;

	if (is_due(r, event, duration, &weight))
		record_lose(r, event, why, weight);
}

/* ---- the stack of the lock's holder ---- */

static struct answer {
	_Atomic uint64_t number; /* of its question */
	kept_stack trace;
	uint16_t epoch;
} answers[WAIT_ANSWERS];

static _Atomic uint64_t question; /* its number × RECORD_LIMIT + the record that is asked */

uint64_t wait_ask(const struct thread_record *r)
{
	static _Atomic uint64_t last;
	uint64_t number = atomic_fetch_add(&last, 1) + 1;

	atomic_store(&question, number * RECORD_LIMIT + r->index);
	return number;
}

const struct stack_trace *wait_answered(uint64_t number, uint16_t *epoch)
{
	const struct answer *a = &answers[number % WAIT_ANSWERS];

	if (atomic_load_explicit(&((struct answer *)a)->number, memory_order_acquire) != number)
		return NULL;
	*epoch = a->epoch;
	return kept_stack_get(&a->trace);
}

kept_stack *wait_answer_kept(uint32_t i)
{
	return &answers[i].trace;
}

void wait_answer(struct thread_record *r, uint32_t event, void *context)
{
	uint64_t asked = atomic_load(&question), number = asked / RECORD_LIMIT;
	struct answer *a = &answers[number % WAIT_ANSWERS];
	const struct stack_trace *t;
	struct stack_trace_writer w;
	struct walk_regs regs;

	if (asked % RECORD_LIMIT != r->index || atomic_load(&a->number) == number || wait_enter(event) != r)
		return;
	context_read(context, &regs);
	a->epoch = (uint16_t)method_epoch_now(&zone.epochs);
	if (stack_trace_begin(&w, &zone.store, &r->chunk, zone.depth)) {
		walk_thread(&zone, r, &regs, &w);
		t = w.store_full ? NULL : stack_trace_end(&w);
		kept_stack_set(&a->trace, t);
		if (t) {
			wait_announce(r, event, t, a->epoch);
			atomic_store_explicit(&a->number, number, memory_order_release);
		}
	}
	wait_leave(r);
}

/* Where the last Java frame of a thread is, and what the thread does. */
struct standing {
	uint32_t state;
	uintptr_t sp, pc;
};

static bool read_standing(uintptr_t java, struct standing *s)
{
	const struct layout *l = &zone.layout;
	uintptr_t anchor = java + (uintptr_t)l->thread_anchor;

	return load_u32(java + (uintptr_t)l->thread_state, &s->state) &&
	       (s->state == (uint32_t)l->state_native || s->state == (uint32_t)l->state_blocked) &&
	       load_word(anchor + (uintptr_t)l->anchor_sp, &s->sp) && s->sp &&
	       load_word(anchor + (uintptr_t)l->anchor_pc, &s->pc);
}

const struct stack_trace *wait_look(struct thread_record *holder, struct thread_record *r, uint32_t event,
				    uint16_t *epoch)
{
	uintptr_t java = atomic_load(&holder->java_thread);
	struct standing before, after;
	const struct stack_trace *t;
	struct stack_trace_writer w;

	*epoch = (uint16_t)method_epoch_now(&zone.epochs);
	if (!java || !read_standing(java, &before) || !stack_trace_begin(&w, &zone.store, &r->chunk, zone.depth) ||
	    !walk_outside(&zone, holder, &w) || w.store_full || !read_standing(java, &after) ||
	    before.state != after.state || before.sp != after.sp || before.pc != after.pc)
		return NULL;
	t = stack_trace_end(&w);
	wait_announce(r, event, t, *epoch);
	return t;
}
