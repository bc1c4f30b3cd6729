#include "profile/views/sections.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/base/decimal.h"
#include "common/base/json_writer.h"
#include "profile/model/human.h"

#define ROW_MOST 400

struct section *sections_add(struct sections *s, const char *key, unsigned share, const char *title, ...)
{
	struct section *p = VECTOR_PUSH(&s->items);
	va_list args;

	if (!p) {
		s->no_memory = true;
		return NULL;
	}
	p->key = key;
	p->share = share;
	va_start(args, title);
	vsnprintf(p->title, sizeof(p->title), title, args);
	va_end(args);
	return p;
}

/* A copy of TEXT, cut between characters where it is too long; NULL: out of memory. */
static char *cut(const char *text)
{
	size_t n = strlen(text), keep = MIN(n, ROW_MOST);
	char *copy = malloc(keep + sizeof("…"));

	if (!copy)
		return NULL;
	while (keep < n && keep && ((unsigned char)text[keep] & 0xc0) == 0x80)
		keep--;
	memcpy(copy, text, keep);
	strcpy(copy + keep, keep < n ? "…" : "");
	return copy;
}

void section_row(struct sections *s, struct section *p, const char *id, struct buffer *text, const char *more)
{
	struct section_row *row = p ? VECTOR_PUSH(&p->rows) : NULL;

	buffer_putc(text, '\0');
	if (row && !text->failed) {
		*row = (struct section_row){id, cut(text->data), more && *more ? cut(more) : NULL};
		s->no_memory |= !row->text || (more && *more && !row->more);
	} else {
		s->no_memory = true;
	}
	buffer_free(text);
	*text = (struct buffer)BUFFER_INIT;
}

static uint32_t rows_of(const struct section *p)
{
	return (uint32_t)(p->is_tree ? p->paths.rows.count : p->rows.count);
}

/* ---- as text ---- */

static void put_share(struct buffer *out, uint64_t part, uint64_t whole)
{
	buffer_printf(out, "%5s%% ", decimal(percent_of(part, whole), 1).text);
}

static void put_tree(struct buffer *out, const struct section *p)
{
	const struct hot_paths *h = &p->paths;
	struct hot_paths_rest rest = hot_paths_rest(h, p->shown);
	uint32_t i;

	for (i = 0; i < h->rows.count; i++) {
		const struct hot_path *row = &h->rows.items[h->order[i]];

		if (h->order[i] >= p->shown)
			continue;
		put_share(out, row->total, h->all);
		put_share(out, row->self, h->all);
		buffer_printf(out, "%*s%s\n", (int)row->depth * 2, "", hot_paths_text(h, row));
	}
	if (rest.beside || rest.below)
		buffer_printf(out, "  LEFT OUT: %s in smaller branches; %s is spent below the last rows of branches\n",
			      human_percent(rest.beside, h->all).text, human_percent(rest.below, h->all).text);
}

static void put_rows(struct buffer *out, const struct section *p)
{
	uint32_t count = rows_of(p), i;

	for (i = 0; i < p->shown; i++) {
		buffer_printf(out, "- %s\n", p->rows.items[i].text);
		if (p->rows.items[i].more)
			buffer_printf(out, "  %s\n", p->rows.items[i].more);
	}
	if (p->shown < count)
		buffer_printf(out, "  LEFT OUT: %u more line%s for want of room\n", count - p->shown,
			      human_plural(count - p->shown));
}

static void put_text(struct buffer *out, const struct section *p)
{
	buffer_printf(out, "%s\n", p->title);
	p->is_tree ? put_tree(out, p) : put_rows(out, p);
}

/* ---- as JSON ---- */

static void put_node(struct json_writer *w, const struct hot_paths *h, const struct hot_path *row)
{
	json_object(w, NULL);
	json_put_number(w, "depth", row->depth);
	json_put_value(w, "total", decimal(percent_of(row->total, h->all), 1).text);
	json_put_value(w, "self", decimal(percent_of(row->self, h->all), 1).text);
	json_put_text(w, "path", hot_paths_text(h, row));
	json_end(w);
}

