/*
 * activity.c - what a thread did, by its state and the methods on its stack.
 *
 * Waits are IDLE, for work, by four rules:
 *   1. the loop of a pool, a selector or the like stands on the stack (IDLE in activities.def); of loops that run tasks
 *      themselves, as a Timer's, without a method of the program further in (LOOP);
 *   2. the thread waits in its outermost loop: at most LOOP_FRAMES methods of the program are on the stack; never in a
 *      virtual thread, nor in a task of a pool, which was made for what it waits for, nor for a result (but in `main`),
 *      nor for room in a queue or for those it works with.
 *      A consumer that takes from a queue, `main` that waits for the others, a loop that sleeps between two looks. What
 *      holds up a request waits deeper;
 *   3. a thread without Java frames waits, and no function of its stack says for what: GC, compilers, native pools.
 *   4. the thread did next to nothing in the whole recording but ask for the next thing to do: `asks` says how, and
 *      how much of what is known of the thread that has to be. That it was ready to run, and had no CPU, says nothing
 *      of what it had to do. A consumer of events whose loop has several methods; who waits for a helper process.
 * Who seems to be ready may wait for another thread that initialises a class (class_inits.c).
 * Where the session recorded I/O, it says which reads wait for a client's next request (served_reads.c).
 * Who waits to enter a monitor never does so for work, nor does who has one that others wait for (monitor_holders.c;
 * lock_owners.c where that is known), nor who sleeps while others wait for what it makes (awaited.c), nor who waits for
 * a result, a process or a thread that comes to an end (results_come.c).
 */
#include "profile/model/work/activity.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "profile/model/frame_name.h"
#include "profile/model/work/awaited.h"
#include "profile/model/work/class_inits.h"
#include "profile/model/work/lock_owners.h"
#include "profile/model/work/monitor_holders.h"
#include "profile/model/work/results_come.h"
#include "profile/model/work/served_reads.h"

#define LOOP_FRAMES 2u

/* What a frame says: an activity, or one of these. */
enum {
	HINT_TASK = ACTIVITIES,
	HINT_OWN,
	HINT_LOOP,
	HINT_INPUT,
	HINT_RESULT,
	HINT_ROOM,
	HINT_OTHERS,
	HINT_NEXT,
	HINT_LATCH,
	HINT_QUEUE,
	HINT_REQUEST,
	HINT_LAMBDA,  /* what calls the method of a lambda */
	HINT_JDK,     /* Java code of the JDK, nothing more */
	HINT_PROGRAM, /* Java code of the program */
	HINT_NONE,
#define ACTIVITY(name, key, head, meaning) HINT_##name = ACTIVITY_##name,
#include "profile/model/work/activities.def"
};

/* The rules as texts behind each other, "class\0method\0", since pointers would take more room; native: no class. */
static const char rule_texts[] =
#define SHOWN_BY(what, class, method) class "\0" method "\0"
#define SHOWN_BY_NATIVE(what, function) "\0" function "\0"
#include "profile/model/work/activities.def"
;
static const uint8_t rule_hints[] = {
#define SHOWN_BY(what, class, method) HINT_##what,
#define SHOWN_BY_NATIVE(what, function) HINT_##what,
#include "profile/model/work/activities.def"
};

/* TEXT against a PATTERN in which '*' at the begin or end stands for anything. */
static bool is_like(const char *pattern, const char *text)
{
	size_t n = strlen(pattern), length;
	const char *found;

	if (*pattern == '*' && n == 1)
		return true;
	if (*pattern == '*' && pattern[n - 1] == '*') {
		for (found = text; (found = strchr(found, pattern[1])); found++)
			if (strncmp(found, pattern + 1, n - 2) == 0)
				return true;
		return false;
	}
	if (*pattern == '*') {
		length = strlen(text);
		return length >= n - 1 && strcmp(text + length - (n - 1), pattern + 1) == 0;
	}
	found = strchr(pattern, '*');
	if (!found)
		return strcmp(pattern, text) == 0;
	length = strlen(text);
	return strncmp(pattern, text, (size_t)(found - pattern)) == 0 &&
	       (!found[1] || (length >= n - 1 && strcmp(text + length - strlen(found + 1), found + 1) == 0));
}

static uint8_t hint_of(const struct profile_frame *f)
{
	const char *class_name, *name, *at = rule_texts;
	size_t i;

	/* a class alone is that of a lock */
	if (!f->name || !*f->name)
		return HINT_NONE;
	for (i = 0; i < ARRAY_LEN(rule_hints); i++) {
		class_name = at;
		name = class_name + strlen(class_name) + 1;
		at = name + strlen(name) + 1;
		if (!*class_name == !f->class_name && (!*class_name || is_like(class_name, f->class_name)) &&
		    is_like(name, f->name))
			return rule_hints[i];
	}
	if (!f->class_name)
		return HINT_NONE;
	return strstr(f->class_name, "$$Lambda") ? HINT_LAMBDA : class_is_of_jdk(f->class_name) ? HINT_JDK :
		HINT_PROGRAM;
}

