/*
 * top_model.c - the records of a live stream, as `jstrobe top` takes them in.
 */
#include "cli/live/top.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/clock_ns.h"
#include "profile/readers/input/json_pull.h"

#define MOST_STACKS (1u << 18) /* 4 MB; days of an agent have some 10,000 */
#define MOST_FRAMES 8192 /* of one; agents send 4,096 and a few */
#define FRAMES_BYTES(s) ((s)->frames ? ((s)->count + 1) * sizeof(*(s)->frames) + 16 : 0) /* with malloc's own */

/* The keys of a record that are of use here. */
struct record {
	char kind[8];
	uint32_t event;
	bool ended;
	struct top_sample sample;
};

static uint32_t text(struct top_model *m, struct json *j)
{
	size_t n;
	const char *s = json_string(j, &n);

	return strings_add(&m->strings, s, n);
}

/* ---- what the stream has ---- */

static void add_event(struct top_model *m, uint32_t name, enum weight_kind kind, uint64_t interval)
{
	if (m->event_count == TOP_EVENTS || kind == WEIGHT_KINDS)
		return;
	m->events[m->event_count++] = (struct top_event){name, kind, interval};
	if (kind == WEIGHT_CPU && m->events[m->main_event].kind != WEIGHT_CPU)
		m->main_event = m->event_count - 1;
}

static void read_events(struct top_model *m, struct json *j)
{
	const char *key;

	m->event_count = m->main_event = 0;
	for (json_open(j, '['); json_item(j);) {
		uint32_t event = 0;
		uint64_t interval = 0;
		enum weight_kind of = WEIGHT_KINDS;

		for (json_open(j, '{'); (key = json_key(j));) {
			if (strcmp(key, "event") == 0)
				event = text(m, j);
			else if (strcmp(key, "of") == 0)
				of = weight_kind_of(json_string(j, NULL));
			else if (strcmp(key, "interval") == 0)
				interval = json_number(j);
			else
				json_skip(j);
		}
		add_event(m, event, of, interval);
	}
}

/* Its number in the list; TOP_EVENTS: it is not there. */
static unsigned event_at(const struct top_model *m, uint32_t name)
{
	unsigned i;

	for (i = 0; i < m->event_count; i++)
		if (m->events[i].name == name)
			return i;
	return TOP_EVENTS;
}

unsigned top_event_of(const struct top_model *m, enum weight_kind kind)
{
	unsigned i;

	for (i = 0; i < m->event_count; i++)
		if (m->events[i].kind == kind)
			return i;
	return TOP_EVENTS;
}

static void read_header(struct top_model *m, struct json *j)
{
	const char *key;

	while ((key = json_key(j))) {
		if (strcmp(key, "pid") == 0)
			m->pid = (uint32_t)json_number(j);
		else if (strcmp(key, "cpus") == 0)
			m->cpus = (uint32_t)json_number(j);
		else if (strcmp(key, "main_class") == 0)
			m->main_class = text(m, j);
		else if (strcmp(key, "jdk") == 0)
			m->jdk = text(m, j);
		else if (strcmp(key, "events") == 0)
			read_events(m, j);
		else
			json_skip(j);
	}
}

static uint64_t read_losses(struct json *j)
{
	uint64_t sum = 0;

	for (json_open(j, '{'); json_key(j);)
		sum += json_number(j);
	return sum;
}

static void read_books(struct top_model *m, struct json *j)
{
	struct top_books *now = &m->books;
	const char *key;

	now->dropped = now->lost = now->others_lost = 0;
	for (json_open(j, '['); json_item(j);) {
		uint64_t lost = 0, dropped = 0;
		uint32_t event = 0;

		for (json_open(j, '{'); (key = json_key(j));) {
			if (strcmp(key, "event") == 0)
				event = text(m, j);
			else if (strcmp(key, "dropped") == 0)
				dropped = json_number(j);
			else if (strcmp(key, "lost") == 0)
				lost = read_losses(j);
			else
				json_skip(j);
		}
		now->dropped += dropped;
		*(event_at(m, event) == m->main_event ? &now->lost : &now->others_lost) += lost;
	}
}

