/*
 * pprof.c - profile.proto of github.com/google/pprof, which Go made and many read.
 *
 * Each stack is a sample with a number of every event of the session, 0 of those that it is not of. Methods that were
 * inlined stand in the place of the one they were inlined into, innermost first. Mappings have no addresses: the first
 * one, which pprof takes for the program's file, is called after the main class and has all Java code; then libraries.
 * Fields may stand in any order, so tables come last.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/exports/comments.h"
#include "profile/exports/dictionary.h"
#include "profile/exports/export.h"
#include "profile/views/gzip.h"
#include "profile/writers/protobuf.h"
#include "profile/exports/value_types.h"
#include "profile/model/context_text.h"

/* Field numbers of profile.proto. */
enum { PROFILE_SAMPLE_TYPE = 1, PROFILE_SAMPLE, PROFILE_MAPPING, PROFILE_LOCATION, PROFILE_FUNCTION, PROFILE_STRING,
       PROFILE_TIME = 9, PROFILE_DURATION, PROFILE_PERIOD_TYPE, PROFILE_PERIOD, PROFILE_COMMENT, PROFILE_DEFAULT_TYPE };
enum { TYPE_NAME = 1, TYPE_UNIT };
enum { SAMPLE_LOCATION = 1, SAMPLE_VALUE, SAMPLE_LABEL };
enum { LABEL_KEY = 1, LABEL_TEXT, LABEL_NUMBER };
enum { MAPPING_ID = 1, MAPPING_FILE = 5, MAPPING_HAS_FUNCTIONS = 7, MAPPING_HAS_LINES = 9, MAPPING_HAS_INLINED };
enum { LOCATION_ID = 1, LOCATION_MAPPING, LOCATION_LINE = 4 };
enum { LINE_FUNCTION = 1, LINE_NUMBER };
enum { FUNCTION_ID = 1, FUNCTION_NAME };

/* A file that is being written. */
struct pprof {
	struct buffer *out, part, message, inner;
	struct gzip *gzip;
	struct dictionary words;
	struct numbers ids; /* of a sample's locations, root first */
	unsigned types;     /* numbers that a sample has */
};

static uint32_t text_id(struct pprof *w, const char *text)
{
	return dictionary_text(&w->words, text);
}

/* ---- a stack ---- */

static void put_label(struct pprof *w, const char *key, const char *text, uint64_t number)
{
	proto_number(&w->inner, LABEL_KEY, text_id(w, key));
	proto_number(&w->inner, LABEL_TEXT, text_id(w, text));
	proto_number(&w->inner, LABEL_NUMBER, number);
	proto_message(&w->message, SAMPLE_LABEL, &w->inner);
}

/* Keys that have a meaning here already, and those that pprof keeps to itself. */
static bool is_taken(const char *key)
{
	static const char *const own[] = {"thread", "thread_id", "state", "trace_id", "span_id"};
	size_t i;

	for (i = 0; i < ARRAY_LEN(own); i++)
		if (strcmp(key, own[i]) == 0)
			return true;
	return !*key || strncmp(key, "pprof::", 7) == 0;
}

static void put_context(struct pprof *w, const struct profile_trace_context *c)
{
	char trace[TRACE_CONTEXT_TRACE_CHARS], span[TRACE_CONTEXT_SPAN_CHARS];
	struct buffer pair = BUFFER_INIT, key = BUFFER_INIT;
	const char *labels = c->labels;
	size_t value;

	trace_context_trace_id(c, trace);
	trace_context_span_id(c, span);
	if (*trace)
		put_label(w, "trace_id", trace, 0);
	if (*span)
		put_label(w, "span_id", span, 0);
	while ((labels = trace_context_next_label(labels, &pair, &value))) {
		key.length = 0;
		buffer_printf(&key, "%s%s", is_taken(pair.data) ? "label:" : "", pair.data);
		put_label(w, buffer_text(&key, &w->part), pair.data + value, 0);
	}
	w->words.failed |= pair.failed != 0;
	buffer_free(&pair);
	buffer_free(&key);
}

static void put_labels(struct pprof *w, const struct profile *p, const struct profile_stack *s)
{
	if (p->per_thread && s->thread != PROFILE_NO_THREAD) {
		put_label(w, "thread", p->threads[s->thread].name, 0);
		if (p->threads[s->thread].tid)
			put_label(w, "thread_id", "", p->threads[s->thread].tid);
	}
	if (s->state != THREAD_NONE)
		put_label(w, "state", thread_state_names[s->state].word, 0);
	if (s->trace_context)
		put_context(w, &p->trace_contexts[s->trace_context - 1]);
}

/* FIRST: the first of the file's numbers that is one of P, whose own are TYPES. */
static void put_sample(struct pprof *w, const struct profile *p, const struct profile_stack *s, unsigned first,
		       const struct value_type *types, unsigned count)
{
	size_t i;
	unsigned n;

	for (i = w->ids.count; i-- > 0;) /* the leaf first */
		proto_varint(&w->inner, w->ids.items[i]);
	proto_message(&w->message, SAMPLE_LOCATION, &w->inner);
	for (n = 0; n < w->types; n++)
		proto_varint(&w->inner, n < first || n >= first + count ? 0 : value_of(s, &types[n - first]));
	proto_message(&w->message, SAMPLE_VALUE, &w->inner);
	put_labels(w, p, s);
	proto_message(&w->part, PROFILE_SAMPLE, &w->message);
	gzip_take(w->gzip, &w->part, false);
}

