/*
 * Threads that sleep with a lock. By the waits of the same session: who was named as owner there is not idle where it
 * had the lock, and is idle everywhere else. By wall time alone: who sleeps below the method that asks for it is not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "profile/model/work/activity.h"

#define S 1000000000ull

enum { RUN, LOOP, REFRESH, GET, SLEEP, TAKE, AWAIT, PARK, LOCK, ACQUIRE, FRAMES };
#define JAVA(class, method) {.class_name = class, .name = method, .kind = FRAME_C2}
static const struct profile_frame frames[FRAMES] = {
	[RUN] = JAVA("java/lang/Thread", "run"),
	[LOOP] = JAVA("shop/Store$Refresher", "loop"),
	[REFRESH] = JAVA("shop/Store", "refresh"),
	[GET] = JAVA("shop/Store", "get"),
	[SLEEP] = JAVA("java/lang/Thread", "sleep"),
	[TAKE] = JAVA("java/util/concurrent/LinkedBlockingQueue", "take"),
	[AWAIT] = JAVA("java/util/concurrent/locks/AbstractQueuedSynchronizer$ConditionObject", "await"),
	[PARK] = JAVA("jdk/internal/misc/Unsafe", "park"),
	[LOCK] = JAVA("java/util/concurrent/locks/ReentrantLock", "lock"),
	[ACQUIRE] = JAVA("java/util/concurrent/Semaphore", "acquire"),
};
/* other numbers than those of wall time, and one more */
static const struct profile_frame frames_of_waits[] = {
	JAVA("java/lang/Object", "toString"), JAVA("java/lang/Thread", "run"), JAVA("shop/Store$Refresher", "loop"),
	JAVA("shop/Store", "refresh"), JAVA("java/lang/Thread", "sleep"),
};
static const struct profile_thread threads[] = {{1, "refresher", 0, 0}, {2, "twin", 0, 0}, {3, "getter", 0, 0}};
static const uint32_t inside[] = {RUN, LOOP, REFRESH, SLEEP}, outside[] = {RUN, LOOP, SLEEP};
static const uint32_t takes[] = {RUN, LOOP, REFRESH, TAKE, AWAIT, PARK}, parked[] = {RUN, LOOP, REFRESH, PARK};
static const uint32_t has[] = {1, 2, 3, 4};