static void put_tree_json(struct json_writer *w, const struct section *p)
{
	const struct hot_paths *h = &p->paths;
	struct hot_paths_rest rest = hot_paths_rest(h, p->shown);
	uint32_t i;

	json_object(w, NULL);
	json_put_texts(w, {"event", p->event}, {"title", p->title});
	json_put_value(w, "left_out", decimal(percent_of(rest.beside, h->all), 1).text);
	json_put_value(w, "below", decimal(percent_of(rest.below, h->all), 1).text);
	json_array(w, "nodes");
	for (i = 0; i < h->rows.count; i++)
		if (h->order[i] < p->shown)
			put_node(w, h, &h->rows.items[h->order[i]]);
	json_end(w);
	json_end(w);
}

static void put_row_json(struct json_writer *w, const struct section_row *row)
{
	if (!row->id) {
		json_put_text(w, NULL, row->text);
		return;
	}
	json_object(w, NULL);
	json_put_texts(w, {"id", row->id}, {"sentence", row->text}, {"advice", row->more});
	json_end(w);
}

static void put_json(struct buffer *out, const struct sections *s)
{
	struct json_writer w = JSON_WRITER(out, JSON_FILE);
	const char *key = "";
	uint32_t left = 0, r;
	size_t i;

	json_object(&w, NULL);
	json_put_number(&w, "schema", 1);
	for (i = 0; i < s->items.count; i++) {
		const struct section *p = &s->items.items[i];

		if (strcmp(p->key, key) != 0) {
			if (*key)
				json_end(&w);
			json_array(&w, p->key);
			key = p->key;
		}
		if (p->is_tree)
			put_tree_json(&w, p);
		for (r = 0; !p->is_tree && r < p->shown; r++)
			put_row_json(&w, &p->rows.items[r]);
		left += p->is_tree ? 0 : rows_of(p) - p->shown;
	}
	if (*key)
		json_end(&w);
	json_put_number(&w, "lines_left_out", left);
	json_end(&w);
}

/* ---- what fits ---- */

static void put_all(const struct sections *s, bool json, struct buffer *out)
{
	size_t i;

	if (json) {
		put_json(out, s);
		return;
	}
	buffer_clean_begin(out);
	for (i = 0; i < s->items.count; i++) {
		if (!rows_of(&s->items.items[i]))
			continue;
		if (i)
			buffer_putc(out, '\n');
		put_text(out, &s->items.items[i]);
	}
	buffer_clean_end(out);
}

/* Bytes that P takes as text: in JSON it is about as many. */
static size_t size_of(const struct section *p)
{
	struct buffer text = BUFFER_INIT;
	size_t n;

	put_text(&text, p);
	n = text.length;
	buffer_free(&text);
	return n;
}

/* Show a row less of what has the most in proportion; ANY: also of those that are to stay. False: there is none. */
static bool shrink_of(struct sections *s, bool any)
{
	struct section *worst = NULL;
	double most = 0;
	size_t i;

	for (i = 0; i < s->items.count; i++) {
		struct section *p = &s->items.items[i];
		double size = (double)size_of(p) / p->share;

		if (p->shown > (any ? 0 : p->least) && size > most) {
			most = size;
			worst = p;
		}
	}
	if (worst)
		worst->shown--;
	return worst;
}

static bool shrink(struct sections *s)
{
	return shrink_of(s, false) || shrink_of(s, true);
}

int sections_write(struct sections *s, bool json, size_t most, struct buffer *out)
{
	struct buffer text = BUFFER_INIT;
	int rc = s->no_memory ? -ENOMEM : 0;
	size_t i;

	for (i = 0; i < s->items.count; i++)
		s->items.items[i].shown = rows_of(&s->items.items[i]);
	put_all(s, json, &text);
	while (rc == 0 && !text.failed && text.length > most && shrink(s)) {
		text.length = 0;
		put_all(s, json, &text);
	}
	if (rc == 0)
		rc = text.failed ? -text.failed : text.length > most ? -EFBIG : 0;
	if (rc == 0)
		buffer_append(out, text.data, text.length);
	buffer_free(&text);
	return rc;
}

void sections_free(struct sections *s)
{
	size_t i;
	uint32_t r;

	for (i = 0; i < s->items.count; i++) {
		struct section *p = &s->items.items[i];

		for (r = 0; r < p->rows.count; r++) {
			free(p->rows.items[r].text);
			free(p->rows.items[r].more);
		}
		free(p->rows.items);
		if (p->is_tree)
			hot_paths_free(&p->paths);
	}
	free(s->items.items);
}
