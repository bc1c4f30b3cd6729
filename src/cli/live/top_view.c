#include "cli/live/top_view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/live/screen.h"
#include "cli/live/top_tables.h"
#include "common/base/decimal.h"
#include "profile/model/human.h"

#define WAITS_OF_OVERVIEW 3

struct page {
	const struct top_model *m;
	struct top_view *v;
	struct buffer *out;
	unsigned left;       /* lines that still fit */
};

static const struct view {
	top_build *build;
	unsigned kinds;
	const char *event;
} views[TOP_VIEWS] = {
#define VIEW(id, key, word, build, kinds, event, help) {build, kinds, event},
#include "cli/live/top_keys.def"
};

const char *top_view_event(const struct top_model *m, enum top_view_id view)
{
	const char *event = views[view].event;
	const struct event_row *row = event_row_of(event, strcspn(event, "@"));

	return row && top_event_of(m, row->weight) == TOP_EVENTS ? event : NULL;
}

/* ---- lines ---- */

static void put_styled(struct page *p, const char *text, const char *style)
{
	if (!p->left)
		return;
	screen_styled(p->out, text, p->v->columns, p->v->colour ? style : "");
	p->left--;
}

static void put_line(struct page *p, const char *text)
{
	put_styled(p, text, "");
}

static void put_buffer(struct page *p, struct buffer *b, const char *style)
{
	buffer_putc(b, '\0');
	if (!b->failed)
		put_styled(p, b->data, style);
	b->length = 0;
}

static const char *name_at(const struct page *p, uint32_t number)
{
	return number ? strings_get(&p->m->strings, number) : "";
}

/* ---- above the table ---- */

static void put_head(struct page *p)
{
	const struct top_model *m = p->m;
	const struct top_books *now = &m->shown.to, *then = &m->shown.from;
	uint64_t books = now->time - then->time;
	char line[512], others[64] = "", all[64] = "";

	if (!m->pid) {
		put_styled(p, "waiting for the first samples", SCREEN_BOLD);
		return;
	}
	if (now->others_lost != then->others_lost)
		snprintf(others, sizeof(others), ", others lost %llu",
			 (unsigned long long)(now->others_lost - then->others_lost));
	if (p->v->terminal)
		snprintf(all, sizeof(all), ", %llu in all", (unsigned long long)m->samples);
	snprintf(line, sizeof(line), "%u %.40s  CPU %s/%u00 %%, own %s %%, %llu samples, lost %llu, dropped %llu%s%s",
		 m->pid, name_at(p, m->main_class),
		 decimal(percent_of(now->process_cpu - then->process_cpu, books), 0).text, m->cpus,
		 decimal(percent_of(now->own_cpu - then->own_cpu, books), 2).text,
		 (unsigned long long)m->shown.samples[m->main_event],
		 (unsigned long long)(now->lost - then->lost), (unsigned long long)(now->dropped - then->dropped),
		 others, all);
	put_styled(p, line, SCREEN_BOLD);
}

static void put_history(struct page *p)
{
	struct buffer line = BUFFER_INIT;

	top_history_put(&p->m->history, p->v->now, p->v->columns, &line);
	put_buffer(p, &line, "");
	buffer_free(&line);
}

/* "PAUSED, 212 samples since; locks by WAITED, last 2.0 s, /foo/" */
static void put_title(struct page *p, const struct top_table *t)
{
	const struct top_view *v = p->v;
	uint32_t sort = v->sort[v->view];
	struct buffer line = BUFFER_INIT;

	if (v->paused)
		buffer_printf(&line, "PAUSED, %s samples since; ",
			      human_count(p->m->gathered.samples[p->m->main_event]).text);
	buffer_puts(&line, v->help ? "keys" : top_view_word(v->view));
	if (t && t->column_count)
		buffer_printf(&line, " by %s", sort < t->column_count ? t->columns[sort].head : t->name_head);
	if (v->view == TOP_METHODS && !v->help && p->m->event_count)
		buffer_printf(&line, ", %s", name_at(p, p->m->events[v->event < p->m->event_count ? v->event :
							 p->m->main_event].name));
	buffer_printf(&line, ", last %s s", decimal((double)p->m->shown.span / 1e9, 1).text);
	if (*v->filter)
		buffer_printf(&line, ", /%s/", v->filter);
	put_buffer(p, &line, SCREEN_BOLD);
	buffer_free(&line);
}

/* ---- tables ---- */

static void put_head_of_table(struct page *p, const struct top_table *t)
{
	struct buffer line = BUFFER_INIT;
	char further[160] = "";

	if (!p->v->terminal && *p->v->filter)
		snprintf(further, sizeof(further), "  with %.128s", p->v->filter);
	top_table_put_head(t, p->v->columns, further, &line);
	put_buffer(p, &line, SCREEN_DIM);
	buffer_free(&line);
}

/* At most MOST rows from FIRST on. */
static void put_rows(struct page *p, const struct top_table *t, size_t first, unsigned most)
{
	struct buffer line = BUFFER_INIT;
	size_t i;

	for (i = first; i < t->rows.count && most && p->left; i++, most--) {
		top_table_put_row(t, i, p->v->columns, &line);
		put_buffer(p, &line, "");
	}
	buffer_free(&line);
}

