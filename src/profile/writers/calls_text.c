/*
 * calls_text.c - a trace for people: what it counted, hot methods, call tree, back traces, sums.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/base/clean.h"
#include "common/base/decimal.h"
#include "profile/model/calls_tree.h"
#include "profile/model/human.h"
#include "profile/writers/writers.h"

#define HOT_METHODS 20
#define SKIPS_SHOWN 10
#define TREE_SHARE 200   /* of the tree, branches below 1/200 of the whole are left out */
#define TREE_DEPTH 64
#define SLOW_FRAMES 5
#define BACK_METHODS 10
#define BACK_DEPTH 16
#define LATE (NS_PER_S / 10) /* a method is counted from so late on: it is said */
#define MANY_CALLS 10000 /* a second: from here on stamps cost more than most methods */

static double per_second(const struct profile *p)
{
	return p->duration ? (double)p->calls->count * 1e9 / (double)p->duration : 0;
}

/* What of the probes' own time is in the columns. */
static void put_net(const struct calls *c, struct buffer *out)
{
	buffer_puts(out, "the times are as the program took with its probes, nothing is subtracted");
	if (c->stamped_cost > 0)
		buffer_puts(out, " but, from timed calls, the clock reads");
	if (c->held)
		buffer_printf(out, "; %s s that threads were held up in probes are in no column",
			      decimal((double)c->held / 1e9, 3).text);
	buffer_putc(out, '\n');
}

/* The sentence on cost that every result carries. */
void calls_loss(const struct profile *p, const struct format_options *options, struct buffer *out)
{
	const struct calls *c = p->calls;
	double spent = (double)c->count * c->cost, busy = 0;
	uint32_t i;

	if (c->stamped_cost > c->cost)
		spent += (double)c->stamped * (c->stamped_cost - c->cost);

	for (i = 0; i < c->thread_count; i++)
		busy += (double)c->threads[i].self.wall;
	buffer_printf(out, "%s calls, %s a second", human_count(c->count).text,
		      human_count((uint64_t)per_second(p)).text);
	if (c->cost <= 0) {
		buffer_puts(out, "; what a call's probes cost was not measured\n");
		return;
	}
	buffer_printf(out, "; probes cost about %s ns a call in compiled code, ", decimal(c->cost, 1).text);
	if (c->stamped_cost > 0)
		buffer_printf(out, "%s ns for the %s that were timed, ", decimal(c->stamped_cost, 1).text,
			      human_count(c->stamped).text);
	buffer_printf(out, "%s s in all", decimal(spent / 1e9, 3).text);
	if (c->timed && busy > spent)
		buffer_printf(out, " (%s %% of the time in instrumented methods)",
			      decimal(100 * spent / busy, 1).text);
	else if (c->timed && busy > 0)
		buffer_puts(out, ", as long as the methods themselves: these are shorter than their probes");
	buffer_putc(out, '\n');
	if (c->timed)
		put_net(c, out);
	if (c->events_lost)
		buffer_printf(out, "%s of %s calls that took %s or longer are not told one by one: the first %s "
			      "are; a longer time has fewer\n", human_count(c->events_lost).text,
			      human_count(c->event_count + c->events_lost).text, human_time(c->latency).text,
			      human_count(c->event_count).text);
	if (c->timed && p->engine[0] == 'e' && per_second(p) > MANY_CALLS && spent > busy / 2)
		buffer_puts(out, "recommended: --timing sampled, or adaptive; here time stamps cost more than what "
			    "they time\n");
	if (c->timed && p->engine[0] == 's' && c->count && per_second(p) < MANY_CALLS)
		buffer_puts(out, "recommended: --timing exact; these methods are called rarely enough for "
			    "it\n");
}

/* ---- tables of methods, classes, packages ---- */

static void put_ms(uint64_t ns, int width, struct buffer *out)
{
	buffer_printf(out, "%*s", width, decimal((double)ns / 1e6, 3).text);
}

/* Whether some methods are counted from so late on that it must be said with each. */
static bool is_late(const struct calls *c)
{
	return c->since >= LATE;
}

