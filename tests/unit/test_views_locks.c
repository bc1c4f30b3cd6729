/*
 * What the short report says of locks: which one it was, who waited for it, who had it, and what is still waiting.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "format_sample.h"
#include <stdio.h>

#include "profile/views/views.h"
#include "work_sample.h"

enum { C_RUN, C_DO, C_AUDIT, C_WRITE, C_POLL, C_ADD, C_OBJECT, C_VIRTUAL, C_ACQUIRE, C_AQS, C_PARK, C_SYSTEM, C_VPARK,
	C_YIELD, C_CONTINUATION, C_BACKEND, C_CALL, C_REENTRANT, C_TAKE, C_PUT, C_CONDITION, C_SLEEP, C_LOCK, C_AWAIT,
	C_FRAMES };
static const struct profile_frame contended_frames[C_FRAMES] = {
	[C_RUN] = JAVA("java/lang/Thread", "run"),
	[C_DO] = JAVA("shop/Srv", "serve"),
	[C_AUDIT] = JAVA("shop/Srv", "audit"),
	[C_WRITE] = JAVA("shop/Log", "write"),
	[C_POLL] = JAVA("net/Poller", "events"),
	[C_ADD] = JAVA("net/Poller", "addEvent"),
	[C_OBJECT] = {.class_name = "java/lang/Object", .name = "", .kind = FRAME_OTHER},
	[C_VIRTUAL] = JAVA("java/lang/VirtualThread", "run"),
	[C_ACQUIRE] = JAVA("java/util/concurrent/Semaphore", "acquire"),
	[C_AQS] = JAVA("java/util/concurrent/locks/AbstractQueuedSynchronizer", "acquire"),
	[C_PARK] = JAVA("java/util/concurrent/locks/LockSupport", "park"),
	[C_SYSTEM] = JAVA("java/lang/System$1", "parkVirtualThread"),
	[C_VPARK] = JAVA("java/lang/VirtualThread", "park"),
	[C_YIELD] = JAVA("java/lang/VirtualThread", "yieldContinuation"),
	[C_CONTINUATION] = JAVA("jdk/internal/vm/Continuation", "yield"),
	[C_BACKEND] = JAVA("demo/Vt", "backend"),
	[C_CALL] = JAVA("demo/Vt", "call"),
	[C_TAKE] = JAVA("java/util/concurrent/LinkedBlockingQueue", "take"),
	[C_PUT] = JAVA("java/util/concurrent/LinkedBlockingQueue", "put"),
	[C_CONDITION] = {.class_name = "java/util/concurrent/locks/AbstractQueuedSynchronizer$ConditionObject",
			 .name = "", .kind = FRAME_OTHER},
	[C_SLEEP] = JAVA("java/lang/Thread", "sleep0"),
	[C_LOCK] = JAVA("java/util/concurrent/locks/ReentrantLock", "lockInterruptibly"),
	[C_AWAIT] = JAVA("java/util/concurrent/locks/AbstractQueuedSynchronizer$ConditionObject", "awaitNanos"),
	[C_REENTRANT] = {.name = "java.util.concurrent.locks.ReentrantLock$NonfairSync", .kind = FRAME_OTHER},
};
static const struct profile_thread contended_threads[] = {
	{1, "exec-1", 1, WORK_S}, {2, "exec-2", 1, WORK_S}, {3, "poller", 1, WORK_S},
};
static const uint32_t asks_audit[] = {C_RUN, C_DO, C_AUDIT, C_OBJECT}, asks_add[] = {C_RUN, C_POLL, C_ADD, C_OBJECT};
static const uint32_t has_audit[] = {C_RUN, C_DO, C_AUDIT, C_WRITE}, has_add[] = {C_RUN, C_POLL, C_ADD};
static const uint32_t asks_serve[] = {C_RUN, C_DO, C_OBJECT}, elsewhere[] = {C_RUN, C_DO, C_WRITE};
static const uint32_t permit[] = {C_VIRTUAL, C_BACKEND, C_ACQUIRE, C_AQS, C_PARK, C_SYSTEM, C_VPARK, C_YIELD,
				  C_CONTINUATION};
static const uint32_t entering[] = {C_VIRTUAL, C_BACKEND, C_VPARK, C_YIELD, C_CONTINUATION};
static const uint32_t has_permit[] = {C_VIRTUAL, C_BACKEND, C_CALL, C_SYSTEM, C_VPARK, C_YIELD, C_CONTINUATION};
static const uint32_t read_back[] = {C_RUN, C_DO, C_AUDIT, C_REENTRANT};

/* Of wall time, all stacks were there from the start on. */
static struct profile contended(const char *event, const struct profile_stack *stacks, uint32_t count)
{
	static struct profile_moment moments[8];
	struct profile p = {
		.event = event, .engine = event, .main_class = "", .jdk = "21", .duration = 2 * WORK_S,
		.weight_kind = strcmp(event, "lock") == 0 ? WEIGHT_WAIT : WEIGHT_WALL, .frames = contended_frames,
		.frame_count = C_FRAMES, .stacks = stacks, .stack_count = count, .threads = contended_threads,
		.thread_count = ARRAY_LEN(contended_threads),
	};
	uint32_t i;

