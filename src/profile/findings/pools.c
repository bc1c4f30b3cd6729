/*
 * pools.c - findings about pools of threads that have the wrong size.
 *
 * Too small: threads wait for results of tasks while all threads of the pool that runs such tasks have one. A task
 * that is waited for is run by a thread or stands in a queue; so where far more threads wait than run tasks of that
 * kind, and one pool is never free, that is what they wait for: others in its queue, or, where many wait for one
 * result, that one. The frames that show it: profile/model/work/task_roles.def.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/decimal.h"
#include "profile/findings/evidence.h"
#include "profile/model/work/task_roles.h"

/* What the threads of a group do for a pool, in weight. */
struct pool {
	uint64_t busy, busy_samples; /* with a task */
	uint64_t runs[KINDS];
	uint64_t related[KINDS];     /* of runs: of the class in which most wait for such a result */
};

struct pools {
	const struct profile *p;
	const struct work *work;
	struct name_table names;
	struct task_says *says;      /* by frame */
	struct pool *pools;          /* by group */
	uint64_t waiting[KINDS], samples[KINDS], running[KINDS];
	uint64_t *by_name[KINDS];    /* name of the method that waits → weight */
	uint64_t *by_group;          /* kind × group → weight that waits */
	uint32_t place[KINDS];       /* frame of the method that waits most; PLACE_NONE: no thread does */
};
#define PLACE_NONE UINT32_MAX

/* The innermost method of the program, or PLACE_NONE. */
static uint32_t place_of(const struct profile *p, const struct profile_stack *s)
{
	uint32_t i;

	for (i = s->depth; i-- > 0;)
		if (frame_is_of_program(&p->frames[s->frames[i]]))
			return s->frames[i];
	return PLACE_NONE;
}

/* What a stack shows: the innermost of waiting and running, and whether a pool has given its thread a task. */
struct shown {
	uint8_t role, kind;
	bool busy;
};

static struct shown look_at(const struct pools *t, const struct profile_stack *s)
{
	struct shown seen = {ROLE_NONE, KIND_NONE, false};
	bool is_free = false;
	uint32_t i;

	for (i = s->depth; i-- > 0;) {
		uint8_t role = t->says[s->frames[i]].role;

		is_free |= role == ROLE_FREE;
		seen.busy |= role == ROLE_RUNS || role == ROLE_SERVES;
		if (seen.role == ROLE_NONE && (role == ROLE_WAITS || role == ROLE_RUNS)) {
			seen.role = role;
			seen.kind = t->says[s->frames[i]].kind;
		}
	}
	seen.busy &= !is_free || s->state != THREAD_PARKED;
	return seen;
}

/* The kinds of tasks on stack S, each once. */
static unsigned kinds_run(const struct pools *t, const struct profile_stack *s)
{
	unsigned kinds = 0;
	uint32_t i;

	for (i = 0; i < s->depth; i++)
		if (t->says[s->frames[i]].role == ROLE_RUNS)
			kinds |= 1u << t->says[s->frames[i]].kind;
	return kinds;
}

/* ---- sums ---- */

static void add_waiting(struct pools *t, const struct profile_stack *s, uint8_t kind, uint32_t group)
{
	uint32_t frame = place_of(t->p, s);

	t->waiting[kind] += s->weight;
	t->samples[kind] += s->samples;
	t->by_group[kind * t->work->groups.count + group] += s->weight;
	if (frame == PLACE_NONE)
		return;
	t->by_name[kind][t->names.of_frame[frame]] += s->weight;
	if (t->place[kind] == PLACE_NONE || t->by_name[kind][t->names.of_frame[frame]] >
					    t->by_name[kind][t->names.of_frame[t->place[kind]]])
		t->place[kind] = frame;
}

static void sum_up(struct pools *t)
{
	uint32_t i;
	unsigned k;

	for (i = 0; i < t->p->stack_count; i++) {
		const struct profile_stack *s = &t->p->stacks[i];
		uint32_t group = t->work->groups.of_stack[i];
		struct shown seen = look_at(t, s);
		unsigned kinds = seen.busy ? kinds_run(t, s) : 0;

		if (group == NO_GROUP)
			continue;
		if (seen.role == ROLE_WAITS && s->state == THREAD_PARKED)
			add_waiting(t, s, seen.kind, group);
		if (!seen.busy)
			continue;
		t->pools[group].busy += s->weight;
		t->pools[group].busy_samples += s->samples;
		for (k = 0; k < KINDS; k++) {
			t->pools[group].runs[k] += kinds >> k & 1 ? s->weight : 0;
			t->running[k] += kinds >> k & 1 ? s->weight : 0;
		}
	}
}

