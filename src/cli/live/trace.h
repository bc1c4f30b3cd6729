/*
 * trace.h - what `jstrobe trace --live` knows: a tree of calls, and how it grew since the last look.
 *
 * Each look is a result in JSON (docs/reference/json.md). Numbers of methods and nodes change from one to the next,
 * so a node is the same if the names on the way to it are.
 */
#ifndef JSTROBE_CLI_LIVE_TRACE_H
#define JSTROBE_CLI_LIVE_TRACE_H

#include "common/base/buffer.h"
#include "common/base/map.h"
#include "common/base/strings.h"
#include "common/base/vector.h"

struct trace_sums {
	uint64_t calls, total, self; /* total, self: ns of wall-clock time, self without waiting */
};

struct trace_node {
	uint32_t name;           /* number in model.strings */
	uint32_t parent, depth;  /* node 0 is the root; depth of those below it is 1 */
	uint32_t signature;      /* overloads are nodes of their own */
	uint32_t before;         /* its place in the last look + 1, 0 = it was not there */
	struct trace_sums sums;  /* so far */
	struct trace_sums grown; /* since the last look */
};

struct trace_method {
	uint32_t name, signature;
};

struct trace_model {
	struct strings strings;
	VECTOR(struct trace_node) nodes; /* parents before their children */
	VECTOR(struct trace_sums) former;
	VECTOR(struct trace_method) methods; /* by their number in the result */
	struct map pairs;                /* name and signature → their number */
	struct map by_way;               /* the parent's place in the last look and that number → place in former + 1 */
	uint32_t pid, main_class, timing;
	uint64_t duration, calls;        /* ns, and since the session began */
	bool too_large;                  /* the last look had more than is kept */
	uint64_t span, called;           /* the same since the last look */
};

/* Take in the result BYTES[SIZE]. False: it is none, or memory is short; there is nothing to show then. */
bool trace_model_take(struct trace_model *m, const void *bytes, size_t size);
void trace_model_free(struct trace_model *m);

/* The call tree of `jstrobe trace --live` as a screen of text. */

struct trace_view {
	unsigned rows, columns;
	bool whole;         /* all since the session began, else what came since the last look */
	bool paused;
	const char *keys;   /* last line; NULL = none */
	const char *filter; /* methods with this in their name, and those on the way to them; "" = all */
};

/*
 * Append the tree of M: at most V->rows lines of at most V->columns columns. The heaviest branches come first; those
 * that do not fit are left out, the lightest first. 0 or -ENOMEM.
 */
int trace_view_show(const struct trace_model *m, const struct trace_view *v, struct buffer *out);

#endif