	for (i = 0; i < count; i++) {
		p.stored = p.taken = p.complete += stacks[i].samples;
		p.weight_stored += stacks[i].weight;
	}
	if (p.weight_kind == WEIGHT_WALL) {
		assert_in_range(count, 0, ARRAY_LEN(moments));
		wall_from_start(&p, moments);
	}
	return p;
}

/* P's short report; the caller frees it. */
static char *short_report(const struct profile *p)
{
	return sample_write_text(p, "hot", &(struct format_options){.views = &views});
}

/* Two locks of one class: no line is of both, and none has an owner that was elsewhere. */
static void locks_of_one_class_are_apart(void **state)
{
	static const struct profile_stack stacks[] = {
		SEEN(asks_audit, 0, BLOCKED, 40, 3 * WORK_S), SEEN(asks_audit, 1, BLOCKED, 10, 1 * WORK_S),
		SEEN(asks_add, 2, BLOCKED, 20, 2 * WORK_S), SEEN(asks_serve, 2, BLOCKED, 20, 1500 * WORK_MS),
	};
	static const struct profile_waits locks[] = {
		{.name = "java/lang/Object", .kind = LOCK_MONITOR, .identity = 1, .waits = 50, .time = 4 * WORK_S},
		{.name = "java/lang/Object", .kind = LOCK_MONITOR, .identity = 2, .waits = 40, .time = 2 * WORK_S},
	};
	struct profile_waits holders[] = {
		{.name = "exec-1", .waits = 9, .time = 9 * WORK_S, .frames = has_add, .depth = ARRAY_LEN(has_add), .lock = 1},
		{.name = "exec-2", .waits = 3, .time = 3 * WORK_S, .frames = has_audit, .depth = ARRAY_LEN(has_audit),
		 .lock = 1},
		{.name = "exec-2", .waits = 7, .time = 7 * WORK_S, .frames = elsewhere, .depth = ARRAY_LEN(elsewhere),
		 .lock = 1},
	};
	struct profile p = contended("lock", stacks, 3);
	char *text;

	(void)state;
	p.locks = locks;
	p.lock_count = 2;
	p.holders = holders;
	p.holder_count = 3;
	text = short_report(&p);
	/* no other method of shop.Srv asks for such a lock: who is in it may have this one */
	assert_string_equal(line_of(text, "exec-* waited"),
			    "exec-* waited 4 s for java.lang.Object (monitor, several of 2 locks) in shop.Srv.audit, 66.67 % of "
			    "all waits that are not idle; its owner, exec-*, was mostly in shop.Log.write (100 %) when they began to wait");
	assert_string_equal(line_of(text, "poller waited"),
			    "poller waited 2 s for java.lang.Object (monitor, several of 2 locks) in net.Poller.addEvent, 33.33 % "
			    "of all waits that are not idle; its owner, exec-*, was mostly in net.Poller.addEvent (100 %) when they began to wait");
	free(text);
	/* the one thread that waits is not its own owner */
	holders[0].name = "poller";
	text = short_report(&p);
	assert_null(strstr(line_of(text, "poller waited"), "owner"));
	holders[0].name = "exec-1";
	free(text);
	/* shop.Srv.serve asks for one too: only who is in audit may have that of audit */
	p = contended("lock", stacks, 4);
	p.locks = locks;
	p.lock_count = 2;
	p.holders = holders;
	p.holder_count = 1;
	text = short_report(&p);
	assert_null(strstr(line_of(text, "in shop.Srv.audit"), "owner"));
	assert_null(strstr(line_of(text, "in shop.Srv.serve"), "owner"));
	free(text);
}

#define MANY 50

/*
 * COUNT locks of one class, all asked for in one method: each sentence is of one lock, with its own owner and numbers.
 * Lock number 1 is waited for by two threads, the others by one each.
 */
