#include "profile/views/explained_parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/base/decimal.h"
#include "common/base/map.h"
#include "profile/model/askers.h"
#include "profile/model/human.h"
#include "profile/model/leaks.h"
#include "profile/model/libraries.h"
#include "profile/model/methods.h"
#include "profile/model/profile_unit.h"
#include "profile/model/work/contention.h"
#include "profile/views/hot_paths.h"
#include "profile/views/idle_text.h"
#include "profile/views/program_methods.h"
#include "profile/views/turned.h"

#define METHODS 6
#define GROUPS 8
#define SITES 6
#define TARGETS 5

/* ---- hot paths ---- */

static int put_methods(struct sections *s, const struct profile *p)
{
	struct buffer text = BUFFER_INIT;
	bool by_weight = p->weight_stored != 0;
	uint64_t all = by_weight ? p->weight_stored : p->stored;
	struct section *to;
	struct methods m;
	uint32_t i;
	int rc = methods_build(&m, p, STYLE_TEXT, by_weight);

	if (rc == 0)
		rc = program_methods(&m, p);
	to = rc ? NULL : sections_add(s, "hot_methods", 450, "Hottest methods of %.40s: its own part, and with all "
				      "that it calls", p->event);
	for (i = 0; to && i < MIN(m.count, METHODS) && m.rows[i].self; i++) {
		const struct method *row = &m.rows[i];

		buffer_printf(&text, "%s%% own, %s%% total: ",
			      decimal(percent_of(by_weight ? row->self_weight : row->self, all), 1).text,
			      decimal(percent_of(by_weight ? row->total_weight : row->total, all), 1).text);
		program_methods_name(&text, name_text(&m.names, row->name), row->called, 0);
		section_row(s, to, NULL, &text, NULL);
	}
	methods_free(&m);
	return rc;
}

/* What the rows of a tree are of, behind their amount. */
static const char *kind_of(const struct profile *p, bool left_idle)
{
	return left_idle ? ", idle waits left out" : profile_is_time(p) || p->weight_kind == WEIGHT_BYTES ? "" :
	       " samples or events";
}

static int put_paths(struct sections *s, const struct profile *p, bool first, const struct explained *e, bool left_idle)
{
	uint32_t depth = e->depth ? e->depth - 1 : HOT_PATHS_MOST;
	struct hot_paths h;
	struct section *to;
	int rc = hot_paths_find(&h, p, HOT_PATHS_MOST, depth);

	if (rc || !h.rows.count) {
		hot_paths_free(&h);
		return rc;
	}
	to = sections_add(s, "hot_paths", first ? 1400 : 700, "Hot paths of %.40s: total%%, own%% of %s%s; "
			  "a → b: the only way on", p->event,
			  h.by_weight ? human_amount(h.all, p->weight_kind).text : human_count(h.all).text,
			  kind_of(p, left_idle));
	if (!to) {
		hot_paths_free(&h);
		return -ENOMEM;
	}
	to->is_tree = true;
	to->event = p->event;
	to->paths = h;
	return 0;
}

/* The paths from one method on. */
static int put_turned(struct sections *s, const struct profile *p, const struct explained *e, bool left_idle)
{
	bool by_weight = p->weight_stored != 0;
	struct turned t;
	int rc = turned_make(&t, p, e->method, e->callers);

	if (rc == 0)
		rc = put_paths(s, &t.profile, true, e, left_idle);
	if (rc == 0 && s->items.count) {
		struct section *to = &s->items.items[s->items.count - 1];

		snprintf(to->title, sizeof(to->title), "%s %.70s (%.30s): total%%, own%% of the %s of all that %s",
			 e->callers ? "Who calls" : "What is called by", e->method, p->event,
			 by_weight ? human_percent(t.profile.weight_stored, p->weight_stored).text :
				     human_percent(t.profile.stored, p->stored).text,
			 left_idle ? "is in it, idle waits left out" : "is in it");
	}
	turned_free(&t);
	return rc;
}

/* Whether a section of its own says what is in P, so that its paths can give their room to others. */
static bool said_elsewhere(const struct profile *p)
{
	return p->weight_kind == WEIGHT_WAIT || p->weight_kind == WEIGHT_IO || p->weight_kind == WEIGHT_BYTES;
}

