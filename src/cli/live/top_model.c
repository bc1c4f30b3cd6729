/*
 * top_model.c - what `jstrobe top` knows of a JVM: sums over the records of a live stream since the last screen.
 */
#include "cli/live/top.h"

#include <stdlib.h>
#include <string.h>

#include "common/words/events.h"
#include "profile/readers/json_pull.h"

#define MOST_STACKS (1u << 18) /* 4 MB; days of an agent have some 10,000 */
#define MOST_FRAMES 8192 /* of one; agents send 4,096 and a few */
#define METHODS_BYTES(s) ((s)->methods ? ((s)->count + 1) * sizeof(*(s)->methods) + 16 : 0) /* with malloc's own */

/* The keys of a record that are of use here. */
struct record {
	char kind[8];
	uint64_t time, tid, java_id, value, stack, duration, id;
	uint32_t event, thread, state, class, owner;
	bool ended;
};

static uint32_t text(struct top_model *m, struct json *j)
{
	size_t n;
	const char *s = json_string(j, &n);

	return strings_add(&m->strings, s, n);
}

/* ---- places ---- */

#define PLACE(m, map, list, key)                                              \
	({                                                                    \
		uint32_t *slot_ = map_put(&(m)->map, key, NULL);              \
		if (slot_ && !*slot_ && VECTOR_PUSH(&(m)->list))              \
			*slot_ = (uint32_t)(m)->list.count;                   \
		slot_ && *slot_ ? &(m)->list.items[*slot_ - 1] : NULL;        \
	})

static struct top_method *method_at(struct top_model *m, uint32_t name)
{
	struct top_method *to = PLACE(m, by_method, methods, name);

	if (to)
		to->name = name;
	return to;
}

static struct top_thread *thread_at(struct top_model *m, uint64_t tid, uint64_t java_id)
{
	struct top_thread *to = PLACE(m, by_thread, threads, tid ? tid : java_id | 1ull << 63);

	if (to) {
		to->tid = (int32_t)tid;
		to->java_id = java_id;
	}
	return to;
}

/* ---- records ---- */

static void read_events(struct top_model *m, struct json *j)
{
	const char *key;

	for (json_open(j, '['); json_item(j);) {
		uint32_t event = 0, *slot = NULL;

		for (json_open(j, '{'); (key = json_key(j));) {
			if (strcmp(key, "event") == 0) {
				event = text(m, j);
			} else if (strcmp(key, "of") == 0) {
				enum weight_kind of = weight_kind_of(json_string(j, NULL));

				slot = of == WEIGHT_CPU ? map_put(&m->of_cpu, event, NULL) :
				       of == WEIGHT_WALL ? map_put(&m->of_wall, event, NULL) : NULL;
				if (slot)
					*slot = 1;
			} else {
				json_skip(j);
			}
		}
	}
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
		*(map_get(&m->of_cpu, event) ? &now->lost : &now->others_lost) += lost;
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
	if (!m->before.time)
		m->before = m->books;
}

/* Each method once, however often it is in FRAMES, root first. */
static void list_methods(struct top_stack *s, const uint32_t *frames, size_t count)
{
	struct map seen = {0};
	bool fresh;

	while (count-- > 0)
		if (map_put(&seen, frames[count], &fresh) && fresh)
			s->methods[s->count++] = frames[count];
	map_free(&seen);
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
	m->methods_bytes -= METHODS_BYTES(s);
	free(s->methods);
	s->count = 0;
	s->methods = malloc((count + 1) * sizeof(*frames));
	if (s->methods)
		list_methods(s, frames, count);
	shorter = s->methods ? realloc(s->methods, (s->count + 1) * sizeof(*frames)) : NULL;
	s->methods = shorter ? shorter : s->methods;
	m->methods_bytes += METHODS_BYTES(s);
}

static void read_stack(struct top_model *m, struct json *j)
{
	VECTOR(uint32_t) frames = {0};
	uint32_t *slot;
	uint64_t id = 0;
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
		} else {
			json_skip(j);
		}
	}
	keep_stack(m, id, frames.items, frames.count);
	free(frames.items);
}

static uint32_t state_of(const char *word)
{
	uint32_t i;

	for (i = 1; i < THREAD_STATES; i++)
		if (strcmp(thread_state_names[i].word, word) == 0)
			return i;
	return THREAD_NONE;
}