static void read_stats(struct top_model *m, struct json *j, uint64_t time)
{
	const char *key;

	m->books.time = time;
	while ((key = json_key(j))) {
		if (strcmp(key, "cpu_time") == 0)
			m->books.process_cpu = json_number(j);
		else if (strcmp(key, "own_cpu") == 0)
			m->books.own_cpu = json_number(j);
		else if (strcmp(key, "events") == 0)
			read_books(m, j);
		else
			json_skip(j);
	}
	if (!m->gathered.from.time)
		m->gathered.from = m->books;
	top_history_add(&m->history, time, m->books.process_cpu, clock_ns(CLOCK_MONOTONIC));
}

/* Of FRAMES, each at its outermost and its innermost place, in their order. False: no memory. */
static bool list_frames(struct top_stack *s, const uint32_t *frames, size_t count)
{
	struct map last = {0}, seen = {0};
	uint32_t *slot;
	bool whole = true, fresh;
	size_t i;

	for (i = 0; i < count && whole; i++) {
		slot = map_put(&last, frames[i], NULL);
		whole = slot;
		if (slot)
			*slot = (uint32_t)i;
	}
	for (i = 0; i < count && whole; i++) {
		whole = map_put(&seen, frames[i], &fresh);
		if (whole && (fresh || *map_get(&last, frames[i]) == i))
			s->frames[s->count++] = frames[i];
	}
	map_free(&last);
	map_free(&seen);
	return whole;
}

/* FRAMES, root first, as stack number ID. */
static void keep_stack(struct top_model *m, uint64_t id, const uint32_t *frames, size_t count)
{
	struct top_stack *s;
	uint32_t *shorter;

	if (!id || id > MOST_STACKS)
		return;
	while (m->stacks.count <= id) {
		s = VECTOR_PUSH(&m->stacks);
		if (!s)
			return;
	}
	s = &m->stacks.items[id];
	m->stacks_bytes -= FRAMES_BYTES(s);
	free(s->frames);
	s->count = 0;
	s->frames = malloc((count + 1) * sizeof(*frames));
	if (s->frames && !list_frames(s, frames, count))
		s->count = 0;
	shorter = s->frames ? realloc(s->frames, (s->count + 1) * sizeof(*frames)) : NULL;
	s->frames = shorter ? shorter : s->frames;
	m->stacks_bytes += FRAMES_BYTES(s);
}

/* The number of the frame called TEXT of KIND; UINT32_MAX: no memory. */
static uint32_t frame_at(struct top_model *m, uint32_t text, enum frame_kind kind)
{
	uint32_t *slot = map_put(&m->by_frame, (uint64_t)text << 8 | kind, NULL);
	struct top_frame *fresh = slot && !*slot ? VECTOR_PUSH(&m->frames) : NULL;

	if (fresh) {
		*fresh = (struct top_frame){text, (uint8_t)kind};
		*slot = (uint32_t)m->frames.count;
	}
	return slot ? *slot - 1 : UINT32_MAX;
}

static void read_stack(struct top_model *m, struct json *j)
{
	VECTOR(uint32_t) frames = {0};
	uint32_t *slot;
	uint64_t id = 0;
	size_t i = 0;
	const char *key;

	while ((key = json_key(j))) {
		if (strcmp(key, "id") == 0) {
			id = json_number(j);
		} else if (strcmp(key, "frames") == 0) {
			for (json_open(j, '['); json_item(j);) {
				slot = frames.count < MOST_FRAMES ? VECTOR_PUSH(&frames) : NULL;
				if (slot)
					*slot = text(m, j);
				else
					json_skip(j);
			}
		} else if (strcmp(key, "kinds") == 0) {
			/* behind the frames, as many */
			for (json_open(j, '['); json_item(j); i++) {
				enum frame_kind kind = frame_kind_by_word(json_string(j, NULL));

				if (i < frames.count)
					frames.items[i] = frame_at(m, frames.items[i], kind);
			}
		} else {
			json_skip(j);
		}
	}
	for (; i < frames.count; i++)
		frames.items[i] = frame_at(m, frames.items[i], FRAME_OTHER);
	for (i = 0; i < frames.count && frames.items[i] != UINT32_MAX; i++)
		;
	if (i == frames.count)
		keep_stack(m, id, frames.items, frames.count);
	free(frames.items);
}

/* ---- samples ---- */