static void check_each_lock(uint32_t count)
{
	static char owners[MANY][16];
	struct profile_frame frames[C_FRAMES + MANY];
	struct profile_stack stacks[MANY + 1];
	struct profile_waits locks[MANY], holders[MANY];
	uint32_t lists[MANY][4], i;
	struct profile p;
	char *text;

	memcpy(frames, contended_frames, sizeof(contended_frames));
	for (i = 0; i < count; i++) {
		uint64_t time = (i ? 2 : 4) * WORK_S - i * WORK_MS;

		snprintf(owners[i], sizeof(owners[i]), "has%c", (char)('a' + i % 26));
		frames[C_FRAMES + i] = (struct profile_frame){.class_name = "java/lang/Object", .name = "",
							      .kind = FRAME_OTHER, .lock = (uint16_t)(i + 1)};
		locks[i] = (struct profile_waits){.name = "java/lang/Object", .kind = LOCK_MONITOR, .identity = 0x100 + i,
						  .waits = 10, .time = time};
		holders[i] = (struct profile_waits){.name = owners[i], .identity = 0x100 + i, .waits = 1, .time = time,
						    .frames = has_add, .depth = ARRAY_LEN(has_add), .lock = 1};
		memcpy(lists[i], asks_audit, sizeof(asks_audit));
		lists[i][3] = C_FRAMES + i;
		stacks[i] = (struct profile_stack){.frames = lists[i], .depth = 4, .thread = i % 2, .samples = 10,
						   .state = THREAD_BLOCKED, .weight = i ? time : 3 * WORK_S};
	}
	stacks[count] = stacks[0]; /* the poller waits for the first one as well */
	stacks[count].thread = 2;
	stacks[count].weight = 1 * WORK_S;
	p = contended("lock", stacks, count + 1);
	p.frames = frames;
	p.frame_count = C_FRAMES + count;
	p.locks = locks;
	p.holders = holders;
	p.lock_count = p.holder_count = count;
	text = short_report(&p);
	assert_non_null(strstr(line_of(text, "Object@100 (monitor) in"),
			       "exec-* and others waited 4 s for java.lang.Object@100 (monitor) in shop.Srv.audit, "));
	assert_non_null(strstr(line_of(text, "Object@100 (monitor) in"),
			       "; its owner, hasa, was mostly in net.Poller.addEvent (100 %) when they began to wait"));
	if (count < 20) {
		assert_non_null(strstr(line_of(text, "Object@101 (monitor) in"), "exec-* waited 2.00 s for "));
		assert_non_null(strstr(line_of(text, "Object@101 (monitor) in"), "; its owner, hasb, was "));
	}
	assert_null(strstr(text, "of 2 locks"));
	assert_null(strstr(text, "several"));
	free(text);
}

static void each_lock_is_one(void **state)
{
	(void)state;
	check_each_lock(2);
	check_each_lock(7);
	check_each_lock(MANY);
}

/* Of two locks of a class one is idle: the other's line has all of its waits, and those that go on are part of them. */
static void idle_waits_are_those_of_their_lock(void **state)
{
	static const uint32_t own[] = {C_RUN, C_POLL, C_TAKE, C_PARK, C_FRAMES}, other[] = {C_RUN, C_DO, C_AUDIT, C_WRITE,
		C_PUT, C_PARK, C_FRAMES + 1}, both[] = {C_RUN, C_DO, C_AUDIT, C_WRITE, C_PUT, C_PARK, C_FRAMES};
	struct profile_frame frames[C_FRAMES + 2];
	static const struct profile_stack stacks[] = {
		SEEN(own, 2, PARKED, 15, 6 * WORK_S), SEEN(other, 0, PARKED, 10, 2 * WORK_S), SEEN(both, 1, PARKED, 5, 2 * WORK_S),
	};
	static const struct profile_waits locks[] = {
		{.name = "queue/Condition", .kind = LOCK_PARK, .identity = 1, .waits = 20, .time = 8 * WORK_S,
		 .longest = 3 * WORK_S, .open = 20},
		{.name = "queue/Condition", .kind = LOCK_PARK, .identity = 2, .waits = 10, .time = 2 * WORK_S,
		 .longest = 1 * WORK_S, .open = 3},
	};
	struct profile p = contended("lock", stacks, 3);
	char *text;
	unsigned i;

	(void)state;
	memcpy(frames, contended_frames, sizeof(contended_frames));
	for (i = 0; i < 2; i++)
		frames[C_FRAMES + i] = (struct profile_frame){.class_name = "queue/Condition", .name = "",
							      .kind = FRAME_OTHER, .lock = (uint16_t)(i + 1)};
	p.frames = frames;
	p.frame_count = C_FRAMES + 2;
	p.locks = locks;
	p.lock_count = 2;
	text = short_report(&p);
	assert_string_equal(line_of(text, "Condition@2 (park)"),
			    "     2 s  50.00%        10       1 s  queue.Condition@2 (park) in shop.Log.write, 3 still waiting");
	assert_string_equal(line_of(text, "Condition@1 (park)"),
			    "     2 s  50.00%         5       2 s  queue.Condition@1 (park) in shop.Log.write, 5 still waiting");
	free(text);
}

/*
 * OBJECTS futures (or what CLASS_NAME is) of a KIND, for each of which was waited WAITS times by two places in turn: the
 * lines of the table that name one.
 */