static void read_sample(struct top_model *m, struct json *j, struct record *r)
{
	static const struct {
		const char *key;
		size_t offset;
	} numbers[] = {
		{"tid", offsetof(struct record, tid)}, {"java_id", offsetof(struct record, java_id)},
		{"value", offsetof(struct record, value)}, {"stack", offsetof(struct record, stack)},
		{"duration", offsetof(struct record, duration)}, {"id", offsetof(struct record, id)},
	};
	const char *key;
	size_t i;

	while ((key = json_key(j))) {
		for (i = 0; i < ARRAY_LEN(numbers) && strcmp(key, numbers[i].key) != 0; i++)
			;
		if (i < ARRAY_LEN(numbers))
			*(uint64_t *)((char *)r + numbers[i].offset) = json_number(j);
		else if (strcmp(key, "event") == 0)
			r->event = text(m, j);
		else if (strcmp(key, "thread") == 0 || strcmp(key, "name") == 0)
			r->thread = text(m, j);
		else if (strcmp(key, "state") == 0)
			r->state = state_of(json_string(j, NULL));
		else if (strcmp(key, "class") == 0)
			r->class = text(m, j);
		else if (strcmp(key, "owner") == 0)
			r->owner = text(m, j);
		else {
			r->ended |= strcmp(key, "ended") == 0;
			json_skip(j);
		}
	}
}

/* ---- sums ---- */

static void add_cpu(struct top_model *m, const struct record *r, struct top_thread *thread)
{
	const struct top_stack *s = r->stack < m->stacks.count ? &m->stacks.items[r->stack] : NULL;
	uint32_t i;

	m->samples++;
	m->cpu += r->value;
	thread->cpu += r->value;
	for (i = 0; s && i < s->count; i++) {
		struct top_method *method = method_at(m, s->methods[i]);

		if (!method)
			return;
		method->total += r->value;
		method->self += i == 0 ? r->value : 0;
	}
}

static void add_wait(struct top_model *m, const struct record *r)
{
	struct top_wait *w = PLACE(m, by_wait, waits, r->class);

	if (!w)
		return;
	w->name = r->class;
	w->owner = r->owner ? r->owner : w->owner;
	w->count++;
	w->time += r->value;
}

static void add(struct top_model *m, const struct record *r)
{
	struct top_thread *thread = thread_at(m, r->tid, r->java_id);

	if (!thread)
		return;
	thread->name = r->thread ? r->thread : thread->name;
	if (strcmp(r->kind, "thread") == 0)
		return;
	m->began = m->began ? MIN(m->began, r->time) : r->time;
	m->now = MAX(m->now, r->time);
	if (strcmp(r->kind, "lock") == 0)
		add_wait(m, r);
	else if (map_get(&m->of_cpu, r->event))
		add_cpu(m, r, thread);
	else if (map_get(&m->of_wall, r->event))
		thread->wall[r->state] += r->value;
}

bool top_take(struct top_model *m, const char *line, size_t n)
{
	struct record r = {.kind = ""};
	struct json j;
	const char *key;
	bool ok;

	json_init(&j, line, n);
	ok = json_open(&j, '{') && (key = json_key(&j)) && strcmp(key, "kind") == 0;
	if (ok)
		strncpy(r.kind, json_string(&j, NULL), sizeof(r.kind) - 1);
	ok = ok && (key = json_key(&j)) && strcmp(key, "time") == 0;
	if (ok)
		r.time = json_number(&j);
	if (ok && strcmp(r.kind, "header") == 0)
		read_header(m, &j);
	else if (ok && strcmp(r.kind, "stats") == 0)
		read_stats(m, &j, r.time);
	else if (ok && strcmp(r.kind, "stack") == 0)
		read_stack(m, &j);
	else if (ok && strcmp(r.kind, "drop") != 0)
		read_sample(m, &j, &r);
	ok = ok && !j.error;
	if (ok && r.thread && !r.ended)
		add(m, &r);
	json_free(&j);
	return ok;
}

size_t top_bytes(const struct top_model *m)
{
	return strings_bytes(&m->strings) + m->methods_bytes + m->stacks.capacity * sizeof(*m->stacks.items) +
	       m->threads.capacity * sizeof(*m->threads.items) + m->waits.capacity * sizeof(*m->waits.items) +
	       m->methods.capacity * sizeof(*m->methods.items) + map_bytes(&m->by_method) + map_bytes(&m->by_thread) +
	       map_bytes(&m->by_wait) + map_bytes(&m->of_cpu) + map_bytes(&m->of_wall);
}

void top_next(struct top_model *m)
{
	m->methods.count = m->threads.count = m->waits.count = 0;
	map_free(&m->by_method);
	map_free(&m->by_thread);
	map_free(&m->by_wait);
	m->samples = m->cpu = m->began = m->now = 0;
	m->before = m->books;
}

void top_free(struct top_model *m)
{
	top_next(m);
	while (m->stacks.count)
		free(m->stacks.items[--m->stacks.count].methods);
	free(m->stacks.items);
	free(m->methods.items);
	free(m->threads.items);
	free(m->waits.items);
	map_free(&m->of_cpu);
	map_free(&m->of_wall);
	strings_free(&m->strings);
	memset(m, 0, sizeof(*m));
}
