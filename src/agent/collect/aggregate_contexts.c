/*
 * aggregate_contexts.c - stacks kept apart by what their threads worked for (docs/use/slow-request.md).
 *
 * There may be as many spans as samples, so only so many are kept apart: those beyond are one, which says so.
 */
#include <string.h>

#include "agent/collect/aggregate.h"
#include "agent/context/context_table.h"
#include "common/base/hash.h"

#define KEPT_APART 100000

static uint64_t hash(const struct trace_context *r)
{
	return hash_mix(hash_mix(r->trace_high ^ hash_mix(r->trace_low)) ^ hash_mix(r->span) ^ r->labels);
}

/* The number of a new one with R, NULL: the one of all others; 0 = out of memory. */
static uint32_t add(struct collector *c, const struct trace_context *r)
{
	const char *labels = r ? trace_contexts_labels(r->labels) : "";
	struct trace_context_entry *e = PAGED_PUSH(&c->trace_contexts);

	if (!e)
		return 0;
	*e = (struct trace_context_entry){
		.others = !r,
		.labels = strings_add(&c->frames.strings, labels, strlen(labels)),
	};
	if (r)
		e->trace_context = *r;
	return (uint32_t)c->trace_contexts.count;
}

uint32_t aggregate_trace_context(struct collector *c, const struct trace_context *r)
{
	uint64_t key;
	uint32_t *slot;

	if (!c->options.per_trace_context || trace_context_is_none(r))
		return 0;
	for (key = hash(r);; key++) {
		slot = c->trace_contexts.count < KEPT_APART ? map_put(&c->by_trace_context, key, NULL)
						      : map_get(&c->by_trace_context, key);
		if (!slot || !*slot || trace_context_equals(&c->trace_contexts.items[*slot - 1].trace_context, r))
			break;
	}
	if (slot && !*slot)
		*slot = add(c, r);
	if (slot)
		return *slot;
	/* Their number is the first beyond those that are kept; it may be out of memory that led here. */
	if (!c->other_trace_contexts)
		c->other_trace_contexts = add(c, NULL);
	return c->other_trace_contexts;
}

/*
 * Thread THREAD and TRACE_CONTEXT as one number below 2^29 that no thread has alone; 0 = out of memory. Most samples
 * have none: it is the thread's then.
 */
uint32_t aggregate_trace_context_on(struct collector *c, uint32_t thread, uint32_t trace_context)
{
	uint32_t *slot;

	if (!trace_context)
		return thread;
	slot = map_put(&c->trace_context_pairs, (uint64_t)trace_context << 32 | thread, NULL);
	if (slot && !*slot)
		*slot = c->trace_context_pairs.count;
	return slot ? *slot | 1u << 28 : 0;
}
