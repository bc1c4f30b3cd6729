/*
 * saved.c - results of ours in JSON (docs/reference/json.md), of a recording or of a trace, back into profiles.
 */
#include "profile/readers/read_formats.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "profile/readers/frame_text.h"
#include "profile/readers/jfr/event_sources.h"
#include "profile/readers/saved/saved_reader.h"

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

void saved_wrong(struct saved *s, const char *member, const char *what)
{
	if (s->wrong)
		return;
	s->wrong_in = member;
	s->wrong = what;
}

bool saved_family(struct saved *s, const char *event, enum weight_kind kind)
{
	if (!source_row_wanted(s->families, event))
		return false;
	s->family = read_aggregate_family(s->aggregate, event, kind, NULL);
	if (s->family == UINT32_MAX)
		no_memory(s);
	return s->family != UINT32_MAX;
}

/* ---- names ---- */

/* The frame called TEXT in kind KIND, of LIBRARY (a string; 0: none is known). */
static uint32_t make_frame(struct read_aggregate *f, const char *text, size_t length, enum frame_kind kind,
			   uint32_t library)
{
	struct frame_text parts = frame_text_split(text, length, kind);
	uint32_t words[READ_FRAME_WORDS] = {[READ_FRAME_KIND] = kind, [READ_FRAME_LINE] = parts.line,
					    [READ_FRAME_LIBRARY] = library};
	char *class_name;

	if (parts.class_length) {
		class_name = malloc(parts.class_length + 1);
		if (!class_name)
			return LISTS_FAILED;
		frame_text_class(&parts, class_name);
		words[READ_FRAME_CLASS] = strings_add(&f->strings, class_name, parts.class_length);
		free(class_name);
	}
	words[READ_FRAME_NAME] = strings_add(&f->strings, parts.name, parts.name_length);
	return read_aggregate_frame(f, words);
}

uint32_t saved_frame(struct saved *s, const char *text, size_t length, enum frame_kind kind)
{
	uint32_t name = strings_add(&s->aggregate->strings, text, length);
	uint64_t key = (uint64_t)name << 8 | kind;
	uint32_t *known = map_get(&s->frame_of, key), frame, *library;

	if (known)
		return *known;
	library = kind == FRAME_NATIVE ? map_get(&s->library_of, name) : NULL;
	frame = make_frame(s->aggregate, text, length, kind, library ? *library : 0);
	known = frame == LISTS_FAILED || s->aggregate->strings.failed ? NULL : map_put(&s->frame_of, key, NULL);
	if (!known)
		return LISTS_FAILED;
	*known = frame;
	return frame;
}

/* ---- a recording's stacks ---- */

/* Names come before their kinds, so they wait as strings. */
void saved_names(struct saved *s)
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
		return frame_kind_by_word(word);
	s->aggregate->kinds_unknown = true;
	return FRAME_C2;
}

void saved_kinds(struct saved *s)
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

uint32_t saved_frames(struct saved *s, uint32_t lock)
{
	uint32_t frame = 0;
	size_t i;

	for (i = 0; i < s->names.count && frame != LISTS_FAILED; i++) {
		enum frame_kind kind = i < s->kinds.count ? s->kinds.items[i] : FRAME_OTHER;
		/* what is kept moves when more comes */
		char *text = strdup(strings_get(&s->aggregate->strings, s->names.items[i]));

		if (!text)
			frame = LISTS_FAILED;
		else if (lock && lock <= s->lock_count && i == s->names.count - 1 && kind == FRAME_OTHER)
			frame = saved_lock_frame(s, lock);
		else
			frame = saved_frame(s, text, strlen(text), kind);
		s->names.items[i] = frame;
		free(text);
	}
	return frame == LISTS_FAILED ? frame :
	       lists_add(&s->aggregate->stacks, s->names.items, (uint32_t)s->names.count);
}

