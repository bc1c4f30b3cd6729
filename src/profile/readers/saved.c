/*
 * saved.c - results of ours in JSON (docs/reference/json.md), of a recording or of a trace, back into profiles.
 */
#include "profile/readers/read_formats.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/ascii.h"
#include "profile/readers/jfr/event_sources.h"
#include "profile/readers/saved_reader.h"

#define SCHEMA 1 /* docs/reference/json.md: a higher one means something else */

static void no_memory(struct saved *s)
{
	s->no_memory = true;
}

void saved_keep(struct saved *s, struct numbers *to, uint32_t number)
{
	uint32_t *slot = number == LISTS_FAILED ? NULL : VECTOR_PUSH(to);

	if (slot)
		*slot = number;
	else
		no_memory(s);
}

bool saved_family(struct saved *s, const char *event, enum weight_kind kind)
{
	if (s->families[0] && !family_named(s->families, event))
		return false;
	s->family = read_aggregate_family(s->aggregate, event, kind, NULL);
	if (s->family == UINT32_MAX)
		no_memory(s);
	return s->family != UINT32_MAX;
}

/* ---- names ---- */

/* "java.util.Map$$Lambda$14/0x00.get:12" in kind KIND → a frame. */
static uint32_t make_frame(struct read_aggregate *f, const char *text, size_t length, enum frame_kind kind)
{
	uint32_t words[READ_FRAME_WORDS] = {[READ_FRAME_KIND] = kind};
	const char *colon = memrchr(text, ':', length), *end, *dot;
	char *class_name, *p;

	if (kind > FRAME_WRAPPER) {
		words[READ_FRAME_NAME] = strings_add(&f->strings, text, length);
		return read_aggregate_frame(f, words);
	}
	if (colon && colon + 1 < text + length && ascii_is_digit(colon[1])) {
		words[READ_FRAME_LINE] = (uint32_t)strtoul(colon + 1, NULL, 10);
		length = (size_t)(colon - text);
	}
	end = memchr(text, '(', length);
	dot = memrchr(text, '.', end ? (size_t)(end - text) : length);
	if (dot) {
		class_name = strndup(text, (size_t)(dot - text));
		if (!class_name)
			return LISTS_FAILED;
		for (p = class_name; *p; p++)
			*p = *p == '.' ? '/' : *p == '/' && p[1] == '0' ? '+' : *p;
		words[READ_FRAME_CLASS] = strings_add(&f->strings, class_name, strlen(class_name));
		free(class_name);
		length -= (size_t)(dot + 1 - text);
		text = dot + 1;
	}
	words[READ_FRAME_NAME] = strings_add(&f->strings, text, length);
	return read_aggregate_frame(f, words);
}

uint32_t saved_frame(struct saved *s, const char *text, size_t length, enum frame_kind kind)
{
	uint64_t key = (uint64_t)strings_add(&s->aggregate->strings, text, length) << 8 | kind;
	uint32_t *known = map_get(&s->frame_of, key), frame;

	if (known)
		return *known;
	frame = make_frame(s->aggregate, text, length, kind);
	known = frame == LISTS_FAILED || s->aggregate->strings.failed ? NULL : map_put(&s->frame_of, key, NULL);
	if (!known)
		return LISTS_FAILED;
	*known = frame;
	return frame;
}

static enum frame_kind kind_of(const char *word)
{
	unsigned k = 0;

	while (k < FRAME_KINDS && strcmp(frame_kind_names[k].word, word) != 0)
		k++;
	return k < FRAME_KINDS ? k : FRAME_OTHER;
}

static enum thread_state state_of(const char *word)
{
	unsigned k;

	for (k = 0; k < THREAD_STATES; k++)
		if (strcmp(thread_state_names[k].word, word) == 0)
			return k;
	return THREAD_NONE;
}

/* ---- a recording's stacks ---- */

/* Names come before their kinds, so they wait as strings. */
static void read_names(struct saved *s)
{
	s->names.count = 0;
	if (!json_open(&s->j, '['))
		return;
	while (json_item(&s->j)) {
		size_t length;
		const char *text = json_string(&s->j, &length);

		saved_keep(s, &s->names, strings_add(&s->aggregate->strings, text, length));
	}
}