static void put_row(const struct calls *c, const struct calls_method *m, bool grouped, struct buffer *out)
{
	buffer_printf(out, "%14" PRIu64, m->count);
	if (!c->timed)
		return;
	buffer_printf(out, "  %6s%%", decimal(percent_of(m->self.wall, c->nodes[0].total.wall), 2).text);
	put_ms(m->self.wall, 14, out);
	put_ms(m->total.wall, 14, out);
	put_ms(m->self.cpu, 14, out);
	put_ms(m->total.cpu, 14, out);
	if (calls_waited(&c->nodes[0].total))
		put_ms(calls_waited(&m->self), 14, out);
	if (grouped)
		return;
	/* no time was ever charged to it: it is short, not nothing */
	if (m->count && m->total.wall)
		buffer_printf(out, "%12s", decimal((double)m->total.wall / (double)m->count, 0).text);
	else
		buffer_printf(out, "%12s", "-");
	if (m->spread.timed)
		buffer_printf(out, "%12" PRIu64, m->spread.p99);
	else
		buffer_printf(out, "%12s", "-");
}

static void put_columns(const struct calls *c, bool grouped, const char *what, struct buffer *out)
{
	buffer_puts(out, "         calls");
	if (c->timed)
		buffer_printf(out, "     self       self ms      total ms %s%s", c->cpu_exact ?
			      "    self CPU     total CPU" : "  ≈ self CPU   ≈ total CPU",
			      calls_waited(&c->nodes[0].total) ? "        waited" : "");
	if (c->timed && !grouped)
		buffer_puts(out, "     mean ns      p99 ns");
	buffer_printf(out, "%s  %s\n", !grouped && is_late(c) ? "   from s" : "", what);
}

/* The methods of C, or if there are no OVERLOADS the groups; WHAT they are. */
static int put_methods(const struct calls *c, const bool *overloads, unsigned limit, const char *what,
		       struct buffer *out)
{
	const struct calls_method **order = calls_hottest(c);
	uint32_t i;

	if (!order)
		return -ENOMEM;
	put_columns(c, !overloads, what, out);
	for (i = 0; i < c->method_count && i < limit && order[i]->count; i++) {
		put_row(c, order[i], !overloads, out);
		if (overloads && is_late(c))
			buffer_printf(out, "%9s", decimal((double)order[i]->since / 1e9, 1).text);
		buffer_puts(out, "  ");
		if (overloads)
			calls_name(c, overloads, (uint32_t)(order[i] - c->methods), out);
		else
			buffer_puts(out, order[i]->class_name);
		buffer_putc(out, '\n');
	}
	free(order);
	return 0;
}

static int put_groups(const struct calls *c, enum calls_level level, unsigned limit, struct buffer *out)
{
	struct calls_groups g;
	int rc = calls_groups_build(&g, c, level);

	if (rc == 0)
		rc = put_methods(&g.calls, NULL, limit, level == CALLS_BY_CLASS ? "class" : "package", out);
	calls_groups_free(&g);
	return rc;
}

static void put_threads(const struct calls *c, struct buffer *out)
{
	uint32_t i;

	buffer_printf(out, "         calls%s  thread\n", c->timed ? "       wall ms         ≈ CPU" : "");
	for (i = 0; i < c->thread_count; i++) {
		const struct calls_thread *t = &c->threads[i];

		buffer_printf(out, "%14" PRIu64, t->count);
		if (c->timed) {
			put_ms(t->self.wall, 14, out);
			put_ms(t->self.cpu, 14, out);
		}
		buffer_puts(out, "  ");
		clean_name(out, t->name);
		buffer_putc(out, '\n');
	}
}

/* ---- slow calls, and calls that were not counted ---- */

static int by_duration(const void *a, const void *b)
{
	const struct calls_event *x = *(const struct calls_event *const *)a;
	const struct calls_event *y = *(const struct calls_event *const *)b;

	return x->duration < y->duration ? 1 : x->duration > y->duration ? -1 : x < y ? -1 : x > y;
}

