/*
 * chunk_contexts.c - jstrobe.SampleContext: what the thread of the sample behind it worked for. Samples are wanted by
 * it, or kept apart.
 */
#include <string.h>

#include "profile/readers/jfr/event_handlers.h"
#include "profile/readers/read_contexts.h"

bool handler_is_of_context(const struct chunk_handlers *w, uint32_t thread, uint64_t time)
{
	return !context_filter_is_set(&w->selection->context_filter) ||
	       (w->trace_context.wanted && w->trace_context.thread == thread && w->trace_context.time == time);
}

uint32_t handler_in_context(struct chunk_handlers *w, uint32_t thread, uint64_t time, bool by_thread)
{
	bool said = w->trace_context.thread == thread && w->trace_context.time == time;
	uint32_t whose = by_thread && thread != STACK_COUNT_NONE ? names_thread(&w->names, thread) : READ_NO_THREAD;

	return read_context_pair(w->aggregate, whose, said ? w->trace_context.number : 0);
}

/* Whether the labels of that number in the aggregate's strings have the one that is wanted: looked for once. */
static bool has_label(struct chunk_handlers *w, uint32_t labels)
{
	uint32_t *known = map_put(&w->labels, labels, NULL);

	if (!known) {
		w->aggregate->no_memory = true;
		return false;
	}
	if (!*known)
		*known = 1 + context_filter_wants_label(&w->selection->context_filter,
							strings_get(&w->aggregate->strings, labels));
	return *known == 2;
}

/* Labels LABELS, as events have them, as contexts do: read but once, as many events may have one text. 0: none. */
static uint32_t labels_of(struct chunk_handlers *w, uint32_t labels)
{
	struct buffer text = BUFFER_INIT;
	uint32_t *known = labels ? map_put(&w->context_labels, labels, NULL) : NULL;

	if (known && !*known) {
		read_context_labels(&text, strings_get(&w->aggregate->strings, labels));
		*known = text.failed ? 0 : strings_add(&w->aggregate->strings, text.data, text.length);
	}
	w->aggregate->no_memory |= (labels && !known) || text.failed || w->aggregate->strings.failed;
	buffer_free(&text);
	return known ? *known : 0;
}

static uint32_t number_of(struct chunk_handlers *w, const char *trace, const char *span, uint32_t labels)
{
	struct profile_trace_context c = {.labels = ""};

	read_context_ids(&c, trace, span);
	return read_context_of_labels(w->aggregate, &c, labels_of(w, labels));
}

void handler_context(struct chunk_handlers *w, const struct event_handler *handler)
{
	const struct context_filter *filter = &w->selection->context_filter;
	const uint64_t *slots = handler->slots;
	struct buffer trace_text = BUFFER_INIT, span_text = BUFFER_INIT;
	const char *trace, *span;
	uint32_t labels = 0;

	if (!context_filter_is_set(filter) && !w->selection->by_context)
		return;
	if (handler->has_object && (*filter->label || w->selection->by_context))
		labels = names_text(&w->names, handler->object_type, slots[SLOT_OBJECT]);
	trace = handler_inline_text(w, slots[SLOT_A], &trace_text);
	span = handler_inline_text(w, slots[SLOT_B], &span_text);
	w->trace_context.thread = handler->has_thread && w->thread_pool ?
					  pool_find(w->thread_pool, slots[SLOT_THREAD]) : STACK_COUNT_NONE;
	w->trace_context.time = slots[SLOT_TIME];
	w->trace_context.wanted = context_filter_wants_ids(filter, trace, span) &&
				  (!*filter->label || has_label(w, labels));
	w->trace_context.number = w->selection->by_context ? number_of(w, trace, span, labels) : 0;
	buffer_free(&trace_text);
	buffer_free(&span_text);
}