static unsigned lines_of(const char *class_name, uint8_t kind, uint32_t objects, uint32_t waits, char *first)
{
	static const uint32_t asks[] = {C_DO, C_AUDIT, C_WRITE, C_PARK}, asks_elsewhere[] = {C_DO, C_POLL, C_ADD, C_PARK};
	struct profile_frame frames[C_FRAMES + MANY];
	struct profile_stack stacks[MANY];
	struct profile_waits locks[MANY];
	uint32_t lists[MANY][5], i;
	struct profile p;
	unsigned lines = 0;
	char *text, *at;

	memcpy(frames, contended_frames, sizeof(contended_frames));
	for (i = 0; i < objects; i++) {
		frames[C_FRAMES + i] = (struct profile_frame){.class_name = class_name, .name = "", .kind = FRAME_OTHER,
							      .lock = (uint16_t)(i + 1)};
		locks[i] = (struct profile_waits){.name = class_name, .kind = kind, .identity = 0x100 + i, .waits = waits,
						  .time = 100 * WORK_MS, .longest = (50 + i) * WORK_MS, .open = i == 0};
		memcpy(lists[i], i % 4 ? asks : asks_elsewhere, sizeof(asks));
		lists[i][4] = C_FRAMES + i;
		stacks[i] = (struct profile_stack){.frames = lists[i], .depth = 5, .thread = 0, .samples = waits,
						   .state = kind == LOCK_MONITOR ? THREAD_BLOCKED : THREAD_PARKED,
						   .weight = 100 * WORK_MS};
	}
	p = contended("lock", stacks, objects);
	p.frames = frames;
	p.frame_count = C_FRAMES + objects;
	p.locks = locks;
	p.lock_count = objects;
	text = short_report(&p);
	at = strstr(text, "lock waited for");
	assert_non_null(at);
	snprintf(first, 200, "%.*s", (int)strcspn(strchr(at, '\n') + 1, "\n"), strchr(at, '\n') + 1);
	for (at = strstr(at, "\n"); *(at + 1) != '\n'; at = strchr(at + 1, '\n'))
		lines++;
	free(text);
	return lines;
}

/* What is made for one wait each is one row; what is waited for again and again has its own. */
static void objects_that_are_new_for_every_wait_are_one_row(void **state)
{
	char line[200];

	(void)state;
	assert_int_equal(lines_of("demo/Promise", LOCK_PARK, 20, 1, line), 1);
	assert_string_equal(line, "     2 s 100.00%        20     69 ms  demo.Promise (park), 20 objects in shop.Log.write, "
				  "1 still waiting");
	assert_int_equal(lines_of("demo/Promise", LOCK_PARK, 3, 1, line), 3);
	assert_int_equal(lines_of("demo/Queue", LOCK_PARK, 8, 2, line), 8);
	assert_non_null(strstr(line, "demo.Queue@100 (park) in net.Poller.addEvent"));
	/* four threads wait for each */
	assert_int_equal(lines_of("java/util/concurrent/CountDownLatch$Sync", LOCK_PARK, 20, 4, line), 1);
	/* monitors had another thread in them before */
	assert_int_equal(lines_of("demo/Account", LOCK_MONITOR, 8, 1, line), 8);
}

/* Idle waits have owners, too: what they held is compared with what all owners held. */
static void owners_have_shares_of_their_own(void **state)
{
	static const struct profile_stack stacks[] = {
		SEEN(asks_audit, 1, BLOCKED, 10, 1 * WORK_S),
	};
	static const struct profile_waits owners[] = {
		{.name = "exec-1", .waits = 5, .time = 6 * WORK_S, .longest = 1 * WORK_S},
		{.name = "exec-2", .waits = 5, .time = 2 * WORK_S, .longest = 1 * WORK_S},
	};
	struct profile p = contended("lock", stacks, 1);
	char *text;

	(void)state;
	p.owners = owners;
	p.owner_count = 2;
	text = short_report(&p);
	assert_non_null(strstr(text, "held by, when the wait began; of all waits with an owner\n"));
	assert_string_equal(line_of(text, "  exec-1"), "     6 s  75.00%         5       1 s  exec-1");
	free(text);
}

/* Who waits for a Condition has given its lock back; a monitor it still has. */
static void who_awaits_a_condition_owns_nothing(void **state)
{
	static const uint32_t asks[] = {C_RUN, C_DO, C_AUDIT, C_TAKE, C_LOCK, C_PARK};
	static const uint32_t awaits[] = {C_RUN, C_DO, C_AUDIT, C_TAKE, C_AWAIT, C_PARK};
	static const uint32_t works[] = {C_RUN, C_DO, C_AUDIT, C_WRITE}, enters[] = {C_RUN, C_DO, C_AUDIT};
	struct profile_stack stacks[] = {
		SEEN(asks, 0, PARKED, 20, 1 * WORK_S), SEEN(awaits, 1, PARKED, 20, 1 * WORK_S),
		SEEN(works, 1, RUNNING, 8, WORK_S * 8 / 10),
	};
	struct profile p = contended("wall", stacks, 2);
	char *text = short_report(&p);

	(void)state;
	assert_non_null(strstr(line_of(text, " waited "), "exec-* waited 1 s for a LinkedBlockingQueue in shop.Srv.audit"));
	assert_null(strstr(line_of(text, " waited "), "owner"));
	free(text);
	p = contended("wall", stacks, 3); /* one that works there has it */
	text = short_report(&p);
	assert_non_null(strstr(line_of(text, " waited "), "its owner, exec-*, was most likely in shop.Log.write (running)"));
	free(text);
	/* for moments only: who has it is elsewhere most of the time, and nothing is said of it */
	stacks[2].weight = WORK_S / 2;
	p = contended("wall", stacks, 3);
	text = short_report(&p);
	assert_null(strstr(line_of(text, " waited "), "owner"));
	free(text);
	stacks[0] = (struct profile_stack)SEEN(enters, 0, BLOCKED, 20, 1 * WORK_S);
	p = contended("wall", stacks, 2);
	text = short_report(&p);
	assert_non_null(strstr(line_of(text, " waited "), "its owner, exec-*, was most likely in shop.Srv.audit (park)"));
	free(text);
}

