/*
 * json_times.c - the member `times` of a result in JSON: when its samples were taken, as columns of one length, in the
 * order of time. docs/reference/json.md explains them, readers/saved_times.c reads them.
 *
 * A column that says nothing is left out: for most events that is all but three. Weights are told in the largest number
 * of ns (or bytes, ...) that all of them are multiples of, so nothing is rounded here.
 */
#include "common/base/json_writer.h"
#include "profile/writers/writers.h"

#define UNKNOWN UINT64_MAX

struct columns {
	const struct profile *profile;
	uint64_t quantum;
};

/* The value of M in a column; UNKNOWN: null. */
typedef uint64_t column_value(const struct columns *c, const struct profile_moment *m);

static uint64_t at(const struct columns *c, const struct profile_moment *m)
{
	return m->at;
}

static uint64_t stack(const struct columns *c, const struct profile_moment *m)
{
	return m->stack == PROFILE_NO_STACK ? UNKNOWN : m->stack;
}

static uint64_t thread(const struct columns *c, const struct profile_moment *m)
{
	return m->thread == PROFILE_NO_THREAD ? UNKNOWN : m->thread;
}

/* What a missing column of threads says. */
static uint64_t thread_of_stack(const struct columns *c, const struct profile_moment *m)
{
	if (m->stack == PROFILE_NO_STACK || c->profile->stacks[m->stack].thread == PROFILE_NO_THREAD)
		return UNKNOWN;
	return c->profile->stacks[m->stack].thread;
}

static uint64_t span(const struct columns *c, const struct profile_moment *m)
{
	return m->span;
}

static uint64_t zero(const struct columns *c, const struct profile_moment *m)
{
	return 0;
}

static uint64_t samples(const struct columns *c, const struct profile_moment *m)
{
	return m->samples;
}

static uint64_t one(const struct columns *c, const struct profile_moment *m)
{
	return 1;
}

static uint64_t weight(const struct columns *c, const struct profile_moment *m)
{
	return m->weight / c->quantum;
}

static const struct column {
	const char *key;
	column_value *value, *usual; /* usual: left out where all are as this says; NULL: never */
} columns[] = {
	{"at", at, NULL},
	{"stack", stack, NULL},
	{"thread", thread, thread_of_stack},
	{"span", span, zero},
	{"samples", samples, one},
	{"weight", weight, samples},
};

static bool is_needed(const struct columns *c, const struct column *column)
{
	const struct profile *p = c->profile;
	uint64_t i;

	for (i = 0; column->usual && i < p->moment_count; i++)
		if (column->value(c, &p->moments[i]) != column->usual(c, &p->moments[i]))
			return true;
	return !column->usual;
}

static void put_column(struct json_writer *w, const struct columns *c, const struct column *column)
{
	const struct profile *p = c->profile;
	uint64_t i, value;

	json_array(w, column->key);
	for (i = 0; i < p->moment_count; i++) {
		value = column->value(c, &p->moments[i]);
		/* without blanks: they would be a fifth of it */
		buffer_puts(w->out, i ? "," : "");
		if (value == UNKNOWN)
			buffer_puts(w->out, "null");
		else
			buffer_printf(w->out, "%llu", (unsigned long long)value);
	}
	json_end(w);
}

/* The greatest common divisor of all weights; 1 where there are none. */
static uint64_t quantum_of(const struct profile *p)
{
	uint64_t common = 0, rest, more, i;

	for (i = 0; i < p->moment_count; i++)
		for (rest = p->moments[i].weight; rest; rest = more) {
			more = common % rest;
			common = rest;
		}
	return common ? common : 1;
}

/* How many steps it is long: to its end, or to that of the last sample where a session went on after a pause. */
static uint64_t steps_of(const struct profile *p)
{
	uint64_t steps = (p->duration + p->moment_step - 1) / p->moment_step, i;

	for (i = 0; i < p->moment_count; i++)
		steps = MAX(steps, (uint64_t)p->moments[i].at + p->moments[i].span + 1);
	return steps;
}

void json_times_put(struct json_writer *w, const struct profile *p)
{
	struct columns c = {p, 1};
	size_t i;

	if (!profile_has_times(p))
		return;
	c.quantum = quantum_of(p);
	json_object(w, "times");
	json_put_numbers(w, {"step_ns", p->moment_step}, {"steps", steps_of(p)}, {"quantum", c.quantum},
			 {"count", p->moment_count});
	for (i = 0; i < ARRAY_LEN(columns); i++)
		if (is_needed(&c, &columns[i]))
			put_column(w, &c, &columns[i]);
	json_end(w);
}