/* What the frames of a stack come to. */
struct look {
	unsigned java, of_program;
	bool input, result, room, main;
	unsigned loop;     /* so many methods of the program its outermost loop may have */
	uint8_t innermost; /* activity that the innermost frame with one shows; ACTIVITIES: none */
	bool idle;         /* some frame shows that */
};

static struct look look_at(const struct profile *p, const struct profile_stack *s, const uint8_t *hints)
{
	struct look l = {.loop = LOOP_FRAMES, .innermost = ACTIVITIES};
	uint32_t i;

	for (i = s->depth; i-- > 0;) {
		uint8_t hint = hints[s->frames[i]];

		l.java += p->frames[s->frames[i]].class_name && hint != HINT_NONE;
		l.of_program += hint == HINT_PROGRAM;
		/* from the innermost one out: a loop that has called the program runs a task */
		l.idle |= hint == HINT_IDLE || (hint == HINT_LOOP && !l.of_program);
		l.input |= hint == HINT_INPUT;
		l.result |= hint == HINT_RESULT;
		l.room |= hint == HINT_ROOM || hint == HINT_OTHERS;
		if (hint == HINT_PROGRAM)
			l.main = strcmp(p->frames[s->frames[i]].name, "main") == 0;
		if (hint == HINT_INPUT && l.innermost == ACTIVITIES)
			l.innermost = ACTIVITY_FILE;
		else if (hint == HINT_TASK || hint == HINT_OWN || (hint == HINT_LOOP && l.of_program))
			l.loop = 0;
		else if (hint < ACTIVITIES && hint != HINT_IDLE && l.innermost == ACTIVITIES)
			l.innermost = hint;
	}
	return l;
}

/* By its state alone. */
static uint8_t plain(uint8_t state)
{
	switch (state) {
	case THREAD_RUNNABLE:
		return ACTIVITY_RUNNABLE;
	case THREAD_BLOCKED:
		return ACTIVITY_LOCK;
	case THREAD_PARKED:
		return ACTIVITY_PARK;
	case THREAD_WAITING:
		return ACTIVITY_WAIT;
	case THREAD_SLEEPING:
		return ACTIVITY_SLEEP;
	case THREAD_NATIVE:
		return ACTIVITY_NATIVE;
	case THREAD_HELD:
		return ACTIVITY_HELD;
	default:
		return ACTIVITY_RUNNING;
	}
}

/* ---- threads that only wait for the next thing to do ---- */

/*
 * How the program asks for the next thing to do, and which part of a thread's time that has to be, in percent. A queue
 * says most of it, wherever it stands; what else one waits for may be what a request needs, so that it counts in outer
 * methods alone; and a read may be one of an answer. A task at a latch waits for others, as for a result, but for one
 * that keeps a program alive: it does nothing but stand there in its outermost method. ASK_LATCH is of tasks.
 */
enum ask { ASK_NONE, ASK_READ, ASK_NEXT, ASK_LATCH, ASK_QUEUE, ASK_INPUT, ASK_SLEEP, ASKS };

static const struct {
	unsigned frames, frames_of_task; /* methods of the program that may be on the stack */
	unsigned of_known; /* of what is known of the thread */
	unsigned of_time;  /* … of the recording */
	unsigned of_waits; /* … where waits are all that is known: one that began before it is not */
	unsigned of_task;  /* … in a task, which may ask for a thing that others have, if it has no other waits */
} asks[ASKS] = {
	[ASK_READ] = {LOOP_FRAMES, 0, 100, 90, 101, 101},
	[ASK_NEXT] = {6, 4, 99, 50, 80, 90},
	[ASK_LATCH] = {6, 1, 100, 50, 101, 101},
	[ASK_QUEUE] = {UINT_MAX, 8, 95, 50, 0, 90},
	[ASK_INPUT] = {UINT_MAX, 0, 95, 50, 101, 101},
	[ASK_SLEEP] = {LOOP_FRAMES, 1, 99, 50, 50, 50},
};

/*
 * What is known of a thread, and how much of it are waits for the next thing to do. Sleep is apart: a task that waits
 * for others and sleeps has work, and one that only sleeps has none. So are latches of tasks.
 */
struct round {
	uint64_t all, next, slept, latched;
	uint64_t others; /* waits in tasks of a pool, for something else */
};

static bool is_read_of_peer(const struct profile_frame *f, uint8_t hint)
{
	return hint == HINT_NETWORK && strstr(f->name, "ead");
}

