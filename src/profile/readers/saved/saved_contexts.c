/*
 * saved_contexts.c - what threads worked for, as a result in JSON says it.
 */
#include <stdio.h>
#include <string.h>

#include "profile/readers/read_contexts.h"
#include "profile/readers/saved/saved_reader.h"

static void keep_context(struct saved *s, const struct profile_trace_context *c, bool wanted)
{
	struct saved_context *kept = VECTOR_PUSH(&s->contexts);

	if (!kept) {
		s->no_memory = true;
		return;
	}
	kept->wanted = wanted;
	kept->number = s->aggregate->by_context ? read_context_number(s->aggregate, c) : 0;
}

/* An object of texts into TO as "key=value, key=value", and into LABELS as struct profile_trace_context has them. */
static void read_labels(struct saved *s, struct buffer *to, struct buffer *labels)
{
	const char *key, *value;
	size_t length;

	if (!json_open(&s->j, '{'))
		return;
	while ((key = json_key(&s->j))) {
		struct buffer kept = BUFFER_INIT;

		buffer_puts(&kept, key); /* the value takes its place */
		value = json_string(&s->j, &length);
		buffer_printf(to, "%s%.*s=%s", to->length ? ", " : "", (int)kept.length,
			      kept.length ? kept.data : "", value);
		read_context_label(labels, kept.data, kept.length, value, strlen(value));
		s->no_memory |= kept.failed != 0;
		buffer_free(&kept);
	}
}

static void read_context(struct saved *s)
{
	struct buffer labels = BUFFER_INIT, apart = BUFFER_INIT;
	struct profile_trace_context c = {.labels = ""};
	char trace[40] = "", span[24] = "";
	const char *key;

	if (!json_open(&s->j, '{'))
		return;
	while ((key = json_key(&s->j))) {
		if (strcmp(key, "trace_id") == 0)
			snprintf(trace, sizeof(trace), "%s", json_string(&s->j, NULL));
		else if (strcmp(key, "span_id") == 0)
			snprintf(span, sizeof(span), "%s", json_string(&s->j, NULL));
		else if (strcmp(key, "labels") == 0)
			read_labels(s, &labels, &apart);
		else {
			c.others |= strcmp(key, "others") == 0 && json_peek(&s->j) == 't';
			json_skip(&s->j);
		}
	}
	buffer_putc(&labels, '\0');
	buffer_putc(&apart, '\0');
	if (labels.failed || apart.failed) {
		s->no_memory = true;
	} else {
		read_context_ids(&c, trace, span);
		c.labels = apart.data;
		keep_context(s, &c, context_filter_wants(s->context_filter, trace, span, labels.data));
	}
	buffer_free(&labels);
	buffer_free(&apart);
}

void saved_contexts(struct saved *s)
{
	s->contexts.count = 0;
	s->has_contexts = true;
	if (!json_open(&s->j, '['))
		return;
	while (json_item(&s->j) && !s->no_memory)
		read_context(s);
}

bool saved_is_of_context(const struct saved *s, uint64_t context)
{
	if (!context_filter_is_set(s->context_filter))
		return true;
	return context && context <= s->contexts.count && s->contexts.items[context - 1].wanted;
}

uint32_t saved_in_context(struct saved *s, uint32_t thread, uint64_t context)
{
	if (!s->aggregate->by_context)
		return thread;
	return read_context_pair(s->aggregate, thread, context && context <= s->contexts.count ?
				 s->contexts.items[context - 1].number : 0);
}