static void put_profile(struct pprof *w, const struct profile *p, const struct format_options *options, unsigned first)
{
	struct value_type types[VALUE_TYPES_MOST];
	unsigned count = value_types_of(p, types);
	uint32_t *functions = dictionary_functions(&w->words, p, options), i;

	for (i = 0; i < p->stack_count && !w->words.failed; i++) {
		dictionary_locate(&w->words, p, &p->stacks[i], functions, &w->ids);
		put_sample(w, p, &p->stacks[i], first, types, count);
	}
	free(functions);
}

/* ---- tables and heads ---- */

static void put_type(struct pprof *w, unsigned field, const char *name, const char *unit)
{
	proto_number(&w->message, TYPE_NAME, text_id(w, name));
	proto_number(&w->message, TYPE_UNIT, text_id(w, unit));
	proto_message(&w->part, field, &w->message);
}

static void put_comment(struct pprof *w, const char *text)
{
	proto_number(&w->part, PROFILE_COMMENT, text_id(w, text));
}

/* What the file's numbers are; how many. */
static void put_head(struct pprof *w, const struct profile *const *profiles, uint32_t count)
{
	struct value_type types[VALUE_TYPES_MOST];
	const struct profile *p = profiles[0];
	uint64_t end = 0, begin = UINT64_MAX;
	unsigned n, k;
	uint32_t i;

	for (i = 0; i < count; i++) {
		n = value_types_of(profiles[i], types);
		for (k = 0; k < n; k++)
			put_type(w, PROFILE_SAMPLE_TYPE, types[k].name, types[k].unit);
		w->types += n;
		begin = MIN(begin, profiles[i]->started_at);
		end = MAX(end, profiles[i]->started_at + profiles[i]->duration);
	}
	n = value_types_of(p, types);
	put_type(w, PROFILE_PERIOD_TYPE, types[n - 1].name, types[n - 1].unit);
	proto_number(&w->part, PROFILE_PERIOD, p->interval);
	proto_number(&w->part, PROFILE_DEFAULT_TYPE, text_id(w, types[n - 1].name));
	proto_number(&w->part, PROFILE_TIME, begin);
	proto_number(&w->part, PROFILE_DURATION, end - begin);
}

/* Who made it, of what, and for each event what happened to the samples. */
static void put_comments(struct pprof *w, const struct profile *const *profiles, uint32_t count)
{
	struct buffer line = BUFFER_INIT;
	uint32_t i;

	comments_made(&line, profiles[0]);
	put_comment(w, buffer_text(&line, &w->part));
	for (i = 0; i < count; i++) {
		line.length = 0;
		comments_samples(&line, profiles[i]);
		put_comment(w, buffer_text(&line, &w->part));
	}
	buffer_free(&line);
}

static void put_locations(struct pprof *w)
{
	const struct lists *locations = &w->words.locations;
	uint32_t i, n, k;

	for (i = 0; i < locations->places.count; i++) {
		const uint32_t *words = lists_get(locations, i, &n);

		proto_number(&w->message, LOCATION_ID, i + 1);
		proto_number(&w->message, LOCATION_MAPPING, words[LOCATION_IN_MAPPING]);
		for (k = LOCATION_WORDS; k + 1 < n; k += 2) {
			proto_number(&w->inner, LINE_FUNCTION, words[k]);
			proto_number(&w->inner, LINE_NUMBER, words[k + 1]);
			proto_message(&w->message, LOCATION_LINE, &w->inner);
		}
		proto_message(&w->part, PROFILE_LOCATION, &w->message);
		gzip_take(w->gzip, &w->part, false);
	}
}

static void put_tables(struct pprof *w, bool lines)
{
	const struct dictionary *t = &w->words;
	uint32_t i;

	put_locations(w);
	for (i = 0; i < t->functions.places.count; i++) {
		proto_number(&w->message, FUNCTION_ID, i + 1);
		proto_number(&w->message, FUNCTION_NAME, dictionary_only(&t->functions, i));
		proto_message(&w->part, PROFILE_FUNCTION, &w->message);
	}
	for (i = 0; i < t->mappings.places.count; i++) {
		proto_number(&w->message, MAPPING_ID, i + 1);
		proto_number(&w->message, MAPPING_FILE, dictionary_only(&t->mappings, i));
		proto_number(&w->message, MAPPING_HAS_FUNCTIONS, 1);
		proto_number(&w->message, MAPPING_HAS_LINES, lines);
		proto_number(&w->message, MAPPING_HAS_INLINED, 1);
		proto_message(&w->part, PROFILE_MAPPING, &w->message);
	}
	proto_bytes(&w->part, PROFILE_STRING, "", 0);
	for (i = 1; i <= t->text_places.places.count; i++) {
		const char *text = dictionary_get_text(t, i);

		proto_bytes(&w->part, PROFILE_STRING, text, strlen(text));
		gzip_take(w->gzip, &w->part, false);
	}
}

void export_pprof(const struct profile *const *profiles, uint32_t count, const struct format_options *options,
		  struct buffer *out)
{
	struct pprof w = {.out = out, .part = BUFFER_INIT, .message = BUFFER_INIT, .inner = BUFFER_INIT};
	struct value_type types[VALUE_TYPES_MOST];
	unsigned first = 0;
	uint32_t i;

	w.gzip = gzip_begin(out);
	if (!w.gzip)
		return;
	put_head(&w, profiles, count);
	put_comments(&w, profiles, count);
	dictionary_program(&w.words, profiles[0]);
	for (i = 0; i < count; i++) {
		put_profile(&w, profiles[i], options, first);
		first += value_types_of(profiles[i], types);
	}
	if (w.words.failed)
		w.part.failed = ENOMEM;
	else
		put_tables(&w, options->lines);
	gzip_take(w.gzip, &w.part, true);
	gzip_end(w.gzip);
	buffer_free(&w.part);
	buffer_free(&w.message);
	buffer_free(&w.inner);
	dictionary_free(&w.words);
	free(w.ids.items);
}
