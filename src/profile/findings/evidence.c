#include "profile/findings/evidence.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/decimal.h"
#include "common/base/square_root.h"
#include "common/base/utf8.h"

const double thresholds[THRESHOLDS] = {
#define THRESHOLD(id, value, unit, meaning) value,
#include "profile/findings/thresholds.def"
};

struct share share_of(uint64_t weight, uint64_t whole, uint64_t samples)
{
	struct share s = {0, 0, 0};

	if (!whole || !samples)
		return s;
	s.part = (double)weight / (double)whole;
	/* Agresti and Coull's: true to its 95 % where a share is near 0 or 1, too */
	double n = (double)samples + 4, p = (s.part * (double)samples + 2) / n;

	s.error = 1.96 * square_root(p * (1 - p) / n);
	/* so few say nothing about shares, and no sentence is made of them */
	s.low = samples < (uint64_t)LIMIT(few_samples) ? -1 : p - s.error;
	return s;
}

struct share share_of_time(uint64_t weight, uint64_t whole, uint64_t samples)
{
	struct share s = share_of(weight, whole, samples);

	s.error = 0;
	return s;
}

struct human share_text(struct share s)
{
	double percent = 100 * s.part;
	struct human h;
	char error[12];

	snprintf(error, sizeof(error), "%.8s", decimal(100 * s.error, 0).text);
	if (100 * s.error < 0.5)
		snprintf(h.text, sizeof(h.text), "%.8s %%", decimal(percent, percent < 9.95 ? 1 : 0).text);
	else
		snprintf(h.text, sizeof(h.text), "%.8s %% (± %s)", decimal(percent, percent < 9.95 ? 1 : 0).text,
			 error);
	return h;
}

uint32_t heaviest(const uint64_t *weights, uint32_t count)
{
	uint32_t i, most = 0;

	for (i = 1; i < count; i++)
		if (weights[i] > weights[most])
			most = i;
	return most;
}

void put_heaviest(struct buffer *out, const struct profile *p, const uint64_t *weights)
{
	uint32_t frame = heaviest(weights, p->frame_count);

	if (p->frame_count && weights[frame])
		frame_name_put(out, &p->frames[frame], STYLE_TEXT | STYLE_NORM);
	buffer_putc(out, '\0');
}

/* Fill TEXT; a character that a width has cut in its middle goes. */
static void fill(char *text, size_t size, const char *fmt, va_list args)
{
	const char *from;
	char *to = text;
	size_t n;

	vsnprintf(text, size, fmt, args);
	for (from = text; *from; from += n ? n : 1) {
		n = utf8_length((const unsigned char *)from);
		memmove(to, from, n);
		to += n;
	}
	*to = '\0';
}

void say(struct profile_finding *f, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	fill(f->sentence, sizeof(f->sentence), fmt, args);
	va_end(args);
}

void advise(struct profile_finding *f, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	fill(f->advice, sizeof(f->advice), fmt, args);
	va_end(args);
}

static bool is_called(const struct profile *p, const char *event)
{
	return strcmp(p->event, event) == 0;
}

/* Put P where it belongs by what it sampled. */
static void sort_in(struct evidence *e, const struct profile *p)
{
	if (p->calls)
		return;
	if (p->unfreed || is_called(p, "nativemem"))
		e->native = p;
	else if (p->survivors)
		e->live = p;
	else if (p->weight_kind == WEIGHT_CPU)
		e->cpu = e->cpu ? e->cpu : p;
	else if (p->weight_kind == WEIGHT_WALL)
		e->wall = e->wall ? e->wall : p;
	else if (p->weight_kind == WEIGHT_WAIT)
		e->lock = e->lock && !is_called(p, "lock") ? e->lock : p;
	else if (p->weight_kind == WEIGHT_IO)
		e->io = p;
	else if (is_called(p, "exceptions"))
		e->exceptions = p;
	else if (p->weight_kind == WEIGHT_BYTES)
		e->alloc = e->alloc ? e->alloc : p;
}

#define MATTERS 0.25 /* of a CPU: from there on what it does is what matters */

/* A thread that wants to run and has no CPU does not wait: it is not idle. */
static void weigh(struct evidence *e)
{
	uint64_t span = around(e->around, AROUND_span);

	e->wanted = -1;
	e->relevance = 1;
	if (!e->cpu || !e->cpu->duration || e->cpu->told || e->cpu->partial)
		return;
	e->wanted = (double)program_cpu_time(e->cpu) / (double)e->cpu->duration;
	if (span)
		e->wanted += (double)around(e->around, AROUND_run_delay) / (double)span;
	e->relevance = e->wanted < MATTERS ? e->wanted / MATTERS : 1;
}

/* What threads of P (NULL: there is none) did, in *WORK if it is known. 0 or -ENOMEM. */
static int find_work(const struct profile *p, struct work **work)
{
	if (!p || !activity_is_known(p))
		return 0;
	*work = calloc(1, sizeof(**work));
	return *work ? work_of(*work, p, NULL) : -ENOMEM;
}

/* Whether the event lock has seen what wall time shows: not of waits that began before the session. */
static bool lock_tells(const struct evidence *e)
{
	if (!e->lock_work)
		return false;
	return !e->wall_work || e->lock_work->groups.by_activity[ACTIVITY_LOCK] >=
				e->wall_work->groups.by_activity[ACTIVITY_LOCK] / 2;
}

/* Which locks held threads up. 0 or -ENOMEM. */
static int find_contention(struct evidence *e)
{
	bool lock = lock_tells(e);
	struct work *w = lock ? e->lock_work : e->wall_work;
	const struct profile *p = lock ? e->lock : e->wall;

	if (!w || !p->duration)
		return 0;
	e->contended = p;
	return contention_find(&e->contention, p, w);
}

#define LEAST_SPAN (NS_PER_S * 9 / 10) /* counters that tick each 10 ms say nothing of less */

/* What does not depend on how long it was looked at. */
static void take_brief(struct surroundings *to, const struct surroundings *from)
{
	static const enum surrounding lasting[] = {
		AROUND_cpus, AROUND_interpreted_only, AROUND_debugger, AROUND_debug_build, AROUND_java_agents,
		AROUND_deadlocked, AROUND_deadlock_thread, AROUND_deadlock_owner,
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(lasting); i++)
		if (around_known(from, lasting[i]))
			around_set(to, lasting[i], from->value[lasting[i]]);
}

int evidence_gather(struct evidence *e, const struct profile *const *profiles, uint32_t count,
		    const struct surroundings *around)
{
	int rc = 0;
	uint32_t i;

	*e = (struct evidence){.around = around};
	if (around_known(around, AROUND_span) && around->value[AROUND_span] < LEAST_SPAN) {
		take_brief(&e->brief, around);
		e->around = &e->brief;
	}
	for (i = 0; i < count; i++) {
		sort_in(e, profiles[i]);
		e->any = e->any ? e->any : profiles[i];
	}
	e->seconds = e->any ? (double)e->any->duration / 1e9 : 0;
	weigh(e);
	if (e->cpu && e->cpu->stored) {
		rc = split_build(&e->split, e->cpu);
		e->has_split = rc == 0;
	}
	if (rc == 0)
		rc = find_work(e->lock, &e->lock_work);
	if (rc == 0)
		rc = find_work(e->wall, &e->wall_work);
	return rc == 0 ? find_contention(e) : rc;
}

static void free_work(struct work *w)
{
	if (w)
		work_free(w);
	free(w);
}

void evidence_free(struct evidence *e)
{
	split_free(&e->split);
	contention_free(&e->contention);
	free_work(e->lock_work);
	free_work(e->wall_work);
}
