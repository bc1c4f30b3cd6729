/*
 * carriers.c - findings about virtual threads: those that keep their carriers while they wait, and those that are seen
 * only while they have one.
 *
 * A virtual thread that is parked and cannot leave its carrier parks there: VirtualThread.parkOnCarrierThread is on its
 * stack. One that waits for a monitor keeps its carrier before JDK 24. Those that have left their carriers are sampled
 * only if that was asked for (--vthreads), and have none of these.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/ascii.h"
#include "common/base/decimal.h"
#include "profile/findings/evidence.h"

#define LEAVES_MONITORS 24 /* JDK from which on a virtual thread that waits for a monitor leaves its carrier */
#define SCHEDULER "ForkJoinPool-" /* how the names of carriers begin, and of other such pools */

enum place { PLACE_OTHER, PLACE_MOUNTED, PLACE_PINNED, PLACE_FREE };

/* Of carriers, in weight. */
struct carriers {
	const struct profile *p;
	bool monitors;                /* keep the carrier */
	uint64_t pinned, pinned_samples, mounted, samples, free;
	uint64_t initializers;        /* of pinned: with a class's initializer on the stack */
	uint64_t in_monitors;         /* of pinned: waits to enter a monitor, and Object.wait */
	uint64_t *by_frame, *by_initializer;
};

static bool is_called(const struct profile_frame *f, const char *class_name, const char *method)
{
	return f->class_name && f->name && strcmp(f->name, method) == 0 && strcmp(f->class_name, class_name) == 0;
}

static enum place place_of(const struct carriers *c, const struct profile_stack *s)
{
	bool is_virtual = false, parks = false, asks = false;
	uint32_t i;

	for (i = 0; i < s->depth; i++) {
		const struct profile_frame *f = &c->p->frames[s->frames[i]];

		is_virtual |= is_called(f, "java/lang/VirtualThread", "run");
		parks |= is_called(f, "java/lang/VirtualThread", "parkOnCarrierThread");
		asks |= is_called(f, "java/util/concurrent/ForkJoinPool", "awaitWork");
	}
	if (!is_virtual)
		return asks && s->thread != PROFILE_NO_THREAD &&
		       text_begins(c->p->threads[s->thread].name, SCHEDULER) ? PLACE_FREE : PLACE_OTHER;
	if (parks || (c->monitors && (s->state == THREAD_BLOCKED || s->state == THREAD_WAITING)))
		return PLACE_PINNED;
	return s->state == THREAD_RUNNING || s->state == THREAD_RUNNABLE || s->state == THREAD_NATIVE ||
			       s->state == THREAD_HELD ?
	       PLACE_MOUNTED : PLACE_OTHER;
}

/* The innermost method of the program on S, and the innermost initializer of a class. */
static void add_pinned(struct carriers *c, const struct profile_stack *s)
{
	bool found = false, initializes = false;
	uint32_t i;

	c->pinned += s->weight;
	c->pinned_samples += s->samples;
	c->in_monitors += s->state == THREAD_BLOCKED || s->state == THREAD_WAITING ? s->weight : 0;
	for (i = s->depth; i-- > 0;) {
		const struct profile_frame *f = &c->p->frames[s->frames[i]];

		if (!found && frame_is_of_program(f)) {
			c->by_frame[s->frames[i]] += s->weight;
			found = true;
		}
		if (!initializes && f->class_name && f->name && strcmp(f->name, "<clinit>") == 0) {
			c->by_initializer[s->frames[i]] += s->weight;
			c->initializers += s->weight;
			initializes = true;
		}
	}
}

static void sum_up(struct carriers *c)
{
	uint32_t i;

	for (i = 0; i < c->p->stack_count; i++) {
		const struct profile_stack *s = &c->p->stacks[i];
		enum place place = place_of(c, s);

		if (place == PLACE_OTHER)
			continue;
		c->samples += s->samples;
		c->free += place == PLACE_FREE ? s->weight : 0;
		c->mounted += place == PLACE_FREE ? 0 : s->weight;
		if (place == PLACE_PINNED)
			add_pinned(c, s);
	}
}

