/*
 * The sums of calls that read and write, by what they were about (aggregate_sums.h).
 */
#include "agent/collect/aggregate.h"
#include "agent/collect/sink.h"

#include <stdlib.h>
#include <string.h>

#include "agent/zone/zone.h"
#include "common/base/square_root.h"
#include "common/base/wide.h"
#include "common/words/io_fields.h"

static struct io_sum *line_of(const struct collector *c, struct io_sums *s, uint64_t name, uint64_t operation,
			      uint64_t word)
{
	enum io_kind kind = io_kind_in(word);
	uint64_t key = name << 16 | operation << 8 | kind;
	uint32_t *slot = map_get(&s->by_key, key);
	const char *text = NULL;
	struct io_sum *line;

	if (!slot && s->lines.count >= IO_LINES) {
		name = 0;
		key = operation << 8 | kind;
	}
	slot = slot ? slot : map_put(&s->by_key, key, NULL);
	if (slot && *slot)
		return &s->lines.items[*slot - 1];
	line = slot ? PAGED_PUSH(&s->lines) : NULL;
	if (!line)
		return NULL;
	text = name ? c->sources->class_name((uint32_t)name) : NULL;
	*line = (struct io_sum){.text = text ? strings_add(&s->texts, text, strlen(text)) : 0,
				.operation = (uint8_t)operation, .kind = (uint8_t)kind};
	*slot = (uint32_t)s->lines.count;
	return line;
}

/* Of a call that stands for others, by moments of which each weighs the interval. */
static void add_errors(struct io_sum *line, const struct sink_event *e, double weight, double duration)
{
	double interval = (double)zone.events[e->event].interval;
	double moment = interval > 0 && interval < weight ? interval : weight, moments = weight / moment;
	double calls = moment / duration, bytes = calls * (double)e->fields->values[IO_FIELD_BYTES];

	*(e->weight ? &line->time_error : &line->idle_error) += moments * moment * moment;
	line->calls_error += moments * calls * calls;
	line->bytes_error += moments * bytes * bytes;
}

/*
 * A short call stands for many like it: as many as its sample weighs of its own time. What weighs its own time is there
 * for itself.
 */
void aggregate_io_sum(struct collector *c, const struct sink_event *e)
{
	const uint64_t *v = e->fields->values;
	uint64_t duration = MAX(v[IO_FIELD_DURATION], 1ull), weight = MAX(e->weight + v[IO_FIELD_IDLE], 1ull);
	struct io_sum *line = line_of(c, &c->io, v[IO_FIELD_TARGET], io_operation_in(v[IO_FIELD_OPERATION]),
				      v[IO_FIELD_KIND]);

	if (!line)
		return;
	line->time += e->weight;
	line->idle += v[IO_FIELD_IDLE];
	line->longest = MAX(line->longest, v[IO_FIELD_DURATION]);
	if (io_flags_in(v[IO_FIELD_KIND]) & IO_FLAG_OPEN)
		return;
	line->calls += wide_scale(weight, IO_PARTS, 0, duration);
	line->bytes += wide_scale(weight, v[IO_FIELD_BYTES], 0, duration);
	if (io_stands_for_others(e->weight, v))
		add_errors(line, e, (double)weight, (double)duration);
}

/* ---- what is counted ---- */

static struct profile_io_counted counted_now(const struct collector *c, uint32_t operation)
{
	return c->sources->io_counted ? c->sources->io_counted(operation) : (struct profile_io_counted){0};
}

/* Of C up to now, while it is open. */
static struct profile_io_counted counted_so_far(const struct collector *c, uint32_t operation)
{
	const struct profile_io_counted *since = &c->io.since[operation];
	struct profile_io_counted sum = c->io.before[operation], now = counted_now(c, operation);

	sum.calls += now.calls - since->calls;
	sum.bytes += now.bytes - since->bytes;
	sum.time += now.time - since->time;
	return sum;
}

void aggregate_io_open(struct collector *c)
{
	uint32_t i;

	for (i = 0; i < IO_OPERATIONS; i++)
		c->io.since[i] = counted_now(c, i);
}

void aggregate_io_close(struct collector *c)
{
	uint32_t i;

	for (i = 0; i < IO_OPERATIONS; i++)
		c->io.before[i] = counted_so_far(c, i);
}

/* ---- results ---- */

/* Of a squared standard error; what is no exact sum has one. */
static uint64_t root(double square)
{
	return square > 0 ? MAX((uint64_t)(square_root(square) + 0.5), 1ull) : 0;
}

static int longest_first(const void *a, const void *b)
{
	const struct profile_io *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? 1 : -1;
	return x->idle < y->idle ? 1 : x->idle > y->idle ? -1 : strcmp(x->target, y->target);
}

bool aggregate_io_view(const struct collector *c, uint32_t e, struct profile *p)
{
	const struct io_sums *s = &c->io;
	size_t bytes = (s->lines.count + 1) * sizeof(struct profile_io), i;
	struct profile_io *lines = aggregate_is_io(c, e) ? malloc(bytes + s->texts.length) : NULL;
	char *texts = (char *)lines + bytes;

	if (!lines)
		return !aggregate_is_io(c, e);
	if (s->texts.length)
		memcpy(texts, s->texts.bytes, s->texts.length);
	p->io = lines;
	p->io_count = (uint32_t)s->lines.count;
	for (i = 0; i < s->lines.count; i++) {
		const struct io_sum *l = &s->lines.items[i];

		lines[i] = (struct profile_io){
			.target = l->text ? texts + l->text : io_kind_names[l->kind].others,
			.operation = l->operation, .kind = l->kind, .bytes = l->bytes, .time = l->time,
			.calls = (l->calls + IO_PARTS / 2) / IO_PARTS, .idle = l->idle, .longest = l->longest,
			.calls_error = root(l->calls_error), .bytes_error = root(l->bytes_error),
			.time_error = root(l->time_error), .idle_error = root(l->idle_error),
		};
	}
	for (i = 0; i < IO_OPERATIONS; i++)
		p->io_counted[i] = c->open ? counted_so_far(c, (uint32_t)i) : s->before[i];
	qsort(lines, s->lines.count, sizeof(*lines), longest_first);
	return true;
}

void aggregate_io_free(struct io_sums *s)
{
	PAGED_FREE(&s->lines);
	map_free(&s->by_key);
	strings_free(&s->texts);
}
