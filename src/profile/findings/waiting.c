/* waiting.c - findings about what threads wait for by wall time, locks apart; exceptions by the way. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/decimal.h"
#include "profile/findings/evidence.h"
#include "profile/model/askers.h"
#include "profile/model/human.h"

/* Waits of one kind: in the time of P, whose work is W. */
struct waits {
	const struct profile *p;
	const struct work *w;
	unsigned activity;
	uint64_t weight;
	uint8_t *wants;       /* of each stack */
	uint8_t purpose;      /* enum want: what most of them are for; WANT_UNKNOWN: no one thing */
	const char *class_name; /* in which they wait; NULL: not known */
	bool io, io_known;    /* the session recorded I/O as well; and reads of peers with it */
	bool virtual;         /* most of them are of virtual threads, whose reads io does not see */
	bool said;            /* what for is part of the sentence */
	double purely, known; /* the part of them that is for that, and for which it is known at all */
};

/* What threads waited for most that did something, locks apart; ACTIVITIES: nothing much. */
static unsigned worst_wait(const struct thread_groups *g, uint64_t work)
{
	static const unsigned waits[] = {ACTIVITY_WAIT, ACTIVITY_PARK, ACTIVITY_SLEEP, ACTIVITY_NETWORK, ACTIVITY_FILE,
					 ACTIVITY_NATIVE};
	unsigned worst = ACTIVITIES, i;

	for (i = 0; i < ARRAY_LEN(waits); i++)
		if (worst == ACTIVITIES || g->by_activity[waits[i]] > g->by_activity[worst])
			worst = waits[i];
	return work && (double)g->by_activity[worst] >= LIMIT(wait) * (double)work ? worst : ACTIVITIES;
}

static bool is_virtual(const struct profile *p, const struct profile_stack *s)
{
	uint32_t i;

	for (i = 0; i < s->depth; i++) {
		const struct profile_frame *f = &p->frames[s->frames[i]];

		if (f->class_name && (strcmp(f->class_name, "java/lang/VirtualThread") == 0 ||
				      strcmp(f->class_name, "java/lang/ThreadBuilders$BoundVirtualThread") == 0))
			return true;
	}
	return false;
}

/* What most of the waits are for. */
static void find_purpose(struct waits *t)
{
	bool parked = t->activity == ACTIVITY_PARK, told;
	uint64_t weights[WANTS] = {0}, of_virtual = 0;
	uint32_t i, most;

	for (i = 0; i < t->p->stack_count; i++) {
		const struct profile_stack *s = &t->p->stacks[i];

		if (t->w->groups.activity[i] != t->activity)
			continue;
		weights[t->wants[i]] += s->weight;
		of_virtual += is_virtual(t->p, s) ? s->weight : 0;
	}
	t->virtual = of_virtual > t->weight / 2;
	t->known = 1 - part_of(weights[WANT_UNKNOWN], t->weight);
	weights[WANT_UNKNOWN] = 0;
	most = heaviest(weights, WANTS);
	t->purely = part_of(weights[most], t->weight);
	/* of reads io knows what for, and only answers are left */
	told = parked ? most != WANT_MESSAGE : most == WANT_MESSAGE && !t->io_known;
	t->purpose = told && t->purely >= 0.5 ? (uint8_t)most : WANT_UNKNOWN;
	t->said = parked || t->purpose != WANT_UNKNOWN;
}

/* Whether stack number I is one of them, and for what most are. */
static bool is_of(const struct waits *t, uint32_t i)
{
	return t->w->groups.activity[i] == t->activity &&
	       (t->purpose == WANT_UNKNOWN || t->wants[i] == t->purpose) && t->w->groups.of_stack[i] != NO_GROUP;
}

/* The group with most of them, and its WEIGHT; NO_GROUP: none. */
static uint32_t who(const struct waits *t, uint64_t *weight)
{
	uint64_t *weights = calloc((size_t)t->w->groups.count + 1, sizeof(*weights));
	uint32_t i, most = NO_GROUP;

	for (i = 0; weights && i < t->p->stack_count; i++)
		if (is_of(t, i))
			weights[t->w->groups.of_stack[i]] += t->p->stacks[i].weight;
	if (weights && t->w->groups.count) {
		most = heaviest(weights, t->w->groups.count);
		*weight = weights[most];
	}
	free(weights);
	return most;
}

static const char *const words[ACTIVITIES] = {
	[ACTIVITY_WAIT] = "were in Object.wait",
	[ACTIVITY_PARK] = "were parked",
	[ACTIVITY_SLEEP] = "slept",
	[ACTIVITY_NETWORK] = "waited for the other side of a connection",
	[ACTIVITY_FILE] = "waited for files",
	[ACTIVITY_NATIVE] = "waited in native code",
};