#define SEEN(list, thread_, state_, weight_) \
	{.frames = list, .depth = ARRAY_LEN(list), .thread = thread_, .state = THREAD_##state_, .samples = 10, .weight = weight_}

/* What the first stack of COUNT did, if others waited WAITED for a lock of a KIND while OWNER had it, SEEN_ of it seen. */
static uint8_t first_of(const struct profile_stack *stacks, uint32_t count, const char *owner, uint8_t kind,
			uint64_t waited, uint64_t seen)
{
	const struct profile_waits locks[] = {{.name = "shop/Store", .kind = kind, .identity = 1, .waits = 9, .time = waited}};
	const struct profile_waits owners[] = {{.name = owner, .waits = 9, .time = waited}};
	const struct profile_waits holders[] = {{.name = owner, .waits = 3, .time = seen, .frames = has,
						 .depth = ARRAY_LEN(has), .lock = 1}};
	const struct profile waits = {
		.event = "lock", .weight_kind = WEIGHT_WAIT, .duration = 5 * S, .frames = frames_of_waits,
		.frame_count = ARRAY_LEN(frames_of_waits), .locks = locks, .lock_count = 1, .owners = owners,
		.owner_count = 1, .holders = holders, .holder_count = 1,
	};
	struct profile wall = {
		.event = "wall", .weight_kind = WEIGHT_WALL, .duration = 5 * S, .frames = frames, .frame_count = FRAMES,
		.stacks = stacks, .stack_count = count, .threads = threads, .thread_count = ARRAY_LEN(threads),
	};
	const struct profile *const session[] = {&wall, &waits};
	uint8_t *all, first;

	wall.session = session;
	wall.session_count = waited ? 2 : 1;
	all = activity_of_stacks(&wall);
	assert_non_null(all);
	first = all[0];
	free(all);
	return first;
}

static void who_has_a_lock_is_not_idle(void **state)
{
	const struct profile_stack sleeps[] = {SEEN(inside, 0, SLEEPING, 4 * S)}, parks[] = {SEEN(parked, 0, PARKED, 4 * S)};

	(void)state;
	assert_int_equal(first_of(sleeps, 1, "refresher", LOCK_MONITOR, 0, 0), ACTIVITY_IDLE);
	assert_int_equal(first_of(sleeps, 1, "refresher", LOCK_MONITOR, 4 * S, 4 * S), ACTIVITY_SLEEP);
	assert_int_equal(first_of(sleeps, 1, "refresher", LOCK_PARK, 2 * S, 2 * S), ACTIVITY_SLEEP);
	assert_int_equal(first_of(parks, 1, "refresher", LOCK_PARK, 2 * S, 2 * S), ACTIVITY_PARK);
	/* few stacks of owners are taken: those that were not are like them */
	assert_int_equal(first_of(sleeps, 1, "refresher", LOCK_MONITOR, 4 * S, S / 100), ACTIVITY_SLEEP);
}

static void others_are_idle(void **state)
{
	const struct profile_stack sleeps[] = {SEEN(inside, 0, SLEEPING, 4 * S)}, elsewhere[] = {SEEN(outside, 0, SLEEPING, 4 * S)};
	const struct profile_stack twin[] = {SEEN(inside, 1, SLEEPING, 4 * S)};
	const struct profile_stack two[] = {SEEN(inside, 0, SLEEPING, 2 * S), SEEN(outside, 0, SLEEPING, 2 * S)};

	(void)state;
	assert_int_equal(first_of(sleeps, 1, "refresher", LOCK_MONITOR, 2 * S - 1, 2 * S - 1), ACTIVITY_IDLE);
	assert_int_equal(first_of(elsewhere, 1, "refresher", LOCK_MONITOR, 4 * S, 4 * S), ACTIVITY_IDLE);
	assert_int_equal(first_of(twin, 1, "refresher", LOCK_MONITOR, 4 * S, 4 * S), ACTIVITY_IDLE);
	assert_int_equal(first_of(two, 2, "refresher", LOCK_MONITOR, S, S), ACTIVITY_SLEEP);
}

/* A Condition gives its lock back, Object.wait its monitor; a monitor round about a Condition is kept. */
static void who_gives_it_back_has_none(void **state)
{
	const struct profile_stack awaits[] = {SEEN(takes, 0, PARKED, 4 * S)}, waits[] = {SEEN(parked, 0, WAITING, 4 * S)};

	(void)state;
	assert_int_equal(first_of(awaits, 1, "refresher", LOCK_PARK, 4 * S, 4 * S), ACTIVITY_IDLE);
	assert_int_equal(first_of(awaits, 1, "refresher", LOCK_MONITOR, 4 * S, 4 * S), ACTIVITY_PARK);
	assert_int_equal(first_of(waits, 1, "refresher", LOCK_MONITOR, 4 * S, 4 * S), ACTIVITY_IDLE);
}

/* Wall time alone: others ask in the same method for a lock, or a permit. */
static void who_sleeps_below_the_method_that_asks(void **state)
{
	static const uint32_t wants_lock[] = {RUN, LOOP, REFRESH, LOCK, PARK}, wants_permit[] = {RUN, LOOP, REFRESH, ACQUIRE, PARK};
	static const uint32_t elsewhere[] = {RUN, LOOP, GET, LOCK, PARK};
	struct profile_stack stacks[] = {SEEN(inside, 0, SLEEPING, 4 * S), SEEN(wants_lock, 2, PARKED, 2 * S)};

	(void)state;
	assert_int_equal(first_of(stacks, 1, "", LOCK_PARK, 0, 0), ACTIVITY_IDLE);
	assert_int_equal(first_of(stacks, 2, "", LOCK_PARK, 0, 0), ACTIVITY_SLEEP);
	stacks[1] = (struct profile_stack)SEEN(wants_permit, 2, PARKED, 2 * S);
	assert_int_equal(first_of(stacks, 2, "", LOCK_PARK, 0, 0), ACTIVITY_SLEEP);
	stacks[1] = (struct profile_stack)SEEN(wants_permit, 2, PARKED, 2 * S - 1);
	assert_int_equal(first_of(stacks, 2, "", LOCK_PARK, 0, 0), ACTIVITY_IDLE);
	stacks[1] = (struct profile_stack)SEEN(elsewhere, 2, PARKED, 5 * S);
	assert_int_equal(first_of(stacks, 2, "", LOCK_PARK, 0, 0), ACTIVITY_IDLE);
	/* who waits for a Condition has no lock; it may have the monitor that others want in that method */
	stacks[0] = (struct profile_stack)SEEN(takes, 0, PARKED, 4 * S);
	stacks[1] = (struct profile_stack)SEEN(wants_lock, 2, PARKED, 4 * S);
	assert_int_equal(first_of(stacks, 2, "", LOCK_PARK, 0, 0), ACTIVITY_IDLE);
	stacks[1] = (struct profile_stack){.frames = inside, .depth = 3, .thread = 2, .state = THREAD_BLOCKED, .samples = 10,
					   .weight = 4 * S};
	assert_int_equal(first_of(stacks, 2, "", LOCK_PARK, 0, 0), ACTIVITY_PARK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_has_a_lock_is_not_idle), cmocka_unit_test(others_are_idle),
		cmocka_unit_test(who_gives_it_back_has_none), cmocka_unit_test(who_sleeps_below_the_method_that_asks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
