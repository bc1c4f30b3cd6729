/*
 * top_view.c - a screen of `jstrobe top` as text.
 */
#include "cli/live/top.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/live/screen.h"
#include "common/base/decimal.h"

#define BAR 20

/* A letter for each state, in the order of thread_states.def. */
static const char letters[THREAD_STATES + 1] = "?RrBPWSN";

struct page {
	const struct top_model *m;
	const struct top_view *v;
	struct buffer *out;
	unsigned left;       /* lines that still fit */
};

static void put_line(struct page *p, const char *text)
{
	if (!p->left)
		return;
	screen_line(p->out, text, p->v->columns);
	p->left--;
}

static const char *name_at(const struct page *p, uint32_t number)
{
	return number ? strings_get(&p->m->strings, number) : "";
}

static bool is_wanted(const struct page *p, uint32_t name)
{
	return !p->v->filter[0] || strstr(name_at(p, name), p->v->filter);
}

static int descending(uint64_t a, uint64_t b)
{
	return a < b ? 1 : a > b ? -1 : 0;
}

static int by_self(const void *a, const void *b)
{
	const struct top_method *x = a, *y = b;
	int c = descending(x->self, y->self);

	return c ? c : descending(x->total, y->total);
}

static int by_total(const void *a, const void *b)
{
	const struct top_method *x = a, *y = b;

	return descending(x->total, y->total);
}

static int by_cpu(const void *a, const void *b)
{
	const struct top_thread *x = a, *y = b;
	int c = descending(x->cpu, y->cpu);

	return c ? c : (x->tid > y->tid) - (x->tid < y->tid);
}

static int by_time(const void *a, const void *b)
{
	return descending(((const struct top_wait *)a)->time, ((const struct top_wait *)b)->time);
}

static void put_head(struct page *p)
{
	const struct top_model *m = p->m;
	const struct top_books *now = &m->books, *then = &m->before;
	uint64_t books = now->time - then->time;
	char line[512], others[64] = "";

	if (now->others_lost != then->others_lost)
		snprintf(others, sizeof(others), ", others lost %llu",
			 (unsigned long long)(now->others_lost - then->others_lost));
	snprintf(line, sizeof(line), "%u %.40s  CPU %s/%u00 %%, own %s %%, %llu samples, lost %llu, dropped %llu%s%s",
		 m->pid, name_at(p, m->main_class),
		 decimal(percent_of(now->process_cpu - then->process_cpu, books), 0).text, m->cpus,
		 decimal(percent_of(now->own_cpu - then->own_cpu, books), 2).text, (unsigned long long)m->samples,
		 (unsigned long long)(now->lost - then->lost), (unsigned long long)(now->dropped - then->dropped),
		 others, p->v->paused ? "  PAUSED" : "");
	put_line(p, line);
	put_line(p, "");
}

static void put_methods(struct page *p, unsigned most)
{
	char line[1024];
	size_t i;

	snprintf(line, sizeof(line), "  SELF  TOTAL  METHOD%s%s", p->v->filter[0] ? "  with " : "", p->v->filter);
	put_line(p, line);
	for (i = 0; i < p->m->methods.count && most > 1; i++) {
		const struct top_method *t = &p->m->methods.items[i];

		if (!is_wanted(p, t->name))
			continue;
		snprintf(line, sizeof(line), "%5s%% %5s%%  %.900s", decimal(percent_of(t->self, p->m->cpu), 1).text,
			 decimal(percent_of(t->total, p->m->cpu), 1).text, name_at(p, t->name));
		put_line(p, line);
		most--;
	}
}

/* What a thread did, BAR letters long. */
static void put_bar(const struct top_thread *t, char bar[BAR + 1])
{
	uint64_t all = 0, sum = 0;
	unsigned s, at = 0;

	for (s = 0; s < THREAD_STATES; s++)
		all += t->wall[s];
	for (s = 0; s < THREAD_STATES && all; s++) {
		sum += t->wall[s];
		while (at < (sum * BAR + all / 2) / all)
			bar[at++] = letters[s];
	}
	memset(bar + at, '.', BAR - at);
	bar[BAR] = '\0';
}

static void put_threads(struct page *p)
{
	uint64_t span = p->m->now - p->m->began;
	char line[512], bar[BAR + 1];
	size_t i;

	put_line(p, "   CPU  STATES                THREAD");
	for (i = 0; i < p->m->threads.count && p->left; i++) {
		const struct top_thread *t = &p->m->threads.items[i];

		if (!is_wanted(p, t->name))
			continue;
		put_bar(t, bar);
		snprintf(line, sizeof(line), "%5s%%  %s  %.400s", decimal(percent_of(t->cpu, span), 1).text, bar,
			 name_at(p, t->name));
		put_line(p, line);
	}
}

static void put_waits(struct page *p, unsigned most)
{
	char line[1024];
	size_t i;

	if (!p->m->waits.count)
		return;
	put_line(p, "  WAITED   COUNT  LOCK, LAST HOLDER");
	for (i = 0; i < p->m->waits.count && i < most; i++) {
		const struct top_wait *w = &p->m->waits.items[i];

		snprintf(line, sizeof(line), "%6s ms %7llu  %.400s%s%.400s", decimal((double)w->time / 1e6, 0).text,
			 (unsigned long long)w->count, name_at(p, w->name), w->owner ? ", " : "",
			 name_at(p, w->owner));
		put_line(p, line);
	}
	put_line(p, "");
}

void top_show(struct top_model *m, const struct top_view *v, struct buffer *out)
{
	struct page p = {m, v, out, v->rows - (v->keys ? 1 : 0)};

	if (m->methods.count)
		qsort(m->methods.items, m->methods.count, sizeof(*m->methods.items), v->by_total ? by_total : by_self);
	if (m->threads.count)
		qsort(m->threads.items, m->threads.count, sizeof(*m->threads.items), by_cpu);
	if (m->waits.count)
		qsort(m->waits.items, m->waits.count, sizeof(*m->waits.items), by_time);
	/* sorted lists do not fit their maps any more */
	map_free(&m->by_method);
	map_free(&m->by_thread);
	map_free(&m->by_wait);
	put_head(&p);
	put_methods(&p, p.left / 2);
	put_line(&p, "");
	put_waits(&p, 3);
	put_threads(&p);
	while (v->keys && p.left)
		put_line(&p, "");
	p.left = 1;
	if (v->keys)
		put_line(&p, v->keys);
}
