/*
 * csv_rows.c - one row for each stack of each event, thread and state, as CSV (RFC 4180) and as NDJSON, a JSON object a
 * line: for spreadsheets, data frames and databases.
 *
 * The columns are always the same ones. What is not known is empty in CSV, and left out in NDJSON. Numbers are
 * written with all their digits, also beyond 2^53, where some who read JSON round.
 */
#include <errno.h>
#include <string.h>

#include "common/base/json_writer.h"
#include "common/base/utf8.h"
#include "profile/exports/export.h"
#include "profile/model/context_text.h"
#include "profile/model/name_table.h"
#include "profile/model/profile_unit.h"

#define COLUMNS "event,thread,thread_id,state,trace_id,span_id,labels,samples,weight,unit,stack"

/* A file being written: OUT, and the profile that is in work. */
struct rows {
	struct buffer *out, text, clean;
	const struct profile *p;
	struct name_table names;
};

typedef void put_row(struct rows *r, const struct profile_stack *s);

static const struct profile_thread *thread_of(const struct rows *r, const struct profile_stack *s)
{
	return r->p->per_thread && s->thread < r->p->thread_count ? &r->p->threads[s->thread] : NULL;
}

static const struct profile_trace_context *context_of(const struct rows *r, const struct profile_stack *s)
{
	return s->trace_context ? &r->p->trace_contexts[s->trace_context - 1] : NULL;
}

/* Name of frame I of S; one stands for a stack without frames. */
static const char *frame_of(const struct rows *r, const struct profile_stack *s, uint32_t i)
{
	return name_text(&r->names, s->depth ? r->names.of_frame[s->frames[i]] : r->names.no_frames);
}

/* All profiles, by PUT; STYLE: of names. */
static void put_all(const struct profile *const *profiles, uint32_t count, unsigned style, struct buffer *out,
		    put_row *put)
{
	struct rows r = {.out = out, .text = BUFFER_INIT, .clean = BUFFER_INIT};
	uint32_t i, n;

	for (n = 0; n < count && !out->failed; n++) {
		r.p = profiles[n];
		if (name_table_build(&r.names, r.p, style))
			out->failed = ENOMEM;
		for (i = 0; i < r.p->stack_count && !out->failed; i++)
			put(&r, &r.p->stacks[i]);
		name_table_free(&r.names);
	}
	if (!out->failed)
		out->failed = r.text.failed ? r.text.failed : r.clean.failed;
	buffer_free(&r.text);
	buffer_free(&r.clean);
}

/* ---- CSV ---- */

/* TEXT as valid UTF-8, in quotes if it has what CSV gives a meaning. */
static void put_quoted(struct rows *r, const char *text)
{
	const char *at;

	r->clean.length = 0;
	utf8_put(&r->clean, text);
	text = buffer_text(&r->clean, r->out);
	if (!strpbrk(text, ",\"\r\n")) {
		buffer_puts(r->out, text);
	} else {
		buffer_putc(r->out, '"');
		for (at = text; *at; at++) {
			if (*at == '"')
				buffer_putc(r->out, '"');
			buffer_putc(r->out, *at);
		}
		buffer_putc(r->out, '"');
	}
}

static void put_field(struct rows *r, const char *text)
{
	put_quoted(r, text);
	buffer_putc(r->out, ',');
}

static void put_context_fields(struct rows *r, const struct profile_trace_context *c)
{
	char trace[TRACE_CONTEXT_TRACE_CHARS] = "", span[TRACE_CONTEXT_SPAN_CHARS] = "";

	r->text.length = 0;
	if (c) {
		trace_context_trace_id(c, trace);
		trace_context_span_id(c, span);
		trace_context_labels(&r->text, c->labels);
	}
	put_field(r, trace);
	put_field(r, span);
	put_field(r, buffer_text(&r->text, r->out));
}

static void put_csv(struct rows *r, const struct profile_stack *s)
{
	const struct profile_thread *thread = thread_of(r, s);
	uint32_t i;

	put_field(r, r->p->event);
	put_field(r, thread ? thread->name : "");
	if (thread && thread->tid)
		buffer_printf(r->out, "%u", thread->tid);
	buffer_putc(r->out, ',');
	put_field(r, s->state != THREAD_NONE ? thread_state_names[s->state].word : "");
	put_context_fields(r, context_of(r, s));
	buffer_printf(r->out, "%llu,%llu,", (unsigned long long)s->samples, (unsigned long long)s->weight);
	put_field(r, profile_unit(r->p));
	r->text.length = 0;
	for (i = 0; i < s->depth || i == 0; i++)
		buffer_printf(&r->text, "%s%s", i ? ";" : "", frame_of(r, s, i));
	put_quoted(r, buffer_text(&r->text, r->out));
	buffer_puts(r->out, "\r\n");
}

void export_csv(const struct profile *const *profiles, uint32_t count, const struct format_options *options,
		struct buffer *out)
{
	buffer_puts(out, COLUMNS "\r\n");
	put_all(profiles, count, format_style(STYLE_TEXT | STYLE_NO_SEMICOLON, options), out, put_csv);
}

/* ---- NDJSON ---- */

static void put_frame(struct json_writer *w, struct rows *r, const struct profile_stack *s, uint32_t i)
{
	const struct profile_frame *f = s->depth ? &r->p->frames[s->frames[i]] : NULL;

	json_object(w, NULL);
	json_put_text(w, "name", frame_of(r, s, i));
	if (f) {
		json_put_text(w, "type", frame_type_names[frame_type(f)]);
		if (f->library)
			json_put_text(w, "library", f->library);
		if (f->line > 0)
			json_put_number(w, "line", (uint64_t)f->line);
		if (!r->p->kinds_unknown)
			json_put_text(w, "kind", frame_kind_names[f->kind].word);
	}
	json_end(w);
}

static void put_ndjson(struct rows *r, const struct profile_stack *s)
{
	struct json_writer w = JSON_WRITER(r->out, JSON_LINE);
	const struct profile_thread *thread = thread_of(r, s);
	uint32_t i;

	json_object(&w, NULL);
	json_put_text(&w, "event", r->p->event);
	if (thread)
		json_put_text(&w, "thread", thread->name);
	if (thread && thread->tid)
		json_put_number(&w, "thread_id", thread->tid);
	if (s->state != THREAD_NONE)
		json_put_text(&w, "state", thread_state_names[s->state].word);
	if (s->trace_context)
		trace_context_json(&w, context_of(r, s));
	json_put_numbers(&w, {"samples", s->samples}, {"weight", s->weight});
	json_put_text(&w, "unit", profile_unit(r->p));
	json_array(&w, "stack");
	for (i = 0; i < s->depth || i == 0; i++)
		put_frame(&w, r, s, i);
	json_end(&w);
	json_end(&w);
}

void export_ndjson(const struct profile *const *profiles, uint32_t count, const struct format_options *options,
		   struct buffer *out)
{
	struct format_options own = *options;

	own.lines = false; /* they have a place of their own */
	put_all(profiles, count, format_style(STYLE_TEXT, &own), out, put_ndjson);
}
