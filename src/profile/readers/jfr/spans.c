#include "profile/readers/jfr/spans.h"

#include <stdlib.h>

void spans_note(struct spans *s, const struct thread_span *span)
{
	struct thread_span *new = span->to > span->from ? VECTOR_PUSH(&s->items) : NULL;

	if (new)
		*new = *span;
	s->no_memory |= !new && span->to > span->from;
}

static int by_begin(const void *a, const void *b)
{
	const struct thread_span *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->from < y->from ? -1 : x->from > y->from;
}

void spans_sort(struct spans *s)
{
	size_t i, count = 0;

	if (s->items.count)
		qsort(s->items.items, s->items.count, sizeof(*s->items.items), by_begin);
	for (i = 0; i < s->items.count; i++) {
		struct thread_span *last = count ? &s->items.items[count - 1] : NULL, *next = &s->items.items[i];

		if (last && last->thread == next->thread && next->from <= last->to)
			last->to = MAX(last->to, next->to);
		else
			s->items.items[count++] = *next;
	}
	s->items.count = count;
	s->noting = false;
}

bool spans_hold(const struct spans *s, uint64_t thread, int64_t time)
{
	size_t low = 0, high = s->items.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct thread_span *at = &s->items.items[middle];

		if (at->thread < thread || (at->thread == thread && at->from <= time))
			low = middle + 1;
		else
			high = middle;
	}
	return low && s->items.items[low - 1].thread == thread && time < s->items.items[low - 1].to;
}
