#include "profile/views/program_methods.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json_writer.h"
#include "common/base/utf8.h"
#include "profile/model/askers.h"
#include "profile/model/work/work.h"
#include "profile/views/short_name.h"

#define NOTHING UINT32_MAX /* called: nothing of the JDK */
#define MONITOR (UINT32_MAX - 1)

/* By what a stack is told apart. */
struct place {
	uint32_t method, called; /* names; `called` may be NOTHING or MONITOR */
};

static bool is_carrier(const struct profile_frame *f)
{
	return f->class_name && strncmp(f->class_name, "java/lang/VirtualThread", 23) == 0;
}

/* What the program's frame before AT called: a method of Java, or a class alone, which says what was waited for. */
static uint32_t called_by(const struct profile *p, const struct profile_stack *s, uint32_t at, const uint32_t *names)
{
	const struct profile_frame *next;

	while (at < s->depth && frame_is_lambda(&p->frames[s->frames[at]]))
		at++;
	next = at < s->depth ? &p->frames[s->frames[at]] : NULL;
	/* a virtual thread leaves its carrier for a monitor without calling anything */
	if (s->state == THREAD_BLOCKED && (!next || !next->class_name || is_carrier(next)))
		return MONITOR;
	return next && next->class_name ? names[s->frames[at]] : NOTHING;
}

static struct place place_of(const struct profile *p, const struct profile_stack *s, const struct name_table *names)
{
	uint32_t frame = asker_caller(p, s, s->depth, UINT32_MAX), at = s->depth;

	if (frame == UINT32_MAX)
		return (struct place){s->depth ? names->of_frame[s->frames[at - 1]] : names->no_frames, NOTHING};
	while (s->frames[at - 1] != frame)
		at--;
	return (struct place){names->of_frame[frame], called_by(p, s, at, names->of_frame)};
}

static const char *word_of(const struct name_table *names, uint32_t called)
{
	return called == NOTHING ? NULL : called == MONITOR ? "monitor" : name_text(names, called);
}

static int descending(uint64_t a, uint64_t b)
{
	return a < b ? 1 : a > b ? -1 : 0;
}

static int heaviest_first(const void *left, const void *right, void *names)
{
	const struct method *a = left, *b = right;
	int c = descending(a->self_weight, b->self_weight);

	if (!c)
		c = descending(a->total_weight, b->total_weight);
	if (!c)
		c = strcmp(name_text(names, a->name), name_text(names, b->name));
	return c ? c : strcmp(a->called ? a->called : "", b->called ? b->called : "");
}

static bool is_of_waits(const struct profile *p)
{
	return p->weight_kind == WEIGHT_WALL || p->weight_kind == WEIGHT_WAIT || p->weight_kind == WEIGHT_IO;
}

/* Sum up P's stacks by place to ROWS, of which there is room for one each; how many, or -ENOMEM. */
static int64_t sum_up(struct method *rows, const struct profile *p, const struct name_table *names)
{
	struct map places = {0};
	int64_t count = 0;
	uint32_t i;

	for (i = 0; i < p->stack_count; i++) {
		const struct profile_stack *s = &p->stacks[i];
		struct place at = place_of(p, s, names);
		uint32_t *slot = map_put(&places, (uint64_t)at.method << 32 | at.called, NULL);
		struct method *row;

		if (!slot) {
			count = -ENOMEM;
			break;
		}
		if (!*slot)
			*slot = (uint32_t)++count;
		row = &rows[*slot - 1];
		row->name = at.method;
		row->called = word_of(names, at.called);
		row->self += s->samples;
		row->self_weight += s->weight;
		row->self_objects += s->objects;
	}
	map_free(&places);
	return count;
}

/* ROW with the total of ALL, which is of the same method. */
static void take_total(struct method *row, const struct method *all)
{
	row->total = all->total;
	row->total_weight = all->total_weight;
	row->total_objects = all->total_objects;
}

/*
 * The totals of ROWS from M's rows of the same methods; behind them those of M that are in no row, with nothing of
 * their own. How many there are then, or -ENOMEM.
 */
static int64_t add_totals(struct method *rows, uint32_t count, const struct methods *m)
{
	const struct method **of_name = calloc((size_t)m->names.count + 1, sizeof(*of_name));
	bool *has_row = calloc((size_t)m->names.count + 1, sizeof(*has_row));
	int64_t all = of_name && has_row ? (int64_t)count : -ENOMEM;
	uint32_t i;

	for (i = 0; all >= 0 && i < m->count; i++)
		of_name[m->rows[i].name] = &m->rows[i];
	for (i = 0; all >= 0 && i < count; i++) {
		has_row[rows[i].name] = true;
		if (of_name[rows[i].name])
			take_total(&rows[i], of_name[rows[i].name]);
	}
	for (i = 0; all >= 0 && i < m->count; i++)
		if (!has_row[m->rows[i].name]) {
			rows[all].name = m->rows[i].name;
			take_total(&rows[all++], &m->rows[i]);
		}
	free(of_name);
	free(has_row);
	return all;
}

int program_methods(struct methods *m, const struct profile *p)
{
	struct method *rows;
	int64_t count;

	if (!is_of_waits(p))
		return 0;
	rows = calloc((size_t)p->stack_count + m->count + 1, sizeof(*rows));
	count = rows ? sum_up(rows, p, &m->names) : -ENOMEM;
	if (count >= 0)
		count = add_totals(rows, (uint32_t)count, m);
	if (count < 0) {
		free(rows);
		return -ENOMEM;
	}
	qsort_r(rows, (size_t)count, sizeof(*rows), heaviest_first, &m->names);
	free(m->rows);
	m->rows = rows;
	m->count = (uint32_t)count;
	return 0;
}

void program_methods_name(struct buffer *out, const char *name, const char *called, unsigned columns)
{
	unsigned behind = 0;

	called = called ? bare_name(called) : NULL;
	if (called)
		behind = utf8_columns(called, strlen(called)) + 4;
	if (columns > behind)
		short_name(out, name, columns - behind);
	else
		buffer_puts(out, columns ? bare_name(name) : name);
	if (called)
		buffer_printf(out, "  (%s)", called);
}

int program_methods_json(struct json_writer *to, const struct work *w, unsigned style)
{
	struct methods m;
	int rc = methods_build(&m, &w->profile, style & ~STYLE_LINES, true);
	uint32_t i;

	if (rc == 0)
		rc = program_methods(&m, &w->profile);
	json_array(to, "program_methods");
	for (i = 0; rc == 0 && i < m.count && m.rows[i].self_weight; i++) {
		json_object(to, NULL);
		json_put_text(to, "name", name_text(&m.names, m.rows[i].name));
		if (m.rows[i].called)
			json_put_text(to, "called", m.rows[i].called);
		json_put_numbers(to, {"self", m.rows[i].self}, {"total", m.rows[i].total},
				 {"self_weight", m.rows[i].self_weight}, {"total_weight", m.rows[i].total_weight});
		json_end(to);
	}
	json_end(to);
	methods_free(&m);
	return rc;
}