/* How a virtual thread leaves its carrier is not where it waits; and a permit has no owner. */
static void permits_have_no_owner(void **state)
{
	static const struct profile_stack stacks[] = {
		SEEN(permit, 0, PARKED, 20, 1 * WORK_S), SEEN(has_permit, 1, SLEEPING, 20, 1 * WORK_S),
	}, monitors[] = {
		SEEN(entering, 0, BLOCKED, 20, 1 * WORK_S), SEEN(has_permit, 1, SLEEPING, 20, 1 * WORK_S),
	};
	struct profile p = contended("wall", stacks, 2);
	char *text = short_report(&p);

	(void)state;
	assert_string_equal(line_of(text, " waited "),
			    "exec-* waited 1 s for a Semaphore in demo.Vt.backend, 50.00 % of what is not idle");
	free(text);
	p = contended("wall", monitors, 2);
	text = short_report(&p);
	assert_string_equal(line_of(text, " waited "),
			    "exec-* waited 1 s to enter a monitor in demo.Vt.backend, 50.00 % of what is not idle; its owner, "
			    "exec-*, was most likely in demo.Vt.call (sleep)");
	free(text);
}

static void who_waits_alone_does_not_own(void **state)
{
	static const uint32_t called[] = {C_RUN, C_DO, C_AUDIT}, calls[] = {C_RUN, C_DO, C_AUDIT, C_WRITE};
	static const struct profile_stack stacks[] = {
		SEEN(called, 2, BLOCKED, 20, 1 * WORK_S), SEEN(calls, 2, RUNNING, 20, 1 * WORK_S),
	};
	const struct profile p = contended("wall", stacks, 2);
	char *text = short_report(&p);

	(void)state;
	assert_string_equal(line_of(text, " waited "),
			    "poller waited 1 s to enter a monitor in shop.Srv.audit, 50.00 % of what is not idle");
	free(text);
}

/* Whether the first sentence of COUNT stacks of wall time says that it may be several locks. */
static bool says_several(const struct profile_stack *stacks, uint32_t count)
{
	const struct profile p = contended("wall", stacks, count);
	char *text = short_report(&p);
	bool several = strstr(line_of(text, " waited "), ", or several, in shop.Srv.audit") != NULL;

	assert_non_null(strstr(text, " waited "));
	free(text);
	return several;
}

/* Several threads that wait in one method may want several monitors, unless one owner explains it. */
static void a_place_may_have_several_locks(void **state)
{
	static const uint32_t enters[] = {C_RUN, C_DO, C_AUDIT}, has[] = {C_RUN, C_DO, C_AUDIT, C_WRITE};
	static const uint32_t locks[] = {C_RUN, C_DO, C_AUDIT, C_LOCK, C_PARK}, permits[] = {C_RUN, C_DO, C_AUDIT, C_ACQUIRE, C_PARK};
	struct profile_stack stacks[] = {
		SEEN(enters, 0, BLOCKED, 20, 1 * WORK_S), SEEN(enters, 1, BLOCKED, 20, 1 * WORK_S),
		SEEN(has, 2, SLEEPING, 20, 1 * WORK_S), SEEN(has, 1, SLEEPING, 20, WORK_S / 5),
	};

	(void)state;
	assert_false(says_several(stacks, 1));
	assert_true(says_several(stacks, 2));
	assert_false(says_several(stacks, 3));
	assert_false(says_several(stacks, 4));
	stacks[3].weight = 1 * WORK_S; /* that is no moment */
	assert_true(says_several(stacks, 4));
	stacks[0] = (struct profile_stack)SEEN(locks, 0, PARKED, 20, 1 * WORK_S);
	stacks[1] = (struct profile_stack)SEEN(locks, 1, PARKED, 20, 1 * WORK_S);
	assert_true(says_several(stacks, 2));
	stacks[0] = (struct profile_stack)SEEN(permits, 0, PARKED, 20, 1 * WORK_S);
	stacks[1] = (struct profile_stack)SEEN(permits, 1, PARKED, 20, 1 * WORK_S);
	assert_false(says_several(stacks, 2));
}

/* Sixteen stacks of wall time, each at its time in ms. */
static struct profile timed(const struct profile_stack *stacks, const uint32_t *at, uint32_t count, uint64_t ms)
{
	static struct profile_moment moments[16];
	struct profile p = contended("wall", stacks, 0);
	uint32_t i;

	p.stacks = p.moments_of = stacks;
	p.stack_count = count;
	p.duration = ms * NS_PER_MS;
	for (i = 0; i < count; i++) {
		p.stored = p.taken = p.complete += stacks[i].samples;
		p.weight_stored += stacks[i].weight;
		moments[i] = wall_moment(&p, i, at[i]);
	}
	p.moments = moments;
	p.moment_count = count;
	return p;
}

static bool names_owner(const struct profile *p, const char *owner)
{
	char *text = short_report(p);
	const char *line = line_of(text, " waited ");
	bool named = owner ? strstr(line, owner) != NULL : strstr(line, "owner") == NULL;

	if (!named)
		print_message("%s\n", line);
	free(text);
	return named;
}