/* "java": the file that it was made from did not say how its methods were compiled. */
static enum frame_kind kind_read(struct saved *s, const char *word)
{
	if (strcmp(word, "java") != 0)
		return kind_of(word);
	s->aggregate->kinds_unknown = true;
	return FRAME_C2;
}

static void read_kinds(struct saved *s)
{
	s->kinds.count = 0;
	if (!json_open(&s->j, '['))
		return;
	while (json_item(&s->j)) {
		uint8_t *slot = VECTOR_PUSH(&s->kinds);

		if (!slot)
			no_memory(s);
		else
			*slot = (uint8_t)kind_read(s, json_string(&s->j, NULL));
	}
}

/* COUNT, at the stack whose names are in S. */
static void add_stack(struct saved *s, const struct read_aggregate_count *count)
{
	uint32_t stack = 0;
	size_t i;

	for (i = 0; i < s->names.count && stack != LISTS_FAILED; i++) {
		enum frame_kind kind = i < s->kinds.count ? s->kinds.items[i] : FRAME_OTHER;
		/* what is kept moves when more comes */
		char *text = strdup(strings_get(&s->aggregate->strings, s->names.items[i]));

		stack = text ? saved_frame(s, text, strlen(text), kind) : LISTS_FAILED;
		s->names.items[i] = stack;
		free(text);
	}
	if (stack != LISTS_FAILED)
		stack = lists_add(&s->aggregate->stacks, s->names.items, (uint32_t)s->names.count);
	if (stack == LISTS_FAILED) {
		no_memory(s);
		return;
	}
	read_aggregate_add(s->aggregate, s->family, stack, READ_NO_THREAD, count->state, count->samples,
			   count->weight);
	read_aggregate_add_objects(s->aggregate, s->family, stack, READ_NO_THREAD, count->state, count->parts,
				   count->outside);
	if (s->has_growth)
		read_aggregate_add_growth(s->aggregate, s->family, stack, READ_NO_THREAD, count->state, &s->growth);
}

/* ---- what threads worked for ---- */

/* An object of texts as "key=value, key=value". */
static void read_labels(struct saved *s, struct buffer *to)
{
	const char *key;

	if (!json_open(&s->j, '{'))
		return;
	while ((key = json_key(&s->j))) {
		buffer_printf(to, "%s%s=", to->length ? ", " : "", key);
		buffer_puts(to, json_string(&s->j, NULL));
	}
}

static void read_context(struct saved *s)
{
	struct buffer labels = BUFFER_INIT;
	char trace[40] = "", span[24] = "";
	uint8_t *slot = VECTOR_PUSH(&s->contexts);
	const char *key;

	if (!json_open(&s->j, '{'))
		return;
	while ((key = json_key(&s->j))) {
		if (strcmp(key, "trace_id") == 0)
			snprintf(trace, sizeof(trace), "%s", json_string(&s->j, NULL));
		else if (strcmp(key, "span_id") == 0)
			snprintf(span, sizeof(span), "%s", json_string(&s->j, NULL));
		else if (strcmp(key, "labels") == 0)
			read_labels(s, &labels);
		else
			json_skip(&s->j);
	}
	buffer_putc(&labels, '\0');
	if (!slot || labels.failed)
		no_memory(s);
	else
		*slot = context_filter_wants(s->context_filter, trace, span, labels.data);
	buffer_free(&labels);
}

static void read_contexts(struct saved *s)
{
	s->contexts.count = 0;
	s->has_contexts = true;
	if (!json_open(&s->j, '['))
		return;
	while (json_item(&s->j) && !s->no_memory)
		read_context(s);
}

/* CONTEXT: a stack's place in the contexts + 1, 0 = it has none. */
static bool is_of_context(const struct saved *s, uint64_t context)
{
	if (!context_filter_is_set(s->context_filter))
		return true;
	return context && context <= s->contexts.count && s->contexts.items[context - 1];
}

/* ---- stacks ---- */

