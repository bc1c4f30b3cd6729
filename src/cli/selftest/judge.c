/*
 * How far a result may be from the truth. What is random is known to a standard error, from the number of samples and
 * what each stands for; four of them are allowed, so that of a hundred checks one fails by chance in 160 runs. What is
 * systematic is allowed besides: the clocks of program and profiler are not read at one moment.
 */
#include <stdio.h>
#include <string.h>

#include "cli/selftest/selftest.h"
#include "common/words/events.h"

#define MOST_LOST 0.1

/* What a judge looks at. */
struct matter {
	const char *method, *state, *of;
	const struct truth *truth, *whole;
	const struct measured *m;
	const struct measured_profile *p;
	const struct circumstances *c;
};

/* Newton's way: the command needs no other function of libm. */
static double root(double x)
{
	double r = x > 1 ? x : 1;
	int i;

	if (x <= 0)
		return 0;
	for (i = 0; i < 200; i++) {
		double next = (r + x / r) / 2;

		if (next >= r)
			break;
		r = next;
	}
	return r;
}

/* What a sample weighs. */
static double interval_of(const struct measured_profile *p)
{
	return p->stored ? (double)p->total / (double)p->stored : 0;
}

/* ---- samples of CPU time ---- */

/*
 * With a source for each thread weights are differences of one clock: the sum is right but for less than an interval at
 * begin and end. With one for all it is chance which thread has the sample.
 */
static void judge_cpu_sum(struct check *c, const struct matter *x)
{
	struct measured_sum sum = measured_of(x->p, x->method, "");
	double interval = interval_of(x->p), all = (double)x->p->total, part;

	c->known = (double)x->truth->value;
	c->measured = (double)sum.weight;
	c->samples = sum.samples;
	/* perf events count interrupts that come meanwhile, CPU clocks do not */
	c->systematic = (strncmp(x->p->engine, "perf", 4) == 0 ? 0.03 : 0.02) * c->known + 2 * interval;
	c->systematic += (double)x->c->stolen;
	c->short_by = (double)x->p->lost_weight;
	if (strncmp(x->p->engine, "itimer", 6) != 0 || x->p->stored == 0) {
		c->error = interval * root(1.0 / 6);
		return;
	}
	/* the ticks of one CPU end the timer more often than those of another: it is not chance alone whom it meets */
	c->systematic += 0.15 * c->known;
	part = MIN(c->known / MAX(all, 1), 1);
	c->error = all * root(part * (1 - part) / (double)x->p->stored);
}

static void judge_share(struct check *c, const struct matter *x)
{
	struct measured_sum sum = measured_of(x->p, x->method, ""), of = measured_of(x->p, x->of, "");

	c->unit = CHECK_SHARE;
	c->known = (double)x->truth->value / (double)MAX(x->whole->value, 1);
	c->measured = (double)sum.weight / (double)MAX(of.weight, 1);
	c->samples = of.samples;
	c->systematic = 0.01;
	c->error = of.samples ? root(c->known * (1 - c->known) / (double)of.samples) : 1;
}

/* Which of several inlined methods an instruction belongs to is not always known (docs/inside/inlined.md). */
static void judge_inlined(struct check *c, const struct matter *x)
{
	judge_share(c, x);
	c->systematic = 0.1;
}

/* ---- threads that end before an interval is over ---- */

/*
 * A thread of length L has a sample of one interval I in L / I of all cases, so its weight varies by L × (I - L): all
 * together by less than I times what they used.
 */
static void judge_brief_sum(struct check *c, const struct matter *x)
{
	struct measured_sum sum = measured_of(x->p, x->method, "");

	c->known = (double)x->truth->value;
	c->measured = (double)sum.weight;
	c->samples = sum.samples;
	c->error = root(interval_of(x->p) * c->known);
	c->systematic = 0.03 * c->known + (double)x->c->stolen;
	c->short_by = (double)x->p->lost_weight;
}

/*
 * What is in no sample is known by the process's clock, to which the starts and ends of threads belong, and what the
 * JVM does beside them: so what the threads used at work is the least that it may come to.
 */