static size_t outer_length(const char *class_name)
{
	return strcspn(class_name, "$+");
}

static bool has_class(const struct profile *p, const struct profile_stack *s, const char *class_name)
{
	size_t n = outer_length(class_name);
	uint32_t i;

	for (i = 0; i < s->depth; i++) {
		const char *other = p->frames[s->frames[i]].class_name;

		if (other && outer_length(other) == n && strncmp(other, class_name, n) == 0)
			return true;
	}
	return false;
}

/* Which pools run what comes from the class in which most threads wait. */
static void relate(struct pools *t)
{
	uint32_t i;
	unsigned k;

	for (i = 0; i < t->p->stack_count; i++) {
		const struct profile_stack *s = &t->p->stacks[i];
		unsigned kinds = look_at(t, s).busy ? kinds_run(t, s) : 0;
		uint32_t group = t->work->groups.of_stack[i];

		for (k = 0; group != NO_GROUP && k < KINDS; k++)
			if (kinds >> k & 1 && t->place[k] != PLACE_NONE &&
			    has_class(t->p, s, t->p->frames[t->place[k]].class_name))
				t->pools[group].related[k] += s->weight;
	}
}

static void pools_free(struct pools *t)
{
	unsigned k;

	for (k = 0; k < KINDS; k++)
		free(t->by_name[k]);
	free(t->by_group);
	free(t->pools);
	free(t->says);
	name_table_free(&t->names);
}

/* False: out of memory. */
static bool pools_build(struct pools *t, const struct profile *p, const struct work *w)
{
	bool whole = name_table_build(&t->names, p, STYLE_TEXT | STYLE_NORM) == 0;
	unsigned k;

	t->p = p;
	t->work = w;
	t->says = task_says_of_frames(p);
	t->pools = calloc((size_t)w->groups.count + 1, sizeof(*t->pools));
	t->by_group = calloc((size_t)w->groups.count * KINDS + 1, sizeof(*t->by_group));
	for (k = 0; k < KINDS; k++) {
		t->by_name[k] = calloc((size_t)t->names.count + 1, sizeof(*t->by_name[k]));
		t->place[k] = PLACE_NONE;
		whole &= t->by_name[k] != NULL;
	}
	if (!whole || !t->says || !t->pools || !t->by_group)
		return false;
	sum_up(t);
	relate(t);
	return true;
}

/* ---- too small ---- */

/* The pool whose threads all have a task all the time, and run such as are waited for; NO_GROUP: none, or several. */
static uint32_t full_pool(const struct pools *t, enum task_kind kind, struct share *busy)
{
	uint32_t i, found = NO_GROUP;

	for (i = 0; i < t->work->groups.count; i++) {
		const struct thread_group *g = &t->work->groups.groups[i];
		const struct pool *pool = &t->pools[i];
		struct share share = share_of_time(pool->busy, g->weight, g->samples);

		/* a result of these two comes from anywhere: the class that waits has to be on the pool's stacks */
		uint64_t runs = kind == KIND_FUTURE_TASK ? pool->runs[kind] : pool->related[kind];

		if (!g->threads || !share_is_above(share, LIMIT(pool_busy)) ||
		    (double)runs < LIMIT(pool_tasks) * (double)pool->busy)
			continue;
		if (found != NO_GROUP)
			return NO_GROUP;
		found = i;
		*busy = share;
	}
	return found;
}

/* What the threads of a pool do with their tasks, by weight. */
struct doing {
	uint64_t states[THREAD_STATES], network, file, lock, all;
	uint64_t others; /* parked or in Object.wait: for other threads */
	uint32_t place; /* frame, or PLACE_NONE */
};

/* Whether a thread that has a task, in STATE, waits for other threads; also where ACTIVITY takes that for no work. */
static bool waits_for_others(uint8_t state, uint8_t activity)
{
	return activity == ACTIVITY_PARK || activity == ACTIVITY_WAIT ||
	       (activity == ACTIVITY_IDLE && (state == THREAD_PARKED || state == THREAD_WAITING));
}