static void read_growth(struct saved *s)
{
	struct profile_growth *g = &s->growth;
	const char *key;

	s->has_growth = true;
	if (!json_open(&s->j, '{'))
		return;
	while ((key = json_key(&s->j))) {
		double number = (double)json_number(&s->j);

		if (strcmp(key, "first_half") == 0)
			g->halves[0] = (uint64_t)number;
		else if (strcmp(key, "second_half") == 0)
			g->halves[1] = (uint64_t)number;
		else if (strcmp(key, "first_error") == 0)
			g->variance[0] = number * number;
		else if (strcmp(key, "second_error") == 0)
			g->variance[1] = number * number;
	}
}

static void read_stack(struct saved *s)
{
	uint64_t samples = 0, weight = 0, objects = 0, parts, outside = 0, context = 0;
	enum thread_state state = THREAD_NONE;
	const char *key;

	s->names.count = s->kinds.count = 0;
	s->growth = (struct profile_growth){.example = 0};
	s->has_growth = false;
	if (!json_open(&s->j, '{'))
		return;
	while ((key = json_key(&s->j))) {
		if (strcmp(key, "frames") == 0)
			read_names(s);
		else if (strcmp(key, "kinds") == 0)
			read_kinds(s);
		else if (strcmp(key, "samples") == 0)
			samples = json_number(&s->j);
		else if (strcmp(key, "weight") == 0)
			weight = json_number(&s->j);
		else if (strcmp(key, "objects") == 0)
			objects = json_number(&s->j);
		else if (strcmp(key, "outside_tlab") == 0 || strcmp(key, "estimated") == 0)
			outside = json_number(&s->j);
		else if (strcmp(key, "growth") == 0)
			read_growth(s);
		else if (strcmp(key, "state") == 0)
			state = state_of(json_string(&s->j, NULL));
		else if (strcmp(key, "context") == 0)
			context = json_number(&s->j) + 1;
		else
			json_skip(&s->j);
	}
	if (__builtin_mul_overflow(objects, READ_OBJECT_PARTS, &parts))
		read_aggregate_refuse(s->aggregate, READ_AGGREGATE_SUMS);
	if (!s->j.error && is_of_context(s, context))
		add_stack(s, &(struct read_aggregate_count){.state = (uint8_t)state, .samples = samples,
							    .weight = weight, .parts = parts,
							    .outside = outside});
}

static void read_stacks(struct saved *s)
{
	s->has_stacks = true;
	if (!saved_family(s, s->event, s->in_ns ? read_aggregate_time(s->event) : s->weight_kind)) {
		json_skip(&s->j);
		return;
	}
	if (s->live.known) {
		const struct event_fields fields = event_fields_of(s->event);

		s->live.objects = event_field_of_kind(&fields, EVENT_FIELD_ID) < fields.count;
		read_aggregate_live(s->aggregate, s->family, &s->live);
	}
	if (!json_open(&s->j, '['))
		return;
	while (json_item(&s->j) && !s->no_memory)
		read_stack(s);
}

static void read_unit(struct saved *s, const char *unit)
{
	s->in_ns = strcmp(unit, "ns") == 0;
	s->weight_kind = strcmp(unit, weight_kind_names[WEIGHT_BYTES].unit) == 0 ? WEIGHT_BYTES : WEIGHT_COUNT;
}

/* The unit stands in front of the stacks. */
static void read_weight(struct saved *s)
{
	const char *key;

	if (!json_open(&s->j, '{'))
		return;
	while ((key = json_key(&s->j))) {
		if (strcmp(key, "unit") == 0)
			read_unit(s, json_string(&s->j, NULL));
		else
			json_skip(&s->j);
	}
}

/* ---- a result ---- */

static void read_result(struct saved *s);

static void read_results(struct saved *s)
{
	if (!json_open(&s->j, '['))
		return;
	while (json_item(&s->j) && !s->no_memory)
		read_result(s);
}

static uint32_t read_text(struct saved *s)
{
	size_t length;
	const char *text = json_string(&s->j, &length);

	return strings_add(&s->aggregate->strings, text, length);
}