/* Stacks of P without idle waits, where these can be told. */
int explained_paths(struct sections *s, const struct profile *p, bool first, const struct explained *e)
{
	bool known = activity_is_known(p) && p->stored, left_idle = false;
	const struct profile *shown = p;
	struct work w;
	int rc = known ? work_of(&w, p, NULL) : 0;

	if (known && rc == 0 && w.profile.stored) {
		shown = &w.profile;
		left_idle = w.idle != 0;
	}
	if (rc == 0 && first && p->stored && (e->parts & EXPLAINED_METHODS))
		rc = put_methods(s, shown);
	if (rc == 0 && p->stored && e->method)
		rc = put_turned(s, shown, e, left_idle);
	else if (rc == 0 && p->stored && (e->parts & EXPLAINED_PATHS) && (first || !said_elsewhere(p)))
		rc = put_paths(s, shown, first, e, left_idle);
	if (known)
		work_free(&w);
	return rc;
}

/* ---- waits ---- */

static void put_group(struct sections *s, struct section *to, const struct thread_groups *g,
		      const struct thread_group *group, bool of_waits)
{
	struct buffer text = BUFFER_INIT;
	uint64_t work = thread_group_work(group);
	unsigned a;

	buffer_puts(&text, thread_group_name(g, group));
	if (group->threads)
		buffer_printf(&text, " (%s thread%s)", human_count(group->threads).text, human_plural(group->threads));
	buffer_printf(&text, ": %s %s", human_time(work).text, of_waits ? "waited" : "not idle");
	for (a = 0; !of_waits && a < ACTIVITIES; a++)
		if (a != ACTIVITY_IDLE && group->by_activity[a] * 100 >= work && group->by_activity[a])
			buffer_printf(&text, ", %s %s%%", activity_names[a].head,
				      decimal(percent_of(group->by_activity[a], work), 0).text);
	section_row(s, to, NULL, &text, NULL);
}

static void put_idle(struct sections *s, struct section *to, const struct profile *p, const struct work *w)
{
	struct buffer text = BUFFER_INIT;
	int unsure;

	if (w->parked_unseen) {
		buffer_printf(&text, "%s; record -e wall --vthreads shows them",
			      parked_unseen_text(w->parked_unseen));
		section_row(s, to, NULL, &text, NULL);
	}
	if (!w->idle)
		return;
	buffer_printf(&text, "idle waits are left out: %s of the threads' time",
		      human_percent(w->idle, p->weight_stored).text);
	idle_unsure_part(&text, w, p->weight_stored);
	section_row(s, to, NULL, &text, NULL);
	for (unsure = 0; unsure < 2; unsure++)
		if (idle_sentence(&text, p, w, unsure))
			section_row(s, to, NULL, &text, NULL);
}

static int put_work(struct sections *s, const struct profile *p, struct work *w)
{
	const struct thread_groups *g = &w->groups;
	struct section *to = sections_add(s, "waits", 700, p->weight_kind == WEIGHT_WAIT ?
					  "Waits (%.40s): locks, then who waited" :
					  "Waits (%.40s): locks, then groups of threads by what they did", p->event);
	struct contention c;
	uint32_t busy = g->count - g->idle_groups, i;
	int rc = contention_find(&c, p, w);

	for (i = 0; to && rc == 0 && i < contention_worth(&c); i++) {
		struct buffer text = BUFFER_INIT;

		contention_put(&text, &c, &c.rows[i]);
		section_row(s, to, NULL, &text, NULL);
	}
	contention_free(&c);
	if (!to)
		return -ENOMEM;
	put_idle(s, to, p, w);
	for (i = 0; i < MIN(busy, GROUPS); i++)
		if (thread_group_work(&g->groups[i]))
			put_group(s, to, g, &g->groups[i], p->weight_kind == WEIGHT_WAIT);
	return rc;
}

static void put_targets(struct sections *s, const struct profile *p)
{
	struct section *to = sections_add(s, "waits", 500, "Reads and writes that took longest");
	struct buffer text = BUFFER_INIT;
	uint32_t i;

	for (i = 0; to && i < MIN(p->io_count, TARGETS); i++) {
		const struct profile_io *io = &p->io[i];

		buffer_printf(&text, "%s %s: %s in %s calls, %s, the longest %s", io_operation_names[io->operation],
			      io->target, human_time(io->time).text, human_count(io->calls).text,
			      human_bytes(io->bytes).text, human_time(io->longest).text);
		section_row(s, to, NULL, &text, NULL);
	}
}

