/*
 * aggregate_contexts.c - stacks kept apart by what their threads worked for (docs/context.md).
 *
 * There may be as many spans as samples, so only so many are kept apart: those beyond are one, which says so.
 */
#include <string.h>

#include "agent/collect/aggregate.h"
#include "agent/context/context_table.h"

#define KEPT_APART 100000

static uint64_t hash(const struct request *r)
{
	return map_hash(map_hash(r->trace_high ^ map_hash(r->trace_low)) ^ map_hash(r->span) ^ r->labels);
}

/* The number of a new one with R, NULL: the one of all others; 0 = out of memory. */
static uint32_t add(struct collector *c, const struct request *r)
{
	const char *labels = r ? requests_labels(r->labels) : "";
	struct request_entry *e = PAGED_PUSH(&c->requests);

	if (!e)
		return 0;
	*e = (struct request_entry){.others = !r, .labels = strings_add(&c->frames.strings, labels, strlen(labels))};
	if (r)
		e->request = *r;
	return (uint32_t)c->requests.count;
}

uint32_t account_request(struct collector *c, const struct request *r)
{
	uint64_t key;
	uint32_t *slot;

	if (!c->options.per_request || request_is_none(r))
		return 0;
	for (key = hash(r);; key++) {
		slot = c->requests.count < KEPT_APART ? map_put(&c->by_request, key, NULL)
						      : map_get(&c->by_request, key);
		if (!slot || !*slot || request_equals(&c->requests.items[*slot - 1].request, r))
			break;
	}
	if (slot && !*slot)
		*slot = add(c, r);
	if (slot)
		return *slot;
	/* Their number is the first beyond those that are kept; it may be out of memory that led here. */
	if (!c->other_requests)
		c->other_requests = add(c, NULL);
	return c->other_requests;
}

/*
 * Thread THREAD and request REQUEST as one number below 2^29 that no thread has alone; 0 = out of memory. Most samples
 * have none: it is the thread's then.
 */
uint32_t account_request_on(struct collector *c, uint32_t thread, uint32_t request)
{
	uint32_t *slot;

	if (!request)
		return thread;
	slot = map_put(&c->request_pairs, (uint64_t)request << 32 | thread, NULL);
	if (slot && !*slot)
		*slot = c->request_pairs.count;
	return slot ? *slot | 1u << 28 : 0;
}