/*
 * A method that asks for a lock and that each request goes through: who is in it by chance while others wait is there
 * at other times as well. Who is there when others wait, and hardly else, has the lock.
 */
static void owners_are_there_while_others_wait(void **state)
{
	static const uint32_t enters[] = {C_RUN, C_DO, C_AUDIT}, slow[] = {C_RUN, C_DO, C_AUDIT, C_CALL, C_SLEEP};
	static const uint32_t has[] = {C_RUN, C_DO, C_AUDIT, C_WRITE};
	struct profile_stack stacks[] = {
		SEEN(enters, 0, BLOCKED, 100, 1 * WORK_S), SEEN(slow, 1, SLEEPING, 80, 800 * WORK_MS),
		SEEN(slow, 1, SLEEPING, 80, 800 * WORK_MS), SEEN(slow, 1, SLEEPING, 80, 800 * WORK_MS),
		SEEN(slow, 1, SLEEPING, 80, 800 * WORK_MS), SEEN(has, 2, RUNNING, 95, 950 * WORK_MS),
	};
	static const uint32_t once[] = {3000, 3100, 5000, 7000, 9000, 3020}, never[] = {3000, 100, 5000, 7000, 9000};
	struct profile p = timed(stacks, once, 5, 10000);

	(void)state;
	/* requests were slow for 32 % of the time, one of them during the wait: that is chance */
	assert_true(names_owner(&p, NULL));
	p = timed(stacks, never, 5, 10000);
	assert_true(names_owner(&p, NULL));
	/* as heavy as a part of the slow ones, but only during the wait */
	p = timed(stacks, once, 6, 10000);
	assert_true(names_owner(&p, "its owner, poller, was most likely in shop.Log.write (running)"));
	/* one slow request alone, during the wait */
	p = timed(stacks, once, 2, 10000);
	assert_true(names_owner(&p, "its owner, exec-*, was most likely in demo.Vt.call (sleep)"));
	/* others wait at all times: at hardly any of them someone may be without it */
	stacks[0] = (struct profile_stack)SEEN(enters, 0, BLOCKED, 1000, 10 * WORK_S);
	p = timed(stacks, (const uint32_t[]){0, 100, 3000, 5000, 7000}, 5, 10000);
	assert_true(names_owner(&p, NULL));
	stacks[1] = (struct profile_stack)SEEN(slow, 1, SLEEPING, 850, 8500 * WORK_MS);
	assert_true(names_owner(&p, NULL)); /* its time is not that of its samples yet */
	p = timed(stacks, (const uint32_t[]){0, 100}, 2, 10000);
	assert_true(names_owner(&p, "its owner, exec-*, was most likely in demo.Vt.call (sleep)"));
	/* when samples were taken is not known */
	p.moments = NULL;
	assert_true(names_owner(&p, NULL));
}

/* Of many waits the owner of one is known: that is not most of them. */
static void few_known_owners(void **state)
{
	static const struct profile_stack stacks[] = {SEEN(asks_audit, 0, BLOCKED, 4, 4 * WORK_S)};
	static const struct profile_waits locks[] = {
		{.name = "java/lang/Object", .kind = LOCK_MONITOR, .identity = 5, .waits = 4, .time = 4 * WORK_S},
	};
	struct profile_waits holders[] = {
		{.name = "poller", .waits = 1, .time = 1 * WORK_S, .frames = has_audit, .depth = ARRAY_LEN(has_audit),
		 .lock = 1, .identity = 5},
	};
	struct profile p = contended("lock", stacks, 1);
	char *text;

	(void)state;
	p.locks = locks;
	p.holders = holders;
	p.lock_count = p.holder_count = 1;
	text = short_report(&p);
	assert_non_null(strstr(line_of(text, " waited "), "; its owner, poller, was in shop.Log.write when they began to wait, "
			       "as far as it is known (25.00 % of the waits)"));
	free(text);
	holders[0].time = 3 * WORK_S;
	text = short_report(&p);
	assert_non_null(strstr(line_of(text, " waited "), ", was mostly in shop.Log.write (100 %) when they began to wait"));
	free(text);
}

/* A method that asks for a monitor and for a lock of java.util.concurrent asks for two. */
static void kinds_of_locks_are_apart(void **state)
{
	static const uint32_t enters[] = {C_RUN, C_DO, C_AUDIT}, locks[] = {C_RUN, C_DO, C_AUDIT, C_LOCK, C_PARK};
	static const struct profile_stack stacks[] = {
		SEEN(enters, 0, BLOCKED, 60, 600 * WORK_MS), SEEN(locks, 0, PARKED, 40, 400 * WORK_MS),
	};
	struct profile p = timed(stacks, (const uint32_t[]){0, 1000}, 2, 2000);
	char *text = short_report(&p);

	(void)state;
	assert_non_null(strstr(line_of(text, " waited "), "exec-* waited 600 ms to enter a monitor in shop.Srv.audit"));
	assert_non_null(strstr(text, "waited 400 ms for a ReentrantLock in shop.Srv.audit"));
	free(text);
}

