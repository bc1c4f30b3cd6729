/*
 * calls_sample.h - a made-up trace with what a trace can have: overloads, recursion, two threads, waiting, a
 * distribution, slow calls, names that try to break out.
 */
#ifndef JSTROBE_TESTS_CALLS_SAMPLE_H
#define JSTROBE_TESTS_CALLS_SAMPLE_H

#include "profile/model/calls.h"
#include "profile/model/profile.h"

/* The methods, by their places in calls_sample_methods. */
enum { RUN, TOTAL, TOTAL_OF, ROUND, EVIL, REST };

static struct calls_method calls_sample_methods[] = {
	[RUN] = {.class_name = "com.acme.Main", .name = "run", .type = "()V",
		 .spread = {.timed = 3, .min = 900000, .p50 = 1000000, .p99 = 2000000, .max = 2100000}},
	[TOTAL] = {.class_name = "com.acme.Order", .name = "total", .type = "()J"},
	[TOTAL_OF] = {.class_name = "com.acme.Order", .name = "total", .type = "(Ljava/lang/String;)J"},
	[ROUND] = {.class_name = "com.acme.money.Round", .name = "<init>", .type = "(I)V"},
	[EVIL] = {.class_name = "</script><b>Größe", .name = "x;y", .type = "()V"},
	[REST] = {.class_name = "NoPackage", .name = "rest", .type = "()V"},
};

static struct calls_thread calls_sample_threads[] = {
	{.name = "main", .id = 1, .threads = 1},
	{.name = "several threads", .id = 0, .threads = 300},
};

/* {method, parent, depth, thread, count, stamps, self}; by thread with the threads' roots in front. */
#define NODE(m, p, d, n, w, c) {.method = m, .parent = p, .depth = d, .count = n, .self = {.wall = w, .cpu = c}}
static struct calls_node calls_sample_merged[] = {
	{.method = CALLS_ROOT},
	NODE(RUN, 0, 1, 3, 1000000, 900000),
	NODE(TOTAL, 1, 2, 2000, 2500000, 2400000),
	NODE(ROUND, 2, 3, 70000, 500000, 500000),
	NODE(TOTAL_OF, 2, 3, 5, 0, 0),
	NODE(TOTAL, 4, 4, 5, 250000, 250000), /* total() calls itself by way of total(String) */
	NODE(EVIL, 1, 2, 1, 125000, 100000),
	NODE(REST, 0, 1, 10, 40000, 30000),
};
static struct calls_node calls_sample_apart[] = {
	{.method = CALLS_ROOT},
	{.method = CALLS_THREAD, .depth = 1, .thread = 0},
	{.method = CALLS_THREAD, .depth = 1, .thread = 1},
	NODE(RUN, 1, 2, 3, 1000000, 900000),
	NODE(TOTAL, 3, 3, 2000, 2500000, 2400000),
	NODE(ROUND, 4, 4, 70000, 500000, 500000),
	NODE(TOTAL_OF, 4, 4, 5, 0, 0),
	NODE(TOTAL, 6, 5, 5, 250000, 250000),
	NODE(EVIL, 3, 3, 1, 125000, 100000),
	NODE(REST, 2, 2, 10, 40000, 30000),
};
#undef NODE

/* Sums as the agent makes them. */
static void calls_sample_sum(struct calls *c, bool timed)
{
	uint32_t i, at;

	for (i = 1; i < c->node_count; i++) {
		if (!timed)
			c->nodes[i].self = (struct calls_times){.wall = 0};
		c->nodes[i].total = c->nodes[i].self;
		c->nodes[i].total.wall += calls_waited(&c->nodes[i].self);
	}
	for (i = c->node_count - 1; i > 0; i--)
		calls_times_add(&c->nodes[c->nodes[i].parent].total, &c->nodes[i].total);
	for (i = 1; i < c->node_count; i++) {
		struct calls_node *n = &c->nodes[i];
		struct calls_thread *t = &c->threads[n->method == REST];

		if (n->method == CALLS_THREAD)
			continue;
		c->methods[n->method].count += n->count;
		calls_times_add(&c->methods[n->method].self, &n->self);
		for (at = n->parent; at && c->nodes[at].method != n->method; at = c->nodes[at].parent)
			;
		if (!at)
			calls_times_add(&c->methods[n->method].total, &n->total);
		c->count += n->count;
		t->count += n->count;
		calls_times_add(&t->self, &n->self);
	}
}

/* What the sample's `calls` points to: the last one that was made. */
static struct calls calls_sample_calls;

static struct profile calls_sample(bool by_thread, bool timed)
{
	static const uint32_t stack[] = {0, 1};
	static struct calls_frame frames[] = {{"com.acme.Main", "run", "()V", 12}, {"java.lang.Thread", "run", "()V", 0}};
	static struct calls_stack stacks[] = {{stack, 2, false}};
	static struct calls_event events[] = {{RUN, 0, 1790000000500000000, 2100000, 1, "main"}};
	static struct calls_entered entered[] = {{REST, 2}};
	static struct calls_skip skipped[] = {{"com.acme.Order.<clinit>()V", "native \"quoted\" </script>"}};
	struct calls *c = &calls_sample_calls;

	*c = (struct calls){
		.timed = timed, .latency = timed ? 2000000 : UINT64_MAX, .methods = calls_sample_methods,
		.method_count = ARRAY_LEN(calls_sample_methods),
		.nodes = by_thread ? calls_sample_apart : calls_sample_merged,
		.node_count = by_thread ? ARRAY_LEN(calls_sample_apart) : ARRAY_LEN(calls_sample_merged),
		.threads = calls_sample_threads, .thread_count = ARRAY_LEN(calls_sample_threads),
		.skipped = skipped, .skipped_count = 1, .class_count = 5, .bytes = 65536, .cost = 3.5,
		.frames = frames, .frame_count = 2, .stacks = stacks, .stack_count = 1, .events = events,
		.event_count = timed, .entered = entered, .entered_count = 1,
	};

	/* it waited for a lock twice as long as it worked */
	c->nodes[c->node_count - 1].self.waits[CALLS_MONITOR] = 60000;
	c->nodes[c->node_count - 1].self.waits[CALLS_SLEEP] = 20000;
	calls_sample_sum(c, timed);
	return (struct profile){
		.event = "calls", .engine = timed ? "exact" : "none", .weight_kind = WEIGHT_WALL,
		.duration = 2000000000, .started_at = 1790000000123456789, .main_class = "com.acme.Main",
		.jdk = "17.0.15+6", .pid = 4711, .taken = c->count, .stored = c->count, .calls = c,
	};
}

#endif