/* COUNT, at the stack whose names are in S, of LOCK (place + 1); where the aggregate has it. */
static uint32_t add_stack(struct saved *s, const struct read_aggregate_count *count, uint32_t lock)
{
	uint32_t stack = saved_frames(s, lock), thread = count->thread, number;

	if (stack == LISTS_FAILED) {
		no_memory(s);
		return SAVED_NOT_WANTED;
	}
	number = read_aggregate_add(s->aggregate, s->family, stack, thread, count->state, count->samples,
				    count->weight);
	read_aggregate_add_objects(s->aggregate, s->family, stack, thread, count->state, count->parts,
				   count->outside);
	if (s->has_growth)
		read_aggregate_add_growth(s->aggregate, s->family, stack, thread, count->state, &s->growth);
	return number;
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

/* The thread that stands at PLACE of the list of threads; READ_NO_THREAD: none is said. */
static uint32_t thread_at(struct saved *s, uint64_t place)
{
	if (place >= s->threads_said.count)
		return READ_NO_THREAD;
	s->aggregate->per_thread = true;
	return s->threads_said.items[place].thread;
}

/* What a stack says of itself, for its times. */
static void keep_place(struct saved *s, const struct saved_place *said)
{
	struct saved_place *place = s->times_wanted ? VECTOR_PUSH(&s->places) : NULL;

	s->no_memory |= s->times_wanted && !place;
	if (place)
		*place = *said;
}

/* What COUNT, the stack whose names are in S, says goes to the aggregate; of a part of it, its times will. */
static uint32_t take_stack(struct saved *s, const struct read_aggregate_count *count, uint32_t lock,
			   struct saved_place *place)
{
	if (!s->part)
		return add_stack(s, count, lock);
	if (!saved_is_of_state(s, (enum thread_state)count->state))
		return SAVED_NOT_WANTED;
	place->stack = saved_frames(s, 0);
	s->no_memory |= place->stack == LISTS_FAILED;
	return 0;
}

static void read_stack(struct saved *s)
{
	struct saved_place said = {.count = SAVED_NOT_WANTED, .thread = PROFILE_NO_THREAD};
	uint32_t lock = 0;
	uint64_t samples = 0, weight = 0, objects = 0, parts, outside = 0, context = 0, place = UINT64_MAX;
	enum thread_state state = THREAD_NONE;
	const char *key;

	s->names.count = s->kinds.count = 0;
	s->growth = (struct profile_growth){.example = 0};
	s->has_growth = false;
	if (!json_open(&s->j, '{'))
		return;
	while ((key = json_key(&s->j))) {
		if (strcmp(key, "frames") == 0)
			saved_names(s);
		else if (strcmp(key, "kinds") == 0)
			saved_kinds(s);
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
			state = thread_state_by_word(json_string(&s->j, NULL));
		else if (strcmp(key, "context") == 0)
			context = json_number(&s->j) + 1;
		else if (strcmp(key, "thread") == 0)
			place = json_number(&s->j);
		else if (strcmp(key, "lock_place") == 0)
			lock = saved_lock(s);
		else
			json_skip(&s->j);
	}
	if (__builtin_mul_overflow(objects, READ_OBJECT_PARTS, &parts))
		read_aggregate_refuse(s->aggregate, READ_AGGREGATE_SUMS);
	said.samples = samples;
	said.weight = weight;
	said.parts = parts;
	said.outside = outside;
	said.context = context;
	said.state = (uint8_t)state;
	if (place < s->threads_said.count)
		said.thread = (uint32_t)place;
	if (!s->j.error && saved_is_of_context(s, context))
		said.count = take_stack(s, &(struct read_aggregate_count){
			.state = (uint8_t)state, .samples = samples, .weight = weight, .parts = parts,
			.thread = saved_in_context(s, thread_at(s, place), context), .outside = outside}, lock, &said);
	keep_place(s, &said);
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
	saved_begin_stacks(s);
	saved_keep_waits(s);
	saved_keep_io(s);
	s->aggregate->families.items[s->family].said = true;
	if (!json_open(&s->j, '['))
		return;
	while (json_item(&s->j) && !s->no_memory)
		read_stack(s);
	saved_end_stacks(s);
}

void saved_unit(struct saved *s, const char *unit)
{
	s->in_ns = strcmp(unit, "ns") == 0;
	s->weight_kind = strcmp(unit, weight_kind_names[WEIGHT_BYTES].unit) == 0 ? WEIGHT_BYTES : WEIGHT_COUNT;
}

/* ---- a result ---- */

static void read_result(struct saved *s);

static void read_results(struct saved *s)
{
	if (!json_open(&s->j, '['))
		return;
	while (json_item(&s->j) && !s->no_memory && !s->wrong)
		read_result(s);
}

static uint32_t read_text(struct saved *s)
{
	size_t length;
	const char *text = json_string(&s->j, &length);

	return strings_add(&s->aggregate->strings, text, length);
}

/* "2026-11-21T11:46:36.123Z" */
uint64_t saved_date(const char *text)
{
	unsigned year, month, day, hour, minute, second, ms;
	struct tm tm;
	time_t at;

	if (sscanf(text, "%4u-%2u-%2uT%2u:%2u:%2u.%3uZ", &year, &month, &day, &hour, &minute, &second, &ms) != 7)
		return 0;
	tm = (struct tm){.tm_year = (int)year - 1900, .tm_mon = (int)month - 1, .tm_mday = (int)day,
			 .tm_hour = (int)hour, .tm_min = (int)minute, .tm_sec = (int)second};
	at = timegm(&tm);
	return at > 0 && year < 2262 ? (uint64_t)at * NS_PER_S + ms * NS_PER_MS : 0;
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
	else if (strcmp(key, "started_at") == 0)
		s->started_at = saved_date(json_string(&s->j, NULL));
	else if (strcmp(key, "duration_ns") == 0)
		s->duration = json_number(&s->j);
	else if (strcmp(key, "engine") == 0)
		s->counts.engine = read_text(s);
	else if (strcmp(key, "interval_ns") == 0 || strcmp(key, "interval") == 0)
		s->counts.interval = json_number(&s->j);
	else if (strcmp(key, "cpu_time_ns") == 0)
		s->counts.cpu_time = json_number(&s->j);
	else if (strcmp(key, "own_cpu_ns") == 0)
		s->counts.own_cpu = json_number(&s->j);
	else if (strcmp(key, "children_cpu_ns") == 0)
		s->counts.children_cpu = json_number(&s->j);
	else if (strcmp(key, "gap_ns") == 0)
		s->counts.gap = json_number(&s->j);
	else if (strcmp(key, "told") == 0)
		s->counts.told = read_text(s);
	else if (strcmp(key, "counted") == 0)
		s->live.used = s->counts.counted = json_number(&s->j);
	else if (strcmp(key, "heap_max") == 0)
		s->live.most = json_number(&s->j);
	else if (strcmp(key, "growth_span_ns") == 0)
		s->live.known = (s->live.span = json_number(&s->j)) > 0;
	else
		return false;
	return true;
}

/* Times speak of stacks. Where they stand, if they are before them: to be read later; NULL. */
static const char *read_or_skip_times(struct saved *s)
{
	const char *at = s->j.at;

	if (s->family == UINT32_MAX) {
		json_skip(&s->j);
		return at;
	}
	saved_times(s);
	return NULL;
}

static void read_times_at(struct saved *s, const char *at)
{
	const char *behind = s->j.at;

	s->j.at = at;
	saved_times(s);
	if (!s->j.error)
		s->j.at = behind;
}

/* A trace has no times. */
static void take_tree(struct saved *s)
{
	if (!s->part) {
		saved_tree(s);
		return;
	}
	s->untimed = s->has_stacks = true;
	json_skip(&s->j);
}

static void read_result(struct saved *s)
{
	const char *key, *times = NULL;
	bool trace = false;

	s->in_ns = true;
	s->family = UINT32_MAX;
	s->timed = false;
	s->places.count = 0;
	s->threads_said.count = 0;
	read_waits_free(&s->waits);
	read_ios_free(&s->io);
	s->counts = (struct recording_info_counts){.said_at = 0};
	s->live = (struct read_aggregate_live){.since = 1};
	if (!json_open(&s->j, '{'))
		return;
	while (!s->no_memory && !s->newer && !s->wrong && (key = json_key(&s->j))) {
		if (read_head(s, key))
			continue;
		if (strcmp(key, "profiles") == 0)
			read_results(s);
		else if (strcmp(key, "weight") == 0)
			saved_weight(s);
		else if (strcmp(key, "samples") == 0)
			saved_samples(s);
		else if (strcmp(key, "threads") == 0 && !trace)
			saved_threads_of(s);
		else if (strcmp(key, "surroundings") == 0)
			saved_surroundings(s);
		else if (strcmp(key, "images") == 0)
			saved_libraries(s);
		else if (saved_waits_of(s, key) || saved_io_of(s, key))
			continue;
		else if (strcmp(key, "contexts") == 0)
			saved_contexts(s);
		else if (strcmp(key, "stacks") == 0)
			read_stacks(s);
		else if (strcmp(key, "times") == 0)
			times = read_or_skip_times(s);
		else if (strcmp(key, "marks") == 0)
			saved_marks(s);
		else if (strcmp(key, "timing") == 0)
			trace = *json_string(&s->j, NULL);
		else if (strcmp(key, "methods") == 0 && trace)
			saved_methods(s);
		else if (strcmp(key, "tree") == 0 && trace)
			take_tree(s);
		else
			json_skip(&s->j);
	}
	if (times && !s->no_memory && !s->wrong && !s->j.error)
		read_times_at(s, times);
	if (s->part && s->family != UINT32_MAX)
		saved_end_part(s);
	s->family = UINT32_MAX;
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
	if (s->no_memory || s->aggregate->no_memory || s->aggregate->strings.failed)
		return error_set(err, ENOMEM, "%s: out of memory", name);
	if (s->newer)
		return error_set(err, ENOTSUP, "%s: a newer jstrobe wrote this; this one reads JSON up to schema %d",
				 name, SCHEMA);
	if (s->wrong)
		return error_set(err, EINVAL, "%s: `%s` of %s has %s, so it was changed, or damaged; "
				 "--no-times reads the rest of the file", name, s->wrong_in, s->event, s->wrong);
	if (s->j.error)
		return error_set(err, EINVAL, "%s: no JSON that jstrobe wrote, or cut: byte %llu should be %s", name,
				 (unsigned long long)(s->j.at - s->j.begin), s->j.error);
	if (s->part && !s->timed_any && s->untimed)
		return error_set(err, EINVAL, "%s: this JSON has sums of its whole time; leave out --filter, --state, "
				 "--from and --to, or take a part of a recording (.jfr)", name);
	if (!s->has_stacks)
		return error_set(err, EINVAL, "%s: this JSON has neither `stacks` nor `tree`: it is no result of "
				 "jstrobe", name);
	if (context_filter_is_set(s->context_filter) && !s->has_contexts)
		return error_set(err, EINVAL, "%s: stacks are not apart by what threads worked for in this JSON; "
				 "record with --context, or a recording (-f x.jfr)", name);
	return 0;
}

int saved_read(const struct input *in, const struct selection *selection, struct read_aggregate *aggregate,
	       struct recording_info *info, struct buffer *notes, struct error *err)
{
	struct saved s = {.aggregate = aggregate, .info = info, .families = selection->families,
			  .selection = selection,
			  .context_filter = &selection->context_filter, .notes = notes,
			  .part = saved_is_part(selection)};
	int rc;

	s.times_wanted = selection->moments || s.part;
	json_init(&s.j, in->bytes, in->size);
	read_result(&s);
	if (!s.newer && !s.no_memory && !s.wrong && !s.j.error && json_peek(&s.j))
		s.j.error = "the end of the file";
	info->start_ns = s.started_at;
	info->end_ns = s.started_at + MIN(s.duration, UINT64_MAX / 4);
	rc = judge(&s, in->name, err);
	json_free(&s.j);
	free(s.methods.items);
	free(s.threads.items);
	free(s.threads_said.items);
	free(s.nodes.items);
	free(s.names.items);
	free(s.kinds.items);
	free(s.contexts.items);
	free(s.places.items);
	free(s.threads_chosen.items);
	map_free(&s.frame_of);
	map_free(&s.library_of);
	read_waits_free(&s.waits);
	read_ios_free(&s.io);
	return rc;
}