static void judge_brief_known(struct check *c, const struct matter *x)
{
	double all = (double)x->p->cpu_time - (double)x->p->own_cpu;

	c->known = MAX((double)x->truth->value, all);
	c->measured = (double)(x->p->total + x->p->lost_weight + x->p->unsampled);
	c->samples = x->p->stored;
	/* what weighs more than was used is no thread's time unsampled */
	c->error = root(interval_of(x->p) * c->known);
	c->systematic = 0.02 * c->known;
}

/* A result that lacks more than 5 % of what these threads used warns; about others it may warn or not. */
static void judge_brief_warns(struct check *c, const struct matter *x)
{
	bool lacks = (double)(x->p->total + x->p->lost_weight) < 0.95 * (double)x->truth->value;

	c->unit = CHECK_CALLS;
	c->measured = x->p->warns;
	c->known = lacks ? 1 : c->measured;
}

/* ---- samples of wall-clock time ---- */

/*
 * Where one phase ends and the next begins, the sample between belongs to either: up to an interval at each end, a
 * sixth of its square in variance a phase. Twice that, for on a busy machine turns come late.
 */
static void judge_phases(struct check *c, const struct matter *x)
{
	struct measured_sum sum = measured_of(x->p, x->method, x->state);

	c->known = (double)x->truth->value;
	c->measured = (double)sum.weight;
	c->samples = sum.samples;
	c->error = 2 * interval_of(x->p) * root((double)x->truth->parts / 6);
	c->systematic = 0.02 * c->known + 2 * interval_of(x->p);
	c->short_by = (double)(x->p->lost_weight + x->truth->delay);
}

/* ---- waits, each of them measured ---- */

static void allow_waits(struct check *c, const struct matter *x)
{
	c->known = (double)x->truth->value;
	c->systematic = 0.02 * c->known + 50e3 * (double)x->truth->parts;
	c->short_by = (double)(x->p->lost_weight + x->truth->delay);
}

static void judge_waits_sum(struct check *c, const struct matter *x)
{
	struct measured_sum sum = measured_of(x->p, x->method, x->state);

	allow_waits(c, x);
	c->measured = (double)sum.weight;
	c->samples = sum.samples;
}

static void judge_waits_count(struct check *c, const struct matter *x)
{
	c->unit = CHECK_CALLS;
	c->known = (double)x->truth->parts;
	c->measured = (double)measured_of(x->p, x->method, "").samples;
	c->short_by = (double)x->p->lost;
}

static void judge_owner(struct check *c, const struct matter *x)
{
	size_t i;

	allow_waits(c, x);
	for (i = 0; i < x->p->owners.count; i++)
		if (strcmp(x->p->owners.items[i].name, x->method) == 0)
			c->measured += (double)x->p->owners.items[i].time;
}

/* ---- calls ---- */

static const struct measured_call *call_of(const struct matter *x)
{
	static const struct measured_call none;
	const struct measured_call *call = measured_call(x->m, x->method);

	return call ? call : &none;
}

static void judge_calls(struct check *c, const struct matter *x)
{
	c->unit = CHECK_CALLS;
	c->known = (double)x->truth->value;
	c->measured = (double)call_of(x)->calls;
}

/* Ticks find a method as often as its time has; `error` is adaptive timing's own. */
static void allow_times(struct check *c, const struct matter *x)
{
	const struct measured_call *call = call_of(x);

	c->short_by = (double)x->m->held;
	c->known = (double)x->truth->value;
	c->systematic = 0.03 * c->known + 5e3 * (double)x->truth->parts;
	if (strcmp(x->m->timing, "sampled") == 0) {
		c->samples = call->stamps;
		c->error = c->known / root((double)MAX(call->stamps, 1));
	} else if (strcmp(x->m->timing, "adaptive") == 0) {
		c->error = (double)call->error;
	}
}

static void judge_total_wall(struct check *c, const struct matter *x)
{
	allow_times(c, x);
	/* all that it calls is timed by as many stamps as there are ticks; its own are few */
	if (strcmp(x->m->timing, "sampled") == 0) {
		size_t i;

		for (c->samples = 0, i = 0; i < x->m->calls.count; i++)
			c->samples += x->m->calls.items[i].stamps;
		c->error = c->known / root((double)MAX(c->samples, 1));
	}
	c->measured = (double)call_of(x)->total_wall;
}