/* What stack S, of wait ACTIVITY, shows of how the program asks: what its innermost method calls. */
static enum ask ask_in(const struct profile *p, const struct profile_stack *s, const uint8_t *hints, uint8_t activity)
{
	uint8_t called = HINT_NONE;
	bool input = false, read = false;
	uint32_t i;

	for (i = s->depth; i-- > 0; called = hints[s->frames[i]]) {
		uint8_t hint = hints[s->frames[i]];

		if (hint == HINT_PROGRAM || hint == HINT_LAMBDA)
			break;
		if (hint == HINT_REQUEST)
			return ASK_NONE;
		input |= hint == HINT_INPUT;
		read |= is_read_of_peer(&p->frames[s->frames[i]], hint);
	}
	if (activity == ACTIVITY_PARK || activity == ACTIVITY_WAIT)
		return called == HINT_QUEUE ? ASK_QUEUE : called == HINT_NEXT ? ASK_NEXT :
			called == HINT_LATCH ? ASK_LATCH : ASK_NONE;
	if (activity == ACTIVITY_SLEEP)
		return ASK_SLEEP;
	if (activity == ACTIVITY_FILE)
		return input ? ASK_INPUT : ASK_NONE;
	return activity == ACTIVITY_NETWORK && read ? ASK_READ : ASK_NONE;
}

static bool is_same_method(const struct profile_frame *a, const struct profile_frame *b)
{
	return strcmp(a->name, b->name) == 0 && strcmp(a->class_name, b->class_name) == 0;
}

/* How the program asks for the next thing to do in stack S of wait ACTIVITY, and in its outer methods. */
static enum ask asks_for_next(const struct profile *p, const struct profile_stack *s, const uint8_t *hints,
			      uint8_t activity)
{
	enum ask ask = ask_in(p, s, hints, activity);
	unsigned of_program = 0, most = asks[ask].frames;
	uint32_t i, outermost = 0;
	bool in_task = false;

	for (i = s->depth; ask && i-- > 0;) {
		uint8_t hint = hints[s->frames[i]];

		if (hint == HINT_OWN)
			return ASK_NONE;
		in_task |= hint == HINT_TASK || hint == HINT_LOOP;
		if (hint != HINT_PROGRAM)
			continue;
		/* who takes from a queue recursively takes from one */
		of_program += ask != ASK_QUEUE || !of_program ||
			      !is_same_method(&p->frames[outermost], &p->frames[s->frames[i]]);
		outermost = s->frames[i];
	}
	if (!ask || !of_program)
		return ASK_NONE;
	if (in_task)
		most = asks[ask].frames_of_task;
	else if (ask == ASK_LATCH)
		ask = ASK_NEXT;
	/* main waits for others, however deep; what it reads may be what it has asked for */
	if (strcmp(p->frames[outermost].name, "main") == 0)
		return ask == ASK_READ ? ASK_NONE : ask;
	return of_program <= most ? ask : ASK_NONE;
}

static bool is_in_task(const struct profile_stack *s, const uint8_t *hints)
{
	uint32_t i;

	for (i = 0; i < s->depth; i++)
		if (hints[s->frames[i]] == HINT_TASK || hints[s->frames[i]] == HINT_LOOP)
			return true;
	return false;
}

/* Whether a thread that asks so, IN_TASK of a pool or not, did nothing else in all of P. */
static bool is_nothing_else(const struct profile *p, const struct round *r, enum ask ask, bool in_task)
{
	bool of_waits = p->weight_kind == WEIGHT_WAIT;
	unsigned part = !of_waits ? asks[ask].of_time : in_task ? asks[ask].of_task : asks[ask].of_waits;
	double next = (double)(ask == ASK_SLEEP ? r->slept : ask == ASK_LATCH ? r->latched : r->next) * 100;

	if (of_waits && (!p->duration || (in_task && ask != ASK_SLEEP && r->others + r->latched)))
		return false;
	return next >= (double)r->all * asks[ask].of_known && next >= (double)p->duration * part;
}

