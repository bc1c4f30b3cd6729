/*
 * results_come.c - who waits for a result, a process or a thread that comes to an end has work.
 *
 * In an outermost loop such a wait looks as if it were for work: `main` may wait so for the end of the program, and a
 * thread for a helper process that stays. What the session knows besides tells:
 *   1. `main` waits for the result of a task. It is idle only if a thread runs such a task for most of the time that
 *      waits for work itself: a loop. A CompletableFuture may be one that no task makes: it counts where `main` calls
 *      `get`, and virtual threads may make it, or other tasks that make such results had work at least half as long;
 *   2. in Process.waitFor: processes that the program had started came to an end;
 *   3. in Thread.join, but in `main`: threads that began or ended meanwhile were seen for at least a quarter of it,
 *      since new threads are noticed late.
 * Waits that have events of their own begin in the recording: if there are several, what they are for came; of latches,
 * if these are several, too.
 */
#include "profile/model/work/results_come.h"

#include <stdlib.h>
#include <string.h>

#include "profile/model/askers.h"
#include "profile/model/work/activity_kind.h"
#include "profile/model/work/parked_unseen.h"
#include "profile/model/work/task_roles.h"

/* Of the recording, in percent. */
#define LOOP_LEAST 90u  /* a task that waits for work so long is a loop */
#define STAYS_LEAST 90u /* a thread that is there so long stays */
#define LATCHES_FEW 3u  /* more of them are counted down: one is for once */

enum awaited_end { END_OF_NOTHING, END_OF_RESULT, END_OF_PROCESS, END_OF_THREAD, END_OF_LATCH };

struct waiters {
	const struct profile *p;
	uint8_t *activities;
	struct task_says *says;
	uint64_t *idle_tasks[KINDS]; /* by thread: that it waits for work in tasks of the kind */
	uint64_t *all;               /* one block, of all kinds */
	bool loops[KINDS];           /* a thread does most of the time */
	uint64_t working[KINDS];     /* time of all tasks that had work */
	uint64_t passing;            /* … of threads that begin or end meanwhile */
	bool virtual_threads;
	unsigned latches; /* that the event lock saw waits at */
};

static bool is_named(const struct profile_frame *f, const char *class, const char *method)
{
	return f->class_name && f->name && strncmp(f->class_name, class, strlen(class)) == 0 &&
	       strncmp(f->name, method, strlen(method)) == 0;
}

/* ---- what is known of the others ---- */

/* The kind of task that S runs; KIND_NONE: none of these. */
static uint8_t task_of(const struct waiters *w, const struct profile_stack *s)
{
	uint32_t i;

	for (i = s->depth; i-- > 0;)
		if (w->says[s->frames[i]].role == ROLE_RUNS)
			return w->says[s->frames[i]].kind;
	return KIND_NONE;
}

static void look_at_threads(struct waiters *w)
{
	const struct profile *p = w->p;
	uint32_t i, kind;

	for (i = 0; i < p->thread_count; i++)
		if (p->threads[i].tid && p->threads[i].weight < p->duration / 100 * STAYS_LEAST)
			w->passing += p->threads[i].weight;
	for (i = 0; i < p->frame_count && !w->virtual_threads; i++)
		w->virtual_threads = is_named(&p->frames[i], "java/lang/VirtualThread", "run");
	for (i = 0; i < p->lock_count; i++)
		w->latches += strcmp(p->locks[i].name, "java/util/concurrent/CountDownLatch$Sync") == 0;
	w->virtual_threads |= parked_unseen_in(p) != PARKED_SEEN;
	for (i = 0; i < p->stack_count; i++) {
		const struct profile_stack *s = &p->stacks[i];

		kind = s->thread < p->thread_count ? task_of(w, s) : KIND_NONE;
		if (kind == KIND_NONE)
			continue;
		if (w->activities[i] != ACTIVITY_IDLE) {
			w->working[kind] += s->weight;
			continue;
		}
		w->idle_tasks[kind][s->thread] += s->weight;
		if (p->duration && w->idle_tasks[kind][s->thread] >= p->duration / 100 * LOOP_LEAST)
			w->loops[kind] = true;
	}
}

