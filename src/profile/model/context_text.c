#include "profile/model/context_text.h"

#include <stdio.h>
#include <string.h>

void trace_context_trace_id(const struct profile_trace_context *r, char *to)
{
	*to = '\0';
	if (r->trace_high | r->trace_low)
		snprintf(to, TRACE_CONTEXT_TRACE_CHARS, "%016llx%016llx", (unsigned long long)r->trace_high,
			 (unsigned long long)r->trace_low);
}

void trace_context_span_id(const struct profile_trace_context *r, char *to)
{
	*to = '\0';
	if (r->span)
		snprintf(to, TRACE_CONTEXT_SPAN_CHARS, "%016llx", (unsigned long long)r->span);
}

typedef void put_word(struct buffer *out, const void *word, size_t length);

/* Each of LABELS, a line the key and a line the value, with BETWEEN the two and SEPARATOR between labels. */
static void put_labels(struct buffer *out, const char *labels, put_word *put, char between, const char *separator)
{
	bool key = true, first = true;

	for (; *labels; key = !key, labels += *labels != '\0') {
		size_t length = strcspn(labels, "\n");

		if (!key)
			buffer_putc(out, between);
		else if (!first)
			buffer_puts(out, separator);
		first = false;
		put(out, labels, length);
		labels += length;
	}
}

static void put_quoted(struct buffer *out, const void *word, size_t length)
{
	struct buffer copy = BUFFER_INIT;

	buffer_append(&copy, word, length);
	buffer_putc(&copy, '\0');
	buffer_json(out, copy.failed ? "" : copy.data);
	buffer_free(&copy);
}

static const char *put_id(struct buffer *out, const char *separator, const char *key, const char *id)
{
	if (!*id)
		return separator;
	buffer_printf(out, "%s\"%s\":\"%s\"", separator, key, id);
	return ",";
}

void trace_context_json(struct buffer *out, const struct profile_trace_context *r, const char *separator)
{
	char trace[TRACE_CONTEXT_TRACE_CHARS], span[TRACE_CONTEXT_SPAN_CHARS];

	trace_context_trace_id(r, trace);
	trace_context_span_id(r, span);
	separator = put_id(out, separator, "trace_id", trace);
	separator = put_id(out, separator, "span_id", span);
	if (!*r->labels)
		return;
	buffer_puts(out, separator);
	buffer_puts(out, "\"labels\":{");
	put_labels(out, r->labels, put_quoted, ':', ",");
	buffer_putc(out, '}');
}

void trace_context_labels(struct buffer *out, const char *labels)
{
	put_labels(out, labels, buffer_append, '=', ", ");
}