/* The method of E, and some of its callers. */
static void put_stack(const struct calls *c, const struct calls_event *e, struct buffer *out)
{
	const struct calls_stack *s = &c->stacks[e->stack];
	uint32_t i;

	for (i = 0; i < s->count && i < SLOW_FRAMES; i++) {
		const struct calls_frame *f = &c->frames[s->frames[i]];

		buffer_printf(out, "%s%s.%s", i ? " < " : "", f->class_name, f->name);
	}
	buffer_puts(out, i < s->count || s->truncated ? " < …\n" : "\n");
}

static int put_slow(const struct calls *c, unsigned limit, struct buffer *out)
{
	const struct calls_event **order = calloc(c->event_count + 1ul, sizeof(*order));
	char thread[64];
	uint32_t i;

	if (!order)
		return -ENOMEM;
	for (i = 0; i < c->event_count; i++)
		order[i] = &c->events[i];
	qsort(order, c->event_count, sizeof(*order), by_duration);
	buffer_printf(out, "\n%s calls took %s or longer", human_count(c->event_count + c->events_lost).text,
		      human_time(c->latency).text);
	if (c->events_lost)
		buffer_printf(out, " (%s of them were not kept: too many)", human_count(c->events_lost).text);
	buffer_puts(out, c->event_count ? ":\n            ms  thread                method < its callers\n" : "\n");
	for (i = 0; i < c->event_count && i < limit; i++) {
		put_ms(order[i]->duration, 14, out);
		snprintf(thread, sizeof(thread), "  %-20.40s  ", order[i]->thread);
		clean_name(out, thread);
		put_stack(c, order[i], out);
	}
	if (i < c->event_count)
		buffer_printf(out, "  (and %u shorter ones; see the JSON output)\n", c->event_count - i);
	free(order);
	return 0;
}

static void put_entered(const struct calls *c, const bool *overloads, struct buffer *out)
{
	uint32_t i;

	if (c->entered_count)
		buffer_puts(out, "\nentered before the probes came, so not counted until called again:\n");
	for (i = 0; i < c->entered_count && i < SKIPS_SHOWN; i++) {
		buffer_puts(out, "  ");
		calls_name(c, overloads, c->entered[i].method, out);
		buffer_printf(out, ", in %" PRIu32 " thread%s\n", c->entered[i].threads,
			      human_plural(c->entered[i].threads));
	}
	if (c->entered_count > SKIPS_SHOWN)
		buffer_printf(out, "  (and %" PRIu32 " more; see the JSON output)\n", c->entered_count - SKIPS_SHOWN);
}

/* ---- trees ---- */

/* Branches of TREE, a view of C; below 1/LEAST of the whole they are left out. */
static int put_tree(const struct calls *tree, const bool *overloads, uint32_t least, const char *what,
		    struct buffer *out)
{
	uint64_t whole = tree->timed ? tree->nodes[0].total.wall : tree->count;
	struct calls_worth w;
	uint32_t i, hidden = UINT32_MAX; /* depth of the node that is left out with all below it */
	int rc = calls_worth_build(&w, tree);

	buffer_printf(out, "         calls%s  %s\n", tree->timed ? "    total      total ms       self ms" : "", what);
	for (i = 0; rc == 0 && i + 1 < tree->node_count; i++) {
		const struct calls_node *n = &tree->nodes[w.order[i]];

		if (n->depth > hidden)
			continue;
		hidden = UINT32_MAX;
		if (w.of_node[w.order[i]] * least < whole || n->depth >= TREE_DEPTH || !w.of_node[w.order[i]]) {
			hidden = n->depth;
			continue;
		}
		/* a thread's node is no call; its row says how many calls are below */
		buffer_printf(out, "%14" PRIu64, n->method == CALLS_THREAD && !n->count ?
			      tree->threads[n->thread].count : n->count);
		if (tree->timed) {
			buffer_printf(out, "  %6s%%", decimal(percent_of(n->total.wall, whole), 2).text);
			put_ms(n->total.wall, 14, out);
			put_ms(n->self.wall, 14, out);
		}
		buffer_printf(out, "  %*s", (int)(n->depth - 1) * 2, "");
		calls_node_name(tree, overloads, n, out);
		buffer_putc(out, '\n');
	}
	calls_worth_free(&w);
	return rc;
}

