/*
 * context_text.h - how writers spell what a thread worked for. Inner header of the model room.
 */
#ifndef JSTROBE_MODEL_CONTEXT_TEXT_H
#define JSTROBE_MODEL_CONTEXT_TEXT_H

#include "common/base/json_writer.h"
#include "profile/model/profile.h"

/*
 * Put the members of R's JSON object: "trace_id" and "span_id" in hexadecimal as W3C writes them, "labels" as an
 * object; each only if there is one.
 */
void trace_context_json(struct json_writer *w, const struct profile_trace_context *r);
/*
 * Next of LABELS (as in struct profile_trace_context): key and, from *VALUE on, value in TEXT, each NUL-ended. What is
 * left of LABELS; NULL: there was none, or no memory (TEXT has failed).
 */
const char *trace_context_next_label(const char *labels, struct buffer *text, size_t *value);
/* Append LABELS (as in struct profile_trace_context) as "key=value, key=value". */
void trace_context_labels(struct buffer *out, const char *labels);

/* Room for an id in hexadecimal. */
#define TRACE_CONTEXT_TRACE_CHARS 33
#define TRACE_CONTEXT_SPAN_CHARS 17
/* The ids of R in hexadecimal, "" for none. */
void trace_context_trace_id(const struct profile_trace_context *r, char *to);
void trace_context_span_id(const struct profile_trace_context *r, char *to);

#endif
