/*
 * spans.h - when threads were within a span: --latency and --tag leave only samples of such times.
 *
 * Spans are profiler.Span, which programs make, and jdk.MethodTrace, calls of a traced method. All of them are noted
 * first, and samples looked up after that.
 */
#ifndef JSTROBE_READERS_JFR_SPANS_H
#define JSTROBE_READERS_JFR_SPANS_H

#include "common/base/buffer.h"
#include "common/base/vector.h"

struct thread_span {
	uint64_t thread;
	int64_t from, to; /* ns since 1970; TO is outside */
};

/* Spans that are called so, to say what there is where none is wanted. */
struct span_name {
	char *tag;
	uint64_t count;
};

struct spans {
	const char *tag; /* of those that are wanted, '*' at its begin or end stands for anything; "" = any */
	uint64_t least;  /* ns */
	bool noting;     /* they are noted now */
	bool no_memory;
	uint64_t all, longest; /* spans, wanted or not; ns */
	VECTOR(struct span_name) names; /* of the first SPAN_NAMES that are not alike */
	VECTOR(struct thread_span) items; /* after spans_sort: apart from one another, in their order */
};

#define SPAN_NAMES 200

/* Note a span that is called TAG, if it is wanted. */
void spans_note(struct spans *s, const struct thread_span *span, const char *tag);
/* The most frequent names of spans: "GET /fast (15,645), GET /slow (7)". */
void spans_put_names(const struct spans *s, struct buffer *out);
void spans_free(struct spans *s);
/* All are noted. */
void spans_sort(struct spans *s);
/* Whether THREAD is within one at TIME. Any thread. */
bool spans_hold(const struct spans *s, uint64_t thread, int64_t time);

#endif