/* Who sleeps with a lock in its outermost loop holds others up. */
static void who_owns_is_not_idle(void **state)
{
	static const uint32_t enters[] = {C_RUN, C_AUDIT}, sleeps[] = {C_RUN, C_AUDIT, C_SLEEP};
	static const struct profile_stack stacks[] = {
		SEEN(enters, 0, BLOCKED, 20, 1 * WORK_S), SEEN(sleeps, 1, SLEEPING, 20, 1 * WORK_S),
	};
	const struct profile p = contended("wall", stacks, 2);
	char *text = short_report(&p);

	(void)state;
	assert_string_equal(line_of(text, " waited "),
			    "exec-* waited 1 s to enter a monitor in shop.Srv.audit, 50.00 % of what is not idle; its "
			    "owner, exec-*, was most likely in shop.Srv.audit (sleep)");
	free(text);
}

static void nothing_beside(const struct format_beside *b, bool color, struct buffer *out)
{
}

/* Where the session has the waits for locks, wall time does not conclude them once more, with other figures. */
static void recorded_locks_are_said_once(void **state)
{
	static const uint32_t enters[] = {C_RUN, C_AUDIT};
	static const struct profile_stack stacks[] = {SEEN(enters, 0, BLOCKED, 20, 1 * WORK_S)};
	const struct format_beside beside = {.locks_recorded = true, .text = nothing_beside};
	const struct profile wall = contended("wall", stacks, 1), lock = contended("lock", stacks, 1);
	char *text;

	(void)state;
	text = sample_write_text(&wall, "hot", &(struct format_options){.views = &views, .beside = &beside});
	assert_null(strstr(text, " waited "));
	free(text);
	text = sample_write_text(&lock, "hot", &(struct format_options){.views = &views, .beside = &beside});
	assert_non_null(strstr(text, " waited "));
	free(text);
}

/* Without a table of locks it is the state that says what kind of lock it was. */
static void only_who_is_blocked_enters_a_monitor(void **state)
{
	struct profile_stack stacks[] = {SEEN(read_back, 0, BLOCKED, 20, 1 * WORK_S)};
	struct profile p = contended("lock", stacks, 1);
	static const uint32_t without[] = {C_RUN, C_DO, C_AUDIT, C_ACQUIRE, C_PARK};
	char *text = short_report(&p);

	(void)state;
	assert_true(strstr(line_of(text, " waited "), "java.util.concurrent.locks.ReentrantLock$NonfairSync in shop.Srv"));
	assert_null(strstr(text, "monitor"));
	free(text);
	stacks[0] = (struct profile_stack)SEEN(without, 0, PARKED, 20, 1 * WORK_S);
	text = short_report(&p);
	assert_non_null(strstr(text, " waited "));
	assert_null(strstr(text, "monitor"));
	free(text);
}

/* Percentages are of what is not idle, so no line has idle waits; `poller` only asks for the next thing to do. */
static void idle_waits_are_in_no_line(void **state)
{
	static const uint32_t asks[] = {C_RUN, C_POLL, C_TAKE, C_PARK, C_CONDITION};
	static const uint32_t asks_nothing[] = {C_RUN, C_POLL, C_PARK};
	static const uint32_t refills[] = {C_RUN, C_DO, C_AUDIT, C_WRITE, C_PUT, C_PARK, C_CONDITION};
	static const struct profile_stack stacks[] = {
		SEEN(asks_audit, 1, BLOCKED, 10, 1 * WORK_S), SEEN(asks, 2, PARKED, 40, 6 * WORK_S),
		SEEN(refills, 0, PARKED, 10, 2 * WORK_S), SEEN(asks_nothing, 2, PARKED, 7, 4 * WORK_S),
	};
	static const struct profile_waits locks[] = {
		{.name = "java/util/concurrent/locks/AbstractQueuedSynchronizer$ConditionObject", .kind = LOCK_PARK,
		 .identity = 1, .waits = 50, .time = 8 * WORK_S, .longest = 3 * WORK_S},
		{.name = "", .kind = LOCK_PARK, .waits = 7, .time = 4 * WORK_S, .longest = 1 * WORK_S},
		{.name = "java/lang/Object", .kind = LOCK_MONITOR, .identity = 2, .waits = 10, .time = 1 * WORK_S,
		 .longest = 500 * WORK_MS},
	};
	const struct format_options all = {.views = &views, .idle = true};
	struct profile p = contended("lock", stacks, 4);
	char *text;

	(void)state;
	p.locks = locks;
	p.lock_count = 3;
	text = short_report(&p);
	assert_string_equal(line_of(text, "ConditionObject@1 (park)"),
			    "     2 s  66.67%        10       2 s  "
			    "java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject@1 (park) in shop.Log.write");
	assert_string_equal(line_of(text, "500 ms  java.lang.Object@2 (monitor)"),
			    "     1 s  33.33%        10    500 ms  java.lang.Object@2 (monitor) in shop.Srv.audit");
	assert_string_equal(line_of(text, "waits for work"),
			    "    10 s    idle        47       3 s  waits for work, at 2 locks; --idle shows them");
	free(text);
	text = sample_write_text(&p, "hot", &all);
	assert_true(strstr(line_of(text, "ConditionObject@1 (park)"), "     8 s  61.54%        50       3 s"));
	free(text);
}

