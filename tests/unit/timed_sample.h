/*
 * timed_sample.h - a small profile made by hand that has what recordings have: when its samples were taken, what threads
 * did, and marks that stand in one another, beside one another and across.
 */
#ifndef TIMED_SAMPLE_H
#define TIMED_SAMPLE_H

#include "format_sample.h"
#include "profile/model/profile_marks.h"

#define TIMED_MARKS 7
#define TIMED_LONG 6 /* of them have a length */

/* Two threads share an id, one has none. */
static const struct profile_thread timed_threads[] = {
	{101, "main", 4, 40000000}, {101, "main's successor", 2, 20000000}, {0, "\xff\x01no id", 1, 10000000},
};

static inline struct profile timed_profile(void)
{
	static struct profile_stack stacks[4];
	static const struct profile_moment moments[] = {
		{.at = 0, .stack = 0, .thread = 0, .samples = 1, .weight = 10000000},
		{.at = 10, .stack = 0, .thread = 0, .samples = 2, .span = 10, .weight = 20000000},
		{.at = 10, .stack = 2, .thread = 1, .samples = 2, .weight = 20000000},
		{.at = 25, .stack = 1, .thread = 0, .samples = 1, .weight = 10000000},
		{.at = 30, .stack = PROFILE_NO_STACK, .thread = 0, .samples = 1, .weight = 10000000},
		{.at = 40, .stack = 3, .thread = 2, .samples = 1, .weight = 10000000},
	};
	static const struct profile_mark_name names[] = {
		{.kind = MARK_KIND_PAUSE, .name = "", .count = 2, .kept = 2}, {.kind = MARK_KIND_SPAN, .name = "\xff order", .count = 4, .kept = 4},
		{.kind = MARK_KIND_EVENT, .name = "release", .count = 1, .kept = 1},
	};
	static const struct profile_mark items[TIMED_MARKS] = {
		{1000, 5000, 1, 0, 0}, {1000, 5000, 1, 0, 0}, {2000, 1000, 1, 0, 0}, {3000, 9000, 1, 0, 0}, {3500, 0, 2, 1, 0},
		{4000, 100, 0, PROFILE_NO_THREAD, 1}, {4100, 7, 0, PROFILE_NO_THREAD, 0},
	};
	static const struct profile_mark_gc gcs[] = {{"G1New", "Allocation"}};
	static const struct profile_mark_thread threads[] = {{101, "main"}, {0, "another"}};
	static const struct profile_marks marks = {
		.names = names, .items = items, .gcs = gcs, .threads = threads, .name_count = 3, .item_count = TIMED_MARKS,
		.gc_count = 1, .thread_count = 2, .duration = 50000000,
	};
	struct profile p = sample_profile(true);

	memcpy(stacks, sample_stacks, sizeof(stacks));
	stacks[0].samples = 3;
	stacks[0].weight = 30000000;
	stacks[0].state = THREAD_RUNNING;
	stacks[1] = stacks[0];
	stacks[1].state = THREAD_PARKED;
	stacks[1].samples = 1;
	stacks[1].weight = 10000000;
	stacks[2] = (struct profile_stack){.thread = 1, .samples = 2, .weight = 20000000, .state = THREAD_RUNNING};
	stacks[3].thread = 2;
	stacks[3].samples = 1;
	stacks[3].weight = 10000000;
	p.event = "wall";
	p.stacks = p.moments_of = stacks;
	p.stack_count = ARRAY_LEN(stacks);
	p.threads = timed_threads;
	p.thread_count = ARRAY_LEN(timed_threads);
	p.moments = moments;
	p.moment_count = ARRAY_LEN(moments);
	p.moment_step = NS_PER_MS;
	p.marks = &marks;
	return p;
}

#endif
