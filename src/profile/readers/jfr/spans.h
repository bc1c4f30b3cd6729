/*
 * spans.h - when threads were within a span: --latency and --tag leave only samples of such times.
 *
 * Spans are profiler.Span, which programs make, and jdk.MethodTrace, calls of a traced method. All of them are noted
 * first, and samples looked up after that.
 */
#ifndef JSTROBE_READERS_JFR_SPANS_H
#define JSTROBE_READERS_JFR_SPANS_H

#include "common/base/vector.h"

struct thread_span {
	uint64_t thread;
	int64_t from, to; /* ns since 1970; TO is outside */
};

struct spans {
	const char *tag; /* of those that are wanted; "" = any */
	uint64_t least;  /* ns */
	bool noting;     /* they are noted now */
	bool no_memory;
	VECTOR(struct thread_span) items; /* after spans_sort: apart from one another, in their order */
};

/* Note a span that is wanted. */
void spans_note(struct spans *s, const struct thread_span *span);
/* All are noted. */
void spans_sort(struct spans *s);
/* Whether THREAD is within one at TIME. Any thread. */
bool spans_hold(const struct spans *s, uint64_t thread, int64_t time);

#endif