/* The keys in front of the samples, and what has them. False: another key. */
static bool read_head(struct saved *s, const char *key)
{
	if (strcmp(key, "schema") == 0)
		s->newer = json_number(&s->j) > SCHEMA;
	else if (strcmp(key, "event") == 0)
		snprintf(s->event, sizeof(s->event), "%s", json_string(&s->j, NULL));
	else if (strcmp(key, "pid") == 0)
		s->info->pid = (int)json_number(&s->j);
	else if (strcmp(key, "main") == 0)
		s->info->main_class = read_text(s);
	else if (strcmp(key, "jdk") == 0)
		s->info->jdk = read_text(s);
	else if (strcmp(key, "duration_ns") == 0)
		s->duration = json_number(&s->j);
	else if (strcmp(key, "counted") == 0)
		s->live.used = json_number(&s->j);
	else if (strcmp(key, "heap_max") == 0)
		s->live.most = json_number(&s->j);
	else if (strcmp(key, "growth_span_ns") == 0)
		s->live.known = (s->live.span = json_number(&s->j)) > 0;
	else
		return false;
	return true;
}

static void read_result(struct saved *s)
{
	bool trace = false;
	const char *key;

	s->in_ns = true;
	s->live = (struct read_aggregate_live){.since = 1};
	if (!json_open(&s->j, '{'))
		return;
	while (!s->no_memory && !s->newer && (key = json_key(&s->j))) {
		if (read_head(s, key))
			continue;
		if (strcmp(key, "profiles") == 0)
			read_results(s);
		else if (strcmp(key, "weight") == 0)
			read_weight(s);
		else if (strcmp(key, "contexts") == 0)
			read_contexts(s);
		else if (strcmp(key, "stacks") == 0)
			read_stacks(s);
		else if (strcmp(key, "timing") == 0)
			trace = *json_string(&s->j, NULL);
		else if (strcmp(key, "methods") == 0 && trace)
			saved_methods(s);
		else if (strcmp(key, "tree") == 0 && trace)
			saved_tree(s);
		else
			json_skip(&s->j);
	}
}

bool saved_is(const struct input *in)
{
	uint64_t i = 0;

	while (i < in->size && in->bytes[i] && strchr(" \t\r\n", in->bytes[i]))
		i++;
	return i < in->size && in->bytes[i] == '{';
}

static int judge(const struct saved *s, const char *name, struct error *err)
{
	if (s->no_memory || s->aggregate->no_memory)
		return error_set(err, ENOMEM, "%s: out of memory", name);
	if (s->newer)
		return error_set(err, ENOTSUP, "%s: a newer jstrobe wrote this; this one reads JSON up to schema %d",
				 name, SCHEMA);
	if (s->j.error)
		return error_set(err, EINVAL, "%s: no JSON that jstrobe wrote, or cut: byte %llu should be %s", name,
				 (unsigned long long)(s->j.at - s->j.begin), s->j.error);
	if (!s->has_stacks)
		return error_set(err, EINVAL, "%s: this JSON has neither `stacks` nor `tree`: it is no result of "
				 "jstrobe", name);
	if (context_filter_is_set(s->context_filter) && !s->has_contexts)
		return error_set(err, EINVAL, "%s: stacks are not apart by what threads worked for in this JSON; "
				 "record with --context, or a recording (-f x.jfr)", name);
	return 0;
}

int saved_read(const struct input *in, const char *families, const struct context_filter *filter,
	       struct read_aggregate *aggregate, struct recording_info *info, struct error *err)
{
	struct saved s = {.aggregate = aggregate, .info = info, .families = families, .context_filter = filter};
	int rc;

	json_init(&s.j, in->bytes, in->size);
	read_result(&s);
	if (!s.newer && !s.no_memory && !s.j.error && json_peek(&s.j))
		s.j.error = "the end of the file";
	/* when it began is not needed by anybody; how long it took is */
	info->start_ns = 0;
	info->end_ns = s.duration;
	rc = judge(&s, in->name, err);
	json_free(&s.j);
	free(s.methods.items);
	free(s.threads.items);
	free(s.nodes.items);
	free(s.names.items);
	free(s.kinds.items);
	free(s.contexts.items);
	map_free(&s.frame_of);
	return rc;
}
