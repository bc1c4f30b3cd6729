#include "profile/readers/jfr/spans.h"

#include <stdlib.h>
#include <string.h>

#include "profile/model/filter.h"
#include "profile/model/human.h"

#define NAMES_SAID 8

/* Count one called TAG among the names. */
static void count_name(struct spans *s, const char *tag)
{
	struct span_name *name = NULL;
	size_t i;

	for (i = 0; i < s->names.count && strcmp(s->names.items[i].tag, tag) != 0; i++)
		;
	if (i < s->names.count) {
		s->names.items[i].count++;
		return;
	}
	if (s->names.count < SPAN_NAMES)
		name = VECTOR_PUSH(&s->names);
	if (name)
		*name = (struct span_name){strdup(tag), 1};
	if (name && !name->tag)
		s->names.count--;
}

void spans_note(struct spans *s, const struct thread_span *span, const char *tag)
{
	uint64_t took = span->to > span->from ? (uint64_t)span->to - (uint64_t)span->from : 0;
	struct thread_span *new;

	s->all++;
	s->longest = MAX(s->longest, took);
	if (!s->items.count)
		count_name(s, tag);
	if (took < s->least || (*s->tag && !filter_match(s->tag, strlen(s->tag), tag)))
		return;
	new = span->to > span->from ? VECTOR_PUSH(&s->items) : NULL;
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

static int most_first(const void *a, const void *b)
{
	const struct span_name *x = a, *y = b;

	return x->count != y->count ? (x->count < y->count ? 1 : -1) : strcmp(x->tag, y->tag);
}

void spans_put_names(const struct spans *s, struct buffer *out)
{
	size_t i;

	if (s->names.count)
		qsort(s->names.items, s->names.count, sizeof(*s->names.items), most_first);
	for (i = 0; i < MIN(s->names.count, (size_t)NAMES_SAID); i++) {
		const struct span_name *name = &s->names.items[i];

		buffer_printf(out, "%s%.60s (%s)", i ? ", " : "", *name->tag ? name->tag : "nothing",
			      human_count(name->count).text);
	}
	if (s->names.count > NAMES_SAID)
		buffer_puts(out, " and others");
	buffer_putc(out, '\0');
}

void spans_free(struct spans *s)
{
	size_t i;

	for (i = 0; i < s->names.count; i++)
		free(s->names.items[i].tag);
	free(s->names.items);
	free(s->items.items);
}
