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

const char *trace_context_next_label(const char *labels, struct buffer *text, size_t *value)
{
	size_t key = strcspn(labels, "\n"), at = key + (labels[key] != '\0');

	if (!*labels)
		return NULL;
	text->length = 0;
	buffer_append(text, labels, key);
	buffer_putc(text, '\0');
	*value = text->length;
	key = strcspn(labels + at, "\n");
	buffer_append(text, labels + at, key);
	buffer_putc(text, '\0');
	labels += at + key;
	return text->failed ? NULL : labels + (*labels != '\0');
}

void trace_context_json(struct json_writer *w, const struct profile_trace_context *r)
{
	char trace[TRACE_CONTEXT_TRACE_CHARS], span[TRACE_CONTEXT_SPAN_CHARS];
	struct buffer text = BUFFER_INIT;
	const char *labels = r->labels;
	size_t value;

	trace_context_trace_id(r, trace);
	trace_context_span_id(r, span);
	if (*trace)
		json_put_text(w, "trace_id", trace);
	if (*span)
		json_put_text(w, "span_id", span);
	if (!*labels)
		return;
	json_object(w, "labels");
	while ((labels = trace_context_next_label(labels, &text, &value)))
		json_put_text(w, text.data, text.data + value);
	json_end(w);
	if (text.failed && !w->out->failed)
		w->out->failed = text.failed; /* a result without all labels is none */
	buffer_free(&text);
}

void trace_context_labels(struct buffer *out, const char *labels)
{
	const char *separator = "";
	struct buffer text = BUFFER_INIT;
	size_t value;

	while ((labels = trace_context_next_label(labels, &text, &value))) {
		buffer_printf(out, "%s%s=%s", separator, text.data, text.data + value);
		separator = ", ";
	}
	if (text.failed && !out->failed)
		out->failed = text.failed;
	buffer_free(&text);
}