static void read_sample(struct top_model *m, struct json *j, struct record *r)
{
	struct top_sample *s = &r->sample;
	const char *key;

	while ((key = json_key(j))) {
		if (json_take_numbers(j, key, {"tid", &s->tid}, {"java_id", &s->java_id}, {"value", &s->value},
				      {"samples", &s->samples}, {"stack", &s->stack}, {"duration", &s->duration},
				      {"id", &s->id}, {"owner_stack", &s->owner_stack}))
			continue;
		if (strcmp(key, "event") == 0) {
			r->event = text(m, j);
		} else if (strcmp(key, "thread") == 0 || strcmp(key, "name") == 0) {
			s->thread = text(m, j);
		} else if (strcmp(key, "state") == 0) {
			s->state = (uint8_t)thread_state_by_word(json_string(j, NULL));
		} else if (strcmp(key, "class") == 0) {
			s->class = text(m, j);
		} else if (strcmp(key, "owner") == 0) {
			s->owner = text(m, j);
		} else if (strcmp(key, "lock") == 0) {
			s->lock = (uint8_t)lock_kind_by_word(json_string(j, NULL));
		} else {
			r->ended |= strcmp(key, "ended") == 0;
			s->open |= strcmp(key, "open") == 0;
			json_skip(j);
		}
	}
}

static void add(struct top_model *m, struct record *r)
{
	struct top_sample *s = &r->sample;
	unsigned event = event_at(m, r->event);

	if (strcmp(r->kind, "thread") == 0) {
		top_window_thread(&m->gathered, s->tid, s->java_id, s->thread);
		return;
	}
	if (event == TOP_EVENTS)
		return;
	s->event = (uint8_t)event;
	s->cpu = m->events[event].kind == WEIGHT_CPU;
	s->wall = m->events[event].kind == WEIGHT_WALL;
	s->wait = strcmp(r->kind, "lock") == 0;
	s->stack = s->stack < m->stacks.count ? s->stack : 0;
	s->owner_stack = s->owner_stack < m->stacks.count ? s->owner_stack : 0;
	top_window_add(&m->gathered, s);
}

bool top_take(struct top_model *m, const char *line, size_t n)
{
	struct record r = {.kind = "", .sample.samples = 1};
	struct json j;
	const char *key;
	bool ok;

	json_init(&j, line, n);
	ok = json_open(&j, '{') && (key = json_key(&j)) && strcmp(key, "kind") == 0;
	if (ok)
		strncpy(r.kind, json_string(&j, NULL), sizeof(r.kind) - 1);
	ok = ok && (key = json_key(&j)) && strcmp(key, "time") == 0;
	if (ok)
		r.sample.time = json_number(&j);
	if (ok && strcmp(r.kind, "header") == 0)
		read_header(m, &j);
	else if (ok && strcmp(r.kind, "stats") == 0)
		read_stats(m, &j, r.sample.time);
	else if (ok && strcmp(r.kind, "stack") == 0)
		read_stack(m, &j);
	else if (ok && strcmp(r.kind, "drop") != 0)
		read_sample(m, &j, &r);
	ok = ok && !j.error;
	if (ok && r.sample.thread && !r.ended)
		add(m, &r);
	json_free(&j);
	return ok;
}

size_t top_bytes(const struct top_model *m)
{
	return strings_bytes(&m->strings) + m->stacks_bytes + m->stacks.capacity * sizeof(*m->stacks.items) +
	       m->frames.capacity * sizeof(*m->frames.items) + map_bytes(&m->by_frame) +
	       top_window_bytes(&m->gathered) + top_window_bytes(&m->shown);
}

void top_next(struct top_model *m, uint64_t span)
{
	struct top_window *w = &m->shown;

	m->gathered.to = m->books;
	VECTOR_SWAP(w, &m->gathered);
	w->span = span ? span : w->now - w->began;
	m->samples += w->samples[m->main_event];
	top_window_clear(&m->gathered);
	m->gathered.from = m->books;
}

void top_begin(struct top_model *m)
{
	while (m->stacks.count)
		free(m->stacks.items[--m->stacks.count].frames);
	m->stacks_bytes = 0;
	m->event_count = m->main_event = 0;
	m->samples = 0;
	top_window_free(&m->gathered);
	top_window_free(&m->shown);
	memset(&m->books, 0, sizeof(m->books));
	top_history_part(&m->history);
}

void top_free(struct top_model *m)
{
	top_begin(m);
	free(m->stacks.items);
	free(m->frames.items);
	map_free(&m->by_frame);
	strings_free(&m->strings);
	memset(m, 0, sizeof(*m));
}