static bool doing_of(const struct pools *t, uint32_t group, struct doing *d)
{
	uint64_t *by_name = calloc((size_t)t->names.count + 1, sizeof(*by_name)), most = 0;
	uint32_t i, frame;

	*d = (struct doing){.place = PLACE_NONE};
	for (i = 0; by_name && i < t->p->stack_count; i++) {
		const struct profile_stack *s = &t->p->stacks[i];
		uint8_t activity = t->work->groups.activity[i];

		if (t->work->groups.of_stack[i] != group || !look_at(t, s).busy)
			continue;
		d->all += s->weight;
		d->states[s->state] += s->weight;
		d->network += activity == ACTIVITY_NETWORK ? s->weight : 0;
		d->file += activity == ACTIVITY_FILE ? s->weight : 0;
		d->lock += activity == ACTIVITY_LOCK ? s->weight : 0;
		d->others += waits_for_others(s->state, activity) ? s->weight : 0;
		frame = place_of(t->p, s);
		if (frame == PLACE_NONE)
			continue;
		by_name[t->names.of_frame[frame]] += s->weight;
		if (by_name[t->names.of_frame[frame]] > most) {
			most = by_name[t->names.of_frame[frame]];
			d->place = frame;
		}
	}
	free(by_name);
	return by_name;
}

/* Whether more threads would get more done: they do not wait for each other, and there are CPUs for them. */
static bool more_would_help(const struct evidence *e, const struct doing *d)
{
	double computing = (double)(d->states[THREAD_RUNNING] + d->states[THREAD_RUNNABLE]) / (double)d->all;
	uint64_t all = around(e->around, AROUND_machine_all);

	if ((double)d->lock >= LIMIT(pool_locked) * (double)d->all)
		return false;
	return computing < 0.5 || (all && (double)around(e->around, AROUND_machine_busy) / (double)all <
					  LIMIT(cpus_free));
}

/* What the pool's threads do for more than half of the time; NULL: nothing of these. */
static const char *mostly(const struct doing *d)
{
	return d->states[THREAD_SLEEPING] * 2 > d->all ? "slept" :
	       d->network * 2 > d->all ? "waited for the other side of a connection" :
	       d->file * 2 > d->all ? "waited for files" :
	       d->states[THREAD_RUNNING] * 2 > d->all ? "computed, while CPUs were free" : NULL;
}

static void say_small(const struct pools *t, enum task_kind kind, uint32_t pool, struct share busy,
		      const struct doing *d, struct profile_finding *f)
{
	const struct thread_groups *g = &t->work->groups;
	double at_once = (double)t->waiting[kind] / (double)t->p->duration;
	uint32_t asks = heaviest(&t->by_group[kind * g->count], g->count), threads = g->groups[pool].threads;
	const char *place = t->place[kind] == PLACE_NONE ? "" :
			    name_text(&t->names, t->names.of_frame[t->place[kind]]);

	f->score = 0.92 - 0.3 * MIN(1.0, (double)t->running[kind] / (double)t->waiting[kind]);
	say(f, "On average %s threads (%.60s) waited%s%.100s for results of tasks, while the %u thread%s of %.60s "
	       "that run%s such tasks %s taken for %s of the time: the pool keeps them waiting.",
	    decimal(at_once, 1).text, thread_group_name(g, &g->groups[asks]), *place ? " in " : "", place, threads,
	    human_plural(threads), thread_group_name(g, &g->groups[pool]), threads == 1 ? "s" : "",
	    threads == 1 ? "was" : "were all", share_text(busy).text);
	place = d->place == PLACE_NONE ? "" : name_text(&t->names, t->names.of_frame[d->place]);
	if ((double)d->others >= LIMIT(pool_locked) * (double)d->all)
		advise(f, "For %s %% of the time, these tasks wait for something themselves%s%.120s: more threads help "
			  "only if there is more of that.", decimal(percent_of(d->others, d->all), 0).text,
		       *place ? ", most in " : "", place);
	else if (mostly(d))
		advise(f, "The pool's threads mostly %s%s%.120s: give it more threads, or make its tasks shorter.",
		       mostly(d), *place ? ", in " : "", place);
	else
		advise(f, "Give the pool more threads, or make its tasks shorter%s%.120s.",
		       *place ? "; most are in " : "", place);
	snprintf(f->look, sizeof(f->look), "%s", place);
}

