#include "profile/readers/io_lines.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/square_root.h"
#include "common/base/wide.h"

struct io_line *io_lines_of(struct io_lines *lines, uint32_t target, uint8_t operation, uint8_t kind)
{
	uint32_t *slot = map_put(&lines->by_key, (uint64_t)target << 16 | (uint64_t)operation << 8 | kind, NULL);
	struct io_line *line;

	if (slot && *slot)
		return &lines->items.items[*slot - 1];
	line = slot ? VECTOR_PUSH(&lines->items) : NULL;
	if (!line)
		return NULL;
	*line = (struct io_line){.target = target, .operation = operation, .kind = kind};
	*slot = (uint32_t)lines->items.count;
	return line;
}

/* As the session sums it up: a short call stands for as many as its sample weighs of its own time. */
void io_lines_add(struct io_lines *lines, struct io_line *line, const struct io_call *call)
{
	uint64_t duration = MAX(call->duration, 1ull), weight = MAX(call->weight ? call->weight : call->idle, 1ull);
	double each = (double)weight / (double)duration / (double)duration, bytes = (double)call->bytes;
	uint64_t weight_of_all;

	line->time = wide_add(line->time, call->weight);
	line->idle = wide_add(line->idle, call->idle);
	line->longest = MAX(line->longest, call->duration);
	if (call->open)
		return;
	line->calls = wide_add(line->calls, wide_scale(weight, IO_LINE_PARTS, 0, duration));
	line->bytes = wide_add(line->bytes, wide_scale(weight, call->bytes, 0, duration));
	if (!call->estimated)
		return;
	weight_of_all = MAX(weight, call->whole);
	lines->interval = lines->interval ? MIN(lines->interval, weight_of_all) : weight_of_all;
	*(call->weight ? &line->time_error : &line->idle_error) += (double)weight;
	line->calls_error += each;
	line->bytes_error += each * bytes * bytes;
}

bool io_lines_join(struct io_lines *to, const struct io_lines *from, const struct io_line *line, uint32_t target)
{
	struct io_line *mine = io_lines_of(to, target, line->operation, line->kind);

	if (!mine)
		return false;
	mine->calls = wide_add(mine->calls, line->calls);
	mine->bytes = wide_add(mine->bytes, line->bytes);
	mine->time = wide_add(mine->time, line->time);
	mine->idle = wide_add(mine->idle, line->idle);
	mine->longest = MAX(mine->longest, line->longest);
	mine->calls_error += line->calls_error;
	mine->bytes_error += line->bytes_error;
	mine->time_error += line->time_error;
	mine->idle_error += line->idle_error;
	if (from->interval)
		to->interval = to->interval ? MIN(to->interval, from->interval) : from->interval;
	return true;
}

static int longest_first(const void *a, const void *b)
{
	const struct profile_io *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? 1 : -1;
	return x->idle < y->idle ? 1 : x->idle > y->idle ? -1 : strcmp(x->target, y->target);
}

/* The standard error of a sum of SQUARES; what is an estimate has one. */
static uint64_t root(double squares, uint64_t interval)
{
	double error = square_root(squares * (double)interval) + 0.5;

	return squares > 0 ? error < 1 ? 1 : error < 1e19 ? (uint64_t)error : UINT64_MAX : 0;
}

bool io_lines_view(const struct io_lines *lines, const struct strings *targets, struct profile *p)
{
	struct profile_io *out = calloc(lines->items.count + 1, sizeof(*out));
	size_t i;

	p->interval = p->interval ? p->interval : lines->interval;
	for (i = 0; out && i < lines->items.count; i++) {
		const struct io_line *l = &lines->items.items[i];

		out[i] = (struct profile_io){
			.target = l->target ? strings_get(targets, l->target) : io_kind_names[l->kind].others,
			.operation = l->operation, .kind = l->kind,
			.calls = l->calls / IO_LINE_PARTS + (l->calls % IO_LINE_PARTS >= IO_LINE_PARTS / 2),
			.bytes = l->bytes, .time = l->time, .idle = l->idle, .longest = l->longest,
			.calls_error = root(l->calls_error, p->interval),
			.bytes_error = root(l->bytes_error, p->interval),
			.time_error = root(l->time_error, p->interval),
			.idle_error = root(l->idle_error, p->interval),
		};
	}
	p->io = out;
	p->io_count = out ? (uint32_t)i : 0;
	if (out)
		qsort(out, i, sizeof(*out), longest_first);
	return out != NULL;
}

void io_lines_clear(struct io_lines *lines)
{
	lines->items.count = 0;
	lines->interval = 0;
	map_clear(&lines->by_key);
}

void io_lines_free(struct io_lines *lines)
{
	free(lines->items.items);
	map_free(&lines->by_key);
}
