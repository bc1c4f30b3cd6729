/*
 * speedscope.c - the file format of speedscope.app, by its JSON schema: one sampled profile for each thread of each
 * event, the heaviest first. All of them share one table of frames.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json_writer.h"
#include "profile/exports/export.h"
#include "profile/model/name_table.h"
#include "profile/model/profile_unit.h"
#include "profile/readers/lists.h"

#define SCHEMA "https://www.speedscope.app/file-format-schema.json"

/* Frames of all profiles: number of the name, and the line. */
struct shared {
	struct strings texts;
	struct lists frames;
};

/* One profile, its frames by number in `shared`, and its stacks by thread. */
struct source {
	const struct profile *p;
	uint32_t *frames, no_frames;
	struct order {
		uint64_t weight; /* of its thread */
		uint32_t thread, stack;
	} *order;
};

static bool share(struct shared *to, const char *name, int32_t line, uint32_t *number)
{
	uint32_t words[2] = {strings_add(&to->texts, name, strlen(name)), line > 0 ? (uint32_t)line : 0};

	*number = words[0] || !*name ? lists_add(&to->frames, words, ARRAY_LEN(words)) : LISTS_FAILED;
	return *number != LISTS_FAILED;
}

static bool share_frames(struct shared *to, struct source *s, const struct format_options *options)
{
	struct format_options own = *options;
	struct name_table names;
	uint32_t i;
	bool ok;

	own.lines = false; /* they have a place of their own */
	s->frames = calloc((size_t)s->p->frame_count + 1, sizeof(*s->frames));
	ok = name_table_build(&names, s->p, format_style(STYLE_TEXT, &own)) == 0 && s->frames;
	for (i = 0; ok && i < s->p->frame_count; i++)
		ok = share(to, name_text(&names, names.of_frame[i]), s->p->frames[i].line, &s->frames[i]);
	ok = ok && share(to, name_text(&names, names.no_frames), 0, &s->no_frames);
	name_table_free(&names);
	return ok;
}

static int by_weight(const void *a, const void *b)
{
	const struct order *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight < y->weight ? 1 : -1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->stack < y->stack ? -1 : x->stack > y->stack;
}

static bool put_in_order(struct source *s)
{
	const struct profile *p = s->p;
	uint64_t *weights = calloc((size_t)p->thread_count + 1, sizeof(*weights)); /* the last: of no thread */
	bool ok;
	uint32_t i;

	s->order = calloc((size_t)p->stack_count + 1, sizeof(*s->order));
	ok = weights && s->order;
	for (i = 0; ok && i < p->stack_count; i++) {
		uint32_t thread = p->per_thread ? MIN(p->stacks[i].thread, p->thread_count) : p->thread_count;

		s->order[i].thread = thread;
		s->order[i].stack = i;
		weights[thread] += p->stacks[i].weight;
	}
	for (i = 0; ok && i < p->stack_count; i++)
		s->order[i].weight = weights[s->order[i].thread];
	if (ok)
		qsort(s->order, p->stack_count, sizeof(*s->order), by_weight);
	free(weights);
	return ok;
}

static void put_frame_table(struct json_writer *w, const struct shared *shared)
{
	uint32_t i, n;

	json_object(w, "shared");
	json_array(w, "frames");
	for (i = 0; i < shared->frames.places.count; i++) {
		const uint32_t *words = lists_get(&shared->frames, i, &n);

		json_object(w, NULL);
		json_put_text(w, "name", strings_get(&shared->texts, words[0]));
		if (words[1])
			json_put_number(w, "line", words[1]);
		json_end(w);
	}
	json_end(w);
	json_end(w);
}

/* speedscope knows these units, and "none". */
static const char *unit_of(const struct profile *p)
{
	return profile_is_time(p) ? "nanoseconds" : p->weight_kind == WEIGHT_BYTES ? "bytes" : "none";
}

static void put_name(struct json_writer *w, const struct profile *p, uint32_t thread, bool several)
{
	struct buffer name = BUFFER_INIT;

	if (several || thread == p->thread_count)
		buffer_printf(&name, "%s%s", p->event, thread == p->thread_count ? "" : ": ");
	if (thread < p->thread_count)
		frame_name_thread(&name, &p->threads[thread], STYLE_TEXT);
	json_put_text(w, "name", buffer_text(&name, w->out));
	buffer_free(&name);
}

static void put_stack(struct json_writer *w, const struct source *s, const struct profile_stack *stack)
{
	uint32_t i;

	json_array(w, NULL);
	for (i = 0; i < stack->depth; i++)
		json_put_number(w, NULL, s->frames[stack->frames[i]]);
	if (!stack->depth)
		json_put_number(w, NULL, s->no_frames);
	json_end(w);
}

/* One thread: items FROM to TO of S->order. */
static void put_thread(struct json_writer *w, const struct source *s, uint32_t from, uint32_t to, bool several)
{
	uint32_t i;

	json_object(w, NULL);
	json_put_text(w, "type", "sampled");
	put_name(w, s->p, s->order[from].thread, several);
	json_put_text(w, "unit", unit_of(s->p));
	json_put_numbers(w, {"startValue", 0}, {"endValue", s->order[from].weight});
	json_array(w, "samples");
	for (i = from; i < to; i++)
		put_stack(w, s, &s->p->stacks[s->order[i].stack]);
	json_end(w);
	json_array(w, "weights");
	for (i = from; i < to; i++)
		json_put_number(w, NULL, s->p->stacks[s->order[i].stack].weight);
	json_end(w);
	json_end(w);
}

static void put_profile(struct json_writer *w, const struct source *s, bool several)
{
	uint32_t from, to;

	for (from = 0; from < s->p->stack_count && !w->out->failed; from = to) {
		for (to = from + 1; to < s->p->stack_count && s->order[to].thread == s->order[from].thread;)
			to++;
		put_thread(w, s, from, to, several);
	}
}

static void put_all(struct json_writer *w, const struct shared *shared, const struct source *sources, uint32_t count)
{
	const struct profile *p = sources[0].p;
	struct buffer text = BUFFER_INIT;
	uint32_t i;

	json_object(w, NULL);
	json_put_text(w, "$schema", SCHEMA);
	json_put_text(w, "exporter", "jstrobe " JSTROBE_VERSION);
	buffer_printf(&text, "%s%s%s", p->title ? p->title : p->main_class, p->title || *p->main_class ? ", " : "",
		      p->event);
	json_put_text(w, "name", buffer_text(&text, w->out));
	json_put_number(w, "activeProfileIndex", 0);
	put_frame_table(w, shared);
	json_array(w, "profiles");
	for (i = 0; i < count; i++)
		put_profile(w, &sources[i], count > 1);
	json_end(w);
	json_end(w);
	buffer_free(&text);
}

void export_speedscope(const struct profile *const *profiles, uint32_t count, const struct format_options *options,
		       struct buffer *out)
{
	struct source *sources = calloc(count, sizeof(*sources));
	struct shared shared = {.frames = {.slot_count = 0}};
	struct json_writer w = JSON_WRITER(out, JSON_PAGE);
	bool ok = sources;
	uint32_t i;

	for (i = 0; ok && i < count; i++) {
		sources[i].p = profiles[i];
		ok = share_frames(&shared, &sources[i], options) && put_in_order(&sources[i]);
	}
	if (ok)
		put_all(&w, &shared, sources, count);
	else if (!out->failed)
		out->failed = ENOMEM;
	for (i = 0; sources && i < count; i++) {
		free(sources[i].frames);
		free(sources[i].order);
	}
	free(sources);
	lists_free(&shared.frames);
	strings_free(&shared.texts);
}
