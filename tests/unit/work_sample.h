/*
 * work_sample.h - a shop whose two workers take turns at one lock while other threads have nothing to do: as wall time,
 * and as waits.
 */
#ifndef WORK_SAMPLE_H
#define WORK_SAMPLE_H

#include <stdio.h>
#include <string.h>

#include "profile/model/profile.h"
#include "wall_times.h"

#define WORK_MS 1000000ull
#define WORK_S 1000000000ull

enum frame_number { W_RUN, W_WORK, W_HANDLE, W_RESERVE, W_RECOUNT, W_SLEEP, W_LOCK, W_PARK, W_WORKER,
	W_GET_TASK, W_TAKE, W_STOCK, W_SYNC, W_LAMBDA, W_FRAMES };
#define JAVA(class, method) {.class_name = class, .name = method, .kind = FRAME_C2}
static const struct profile_frame work_frames[W_FRAMES] = {
	[W_RUN] = JAVA("java/lang/Thread", "run"),
	[W_WORK] = JAVA("shop/Orders", "work"),
	[W_HANDLE] = JAVA("shop/Orders", "handle"),
	[W_RESERVE] = JAVA("shop/Stock", "reserve"),
	[W_RECOUNT] = JAVA("shop/Stock", "recount"),
	[W_SLEEP] = JAVA("java/lang/Thread", "sleep0"),
	[W_LOCK] = JAVA("java/util/concurrent/locks/ReentrantLock", "lock"),
	[W_PARK] = JAVA("jdk/internal/misc/Unsafe", "park"),
	[W_WORKER] = JAVA("java/util/concurrent/ThreadPoolExecutor", "runWorker"),
	[W_GET_TASK] = JAVA("java/util/concurrent/ThreadPoolExecutor", "getTask"),
	[W_TAKE] = JAVA("java/util/concurrent/LinkedBlockingQueue", "take"),
	[W_LAMBDA] = JAVA("shop/Stock$$Lambda", "run"),
	[W_STOCK] = {.class_name = "shop/Stock", .name = "", .kind = FRAME_OTHER},
	[W_SYNC] = {.class_name = "java/util/concurrent/locks/AbstractQueuedSynchronizer$ConditionObject", .name = "",
		  .kind = FRAME_OTHER},
};
static const struct profile_thread work_threads[] = {
	{1, "order-1", 40, 2 * WORK_S}, {2, "order-2", 40, 2 * WORK_S}, {3, "http-nio-8080-exec-1", 200, 10 * WORK_S},
	{4, "http-nio-8080-exec-2", 200, 10 * WORK_S}, {5, "main", 40, 2 * WORK_S},
};
static const uint32_t blocked[] = {W_RUN, W_WORK, W_HANDLE, W_RESERVE};
static const uint32_t parked[] = {W_RUN, W_WORK, W_HANDLE, W_RESERVE, W_LOCK, W_PARK};
static const uint32_t holding[] = {W_RUN, W_WORK, W_HANDLE, W_RESERVE, W_RECOUNT, W_SLEEP};
static const uint32_t handling[] = {W_RUN, W_WORK, W_HANDLE};
static const uint32_t idle[] = {W_RUN, W_WORKER, W_GET_TASK, W_TAKE, W_PARK}, looping[] = {W_WORK, W_SLEEP};
#define SEEN(list, thread_, state_, samples_, weight_) \
	{.frames = list, .depth = ARRAY_LEN(list), .thread = thread_, .state = THREAD_##state_, .samples = samples_, \
	 .weight = weight_}