/* Waits for the next thing to do become IDLE in those threads, but for reads of ANSWERS. False: no memory. */
static bool find_rounds(const struct profile *p, const uint8_t *hints, uint8_t *all, const bool *answers)
{
	struct round *rounds = calloc((size_t)p->thread_count + 1, sizeof(*rounds));
	uint32_t i;

	for (i = 0; rounds && i < p->stack_count; i++) {
		const struct profile_stack *s = &p->stacks[i];
		enum ask ask;

		if (s->thread >= p->thread_count || all[i] == ACTIVITY_RUNNABLE || all[i] == ACTIVITY_HELD)
			continue;
		ask = answers[i] ? ASK_NONE : asks_for_next(p, s, hints, all[i]);
		rounds[s->thread].all += s->weight;
		if (ask == ASK_SLEEP)
			rounds[s->thread].slept += s->weight;
		else if (ask == ASK_LATCH)
			rounds[s->thread].latched += s->weight;
		else if (all[i] == ACTIVITY_IDLE || ask)
			rounds[s->thread].next += s->weight;
		else if (is_in_task(s, hints))
			rounds[s->thread].others += s->weight;
	}
	for (i = 0; rounds && i < p->stack_count; i++) {
		const struct profile_stack *s = &p->stacks[i];
		enum ask ask = s->thread < p->thread_count && !answers[i] ? asks_for_next(p, s, hints, all[i]) :
									   ASK_NONE;

		if (ask && is_nothing_else(p, &rounds[s->thread], ask, is_in_task(s, hints)))
			all[i] = ACTIVITY_IDLE;
	}
	free(rounds);
	return rounds;
}

/* ---- all ---- */

static uint8_t activity_of(const struct profile *p, const struct profile_stack *s, const uint8_t *hints)
{
	uint8_t state = plain(s->state);
	struct look l;
	bool in_loop;

	if (state == ACTIVITY_RUNNING || state == ACTIVITY_RUNNABLE || state == ACTIVITY_LOCK)
		return state;
	l = look_at(p, s, hints);
	if (!l.java)
		return l.innermost < ACTIVITIES ? l.innermost : ACTIVITY_IDLE;
	if (state == ACTIVITY_HELD)
		return state;
	if (l.innermost == ACTIVITY_LOCK && state == ACTIVITY_PARK)
		return ACTIVITY_LOCK;
	if (l.idle)
		return ACTIVITY_IDLE;
	in_loop = l.loop && l.of_program <= l.loop && !l.room && (!l.result || l.main);
	if (l.innermost < ACTIVITIES && l.innermost != ACTIVITY_LOCK && state != ACTIVITY_SLEEP)
		return l.input && in_loop ? ACTIVITY_IDLE : l.innermost;
	return state != ACTIVITY_NATIVE && in_loop ? ACTIVITY_IDLE : state;
}

/* By what the program calls: the outermost method of the JDK, of those further in than the program's, that says it. */
static uint8_t want_in(const struct profile *p, const struct profile_stack *s, const uint8_t *hints)
{
	static const uint8_t of_hint[HINT_NONE + 1] = {[HINT_RESULT] = WANT_RESULT, [HINT_ROOM] = WANT_ROOM,
						       [HINT_OTHERS] = WANT_OTHERS, [HINT_LATCH] = WANT_LATCH};
	uint8_t want = WANT_UNKNOWN;
	uint32_t i;

	for (i = s->depth; i-- > 0 && hints[s->frames[i]] != HINT_PROGRAM;) {
		uint8_t hint = hints[s->frames[i]];

		if (hint == HINT_REQUEST)
			return WANT_UNKNOWN;
		if (of_hint[hint])
			want = of_hint[hint];
		else if (is_read_of_peer(&p->frames[s->frames[i]], hint))
			want = WANT_MESSAGE;
	}
	return want;
}

uint8_t *want_of_stacks(const struct profile *p)
{
	uint8_t *hints = malloc((size_t)p->frame_count + 1), *all = malloc((size_t)p->stack_count + 1);
	uint32_t i;

	for (i = 0; hints && i < p->frame_count; i++)
		hints[i] = hint_of(&p->frames[i]);
	for (i = 0; hints && all && i < p->stack_count; i++)
		all[i] = want_in(p, &p->stacks[i], hints);
	if (!hints) {
		free(all);
		all = NULL;
	}
	free(hints);
	return all;
}

uint8_t *activity_of_stacks(const struct profile *p)
{
	uint8_t *hints = malloc((size_t)p->frame_count + 1), *all = malloc((size_t)p->stack_count + 1);
	bool *answers = calloc((size_t)p->stack_count + 1, sizeof(*answers));
	uint32_t i;

	for (i = 0; hints && i < p->frame_count; i++)
		hints[i] = hint_of(&p->frames[i]);
	for (i = 0; hints && all && i < p->stack_count; i++)
		all[i] = activity_of(p, &p->stacks[i], hints);
	if (!hints || !answers ||
	    (all && (!class_inits_lock(p, all) || !served_reads_idle(p, all, answers) ||
		     !find_rounds(p, hints, all, answers) || !results_come(p, all) ||
		     !monitor_holders_work(p, all) || !lock_owners_work(p, all) || !awaited_work(p, all)))) {
		free(all);
		all = NULL;
	}
	free(answers);
	free(hints);
	return all;
}