static const struct {
	const char *words, *advice;
} purposes[WANTS] = {
	[WANT_UNKNOWN] = {"for a result, a condition, a queue", ""},
	[WANT_RESULT] = {"for results of tasks", "What makes these results is slow, or has too few threads. "},
	[WANT_ROOM] = {"for room in a queue", "Those that take from it are slower than those that fill it. "},
	[WANT_OTHERS] = {"for others to come, as to a barrier", "All of them wait for the one that comes last. "},
	[WANT_LATCH] = {"for a latch", "What counts it down is slow, or has too few threads. "},
	[WANT_MESSAGE] = {"for an answer, or a client's next request", ""},
};

/*
 * The method of the program in which threads of GROUP wait most so, with its part of their WEIGHT: its number in NAMES,
 * UINT32_MAX if there is none.
 */
static uint32_t where(struct waits *t, uint32_t group, uint64_t weight, const struct name_table *names,
		      double *part)
{
	uint64_t *weights = calloc((size_t)names->count + 1, sizeof(*weights)), most = 0;
	uint32_t found = UINT32_MAX, i;

	for (i = 0; weights && i < t->p->stack_count; i++) {
		const struct profile_stack *s = &t->p->stacks[i];
		uint32_t k = s->depth, name;

		if (!is_of(t, i) || t->w->groups.of_stack[i] != group)
			continue;
		while (k > 0 && !frame_is_of_program(&t->p->frames[s->frames[k - 1]]))
			k--;
		if (!k)
			continue;
		name = names->of_frame[s->frames[k - 1]];
		weights[name] += s->weight;
		if (weights[name] > most) {
			most = weights[name];
			found = name;
			t->class_name = t->p->frames[s->frames[k - 1]].class_name;
		}
	}
	free(weights);
	*part = (double)most / (double)MAX(weight, 1);
	return found;
}

/* Where threads of GROUP wait, to f->look; what stands between that and them, "": it is not known. */
static const char *find_where(struct profile_finding *f, struct waits *t, uint32_t group, uint64_t weight)
{
	struct name_table names;
	uint32_t name = UINT32_MAX;
	double part = 0;

	if (name_table_build(&names, t->p, STYLE_TEXT | STYLE_NORM) == 0)
		name = where(t, group, weight, &names, &part);
	if (name != UINT32_MAX)
		snprintf(f->look, sizeof(f->look), "%s", name_text(&names, name));
	name_table_free(&names);
	return name == UINT32_MAX ? "" : part < 0.5 ? ", most often in " : " in ";
}

/* Whether the program used so little CPU time that nothing can have had work, whatever waits. */
static bool had_no_work(const struct profile *p)
{
	return p->cpu_time && p->duration &&
	       (double)program_cpu_time(p) < LIMIT(no_work) * (double)p->duration;
}

/*
 * Whether they are work also of a program that used no CPU time: a file or a peer is slow, or who has made something
 * finds no room for it. So are results and latches that were waited for often, each for a while.
 */
static bool is_work_anyhow(const struct waits *t)
{
	uint64_t times = 0;
	uint32_t i;

	if (t->activity == ACTIVITY_NETWORK || t->activity == ACTIVITY_FILE || t->purpose == WANT_ROOM ||
	    t->purpose == WANT_OTHERS)
		return true;
	if (t->purpose == WANT_UNKNOWN || t->p->weight_kind != WEIGHT_WAIT)
		return false;
	for (i = 0; i < t->p->stack_count; i++)
		times += is_of(t, i) ? t->p->stacks[i].samples : 0;
	return (double)times >= LIMIT(few_samples);
}

/* What helps, or shows more. */
static void advise_wait(struct profile_finding *f, const struct waits *t)
{
	bool of_waits = t->p->weight_kind == WEIGHT_WAIT;

	if (!t->virtual && t->purpose == WANT_MESSAGE && !t->io)
		advise(f, "-e wall,io tells these apart. The page (-f x.html) shows who calls that, and what else "
			  "threads waited for.");
	else if (t->virtual && t->purpose == WANT_MESSAGE)
		advise(f, "They are virtual threads, whose reads -e io does not count while they are parked: %s shows "
			  "the calls.", of_waits ? "-e wall --vthreads" : "the page (-f x.html)");
	else
		advise(f, of_waits ? "%sWall time (-e wall) shows what the other threads do meanwhile." :
				     "%sThe page (-f x.html) shows who calls that, and what else threads waited for.",
		       purposes[t->purpose].advice);
}

static bool waits_so(uint32_t i, const void *waits)
{
	return is_of(waits, i);
}

