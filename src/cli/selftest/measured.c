/*
 * A result in JSON (docs/reference/json.md), as far as it speaks of the program's classes.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/selftest/selftest.h"
#include "profile/readers/input/json_pull.h"

#define PACKAGE "selftest."
#define MOST_METHODS 12 /* of the program in one stack */

struct reader {
	struct json j;
	struct measured *m;
};

/* ---- stacks ---- */

struct stack {
	char methods[MOST_METHODS][48];
	unsigned count;
	char state[12];
	uint64_t samples, weight;
};

/* Each method once, however often it is in the stack. */
static void take_frame(struct stack *s, const char *name)
{
	unsigned i;

	if (strncmp(name, PACKAGE, sizeof(PACKAGE) - 1) != 0 || s->count == MOST_METHODS)
		return;
	snprintf(s->methods[s->count], sizeof(s->methods[0]), "%s", name + sizeof(PACKAGE) - 1);
	for (i = 0; strcmp(s->methods[i], s->methods[s->count]) != 0; i++)
		;
	s->count += i == s->count;
}

static struct measured_sum *sum_of(struct measured_profile *p, const char *method, const char *state)
{
	struct measured_sum *s;
	size_t i;

	for (i = 0; i < p->sums.count; i++)
		if (strcmp(p->sums.items[i].method, method) == 0 && strcmp(p->sums.items[i].state, state) == 0)
			return &p->sums.items[i];
	s = VECTOR_PUSH(&p->sums);
	if (s) {
		snprintf(s->method, sizeof(s->method), "%s", method);
		snprintf(s->state, sizeof(s->state), "%s", state);
	}
	return s;
}

static void add_stack(struct reader *r, struct measured_profile *p, const struct stack *s)
{
	unsigned i;

	for (i = 0; i < s->count; i++) {
		struct measured_sum *sum = sum_of(p, s->methods[i], s->state);

		if (!sum) {
			r->m->no_memory = true;
			return;
		}
		sum->samples += s->samples;
		sum->weight += s->weight;
	}
}

static void read_stack(struct reader *r, struct measured_profile *p)
{
	struct stack s = {.count = 0};
	const char *key;

	if (!json_open(&r->j, '{'))
		return;
	while ((key = json_key(&r->j))) {
		if (strcmp(key, "frames") == 0 && json_open(&r->j, '['))
			while (json_item(&r->j))
				take_frame(&s, json_string(&r->j, NULL));
		else if (strcmp(key, "samples") == 0)
			s.samples = json_number(&r->j);
		else if (strcmp(key, "weight") == 0)
			s.weight = json_number(&r->j);
		else if (strcmp(key, "state") == 0)
			snprintf(s.state, sizeof(s.state), "%s", json_string(&r->j, NULL));
		else
			json_skip(&r->j);
	}
	add_stack(r, p, &s);
}

/* ---- the rest of a profile ---- */

static void read_owner(struct reader *r, struct measured_profile *p)
{
	struct measured_owner *o = VECTOR_PUSH(&p->owners);
	const char *key;

	r->m->no_memory |= !o;
	if (!json_open(&r->j, '{'))
		return;
	while ((key = json_key(&r->j))) {
		if (o && strcmp(key, "name") == 0)
			snprintf(o->name, sizeof(o->name), "%s", json_string(&r->j, NULL));
		else if (o && strcmp(key, "time_ns") == 0)
			o->time = json_number(&r->j);
		else
			json_skip(&r->j);
	}
}

static uint64_t read_sum(struct reader *r)
{
	uint64_t sum = 0;

	if (json_open(&r->j, '{'))
		while (json_key(&r->j))
			sum += json_number(&r->j);
	return sum;
}

static void read_samples(struct reader *r, struct measured_profile *p)
{
	const char *key;

	if (!json_open(&r->j, '{'))
		return;
	while ((key = json_key(&r->j))) {
		if (json_take_numbers(&r->j, key, {"taken", &p->taken}, {"stored", &p->stored}))
			continue;
		if (strcmp(key, "lost") == 0)
			p->lost = read_sum(r);
		else
			json_skip(&r->j);
	}
}

static void read_weight(struct reader *r, struct measured_profile *p)
{
	const char *key;

	if (!json_open(&r->j, '{'))
		return;
	while ((key = json_key(&r->j)))
		if (!json_take_numbers(&r->j, key, {"total", &p->total}, {"lost", &p->lost_weight},
				       {"unsampled", &p->unsampled}))
			json_skip(&r->j);
}

/* ---- a trace ---- */

static uint64_t read_wait(struct reader *r, const char *kind)
{
	uint64_t ns = 0;
	const char *key;

	if (!json_open(&r->j, '{'))
		return 0;
	while ((key = json_key(&r->j))) {
		if (strcmp(key, kind) == 0)
			ns = json_number(&r->j);
		else
			json_skip(&r->j);
	}
	return ns;
}

static uint64_t *number_of(struct measured_call *c, const char *key)
{
	const struct {
		const char *key;
		uint64_t *number;
	} numbers[] = {{"invocations", &c->calls}, {"stamps", &c->stamps}, {"self_wall", &c->self_wall},
		       {"self_cpu", &c->self_cpu}, {"total_wall", &c->total_wall}, {"error", &c->error}};
	size_t i;

	for (i = 0; i < ARRAY_LEN(numbers); i++)
		if (strcmp(numbers[i].key, key) == 0)
			return numbers[i].number;
	return NULL;
}