int explained_waits(struct sections *s, const struct profile *p)
{
	struct work w;
	int rc;

	if (p->io_count)
		put_targets(s, p);
	if (!activity_is_known(p) || !p->stored)
		return 0;
	rc = work_of(&w, p, NULL);
	if (rc == 0)
		rc = put_work(s, p, &w);
	work_free(&w);
	return rc;
}

/* ---- memory ---- */

struct site {
	uint32_t what, where; /* names: of the class on top, of the program's method */
	uint64_t weight;
};

static int by_weight(const void *left, const void *right)
{
	const struct site *a = left, *b = right;

	return a->weight != b->weight ? a->weight < b->weight ? 1 : -1 : a->what < b->what ? -1 : a->what > b->what;
}

/* Sum up the stacks of P by what and where; *COUNT of them, the heaviest first. NULL: out of memory. */
static struct site *sites_of(const struct profile *p, const struct name_table *names, uint32_t *count)
{
	struct site *sites = calloc((size_t)p->stack_count + 1, sizeof(*sites));
	struct map places = {0};
	uint32_t i, n = 0;
	bool ok = sites != NULL, native = libraries_matter(p);

	for (i = 0; ok && i < p->stack_count; i++) {
		const struct profile_stack *st = &p->stacks[i];
		uint32_t top = st->depth ? st->frames[st->depth - 1] : UINT32_MAX, caller, *slot;

		if (!st->depth)
			continue;
		if (native)
			top = asker_place(p, st, st->depth);
		caller = native ? asker_caller(p, st, st->depth, top) :
			 asker_caller(p, st, st->depth - 1, st->frames[MAX(st->depth, 2) - 2]);
		slot = map_put(&places, (uint64_t)names->of_frame[top] << 32 | names->of_frame[caller], NULL);
		ok = slot != NULL;
		if (ok && !*slot) {
			sites[n] = (struct site){names->of_frame[top], names->of_frame[caller], 0};
			*slot = ++n;
		}
		if (ok)
			sites[*slot - 1].weight += st->weight;
	}
	map_free(&places);
	if (!ok) {
		free(sites);
		return NULL;
	}
	qsort(sites, n, sizeof(*sites), by_weight);
	*count = n;
	return sites;
}

static int put_sites(struct sections *s, struct section *to, const struct profile *p)
{
	struct buffer text = BUFFER_INIT;
	struct name_table names;
	uint32_t count = 0, i;
	int rc = name_table_build(&names, p, STYLE_TEXT);
	struct site *sites = rc ? NULL : sites_of(p, &names, &count);

	for (i = 0; sites && i < MIN(count, SITES); i++) {
		buffer_printf(&text, "%s%% (%s): %s", decimal(percent_of(sites[i].weight, p->weight_stored), 1).text,
			      human_bytes(sites[i].weight).text, name_text(&names, sites[i].what));
		if (sites[i].where != sites[i].what)
			buffer_printf(&text, " in %s", name_text(&names, sites[i].where));
		section_row(s, to, NULL, &text, NULL);
	}
	name_table_free(&names);
	free(sites);
	return sites ? 0 : -ENOMEM;
}

static int put_leaks(struct sections *s, struct section *to, const struct profile *p)
{
	struct buffer text = BUFFER_INIT, chain = BUFFER_INIT;
	struct leaks l;
	int rc = leaks_find(&l, p);
	uint32_t i;

	for (i = 0; rc == 0 && i < MIN(l.count, LEAKS_SHOWN); i++) {
		buffer_puts(&text, "keeps more and more: ");
		leaks_put_row(&text, &l, &l.rows[i], "", "");
		chain.length = 0;
		leaks_put_chain(&chain, &l, &l.rows[i], p);
		section_row(s, to, NULL, &text, buffer_text(&chain, &text));
	}
	if (rc == 0 && l.count) {
		leaks_put_full(&text, &l, p);
		if (text.length)
			section_row(s, to, NULL, &text, NULL);
	}
	leaks_free(&l);
	buffer_free(&text);
	buffer_free(&chain);
	return rc;
}

int explained_memory(struct sections *s, const struct profile *p)
{
	struct section *to;
	int rc = 0;

	if (p->weight_kind != WEIGHT_BYTES || !p->stored)
		return 0;
	to = sections_add(s, "memory", 600, "Memory (%.40s): %s; what is allocated where in the program", p->event,
			  human_bytes(p->weight_stored).text);
	if (!to)
		return -ENOMEM;
	if (leaks_known(p))
		rc = put_leaks(s, to, p);
	return rc ? rc : put_sites(s, to, p);
}