/* One has the lock, the other waits for it: to enter a monitor, or BY_METHOD. */
static inline struct profile work_sample(bool by_method)
{
	static struct profile_stack stacks[] = {
		SEEN(blocked, 0, BLOCKED, 20, 1 * WORK_S), SEEN(blocked, 1, BLOCKED, 10, 500 * WORK_MS),
		SEEN(holding, 0, SLEEPING, 10, 500 * WORK_MS), SEEN(holding, 1, SLEEPING, 20, 1 * WORK_S),
		SEEN(handling, 0, RUNNING, 10, 500 * WORK_MS), SEEN(handling, 1, RUNNING, 10, 500 * WORK_MS),
		SEEN(idle, 2, PARKED, 200, 10 * WORK_S), SEEN(idle, 3, PARKED, 200, 10 * WORK_S),
		SEEN(looping, 4, SLEEPING, 40, 2 * WORK_S),
	};

	static struct profile_moment moments[ARRAY_LEN(stacks)];
	struct profile p;

	stacks[0] = by_method ? (struct profile_stack)SEEN(parked, 0, PARKED, 20, 1 * WORK_S)
			      : (struct profile_stack)SEEN(blocked, 0, BLOCKED, 20, 1 * WORK_S);
	stacks[1] = by_method ? (struct profile_stack)SEEN(parked, 1, PARKED, 10, 500 * WORK_MS)
			      : (struct profile_stack)SEEN(blocked, 1, BLOCKED, 10, 500 * WORK_MS);
	p = (struct profile){
		.event = "wall", .engine = "wall-marker", .main_class = "shop.Orders", .jdk = "17", .pid = 1,
		.weight_kind = WEIGHT_WALL, .duration = 2 * WORK_S, .taken = 520, .stored = 520,
		.weight_stored = 26 * WORK_S, .complete = 520, .frames = work_frames, .frame_count = W_FRAMES,
		.stacks = stacks, .stack_count = ARRAY_LEN(stacks), .threads = work_threads,
		.thread_count = ARRAY_LEN(work_threads),
	};
	/* they take turns */
	wall_from_start(&p, moments);
	moments[1] = wall_moment(&p, 1, 1000);
	moments[2] = wall_moment(&p, 2, 1000);
	moments[4] = wall_moment(&p, 4, 1500);
	moments[5] = wall_moment(&p, 5, 1500);
	return p;
}

static const uint32_t waited[] = {W_RUN, W_WORK, W_HANDLE, W_RESERVE, W_STOCK};
static const uint32_t queued[] = {W_RUN, W_WORKER, W_GET_TASK, W_TAKE, W_PARK, W_SYNC};

static inline struct profile work_waits(void)
{
	static const struct profile_stack stacks[] = {
		SEEN(waited, 0, BLOCKED, 30, 1500 * WORK_MS), SEEN(waited, 1, BLOCKED, 10, 500 * WORK_MS),
		SEEN(queued, 2, PARKED, 5, 10 * WORK_S), SEEN(queued, 3, PARKED, 5, 10 * WORK_S),
	};
	static const struct profile_waits locks[] = {
		{.name = "java/util/concurrent/locks/AbstractQueuedSynchronizer$ConditionObject", .kind = LOCK_PARK,
		 .identity = 7, .waits = 10, .time = 20 * WORK_S, .longest = 5 * WORK_S},
		{.name = "shop/Stock", .kind = LOCK_MONITOR, .identity = 0x1b2c, .waits = 40, .time = 2 * WORK_S, .longest = 1 * WORK_S},
	};
	static const struct profile_waits owners[] = {
		{.name = "order-2", .waits = 30, .time = 3 * WORK_S / 2, .longest = 1 * WORK_S},
		{.name = "order-1", .waits = 1, .time = WORK_S / 10, .longest = WORK_S / 10},
	};
	static const struct profile_waits holders[] = {
		{.name = "order-2", .waits = 3, .time = 300 * WORK_MS, .frames = holding, .depth = ARRAY_LEN(holding), .lock = 2},
		{.name = "order-1", .waits = 1, .time = 100 * WORK_MS, .frames = handling, .depth = ARRAY_LEN(handling), .lock = 2},
		{.name = "main", .waits = 9, .time = 900 * WORK_MS, .frames = looping, .depth = ARRAY_LEN(looping), .lock = 1},
	};

	return (struct profile){
		.event = "lock", .engine = "lock", .main_class = "shop.Orders", .jdk = "17", .pid = 1,
		.weight_kind = WEIGHT_WAIT, .duration = 2 * WORK_S, .taken = 50, .stored = 50, .weight_stored = 22 * WORK_S,
		.complete = 50, .frames = work_frames, .frame_count = W_FRAMES, .stacks = stacks,
		.stack_count = ARRAY_LEN(stacks), .threads = work_threads, .thread_count = 4,
		.locks = locks, .lock_count = 2, .owners = owners, .owner_count = 2, .holders = holders, .holder_count = 3,
	};
}

/* The line of TEXT that holds PART, without its end; "" if none does. */
static inline const char *line_of(const char *text, const char *part)
{
	static char line[400];
	const char *at = strstr(text, part), *from;

	line[0] = '\0';
	if (!at)
		return line;
	for (from = at; from > text && from[-1] != '\n'; from--)
		;
	snprintf(line, sizeof(line), "%.*s", (int)strcspn(from, "\n"), from);
	return line;
}

#endif