/* Make T, sorted by COLUMN, with the rows that are wanted. False: no memory. */
static bool make(const struct page *p, struct top_table *t, top_build *build, uint32_t column)
{
	bool whole = build(t, p->m, p->v) == 0 && !t->texts.failed;

	if (!whole)
		return false;
	top_table_filter(t, p->v->wanted);
	top_table_sort(t, column < t->column_count ? column : TOP_BY_NAME);
	return true;
}

/* BUILD's table with at most MOST rows. */
static void put_part(struct page *p, top_build *build, uint32_t column, unsigned most, bool always)
{
	struct top_table t = {.column_count = 0};

	if (!make(p, &t, build, column)) {
		put_line(p, "out of memory");
	} else if (t.rows.count || always) {
		put_head_of_table(p, &t);
		put_rows(p, &t, 0, most);
		if (build != top_threads)
			put_line(p, "");
	}
	p->v->column_count = MAX(p->v->column_count, t.column_count);
	top_table_free(&t);
}

static void put_overview(struct page *p)
{
	uint32_t sort = p->v->sort[TOP_OVERVIEW];

	put_part(p, top_methods, sort, p->left / 2 - (p->left > 2), true);
	put_part(p, top_waits, sort, WAITS_OF_OVERVIEW, false);
	put_part(p, top_threads, sort == TOP_BY_NAME ? sort : 0, UINT32_MAX, true);
	p->v->column_count = 2;
}

/* What the view is made of is not sampled: how it would be. */
static void put_needs(struct page *p)
{
	const struct top_view *v = p->v;
	char line[512];

	snprintf(line, sizeof(line), "%s: not sampled; what is: %.200s", top_view_word(v->view), v->events);
	put_line(p, line);
	if (v->joined)
		put_line(p, "the session ran before; when 'jstrobe stop' has ended it:");
	else
		put_line(p, "+ begins the session anew with it, as does");
	snprintf(line, sizeof(line), "  jstrobe top -e %.200s,%s %u", v->events, views[v->view].event, p->m->pid);
	put_line(p, line);
}

static bool is_fed(const struct page *p)
{
	unsigned i;

	for (i = 0; i < p->m->event_count; i++)
		if (views[p->v->view].kinds >> p->m->events[i].kind & 1)
			return true;
	return !p->m->event_count;
}

static void put_view(struct page *p)
{
	struct top_view *v = p->v;
	struct top_table t = {.column_count = 0};
	bool made = make(p, &t, views[v->view].build, v->sort[v->view]);
	unsigned room;

	put_title(p, made ? &t : NULL);
	if (!made) {
		put_line(p, "out of memory");
	} else if (!is_fed(p)) {
		put_needs(p);
	} else {
		room = p->left > 1U + !!*t.note ? p->left - 1 - !!*t.note : 0;
		v->rows_fit = room;
		v->row_count = t.rows.count;
		v->column_count = t.column_count;
		v->first = MIN(v->first, t.rows.count > room ? t.rows.count - room : 0);
		put_head_of_table(p, &t);
		put_rows(p, &t, v->first, room);
		if (!t.rows.count && !*t.note)
			put_line(p, v->wanted ? "nothing matches" : "nothing in this time");
		if (*t.note)
			put_styled(p, t.note, SCREEN_DIM);
	}
	top_table_free(&t);
}

static void put_help(struct page *p)
{
	struct buffer line = BUFFER_INIT;
	struct top_view *v = p->v;
	size_t count = 0;

	while (top_keys_help(&line, count, v->columns))
		count++;
	line.length = 0;
	v->rows_fit = p->left;
	v->row_count = count;
	v->first = MIN(v->first, count > p->left ? count - p->left : 0);
	for (count = v->first; p->left && top_keys_help(&line, count, v->columns); count++)
		put_buffer(p, &line, "");
	buffer_free(&line);
}

static void put_last_line(struct page *p)
{
	struct buffer line = BUFFER_INIT;

	p->left = 1;
	if (p->v->last_line)
		buffer_puts(&line, p->v->last_line);
	else
		top_keys_line(&line, p->v->view, p->v->columns);
	put_buffer(p, &line, p->v->last_line ? "" : SCREEN_REVERSE);
	buffer_free(&line);
}

void top_show(const struct top_model *m, struct top_view *v, struct buffer *out)
{
	struct page p = {m, v, out, v->rows - (v->terminal && v->rows ? 1 : 0)};

	v->row_count = v->rows_fit = v->column_count = 0;
	put_head(&p);
	if (v->terminal)
		put_history(&p);
	else
		put_line(&p, "");
	if (v->terminal && (v->help || v->view == TOP_OVERVIEW))
		put_title(&p, NULL);
	if (v->help)
		put_help(&p);
	else if (v->view == TOP_OVERVIEW)
		put_overview(&p);
	else
		put_view(&p);
	while (v->terminal && p.left)
		put_line(&p, "");
	if (v->terminal && v->rows)
		put_last_line(&p);
}