/* Whether far more threads wait for results of KIND than run tasks that make them. */
static bool is_queued(const struct pools *t, enum task_kind kind)
{
	double waiting = (double)t->waiting[kind], running = (double)t->running[kind];

	return t->samples[kind] >= (uint64_t)LIMIT(few_samples) && running > 0 &&
	       waiting >= LIMIT(pool_waiting) * running && waiting - running >= LIMIT(pool_queue) *
										(double)t->p->duration;
}

void finding_pool_too_small(const struct evidence *e, struct profile_finding *f)
{
	struct pools t = {.p = e->wall};
	struct share busy = {0, 0, 0};
	struct doing d;
	uint32_t pool;
	unsigned k;

	if (!e->wall_work || !e->wall->duration || !e->wall_work->groups.count)
		return;
	if (!pools_build(&t, e->wall, e->wall_work)) {
		pools_free(&t);
		return;
	}
	for (k = 0; k < KINDS && f->score <= 0; k++) {
		pool = is_queued(&t, k) ? full_pool(&t, k, &busy) : NO_GROUP;
		if (pool != NO_GROUP && doing_of(&t, pool, &d) && more_would_help(e, &d))
			say_small(&t, k, pool, busy, &d, f);
	}
	pools_free(&t);
}

/* ---- too large ---- */

/* How many CPUs the process may use at once; 0: not known. */
static double cpus_of(const struct evidence *e)
{
	double cpus = (double)around(e->around, AROUND_cpus);
	double limit = (double)around(e->around, AROUND_cpu_limit) / 1000;

	return limit > 0 && limit < cpus ? limit : cpus;
}

static const struct thread_group *crowd_of(const struct evidence *e, double *want)
{
	double span = (double)around(e->around, AROUND_span), cpus = cpus_of(e), duration;
	uint32_t i;

	if (!e->wall_work || !e->wall->duration || span <= 0 || cpus <= 0 ||
	    !around_known(e->around, AROUND_run_delay))
		return NULL;
	duration = (double)e->wall->duration;
	for (i = 0; i < e->wall_work->groups.count; i++) {
		const struct thread_group *g = &e->wall_work->groups.groups[i];
		double waits = (double)g->by_activity[ACTIVITY_RUNNABLE] / duration;

		*want = waits + (double)g->by_activity[ACTIVITY_RUNNING] / duration;
		/* the JVM's own waits look alike in samples, not in the kernel's figures */
		if (g->threads >= LIMIT(crowd_threads) && *want >= LIMIT(crowd) * cpus &&
		    (double)around(e->around, AROUND_run_delay) / span >= waits / 2)
			return g;
	}
	return NULL;
}

static void say_idle(const struct evidence *e, struct profile_finding *f)
{
	const struct thread_groups *g = &e->wall_work->groups;
	uint32_t i;

	for (i = 0; i < g->count; i++) {
		const struct thread_group *group = &g->groups[i];

		if (group->threads < LIMIT(idle_pool) || thread_group_is_unsure(group) ||
		    group->idle < LIMIT(idle_pool_part) * group->threads)
			continue;
		f->score = 0.05;
		say(f, "%u of the %u threads called %.80s had nothing to do in %s.", group->idle, group->threads,
		    thread_group_name(g, group), human_time(e->wall->duration).text);
		advise(f, "Threads cost memory, not time: if it is never busier than this, a pool of fewer is enough.");
		return;
	}
}

void finding_pool_too_large(const struct evidence *e, struct profile_finding *f)
{
	double want;
	const struct thread_group *crowd = crowd_of(e, &want);

	if (!e->wall_work)
		return;
	if (!crowd) {
		say_idle(e, f);
		return;
	}
	f->score = 0.96;
	say(f, "Of the %u threads called %.80s, %s at a time wanted to run, but the program has %s CPU%s: each waited "
	       "for one for %s %% of that time.", crowd->threads,
	    thread_group_name(&e->wall_work->groups, crowd), decimal(want, 1).text, decimal_short(cpus_of(e)).text,
	    cpus_of(e) == 1 ? "" : "s",
	    decimal(100 * (double)crowd->by_activity[ACTIVITY_RUNNABLE] /
		    (double)(crowd->by_activity[ACTIVITY_RUNNABLE] + crowd->by_activity[ACTIVITY_RUNNING]), 0).text);
	advise(f, "More threads than CPUs compute nothing faster: give the pool about as many threads as there are "
		  "CPUs, plus as many as wait for something.");
}