/* ---- who waits ---- */

/* What S waits for, by what its innermost method of the program calls, and the KIND of a result. */
static enum awaited_end waits_for(const struct waiters *w, const struct profile_stack *s, uint8_t *kind, bool *gets)
{
	enum awaited_end wait = END_OF_NOTHING;
	uint32_t i;

	*gets = false;
	for (i = s->depth; i-- > 0;) {
		const struct profile_frame *f = &w->p->frames[s->frames[i]];
		struct task_says says = w->says[s->frames[i]];

		if (frame_is_of_program(f))
			break;
		*gets |= is_named(f, "java/util/concurrent/CompletableFuture", "get");
		if (says.role == ROLE_WAITS) {
			*kind = says.kind;
			wait = END_OF_RESULT;
		} else if (is_named(f, "java/lang/Process", "waitFor") ||
			   is_named(f, "java/lang/UNIXProcess", "waitFor")) {
			wait = END_OF_PROCESS;
		} else if (is_named(f, "java/lang/Thread", "join") && strcmp(f->class_name, "java/lang/Thread") == 0) {
			wait = END_OF_THREAD;
		} else if (is_named(f, "java/util/concurrent/CountDownLatch", "await")) {
			wait = END_OF_LATCH;
		}
	}
	return wait;
}

static bool is_in_main(const struct profile *p, const struct profile_stack *s)
{
	uint32_t i;

	for (i = 0; i < s->depth; i++)
		if (frame_is_of_program(&p->frames[s->frames[i]]))
			return strcmp(p->frames[s->frames[i]].name, "main") == 0;
	return false;
}

/* Whether what S waits for came, as far as that is known. */
static bool comes(const struct waiters *w, const struct profile_stack *s)
{
	uint8_t kind = KIND_NONE;
	bool gets, several = w->p->weight_kind == WEIGHT_WAIT && s->samples > 1;

	switch (waits_for(w, s, &kind, &gets)) {
	case END_OF_RESULT:
		if (several)
			return true;
		if (kind == KIND_COMPLETABLE)
			return gets && (w->virtual_threads || w->working[kind] >= s->weight / 2);
		return !w->loops[kind];
	case END_OF_PROCESS:
		return several || w->p->children_cpu;
	case END_OF_THREAD:
		return !is_in_main(w->p, s) && (several || (w->passing && w->passing >= s->weight / 4));
	case END_OF_LATCH:
		/* each may have a stack of its own */
		return w->p->weight_kind == WEIGHT_WAIT && w->latches > LATCHES_FEW && s->weight < w->p->duration / 2;
	default:
		return false;
	}
}

static void conclude(struct waiters *w)
{
	uint32_t i;

	for (i = 0; i < w->p->stack_count; i++) {
		const struct profile_stack *s = &w->p->stacks[i];

		if (w->activities[i] == ACTIVITY_IDLE && (s->state == THREAD_PARKED || s->state == THREAD_WAITING) &&
		    comes(w, s))
			w->activities[i] = s->state == THREAD_PARKED ? ACTIVITY_PARK : ACTIVITY_WAIT;
	}
}

bool results_come(const struct profile *p, uint8_t *activities)
{
	struct waiters w = {.p = p, .activities = activities};
	unsigned kind;

	w.says = task_says_of_frames(p);
	w.all = calloc((size_t)p->thread_count * KINDS + 1, sizeof(*w.all));
	for (kind = 0; w.all && kind < KINDS; kind++)
		w.idle_tasks[kind] = w.all + (size_t)p->thread_count * kind;
	if (w.says && w.all) {
		look_at_threads(&w);
		conclude(&w);
	}
	free(w.says);
	free(w.all);
	return w.says && w.all;
}