static void judge_self_wall(struct check *c, const struct matter *x)
{
	allow_times(c, x);
	c->measured = (double)call_of(x)->self_wall;
}

static void judge_self_cpu(struct check *c, const struct matter *x)
{
	allow_times(c, x);
	/* from one tick to the next, unless --cpu-clock was asked for */
	c->systematic += 0.05 * c->known;
	c->measured = (double)call_of(x)->self_cpu;
}

/* In exact timing each begins with a stamp; else it may begin with what was before it, since the last tick. */
static void judge_sleeps(struct check *c, const struct matter *x)
{
	double each = strcmp(x->m->timing, "exact") == 0 ? 50e3 : 250e3;

	c->known = (double)x->truth->value;
	c->short_by = (double)x->m->held;
	c->measured = (double)call_of(x)->sleep;
	c->systematic = 0.03 * c->known + each * (double)x->truth->parts;
}

/* ---- all of a session ---- */

static const struct row {
	const char *name;
	unsigned group;
	int jdk;
	void (*judge)(struct check *c, const struct matter *x);
	const char *method, *state, *of, *truth, *whole, *about;
} rows[] = {
#define CHECK(name, group, jdk, judge, method, state, of, truth, whole, about) \
	{name, group, jdk, judge_##judge, method, state, of, truth, whole, about},
#include "cli/selftest/selftest.def"
};

static void decide(struct check *c)
{
	double apart = c->measured - c->known, allowed = CHECK_ERRORS * c->error + c->systematic;

	c->verdict = apart <= allowed && -apart <= allowed + c->short_by ? CHECK_HOLDS : CHECK_FAILS;
}

static struct check *new_check(struct session *s, const char *name, const char *about)
{
	struct check *c;

	if (s->count == ARRAY_LEN(s->checks))
		return NULL;
	c = &s->checks[s->count++];
	*c = (struct check){.name = name, .about = about};
	return c;
}

static void add(struct session *s, const struct row *row, const struct matter *x)
{
	struct check *c = x->truth && (x->whole || !row->whole[0]) ? new_check(s, row->name, row->about) : NULL;

	if (!c)
		return;
	row->judge(c, x);
	decide(c);
}

/* What is lost has a name, and is little. */
static void judge_losses(struct session *s, const struct measured_profile *p)
{
	struct check *c = new_check(s, "accounted", "samples: stored and lost ones are those taken");
	double all = (double)(p->total + p->lost_weight);

	if (!c)
		return;
	c->unit = CHECK_CALLS;
	c->known = (double)p->taken;
	c->measured = (double)(p->stored + p->lost);
	decide(c);
	c = new_check(s, "lost", "weight of lost samples");
	if (!c)
		return;
	c->unit = CHECK_SHARE;
	c->measured = all > 0 ? (double)p->lost_weight / all : 0;
	c->systematic = MOST_LOST;
	c->samples = p->lost;
	decide(c);
}

static bool is_event_of(const char *event, unsigned group)
{
	const struct event_row *row = event_row_named(event);
	enum weight_kind of = group & (WAITS | VIRTUAL) ? WEIGHT_WALL : group & LOCKS ? WEIGHT_WAIT : WEIGHT_CPU;

	return row && row->weight == of;
}

void judge(struct session *s, const struct measured *m, const struct program *g, const struct circumstances *c)
{
	unsigned p;
	size_t i;

	for (p = 0; p < m->count; p++) {
		for (i = 0; i < ARRAY_LEN(rows); i++) {
			const struct row *row = &rows[i];
			struct matter x = {.method = row->method, .state = row->state, .of = row->of, .m = m,
					   .p = &m->profiles[p], .c = c};

			if (!(row->group & c->groups) || c->feature < row->jdk)
				continue;
			if (!m->timing[0] && !is_event_of(x.p->event, row->group))
				continue;
			x.truth = program_truth(g, row->truth);
			x.whole = row->whole[0] ? program_truth(g, row->whole) : NULL;
			add(s, row, &x);
		}
		if (!m->timing[0])
			judge_losses(s, &m->profiles[p]);
	}
}