static void say_wait(struct profile_finding *f, struct waits *t)
{
	bool of_waits = t->p->weight_kind == WEIGHT_WAIT;
	struct share share = share_of_time(t->weight, t->w->profile.weight_stored, t->w->profile.stored);
	char purpose[80] = "", when[160];
	uint64_t weight = 0;
	uint32_t group = who(t, &weight);
	const char *in;

	if (group == NO_GROUP)
		return;
	if (t->said)
		snprintf(purpose, sizeof(purpose), " (%s%s)", t->purpose && t->purely < 0.9 ? "most of it " : "",
			 purposes[t->purpose].words);
	if (of_waits)
		snprintf(when, sizeof(when), "Within %s, threads %s %s in all", human_time(t->p->duration).text,
			 words[t->activity], human_time(t->weight).text);
	else
		snprintf(when, sizeof(when), "For %s of the time in which threads had work, they %s",
			 share_text(share).text, words[t->activity]);
	f->score = 0.1 + 0.6 * share.part;
	in = find_where(f, t, group, weight);
	say(f, "%s%s, %s those called %.80s%s%.140s.", when, purpose,
	    weight >= t->weight / 2 ? "most of it" : "the largest part of it",
	    thread_group_name(&t->w->groups, &t->w->groups.groups[group]), in, f->look);
	advise_wait(f, t);
	if (!of_waits && t->activity == ACTIVITY_PARK && t->purpose != WANT_UNKNOWN && t->class_name)
		advise_sleepers(f, t->p, &t->w->groups, t->class_name, waits_so, t, group);
}

/* Whether IO saw reads of peers: those that went on from before the recording are none of its own. */
static bool reads_are_known(const struct profile *io)
{
	uint8_t *wants = io ? want_of_stacks(io) : NULL;
	bool known = false;
	uint32_t i;

	for (i = 0; wants && i < io->stack_count && !known; i++)
		known = wants[i] == WANT_MESSAGE;
	free(wants);
	return known;
}

/*
 * What threads wait for most, to T, by wall time; by the waits themselves where that is all there is: then one thread
 * waited so for long enough. False: nothing much. Free T->wants in both cases.
 */
static bool find_waits(const struct evidence *e, struct waits *t)
{
	*t = (struct waits){.p = e->wall_work ? e->wall : e->lock, .w = e->wall_work ? e->wall_work : e->lock_work,
			    .io = e->io != NULL, .io_known = reads_are_known(e->io)};
	if (!t->w)
		return false;
	t->activity = worst_wait(&t->w->groups, t->w->profile.weight_stored);
	t->weight = t->activity < ACTIVITIES ? t->w->groups.by_activity[t->activity] : 0;
	if (!t->weight || (t->p == e->lock && (double)t->weight < LIMIT(wait) * (double)t->p->duration))
		return false;
	t->wants = want_of_stacks(t->p);
	if (!t->wants)
		return false;
	find_purpose(t);
	/* waits alone do not show that a thread that waits for whatever does anything else */
	return t->p != e->lock || t->activity != ACTIVITY_PARK || t->known >= 0.5;
}

void finding_waits(const struct evidence *e, struct profile_finding *f)
{
	struct waits t;

	if (find_waits(e, &t) && (!had_no_work(t.p) || is_work_anyhow(&t)))
		say_wait(f, &t);
	free(t.wants);
}

void note_waits(const struct evidence *e, char *note, size_t size)
{
	struct profile_finding where;
	struct waits t;
	uint64_t weight = 0;
	uint32_t group = NO_GROUP;
	struct share share;
	const char *in;

	if (find_waits(e, &t) && t.p == e->wall && (double)t.weight >= LIMIT(wait) * (double)t.p->duration)
		group = who(&t, &weight);
	if (group != NO_GROUP) {
		share = share_of_time(t.weight, t.w->profile.weight_stored, t.w->profile.stored);
		in = find_where(&where, &t, group, weight);
		snprintf(note, size, "For %s of the time in which threads were not idle, they %s, %s %.80s%s%.140s.",
			 share_text(share).text, words[t.activity],
			 weight >= t.weight / 2 ? "most of it" : "the largest part of it",
			 thread_group_name(&t.w->groups, &t.w->groups.groups[group]), in, *in ? where.look : "");
	}
	free(t.wants);
}

void finding_exceptions(const struct evidence *e, struct profile_finding *f)
{
	double rate;
	uint64_t thrown;

	if (!e->exceptions || e->seconds <= 0)
		return;
	thrown = e->exceptions->counted ? e->exceptions->counted : e->exceptions->weight_stored;
	rate = (double)thrown / e->seconds;
	if (rate < LIMIT(exceptions))
		return;
	f->score = 0.7;
	say(f, "%s exceptions are thrown a second: they are part of the normal course of things.",
	    human_count((uint64_t)rate).text);
	advise(f, "The table shows where; return a value there, or throw one exception without a stack trace.");
}