static int put_back(const struct calls *c, const bool *overloads, struct buffer *out)
{
	struct calls back;
	int rc = calls_back(c, BACK_METHODS, BACK_DEPTH, &back);

	if (rc == 0)
		rc = put_tree(&back, overloads, TREE_SHARE, "back traces: a hot method, its own time by who called it",
			      out);
	free(back.nodes);
	return rc;
}

/* ---- all ---- */

static void put_head(const struct profile *p, const struct format_options *options, struct buffer *out)
{
	const struct calls *c = p->calls;

	buffer_printf(out, "--- Calls of %" PRIu32 " method%s in %" PRIu32 " class%s, %s timing, %s s ---\n",
		      c->method_count, human_plural(c->method_count), c->class_count, c->class_count == 1 ? "" : "es",
		      p->engine, decimal((double)p->duration / 1e9, 1).text);
	calls_loss(p, options, out);
	if (p->gap)
		buffer_printf(out, "%s s before it, since the last round, are in no result\n",
			      decimal((double)p->gap / 1e9, 2).text);
	if (c->not_run)
		buffer_printf(out, "%" PRIu32 " more classes match but were not seen running; they have no probes "
			      "(--all-classes: all get them)\n", c->not_run);
	if (is_late(c))
		buffer_printf(out, "methods are counted from when their class got its probes ('from s'), up to %s s "
			      "after the start: two counts compare only from the later one on\n",
			      decimal((double)c->since / 1e9, 1).text);
	if (c->uncounted)
		buffer_printf(out, "%" PRIu64 " calls are in no tree: by threads that were being attached, or beyond "
			      "the memory for trees\n", c->uncounted);
}

static void put_skips(const struct calls *c, struct buffer *out)
{
	uint32_t i;

	for (i = 0; i < c->skipped_count && i < SKIPS_SHOWN; i++)
		buffer_printf(out, "%s%s: not instrumented, %s\n", i ? "" : "\n", c->skipped[i].name,
			      c->skipped[i].reason);
	if (c->skipped_count + c->skipped_more > SKIPS_SHOWN)
		buffer_printf(out, "(%u more are not instrumented; see the JSON output)\n",
			      c->skipped_count + c->skipped_more - SKIPS_SHOWN);
}

enum part {
	HOT = 1,     /* methods by self time */
	TREE = 2,    /* from the root */
	BACK = 4,    /* who called the hot ones */
	GROUPS = 8,  /* sums by class and package */
	THREADS = 16,
	ALL = 31,
};

static void put_parts(const struct profile *p, unsigned parts, const struct format_options *options,
		      struct buffer *out)
{
	const struct calls *c = p->calls;
	bool *overloads = calls_overloads(c);
	unsigned hot = options->flat ? options->flat : HOT_METHODS, part;
	int rc = overloads ? 0 : -ENOMEM;

	put_head(p, options, out);
	for (part = HOT; rc == 0 && part < ALL; part <<= 1) {
		if (!(parts & part))
			continue;
		buffer_putc(out, '\n');
		switch (part) {
		case HOT:
			rc = put_methods(c, overloads, hot, "method", out);
			break;
		case TREE:
			rc = put_tree(c, overloads, TREE_SHARE, "call tree", out);
			break;
		case BACK:
			rc = put_back(c, overloads, out);
			break;
		case GROUPS:
			rc = put_groups(c, CALLS_BY_CLASS, hot, out);
			buffer_putc(out, '\n');
			rc = rc ? rc : put_groups(c, CALLS_BY_PACKAGE, hot, out);
			break;
		case THREADS:
			put_threads(c, out);
			break;
		}
	}
	if (rc == 0 && c->latency != UINT64_MAX)
		rc = put_slow(c, hot, out);
	if (rc && !out->failed)
		out->failed = -rc;
	put_entered(c, overloads, out);
	put_skips(c, out);
	free(overloads);
}

#define WRITER(name, parts) \
	void name(const struct profile *p, const struct format_options *options, struct buffer *out) \
	{ \
		put_parts(p, parts, options, out); \
	}
WRITER(calls_text, ALL)
WRITER(calls_hot, HOT | TREE)
WRITER(calls_flat, HOT)
WRITER(calls_calltree, TREE)
WRITER(calls_traces, BACK)