static void advise_pinned(const struct carriers *c, struct profile_finding *f)
{
	struct buffer initializer = BUFFER_INIT;

	put_heaviest(&initializer, c->p, c->by_initializer);
	if (c->in_monitors * 2 > c->pinned)
		advise(f, "Before JDK 24 a virtual thread keeps its carrier in a synchronized method or block: use a "
			  "ReentrantLock there, or a later JDK.");
	else if (c->initializers * 2 > c->pinned && !initializer.failed)
		advise(f, "It cannot leave its carrier in the initializer of a class, here %.120s: let that not wait.",
		       initializer.data);
	else if (c->monitors)
		advise(f, "A synchronized method or block, or a native method, on the stack keeps it there: "
			  "-Djdk.tracePinnedThreads=full names it; use a ReentrantLock, or JDK 24 or later.");
	else
		advise(f, "A native method, or a class being initialized, on the stack keeps it there: the event "
			  "jdk.VirtualThreadPinned of a Flight Recorder names it.");
	buffer_free(&initializer);
}

static void say_pinned(const struct carriers *c, struct profile_finding *f)
{
	uint64_t all = c->mounted + c->free;
	struct share pinned = share_of_time(c->pinned, all, c->samples);
	struct share none = share_of(c->free, all, c->samples);
	struct buffer place = BUFFER_INIT;

	put_heaviest(&place, c->p, c->by_frame);
	if (!place.failed && share_is_above(pinned, LIMIT(pinned))) {
		f->score = 0.55 + 0.4 * pinned.part;
		say(f, "For %s of the carriers' time, virtual threads were pinned: they waited%s%.120s and kept their "
		       "carriers%s.", share_text(pinned).text, *place.data ? " in " : "", place.data,
		    none.part + none.error < LIMIT(carriers_free) ? "; none was free for other virtual threads" : "");
		advise_pinned(c, f);
		snprintf(f->look, sizeof(f->look), "%s", place.data);
	}
	buffer_free(&place);
}

/* Whether S is of a virtual thread that has its carrier. */
static bool is_mounted(const struct profile *p, const struct profile_stack *s)
{
	uint32_t i;

	for (i = 0; i < s->depth; i++)
		if (is_called(&p->frames[s->frames[i]], "java/lang/VirtualThread", "run"))
			return true;
	return false;
}

void finding_virtual_parked(const struct evidence *e, struct profile_finding *f)
{
	const struct work *w = e->wall_work;
	uint64_t mounted = 0, samples = 0;
	uint32_t i;

	if (!w || w->parked_unseen != PARKED_UNSEEN)
		return;
	for (i = 0; i < w->profile.stack_count; i++)
		if (is_mounted(&w->profile, &w->profile.stacks[i])) {
			mounted += w->profile.stacks[i].weight;
			samples += w->profile.stacks[i].samples;
		}
	if (samples < (uint64_t)LIMIT(virtual_samples) ||
	    (double)mounted < LIMIT(virtual_work) * (double)w->profile.weight_stored)
		return;
	f->score = 0.2;
	say(f, "Much of it is done by virtual threads, and what they wait for is left out: they are seen only while "
	       "they have a carrier.");
	advise(f, "jstrobe record -e wall --vthreads %d shows what they wait for.", e->wall->pid);
}

void finding_pinned(const struct evidence *e, struct profile_finding *f)
{
	struct carriers c = {.p = e->wall};
	unsigned long jdk;

	if (!e->wall_work)
		return;
	jdk = strtoul(e->wall->jdk, NULL, 10);
	c.monitors = jdk && jdk < LEAVES_MONITORS;
	c.by_frame = calloc((size_t)c.p->frame_count + 1, sizeof(*c.by_frame));
	c.by_initializer = calloc((size_t)c.p->frame_count + 1, sizeof(*c.by_initializer));
	if (c.by_frame && c.by_initializer)
		sum_up(&c);
	if (c.pinned_samples >= (uint64_t)LIMIT(few_samples))
		say_pinned(&c, f);
	free(c.by_frame);
	free(c.by_initializer);
}