/*
 * One that runs shows that there are virtual threads; what parked ones wait for only --vthreads tells, wherever they
 * leave their carriers. Threads that serve them show that there may be some.
 */
static void parked_virtual_threads_are_told_of(void **state)
{
	enum { V_TASK, V_YIELD, V_UNMOUNT, V_CONTINUATION, V_PARK, V_RUN, V_FRAMES };
	static const struct profile_frame virtual[V_FRAMES] = {
		[V_RUN] = {.class_name = "java/lang/VirtualThread", .name = "run", .kind = FRAME_C2},
		[V_TASK] = {.class_name = "shop/Visit", .name = "serve", .kind = FRAME_C2},
		[V_YIELD] = {.class_name = "java/lang/VirtualThread", .name = "yieldContinuation", .kind = FRAME_C2},
		[V_UNMOUNT] = {.class_name = "java/lang/VirtualThread", .name = "notifyJvmtiUnmount",
			       .kind = FRAME_C2},
		[V_CONTINUATION] = {.class_name = "jdk/internal/vm/Continuation", .name = "yield", .kind = FRAME_C2},
		[V_PARK] = {.class_name = "jdk/internal/misc/Unsafe", .name = "park", .kind = FRAME_C2},
	};
	static const char plain[] = "virtual threads are left out while they are parked; --vthreads shows them\n";
	static const char maybe[] = "\nthe program may have virtual threads, which are left out while they are parked; "
				    "--vthreads shows them\n";
	static const struct {
		bool runs; /* a virtual thread is seen that does */
		uint32_t innermost;
		enum thread_state state;
		const char *thread, *line;
	} cases[] = {
		{true, V_YIELD, THREAD_RUNNING, "main", plain},  {true, V_PARK, THREAD_PARKED, "main", plain},
		{true, V_YIELD, THREAD_PARKED, "main", NULL},    {true, V_UNMOUNT, THREAD_PARKED, "main", NULL},
		{true, V_CONTINUATION, THREAD_PARKED, "main", NULL},
		{true, V_YIELD, THREAD_PARKED, "VirtualThread-unparker", NULL},
		{false, V_TASK, THREAD_RUNNING, "main", NULL},   {false, V_PARK, THREAD_PARKED, "main", NULL},
		{false, V_TASK, THREAD_RUNNING, "VirtualThread-unparker", maybe},
		{false, V_TASK, THREAD_RUNNING, "VirtualThread-unblocker", maybe},
		{false, V_PARK, THREAD_PARKED, "Read-Poller", maybe},
		{false, V_TASK, THREAD_RUNNING, "http-nio-8080-Poller", NULL},
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(cases); i++) {
		uint32_t runs[] = {cases[i].runs ? V_RUN : V_TASK, V_TASK};
		uint32_t other[] = {runs[0], V_TASK, cases[i].innermost};
		struct profile_stack stacks[] = {SEEN(runs, 0, RUNNING, 10, 1 * WORK_S),
						 SEEN(other, 0, RUNNING, 10, 1 * WORK_S)};
		const struct profile_thread threads[] = {{1, cases[i].thread, 1, WORK_S}};
		struct profile p = contended("wall", stacks, 2);
		char *text;

		stacks[1].state = (uint8_t)cases[i].state;
		p.frames = virtual;
		p.frame_count = V_FRAMES - !cases[i].runs;
		p.threads = threads;
		p.thread_count = 1;
		text = short_report(&p);
		assert_int_equal(!!strstr(text, "left out while they are parked"), cases[i].line != NULL);
		assert_true(!cases[i].line || strstr(text, cases[i].line));
		free(text);
		text = sample_write_text(&p, "hot", &(struct format_options){.views = &views, .vthreads = true});
		assert_null(strstr(text, "left out while they are parked"));
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(locks_of_one_class_are_apart), cmocka_unit_test(each_lock_is_one),
		cmocka_unit_test(idle_waits_are_those_of_their_lock),
		cmocka_unit_test(objects_that_are_new_for_every_wait_are_one_row),
		cmocka_unit_test(owners_have_shares_of_their_own),
		cmocka_unit_test(who_awaits_a_condition_owns_nothing), cmocka_unit_test(permits_have_no_owner),
		cmocka_unit_test(who_waits_alone_does_not_own), cmocka_unit_test(who_owns_is_not_idle),
		cmocka_unit_test(only_who_is_blocked_enters_a_monitor), cmocka_unit_test(idle_waits_are_in_no_line),
		cmocka_unit_test(parked_virtual_threads_are_told_of), cmocka_unit_test(a_place_may_have_several_locks),
		cmocka_unit_test(recorded_locks_are_said_once), cmocka_unit_test(kinds_of_locks_are_apart), cmocka_unit_test(few_known_owners),
		cmocka_unit_test(owners_are_there_while_others_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