static void read_call(struct reader *r)
{
	struct measured_call call = {.calls = 0}, *kept;
	char class_name[32] = "", name[32] = "";
	const char *key;

	if (!json_open(&r->j, '{'))
		return;
	while ((key = json_key(&r->j))) {
		uint64_t *number = number_of(&call, key);

		if (number)
			*number = json_number(&r->j);
		else if (strcmp(key, "class") == 0)
			snprintf(class_name, sizeof(class_name), "%s", json_string(&r->j, NULL));
		else if (strcmp(key, "name") == 0)
			snprintf(name, sizeof(name), "%.20s", json_string(&r->j, NULL));
		else if (strcmp(key, "waits") == 0)
			call.sleep = read_wait(r, "sleep");
		else
			json_skip(&r->j);
	}
	if (strncmp(class_name, PACKAGE, sizeof(PACKAGE) - 1) != 0)
		return;
	snprintf(call.method, sizeof(call.method), "%.20s.%.20s", class_name + sizeof(PACKAGE) - 1, name);
	kept = VECTOR_PUSH(&r->m->calls);
	if (kept)
		*kept = call;
	r->m->no_memory |= !kept;
}

/* ---- a result ---- */

static void read_result(struct reader *r, struct measured_profile *p);

static void read_results(struct reader *r)
{
	struct measured *m = r->m;

	m->count = 0;
	if (!json_open(&r->j, '['))
		return;
	while (json_item(&r->j)) {
		if (m->count == ARRAY_LEN(m->profiles))
			json_skip(&r->j);
		else
			read_result(r, &m->profiles[m->count++]);
	}
}

static bool read_true(struct reader *r)
{
	bool is_true = json_peek(&r->j) == 't';

	json_skip(&r->j);
	return is_true;
}

static void read_value(struct reader *r, struct measured_profile *p, const char *key)
{
	struct measured *m = r->m;

	if (strcmp(key, "profiles") == 0)
		read_results(r);
	else if (strcmp(key, "event") == 0)
		snprintf(p->event, sizeof(p->event), "%s", json_string(&r->j, NULL));
	else if (strcmp(key, "engine") == 0)
		snprintf(p->engine, sizeof(p->engine), "%s", json_string(&r->j, NULL));
	else if (strcmp(key, "timing") == 0)
		snprintf(m->timing, sizeof(m->timing), "%s", json_string(&r->j, NULL));
	else if (strcmp(key, "cpu_time_ns") == 0)
		p->cpu_time = json_number(&r->j);
	else if (strcmp(key, "own_cpu_ns") == 0)
		p->own_cpu = json_number(&r->j);
	else if (strcmp(key, "warns") == 0)
		p->warns = read_true(r);
	else if (strcmp(key, "uncounted") == 0)
		m->uncounted = json_number(&r->j);
	else if (strcmp(key, "held_ns") == 0)
		m->held = json_number(&r->j);
	else if (strcmp(key, "samples") == 0)
		read_samples(r, p);
	else if (strcmp(key, "weight") == 0)
		read_weight(r, p);
	else if (strcmp(key, "stacks") == 0 && json_open(&r->j, '['))
		while (json_item(&r->j))
			read_stack(r, p);
	else if (strcmp(key, "owners") == 0 && json_open(&r->j, '['))
		while (json_item(&r->j))
			read_owner(r, p);
	else if (strcmp(key, "methods") == 0 && m->timing[0] && json_open(&r->j, '['))
		while (json_item(&r->j))
			read_call(r);
	else
		json_skip(&r->j);
}

static void read_result(struct reader *r, struct measured_profile *p)
{
	const char *key;

	if (!json_open(&r->j, '{'))
		return;
	while ((key = json_key(&r->j)))
		read_value(r, p, key);
}

int measured_read(struct measured *m, const char *json, size_t size, struct error *err)
{
	struct reader r = {.m = m};
	int rc = 0;

	json_init(&r.j, json, size);
	m->count = 1;
	read_result(&r, &m->profiles[0]);
	if (r.j.error)
		rc = error_set(err, EPROTO, "the result is no JSON: byte %zu should be %s",
			       (size_t)(r.j.at - r.j.begin), r.j.error);
	else if (m->no_memory)
		rc = error_set(err, ENOMEM, "out of memory");
	json_free(&r.j);
	return rc;
}

void measured_free(struct measured *m)
{
	unsigned i;

	for (i = 0; i < ARRAY_LEN(m->profiles); i++) {
		free(m->profiles[i].sums.items);
		free(m->profiles[i].owners.items);
	}
	free(m->calls.items);
}

struct measured_sum measured_of(const struct measured_profile *p, const char *method, const char *state)
{
	struct measured_sum sum = {.samples = 0};
	size_t i;

	for (i = 0; i < p->sums.count; i++) {
		const struct measured_sum *s = &p->sums.items[i];

		if (strcmp(s->method, method) == 0 && (!state[0] || strcmp(s->state, state) == 0)) {
			sum.samples += s->samples;
			sum.weight += s->weight;
		}
	}
	return sum;
}

const struct measured_call *measured_call(const struct measured *m, const char *method)
{
	size_t i;

	for (i = 0; i < m->calls.count; i++)
		if (strcmp(m->calls.items[i].method, method) == 0)
			return &m->calls.items[i];
	return NULL;
}
