/*
 * Names of threads by what they have in common, and what threads did by their stacks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/base/base.h"
#include "profile/model/work/thread_groups.h"
#include "profile/model/work/thread_pattern.h"

/* ---- names ---- */

#define NAMES 12

/* NAMES with the pattern of each, in turn; ended by NULL. */
static void check_patterns(const struct thread_namer *namer, const char *const *pairs)
{
	struct profile_thread threads[NAMES] = {{.tid = 0}};
	struct profile p = {.threads = threads};
	struct strings texts = {0};
	uint32_t of_thread[NAMES], i;

	for (i = 0; pairs[2 * i]; i++)
		threads[i] = (struct profile_thread){.tid = i + 1, .name = pairs[2 * i]};
	p.thread_count = i;
	assert_int_equal(thread_patterns(&p, namer, &texts, of_thread), 0);
	for (i = 0; i < p.thread_count; i++)
		assert_string_equal(strings_get(&texts, of_thread[i]), pairs[2 * i + 1]);
	strings_free(&texts);
}

#define CHECK(namer, ...) check_patterns(namer, (const char *const[]){__VA_ARGS__, NULL})

static void the_last_number_that_differs_is_folded(void **state)
{
	(void)state;
	CHECK(NULL, "http-nio-8080-exec-12", "http-nio-8080-exec-*", "http-nio-8080-exec-3", "http-nio-8080-exec-*",
	      "http-nio-8443-exec-3", "http-nio-8443-exec-*", "http-nio-8443-exec-4", "http-nio-8443-exec-*");
	CHECK(NULL, "pool-3-thread-7", "pool-3-thread-*", "pool-3-thread-8", "pool-3-thread-*",
	      "pool-4-thread-1", "pool-4-thread-*");
	CHECK(NULL, "Thread-1", "Thread-*", "Thread-12", "Thread-*");
	CHECK(NULL, "worker-1-of-8", "worker-*-of-8", "worker-2-of-8", "worker-*-of-8");
	CHECK(NULL, "GC Thread#0", "GC Thread#*", "GC Thread#13", "GC Thread#*");
	CHECK(NULL, "C2 CompilerThread0", "C2 CompilerThread0", "C1 CompilerThread0", "C1 CompilerThread0");
	CHECK(NULL, "C2 CompilerThread0", "C2 CompilerThread*", "C2 CompilerThread1", "C2 CompilerThread*",
	      "C1 CompilerThread0", "C1 CompilerThread0");
	CHECK(NULL, "ForkJoinPool-1-worker-3", "ForkJoinPool-1-worker-*", "ForkJoinPool-1-worker-1",
	      "ForkJoinPool-1-worker-*", "ForkJoinPool.commonPool-worker-1", "ForkJoinPool.commonPool-worker-1");
}

static void a_thread_without_its_like_keeps_its_name(void **state)
{
	(void)state;
	CHECK(NULL, "main", "main", "Thread-12", "Thread-12", "pool-3-thread-7", "pool-3-thread-7");
	CHECK(NULL, "same", "same", "same", "same");
}

static void where_all_differ_all_are_folded(void **state)
{
	(void)state;
	CHECK(NULL, "conn-17-request-8155", "conn-*-request-*", "conn-18-request-9001", "conn-*-request-*",
	      "conn-19-request-9002", "conn-*-request-*");
	/* pools of one thread each */
	CHECK(NULL, "pool-1-thread-1", "pool-*-thread-1", "pool-2-thread-1", "pool-*-thread-1");
}

static void hard_names(void **state)
{
	(void)state;
	CHECK(NULL, "", "(no name)", "1", "*", "22", "*", "007", "*");
	CHECK(NULL, "42", "42");
	CHECK(NULL, "Größe-1-ü", "Größe-*-ü", "Größe-22-ü", "Größe-*-ü", "工作者3", "工作者*", "工作者4", "工作者*");
	CHECK(NULL, "\xff\xfe" "1", "\xff\xfe*", "\xff\xfe" "2", "\xff\xfe*", "a\001b1", "a b1");
	CHECK(NULL, "qtp1509791656-17", "qtp1509791656-*", "qtp1509791656-18", "qtp1509791656-*");
	CHECK(NULL, "acceptor-0@7f8c3a{0.0.0.0:8080}", "acceptor-0@*{0.0.0.0:8080}",
	      "acceptor-0@1b2c3d4e{0.0.0.0:8080}", "acceptor-0@*{0.0.0.0:8080}");
	CHECK(NULL, "job 550e8400-e29b-41d4-a716-446655440000", "job *-e29b-41d4-a716-446655440000",
	      "job 550e8401-e29b-41d4-a716-446655440000", "job *-e29b-41d4-a716-446655440000");
	CHECK(NULL, "a1b2c3d4e5f6g1h2i3j4", "a1b2c3d4e5f6g1h2i*j*"); /* so many numbers are not compared */
	CHECK(NULL, "1.2.3.4.5.6.7.8.9", "1.2.3.4.5.6.7.8.*", "1.2.3.4.5.6.7.8.10", "1.2.3.4.5.6.7.8.*");
	/* those that have ended share an entry for their pattern */
	/* one that is renamed for each task */
	CHECK(NULL, "Executor task launch worker for task 1.0 in stage 44.0 (TID 38)",
	      "Executor task launch worker for task *", "Executor task launch worker for task 0.0 in stage 9.1 (TID 3)",
	      "Executor task launch worker for task *", "Executor task launch worker-1",
	      "Executor task launch worker-1");
	CHECK(NULL, "Executor task launch worker for task 0.0 in stage 9.1 (TID 3)",
	      "Executor task launch worker for task *");
	CHECK(NULL, "Thread-# (ended)", "Thread-*", "Thread-12", "Thread-*", "#1", "#1");
}

/* What stands in front of the first blank. */
static const char *first_word(const struct thread_namer *namer, const char *name, size_t *length)
{
	(void)namer;
	*length = strcspn(name, " ");
	return name[*length] ? name : NULL;
}
static const struct thread_namer by_word = {first_word};

static void as_the_user_says(void **state)
{
	(void)state;
	check_patterns(&by_word, (const char *const[]){"http 1", "http", "http 8080 2", "http", "main", "main", " "
														"x",
															" x",
						       "job-1", "job-*", "job-2", "job-*", NULL});
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* What is quadratic takes minutes for 300,000 threads; what is not, a tenth of this also under a sanitizer. */
#define NOT_QUADRATIC 10.0

/* Of COUNT threads named by FORMAT with two numbers, how many patterns there are, and that it is not quadratic. */
static uint32_t patterns_of_many(const char *format, uint32_t count, bool both)
{
	struct profile_thread *threads = calloc(count, sizeof(*threads));
	uint32_t *of_thread = calloc(count, sizeof(*of_thread)), i, patterns = 0;
	char *names = calloc(count, 64);
	struct profile p = {.threads = threads, .thread_count = count};
	struct strings texts = {0};
	struct map seen = {0};
	bool fresh;
	double began;

	for (i = 0; i < count; i++) {
		snprintf(names + 64 * (size_t)i, 64, format, both ? i : i % 1000, i);
		threads[i] = (struct profile_thread){.tid = i + 1, .name = names + 64 * (size_t)i};
	}
	began = seconds();
	assert_int_equal(thread_patterns(&p, NULL, &texts, of_thread), 0);
	assert_true(seconds() - began < NOT_QUADRATIC);
	for (i = 0; i < count; i++) {
		map_put(&seen, of_thread[i], &fresh);
		patterns += fresh;
	}
	map_free(&seen);
	strings_free(&texts);
	free(names);
	free(of_thread);
	free(threads);
	return patterns;
}

static void three_hundred_thousand_threads(void **state)
{
	(void)state;
	assert_int_equal(patterns_of_many("pool-%u-thread-%u", 300000, false), 1000);
	assert_int_equal(patterns_of_many("conn-%u-request-%u", 300000, true), 1);
}

/* ---- what threads did ---- */

enum frame_number {
	START, RUN, WORKER, GET_TASK, TAKE, CONDITION, PARK, TASK, HANDLE, CALL, LOCK, WAIT, SLEEP, READ, POLL, ACCEPT,
	SELECT, FUTURE, FILE_READ, INPUT, COND_WAIT, MUTEX, VIRTUAL, LAMBDA, REFERENCES, PUT, BARRIER, MAIN, LATCH,
	SCALA, WAIT_FOR, SOCKET_READ, SOCKET_WRITE, HTTP, OBJECTS, VIRTUAL_SLEEP, YIELD,
	AWAITS, RUNS_TASK, OF_POOL, ASKS_POOL, AT_BARRIER, SCOPE, SCOPE_OF_21,
	END_OF_SCOPE, PROMISE_JOIN, PROMISE_GET, PROMISE, TIMER, JOIN, CLASS_INIT, FRAMES
};
#define JAVA(class, method) {.class_name = class, .name = method, .kind = FRAME_C2}
#define NATIVE(function) {.name = function, .library = "libc.so.6", .kind = FRAME_NATIVE}
static const struct profile_frame frames[FRAMES] = {
	[START] = NATIVE("start_thread"),
	[RUN] = JAVA("java/lang/Thread", "run"),
	[WORKER] = JAVA("java/util/concurrent/ThreadPoolExecutor", "runWorker"),
	[GET_TASK] = JAVA("java/util/concurrent/ThreadPoolExecutor", "getTask"),
	[TAKE] = JAVA("java/util/concurrent/LinkedBlockingQueue", "take"),
	[CONDITION] = JAVA("java/util/concurrent/locks/AbstractQueuedSynchronizer$ConditionObject", "await"),
	[PARK] = JAVA("jdk/internal/misc/Unsafe", "park"),
	[TASK] = JAVA("shop/Order", "run"),
	[HANDLE] = JAVA("shop/Order", "handle"),
	[CALL] = JAVA("shop/Backend", "call"),
	[LOCK] = JAVA("java/util/concurrent/locks/ReentrantLock", "lock"),
	[WAIT] = JAVA("java/lang/Object", "wait0"),
	[SLEEP] = JAVA("java/lang/Thread", "sleep0"),
	[READ] = JAVA("sun/nio/ch/NioSocketImpl", "implRead"),
	[POLL] = JAVA("sun/nio/ch/Net", "poll"),
	[ACCEPT] = JAVA("sun/nio/ch/NioSocketImpl", "accept"),
	[SELECT] = JAVA("sun/nio/ch/SelectorImpl", "lockAndDoSelect"),
	[FUTURE] = JAVA("java/util/concurrent/FutureTask", "get"),
	[FILE_READ] = JAVA("java/io/RandomAccessFile", "readBytes0"),
	[INPUT] = JAVA("java/io/FileInputStream", "readBytes"),
	[COND_WAIT] = NATIVE("pthread_cond_wait"),
	[MUTEX] = NATIVE("pthread_mutex_lock"),
	[VIRTUAL] = JAVA("java/lang/VirtualThread", "run"),
	[LAMBDA] = JAVA("shop/Visits$$Lambda$14+0x0000000800c03000", "run"),
	[PUT] = JAVA("java/util/concurrent/ArrayBlockingQueue", "put"),
	[BARRIER] = JAVA("java/util/concurrent/CyclicBarrier", "dowait"),
	[MAIN] = JAVA("shop/Main", "main"),
	[LATCH] = JAVA("java/util/concurrent/CountDownLatch", "await"),
	[REFERENCES] = JAVA("java/lang/ref/Reference", "waitForReferencePendingList"),
	[SCALA] = JAVA("shop/Bus$$Lambda$2014+0x0000000800c03000", "apply$mcV$sp"),
	[WAIT_FOR] = JAVA("java/lang/ProcessImpl", "waitFor"),
	[SOCKET_READ] = JAVA("sun/nio/ch/SocketDispatcher", "read0"),
	[SOCKET_WRITE] = JAVA("sun/nio/ch/SocketDispatcher", "write0"),
	[HTTP] = JAVA("sun/net/www/http/HttpClient", "parseHTTP"),
	[OBJECTS] = JAVA("java/io/ObjectInputStream", "readObject"),
	[VIRTUAL_SLEEP] = JAVA("java/lang/VirtualThread", "sleepNanos"),
	[YIELD] = JAVA("java/lang/VirtualThread", "yieldContinuation"),
	[AWAITS] = JAVA("java/util/concurrent/FutureTask", "awaitDone"),
	[RUNS_TASK] = JAVA("java/util/concurrent/FutureTask", "run"),
	[OF_POOL] = JAVA("shop/Mail", "lambda$send$0"),
	[ASKS_POOL] = JAVA("shop/Mail", "send"),
	[SCOPE] = JAVA("java/util/concurrent/StructuredTaskScopeImpl", "join"),
	[SCOPE_OF_21] = JAVA("java/util/concurrent/StructuredTaskScope$ShutdownOnFailure", "joinUntil"),
	[END_OF_SCOPE] = JAVA("java/util/concurrent/StructuredTaskScopeImpl", "close"),
	[PROMISE_JOIN] = JAVA("java/util/concurrent/CompletableFuture", "join"),
	[PROMISE_GET] = JAVA("java/util/concurrent/CompletableFuture", "get"),
	[PROMISE] = JAVA("java/util/concurrent/CompletableFuture", "waitingGet"),
	[CLASS_INIT] = JAVA("shop/Prices", "<clinit>"),
	[TIMER] = JAVA("java/util/TimerThread", "mainLoop"),
	[JOIN] = JAVA("java/lang/Thread", "join"),
	[AT_BARRIER] = JAVA("shop/Step", "run"),
};

struct given {
	enum activity expected;
	enum thread_state state;
	uint32_t frames[9]; /* ended by FRAMES */
};
#define S(expected, state, ...) {ACTIVITY_##expected, THREAD_##state, {__VA_ARGS__, FRAMES}}
static const struct given given[] = {
	S(RUNNING, RUNNING, RUN, TASK),
	S(RUNNABLE, RUNNABLE, RUN, TASK),
	S(HELD, HELD, RUN, TASK),
	/* a pool asks for a task, whatever queue it has */
	S(IDLE, PARKED, RUN, WORKER, GET_TASK, TAKE, CONDITION, PARK),
	S(IDLE, WAITING, RUN, WORKER, GET_TASK, WAIT),
	/* … and is on a CPU on its way, or has to wait for the queue's own lock */
	S(RUNNING, RUNNING, RUN, WORKER, GET_TASK, TAKE),
	S(LOCK, PARKED, RUN, WORKER, GET_TASK, TAKE, LOCK, PARK),
	S(LOCK, BLOCKED, RUN, WORKER, GET_TASK),
	/* outermost loops */
	S(IDLE, PARKED, RUN, TASK, TAKE, CONDITION, PARK),
	S(IDLE, PARKED, RUN, TASK, HANDLE, TAKE, CONDITION, PARK),
	S(IDLE, SLEEPING, RUN, TASK, SLEEP),
	S(IDLE, SLEEPING, RUN, LAMBDA, TASK, HANDLE, SLEEP),
	S(IDLE, WAITING, RUN, TASK, WAIT),
	S(IDLE, PARKED, MAIN, FUTURE, PARK),
	/* … but a producer that waits for room in its queue, and who waits for those it works with */
	S(PARK, PARKED, RUN, TASK, PUT, CONDITION, PARK),
	S(PARK, PARKED, MAIN, PUT, CONDITION, PARK),
	S(PARK, PARKED, RUN, TASK, BARRIER, CONDITION, PARK),
	/* work that waits: a task is one, also in its outermost method, and who waits for its result has some */
	S(PARK, PARKED, RUN, WORKER, TASK, TAKE, CONDITION, PARK),
	S(SLEEP, SLEEPING, RUN, WORKER, TASK, SLEEP),
	S(PARK, PARKED, RUN, TASK, FUTURE, PARK),
	S(PARK, PARKED, RUN, LAMBDA, TASK, HANDLE, SCOPE, PARK),
	S(PARK, PARKED, RUN, TASK, SCOPE_OF_21, PARK),
	S(IDLE, PARKED, RUN, TASK, END_OF_SCOPE, PARK),
	S(PARK, PARKED, MAIN, SCOPE, PARK),
	S(PARK, PARKED, MAIN, FUTURE, AWAITS, PARK),
	S(IDLE, PARKED, MAIN, PROMISE_JOIN, PROMISE, PARK),
	/* a loop that runs its tasks itself */
	S(IDLE, WAITING, TIMER, WAIT),
	S(SLEEP, SLEEPING, TIMER, TASK, SLEEP),
	S(SLEEP, SLEEPING, TIMER, TASK, HANDLE, SLEEP),
	S(WAIT, WAITING, TIMER, TASK, WAIT),
	S(PARK, PARKED, RUN, LAMBDA, TASK, HANDLE, FUTURE, PARK),
	S(PARK, PARKED, RUN, TASK, HANDLE, CALL, FUTURE, PARK),
	S(PARK, PARKED, RUN, WORKER, TASK, HANDLE, FUTURE, PARK),
	S(SLEEP, SLEEPING, RUN, WORKER, TASK, HANDLE, SLEEP),
	S(WAIT, WAITING, RUN, TASK, HANDLE, CALL, WAIT),
	S(LOCK, BLOCKED, RUN, TASK),
	S(LOCK, PARKED, RUN, TASK, LOCK, PARK),
	/* in a virtual thread all of it is the task */
	S(PARK, PARKED, VIRTUAL, TASK, FUTURE, PARK),
	S(SLEEP, SLEEPING, VIRTUAL, LAMBDA, SLEEP),
	S(SLEEP, PARKED, VIRTUAL, TASK, VIRTUAL_SLEEP, YIELD),
	/* connections and files */
	S(NETWORK, NATIVE, RUN, TASK, READ, POLL),
	S(IDLE, NATIVE, RUN, TASK, ACCEPT, POLL),
	S(IDLE, NATIVE, RUN, TASK, HANDLE, CALL, SELECT),
	S(FILE, NATIVE, RUN, TASK, FILE_READ),
	S(IDLE, NATIVE, TASK, HANDLE, INPUT),
	S(FILE, NATIVE, TASK, HANDLE, CALL, INPUT),
	S(NATIVE, NATIVE, RUN, TASK),
	/* the JVM's own */
	S(IDLE, WAITING, RUN, REFERENCES),
	S(IDLE, NATIVE, START, COND_WAIT),
	S(LOCK, NATIVE, START, MUTEX),
	S(RUNNING, RUNNING, START),
	S(IDLE, NATIVE, FRAMES),
	S(RUNNING, NONE, RUN),
};

static void states_are_refined_by_methods(void **state)
{
	struct profile_stack stacks[ARRAY_LEN(given)] = {{.depth = 0}};
	struct profile p = {.weight_kind = WEIGHT_WALL, .frames = frames, .frame_count = FRAMES, .stacks = stacks,
			    .stack_count = ARRAY_LEN(given)};
	uint8_t *found;
	unsigned i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(given); i++) {
		stacks[i] = (struct profile_stack){.frames = given[i].frames, .state = (uint8_t)given[i].state};
		while (given[i].frames[stacks[i].depth] != FRAMES)
			stacks[i].depth++;
	}
	found = activity_of_stacks(&p);
	assert_non_null(found);
	for (i = 0; i < ARRAY_LEN(given); i++)
		if (found[i] != given[i].expected)
			fail_msg("stack %u: %s, not %s", i, activity_names[found[i]].key,
				 activity_names[given[i].expected].key);
	free(found);
}

/* ---- threads that only wait for the next thing to do ---- */

#define WHOLE 1000
static const uint32_t asks[] = {RUN, TASK, HANDLE, CALL, TAKE, CONDITION, PARK}, works[] = {RUN, TASK, HANDLE, CALL};
static const uint32_t asks_in_pool[] = {RUN, WORKER, TASK, HANDLE, CALL, CONDITION, PARK};
/* LinkedBlockingQueue.take below nine methods of the program and Scala's lambdas, as Spark's listeners have it */
static const uint32_t deep[] = {RUN, TASK, SCALA, HANDLE, CALL, SCALA, CALL, CALL, SCALA, CALL, CALL, CALL, CALL, TAKE,
				CONDITION, PARK};
static const uint32_t from_scala[] = {RUN, TASK, CALL, CALL, SCALA, TAKE, CONDITION, PARK};
static const uint32_t deep_in_object[] = {RUN, TASK, HANDLE, CALL, CALL, CALL, CALL, CALL, WAIT};
static const uint32_t deep_in_latch[] = {RUN, TASK, HANDLE, CALL, CALL, CALL, CALL, CALL, LATCH, PARK};
#define NINE TASK, HANDLE, CALL, HANDLE, CALL, HANDLE, CALL, HANDLE, CALL
static const uint32_t deep_in_pool[] = {RUN, WORKER, NINE, TAKE, CONDITION, PARK};
static const uint32_t eight_in_pool[] = {RUN, WORKER, HANDLE, CALL, HANDLE, CALL, HANDLE, CALL, HANDLE, CALL, TAKE, PARK};
static const uint32_t recursion_in_pool[] = {RUN, WORKER, TASK, CALL, CALL, CALL, CALL, CALL, CALL, CALL, CALL, TAKE, PARK};
static const uint32_t for_process[] = {RUN, TASK, HANDLE, CALL, CALL, CALL, CALL, CALL, WAIT_FOR, WAIT};
static const uint32_t process_in_pool[] = {RUN, WORKER, NINE, WAIT_FOR, WAIT};
static const uint32_t of_process[] = {RUN, TASK, HANDLE, CALL, CALL, CALL, INPUT};
static const uint32_t of_process_in_pool[] = {RUN, WORKER, TASK, HANDLE, CALL, CALL, INPUT};
static const uint32_t of_file[] = {RUN, TASK, HANDLE, CALL, FILE_READ};
static const uint32_t of_peer[] = {RUN, TASK, OBJECTS, READ, SOCKET_READ};
static const uint32_t to_peer[] = {RUN, TASK, SOCKET_WRITE};
static const uint32_t deep_of_peer[] = {RUN, TASK, HANDLE, CALL, SOCKET_READ};
static const uint32_t peer_in_pool[] = {RUN, WORKER, TASK, SOCKET_READ};
static const uint32_t peer_in_main[] = {MAIN, SOCKET_READ};
static const uint32_t of_answer[] = {RUN, TASK, HTTP, READ, SOCKET_READ};
static const uint32_t in_main[] = {MAIN, TASK, HANDLE, CALL, CALL, CALL, CALL, CALL, LATCH, PARK};
static const uint32_t of_result[] = {RUN, TASK, HANDLE, CALL, FUTURE, PARK};
static const uint32_t of_subtasks[] = {RUN, TASK, HANDLE, CALL, SCOPE, PARK};
static const uint32_t of_room[] = {RUN, TASK, HANDLE, CALL, PUT, CONDITION, PARK};
static const uint32_t of_lock[] = {RUN, TASK, HANDLE, CALL, TAKE, LOCK, PARK};
static const uint32_t in_object[] = {RUN, TASK, HANDLE, CALL, WAIT};
static const uint32_t in_virtual[] = {VIRTUAL, TASK, HANDLE, CALL, TAKE, CONDITION, PARK};

#define OF(list, thread_, state_, weight_) \
	{.frames = list, .depth = ARRAY_LEN(list), .thread = thread_, .state = THREAD_##state_, .samples = 1, \
	 .weight = weight_}

/* How a thread's time is spent, besides its wait: out of all that the recording knows of it. */
enum { WORKS, WITHOUT_CPU, RESTS };

/* What a wait of LIST for PART of WHOLE is, of a thread that does REST besides, in P's kind of weight. */
static enum activity waits_in(struct profile *p, const uint32_t *list, uint32_t depth, enum thread_state state,
			      uint64_t part, const uint64_t rest[RESTS])
{
	static const struct profile_thread threads[] = {{.tid = 1, .name = "a"}, {.tid = 2, .name = "b"}};
	const struct profile_stack stacks[] = {
		OF(works, 1, RUNNING, WHOLE), /* what others do does not matter */
		{.frames = list, .depth = depth, .thread = 0, .state = (uint8_t)state, .samples = 1, .weight = part},
		OF(works, 0, RUNNING, rest[WORKS]),
		OF(works, 0, RUNNABLE, rest[WITHOUT_CPU]),
	};
	uint8_t *found, was;

	p->frames = frames;
	p->frame_count = FRAMES;
	p->stacks = stacks;
	p->stack_count = ARRAY_LEN(stacks);
	p->threads = threads;
	p->thread_count = ARRAY_LEN(threads);
	found = activity_of_stacks(p);
	assert_non_null(found);
	was = found[1];
	assert_int_equal(found[0], ACTIVITY_RUNNING);
	free(found);
	return was;
}
#define WAITS_IN(list, state, part, ...) \
	waits_in(&p, list, ARRAY_LEN(list), THREAD_##state, part, (const uint64_t[RESTS]){__VA_ARGS__})

static void who_only_waits_for_the_next_thing_is_idle(void **state)
{
	struct profile p = {.weight_kind = WEIGHT_WALL, .duration = WHOLE};

	(void)state;
	assert_int_equal(WAITS_IN(asks, PARKED, 1000, 0), ACTIVITY_IDLE);
	assert_int_equal(WAITS_IN(asks, PARKED, 950, 50), ACTIVITY_IDLE);
	assert_int_equal(WAITS_IN(asks, PARKED, 940, 60), ACTIVITY_PARK);
	assert_int_equal(WAITS_IN(asks_in_pool, PARKED, 1000, 0), ACTIVITY_IDLE);
	assert_int_equal(WAITS_IN(in_object, WAITING, 990, 10), ACTIVITY_IDLE);
	assert_int_equal(WAITS_IN(in_object, WAITING, 980, 20), ACTIVITY_WAIT);
	assert_int_equal(WAITS_IN(in_main, PARKED, 1000, 0), ACTIVITY_IDLE);
	/* it was not there for long */
	assert_int_equal(WAITS_IN(asks, PARKED, 499, 0), ACTIVITY_PARK);
}

/* Where one waits counts, unless a queue says that it is for work. */
static void depth_counts_where_it_may_be_a_request(void **state)
{
	struct profile p = {.weight_kind = WEIGHT_WALL, .duration = WHOLE};

	(void)state;
	assert_int_equal(WAITS_IN(deep, PARKED, 990, 10), ACTIVITY_IDLE);
	assert_int_equal(WAITS_IN(from_scala, PARKED, 990, 10), ACTIVITY_IDLE);
	assert_int_equal(WAITS_IN(deep_in_pool, PARKED, 1000, 0), ACTIVITY_PARK);
	assert_int_equal(WAITS_IN(eight_in_pool, PARKED, 1000, 0), ACTIVITY_IDLE);
	assert_int_equal(WAITS_IN(recursion_in_pool, PARKED, 1000, 0), ACTIVITY_IDLE);
	assert_int_equal(WAITS_IN(recursion_in_pool, PARKED, 940, 60), ACTIVITY_PARK);
	assert_int_equal(WAITS_IN(deep_in_object, WAITING, 1000, 0), ACTIVITY_WAIT);
	assert_int_equal(WAITS_IN(deep_in_latch, PARKED, 1000, 0), ACTIVITY_PARK);
}

/* A machine that others use does not make a consumer busy. */
static void who_is_woken_and_has_no_cpu_has_no_work(void **state)
{
	struct profile p = {.weight_kind = WEIGHT_WALL, .duration = WHOLE};

	(void)state;
	assert_int_equal(WAITS_IN(asks, PARKED, 880, 20, 100), ACTIVITY_IDLE);
	assert_int_equal(WAITS_IN(asks, PARKED, 550, 20, 430), ACTIVITY_IDLE);
	assert_int_equal(WAITS_IN(asks, PARKED, 450, 20, 530), ACTIVITY_PARK);
	assert_int_equal(WAITS_IN(asks, PARKED, 800, 100, 100), ACTIVITY_PARK);
	assert_int_equal(WAITS_IN(in_object, WAITING, 890, 10, 100), ACTIVITY_WAIT);
}

static void helper_processes_are_waited_for(void **state)
{
	struct profile p = {.weight_kind = WEIGHT_WALL, .duration = WHOLE};

	(void)state;
	assert_int_equal(WAITS_IN(for_process, WAITING, 990, 10), ACTIVITY_IDLE);
	assert_int_equal(WAITS_IN(for_process, WAITING, 900, 100), ACTIVITY_WAIT);
	assert_int_equal(WAITS_IN(process_in_pool, WAITING, 1000, 0), ACTIVITY_WAIT);
	assert_int_equal(WAITS_IN(of_process, NATIVE, 1000, 0), ACTIVITY_IDLE);
	assert_int_equal(WAITS_IN(of_process, NATIVE, 900, 100), ACTIVITY_FILE);
	assert_int_equal(WAITS_IN(of_process_in_pool, NATIVE, 1000, 0), ACTIVITY_FILE);
	assert_int_equal(WAITS_IN(of_file, NATIVE, 1000, 0), ACTIVITY_FILE);
}

/* Who reads in its outermost loop and did nothing at all in the whole recording was sent nothing. */
static void reads_of_messages(void **state)
{
	struct profile p = {.weight_kind = WEIGHT_WALL, .duration = WHOLE};

	(void)state;
	assert_int_equal(WAITS_IN(of_peer, NATIVE, 1000, 0), ACTIVITY_IDLE);
	assert_int_equal(WAITS_IN(of_peer, NATIVE, 950, 0, 50), ACTIVITY_IDLE);
	assert_int_equal(WAITS_IN(of_peer, NATIVE, 995, 5), ACTIVITY_NETWORK);
	assert_int_equal(WAITS_IN(of_peer, NATIVE, 890, 0), ACTIVITY_NETWORK);
	assert_int_equal(WAITS_IN(to_peer, NATIVE, 1000, 0), ACTIVITY_NETWORK);
	assert_int_equal(WAITS_IN(deep_of_peer, NATIVE, 1000, 0), ACTIVITY_NETWORK);
	assert_int_equal(WAITS_IN(peer_in_pool, NATIVE, 1000, 0), ACTIVITY_NETWORK);
	assert_int_equal(WAITS_IN(peer_in_main, NATIVE, 1000, 0), ACTIVITY_NETWORK);
	assert_int_equal(WAITS_IN(of_answer, NATIVE, 1000, 0), ACTIVITY_NETWORK);
}

/* A task waits at a latch for others; but for one that stands there all the time and in its outermost method. */
static void a_latch_in_a_task(void **state)
{
	static const uint32_t in_thread[] = {RUN, TASK, HANDLE, CALL, LATCH, PARK};
	static const uint32_t outermost[] = {RUN, WORKER, TASK, LATCH, PARK};
	static const uint32_t deeper[] = {RUN, WORKER, TASK, HANDLE, LATCH, PARK};
	static const uint32_t takes[] = {RUN, WORKER, TASK, HANDLE, TAKE, CONDITION, PARK};
	struct profile p = {.weight_kind = WEIGHT_WALL, .duration = WHOLE};

	(void)state;
	assert_int_equal(WAITS_IN(deeper, PARKED, 1000, 0), ACTIVITY_PARK);
	assert_int_equal(WAITS_IN(deeper, PARKED, 995, 5), ACTIVITY_PARK);
	assert_int_equal(WAITS_IN(outermost, PARKED, 999, 1), ACTIVITY_PARK);
	assert_int_equal(WAITS_IN(outermost, PARKED, 499, 0), ACTIVITY_PARK);
	assert_int_equal(WAITS_IN(outermost, PARKED, 1000, 0), ACTIVITY_IDLE);
	assert_int_equal(WAITS_IN(in_thread, PARKED, 990, 10), ACTIVITY_IDLE);
	assert_int_equal(WAITS_IN(takes, PARKED, 1000, 0), ACTIVITY_IDLE);
	/* a wait that has an event began in the recording: it is no task that stands there for good */
	p.weight_kind = WEIGHT_WAIT;
	assert_int_equal(WAITS_IN(outermost, PARKED, 1000, 0), ACTIVITY_PARK);
	assert_int_equal(WAITS_IN(deeper, PARKED, 1000, 0), ACTIVITY_PARK);
	assert_int_equal(WAITS_IN(in_thread, PARKED, 1000, 0), ACTIVITY_IDLE);
	assert_int_equal(WAITS_IN(takes, PARKED, 1000, 0), ACTIVITY_IDLE);
}

/* A loop that a pool runs and that only sleeps has no work; a task that sleeps now and then has. */
static void sleep_in_a_task(void **state)
{
	static const uint32_t outermost[] = {RUN, WORKER, TASK, SLEEP}, deeper[] = {RUN, WORKER, TASK, HANDLE, SLEEP};
	struct profile p = {.weight_kind = WEIGHT_WALL, .duration = WHOLE};

	(void)state;
	assert_int_equal(WAITS_IN(outermost, SLEEPING, 1000, 0), ACTIVITY_IDLE);
	assert_int_equal(WAITS_IN(outermost, SLEEPING, 990, 10), ACTIVITY_IDLE);
	assert_int_equal(WAITS_IN(outermost, SLEEPING, 980, 20), ACTIVITY_SLEEP);
	assert_int_equal(WAITS_IN(deeper, SLEEPING, 1000, 0), ACTIVITY_SLEEP);
	assert_int_equal(WAITS_IN(outermost, SLEEPING, 400, 0), ACTIVITY_SLEEP);
}

static void other_waits_hold_up_even_if_they_last(void **state)
{
	struct profile p = {.weight_kind = WEIGHT_WALL, .duration = WHOLE};

	(void)state;
	assert_int_equal(WAITS_IN(of_result, PARKED, 1000, 0), ACTIVITY_PARK);
	assert_int_equal(WAITS_IN(of_subtasks, PARKED, 1000, 0), ACTIVITY_PARK);
	assert_int_equal(WAITS_IN(of_room, PARKED, 1000, 0), ACTIVITY_PARK);
	assert_int_equal(WAITS_IN(of_lock, PARKED, 1000, 0), ACTIVITY_LOCK);
	assert_int_equal(WAITS_IN(asks, BLOCKED, 1000, 0), ACTIVITY_LOCK);
	assert_int_equal(WAITS_IN(in_virtual, PARKED, 1000, 0), ACTIVITY_PARK);
}

/* Of waits nothing else is known of a thread: they have to fill the recording. */
static void waits_alone_have_to_fill_the_time(void **state)
{
	struct profile p = {.weight_kind = WEIGHT_WAIT, .duration = WHOLE};

	(void)state;
	assert_int_equal(WAITS_IN(in_object, WAITING, 800, 0), ACTIVITY_IDLE);
	assert_int_equal(WAITS_IN(in_object, WAITING, 790, 0), ACTIVITY_WAIT);
	assert_int_equal(WAITS_IN(asks, PARKED, 490, 0), ACTIVITY_IDLE);
	assert_int_equal(WAITS_IN(asks, PARKED, 100, 0), ACTIVITY_IDLE); /* the first one began before the recording */
	assert_int_equal(WAITS_IN(deep, PARKED, 730, 0), ACTIVITY_IDLE);
	p.duration = 0;
	assert_int_equal(WAITS_IN(asks, PARKED, 950, 0), ACTIVITY_PARK);
}

/* In a pool's task it may be a connection that others have: most of the time, and no other wait of such a task. */
static void waits_alone_in_a_task(void **state)
{
	static const uint32_t takes[] = {RUN, WORKER, TASK, HANDLE, TAKE, CONDITION, PARK};
	static const uint32_t next_task[] = {RUN, WORKER, GET_TASK, TAKE, CONDITION, PARK};
	static const uint32_t books[] = {RUN, WORKER, TASK, HANDLE, CALL};
	static const struct profile_thread threads[] = {{.tid = 1, .name = "worker-1"}};
	static const struct {
		uint64_t takes, next_task, books;
		enum activity expected;
	} cases[] = {
		{990, 0, 0, ACTIVITY_IDLE}, {900, 0, 0, ACTIVITY_IDLE},  {890, 0, 0, ACTIVITY_PARK},
		{100, 0, 0, ACTIVITY_PARK}, {500, 450, 0, ACTIVITY_IDLE}, {500, 200, 0, ACTIVITY_PARK},
		{980, 0, 1, ACTIVITY_PARK}, {500, 400, 20, ACTIVITY_PARK},
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(cases); i++) {
		const struct profile_stack stacks[] = {
			OF(takes, 0, PARKED, cases[i].takes), OF(next_task, 0, PARKED, cases[i].next_task),
			OF(books, 0, BLOCKED, cases[i].books),
		};
		const struct profile p = {
			.weight_kind = WEIGHT_WAIT, .duration = WHOLE, .frames = frames, .frame_count = FRAMES,
			.stacks = stacks, .stack_count = ARRAY_LEN(stacks), .threads = threads, .thread_count = 1,
		};
		uint8_t *found = activity_of_stacks(&p);

		assert_non_null(found);
		assert_int_equal(found[0], cases[i].expected);
		assert_int_equal(found[1], ACTIVITY_IDLE);
		assert_int_equal(found[2], ACTIVITY_LOCK);
		free(found);
	}
}

/*
 * What a loop that sleeps with TASK on its stack does, while others wait to enter a monitor for PART of WHOLE in
 * LIST.
 */
static enum activity sleeps_beside(uint64_t part, const uint32_t *list, uint32_t depth, enum thread_state state,
				   const uint32_t *own)
{
	const struct profile_stack stacks[] = {
		{.frames = own, .depth = 3, .thread = 0, .state = (uint8_t)state, .samples = 1, .weight = WHOLE},
		{.frames = list, .depth = depth, .thread = 1, .state = THREAD_BLOCKED, .samples = 1, .weight = part},
	};
	static const struct profile_thread threads[] = {{.tid = 1, .name = "a"}, {.tid = 2, .name = "b"}};
	struct profile p = {.weight_kind = WEIGHT_WALL, .duration = WHOLE, .frames = frames, .frame_count = FRAMES,
			    .stacks = stacks, .stack_count = 2, .threads = threads, .thread_count = 2};
	uint8_t *found = activity_of_stacks(&p), was;

	assert_non_null(found);
	was = found[0];
	assert_int_equal(found[1], ACTIVITY_LOCK);
	free(found);
	return was;
}
#define BESIDE(part, list, state, own) sleeps_beside(part, list, ARRAY_LEN(list), THREAD_##state, own)

/* Others wait for the monitor that it has: it does not wait for work. */
static void sleep_inside_a_monitor(void **state)
{
	static const uint32_t sleeps[] = {RUN, TASK, SLEEP}, waits[] = {RUN, TASK, WAIT}, polls[] = {RUN, TASK, SELECT};
	static const uint32_t in_task[] = {RUN, TASK}, deeper[] = {RUN, TASK, CALL}, recursive[] = {RUN, TASK, TASK};

	(void)state;
	assert_int_equal(BESIDE(500, in_task, SLEEPING, sleeps), ACTIVITY_SLEEP);
	assert_int_equal(BESIDE(500, recursive, SLEEPING, sleeps), ACTIVITY_SLEEP);
	assert_int_equal(BESIDE(900, in_task, NATIVE, polls), ACTIVITY_NATIVE);
	/* too short for all of it, another method, and a monitor that is given back */
	assert_int_equal(BESIDE(499, in_task, SLEEPING, sleeps), ACTIVITY_IDLE);
	assert_int_equal(BESIDE(1000, deeper, SLEEPING, sleeps), ACTIVITY_IDLE);
	assert_int_equal(BESIDE(1000, in_task, WAITING, waits), ACTIVITY_IDLE);
}

/* It locks the object by another method of its class, as the only one. */
static void sleep_in_another_method_of_the_class(void **state)
{
	static const uint32_t sleeps[] = {RUN, TASK, SLEEP}, enters[] = {RUN, CALL, HANDLE}, works[] = {RUN, TASK,
													CALL};
	static const struct profile_thread threads[] = {{.tid = 1, .name = "a"}, {.tid = 2, .name = "b"}, {.tid = 3,
													   .name = "c"}};
	struct profile_stack stacks[] = {
		OF(sleeps, 0, SLEEPING, 800), OF(enters, 1, BLOCKED, 1000), OF(works, 2, RUNNING, 200),
		OF(enters, 2, BLOCKED, 700),
	};
	static const struct {
		uint64_t sleep, other;
		enum activity expected;
	} cases[] = {
		{800, 200, ACTIVITY_SLEEP}, {799, 0, ACTIVITY_IDLE}, {1000, 201, ACTIVITY_IDLE}, {1000, 0,
												  ACTIVITY_SLEEP},
	};
	struct profile p = {.weight_kind = WEIGHT_WALL, .duration = WHOLE, .frames = frames, .frame_count = FRAMES,
			    .stacks = stacks, .stack_count = ARRAY_LEN(stacks), .threads = threads,
			    .thread_count = ARRAY_LEN(threads)};
	uint8_t *found;
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(cases); i++) {
		stacks[0].weight = cases[i].sleep;
		stacks[2].weight = cases[i].other;
		found = activity_of_stacks(&p);
		assert_non_null(found);
		assert_int_equal(found[0], cases[i].expected);
		free(found);
	}
	/* a class that no one waits in */
	stacks[1] = stacks[3] = (struct profile_stack)OF(works, 1, BLOCKED, 1000);
	stacks[2].weight = 0;
	found = activity_of_stacks(&p);
	assert_int_equal(found[0], ACTIVITY_IDLE);
	free(found);
}

static void every_activity_has_its_words(void **state)
{
	unsigned i;

	(void)state;
	for (i = 0; i < ACTIVITIES; i++)
		assert_true(*activity_names[i].key && *activity_names[i].head && *activity_names[i].meaning);
}

static const uint32_t idle[] = {RUN, WORKER, GET_TASK, TAKE, CONDITION, PARK}, busy[] = {RUN, TASK};
static const uint32_t locked[] = {RUN, TASK, LOCK, PARK}, visit[] = {VIRTUAL, LAMBDA, SLEEP}, order[] = {VIRTUAL, TASK};
#define STACK(list, thread_, state_, samples_, weight_) \
	{.frames = list, .depth = ARRAY_LEN(list), .thread = thread_, .state = THREAD_##state_, .samples = samples_, \
	 .weight = weight_}

static void groups_have_sums(void **state)
{
	static const struct profile_thread threads[] = {
		{.tid = 1, .name = "idle-1"}, {.tid = 2, .name = "idle-2"}, {.tid = 3, .name = "exec-1"},
		{.tid = 4, .name = "exec-2"}, {.tid = 0, .name = "virtual threads"}, {.tid = 6, .name = "silent"},
		{.tid = 0, .name = "virtual thread #9"},
	};
	static const struct profile_stack stacks[] = {
		STACK(idle, 0, PARKED, 10, 1000), STACK(idle, 1, PARKED, 10, 1000), STACK(idle, 2, PARKED, 6, 600),
		STACK(busy, 2, RUNNING, 4, 400), STACK(idle, 3, PARKED, 10, 900), STACK(locked, 2, PARKED, 1, 50),
		STACK(visit, 4, SLEEPING, 3, 300), STACK(order, 4, RUNNING, 1, 100), STACK(order, 6, RUNNING, 2, 200),
		STACK(busy, PROFILE_NO_THREAD, RUNNING, 1, 10),
	};
	const struct profile p = {.weight_kind = WEIGHT_WALL, .frames = frames, .frame_count = FRAMES, .stacks = stacks,
				  .stack_count = ARRAY_LEN(stacks), .threads = threads,
				  .thread_count = ARRAY_LEN(threads)};
	static const char *const names[] = {"exec-*", "virtual threads: shop.Order", "virtual threads: shop.Visits",
					    "idle-*"};
	static const uint32_t counts[] = {2, 1, 0, 2}, idles[] = {1, 0, 0, 2}, work[] = {450, 300, 300, 0};
	struct thread_groups g;
	uint32_t i;

	(void)state;
	assert_int_equal(thread_groups_build(&g, &p, NULL), 0);
	assert_int_equal(g.count, ARRAY_LEN(names));
	for (i = 0; i < g.count; i++) {
		assert_string_equal(thread_group_name(&g, &g.groups[i]), names[i]);
		assert_int_equal(g.groups[i].threads, counts[i]);
		assert_int_equal(g.groups[i].idle, idles[i]);
		assert_int_equal(thread_group_work(&g.groups[i]), work[i]);
	}
	assert_int_equal(g.groups[0].by_activity[ACTIVITY_RUNNING], 400);
	assert_int_equal(g.groups[0].by_activity[ACTIVITY_LOCK], 50);
	assert_int_equal(g.groups[0].by_activity[ACTIVITY_IDLE], 1500);
	assert_int_equal(g.groups[0].samples, 21);
	assert_int_equal(g.groups[0].samples_by_activity[ACTIVITY_IDLE], 16);
	assert_int_equal(g.idle_threads, 3);
	assert_int_equal(g.idle_groups, 1);
	assert_int_equal(g.by_activity[ACTIVITY_IDLE], 3500);
	assert_int_equal(g.samples_by_activity[ACTIVITY_RUNNING], 8);
	assert_int_equal(g.of_stack[0], 3);
	assert_int_equal(g.of_stack[9], NO_GROUP);
	assert_int_equal(g.of_thread[5], NO_GROUP);
	assert_int_equal(g.of_thread[3], 0);
	thread_groups_free(&g);

	assert_int_equal(thread_groups_build(&g, &p, &by_word), 0);
	assert_string_equal(thread_group_name(&g, &g.groups[0]), "exec-*");
	assert_int_equal(g.count, ARRAY_LEN(names));
	thread_groups_free(&g);
}

static void nothing_at_all(void **state)
{
	const struct profile p = {.weight_kind = WEIGHT_WALL};
	struct thread_groups g;

	(void)state;
	assert_int_equal(thread_groups_build(&g, &p, NULL), 0);
	assert_int_equal(g.count, 0);
	thread_groups_free(&g);
}

/* ---- who sleeps while others wait ---- */

static const uint32_t asks_for_result[] = {RUN, TASK, ASKS_POOL, FUTURE, AWAITS, PARK};
static const uint32_t asks_in_main[] = {MAIN, FUTURE, AWAITS, PARK};
static const uint32_t in_other_class[] = {RUN, TASK, HANDLE, CALL, FUTURE, AWAITS, PARK};
static const uint32_t sleeps_in_task[] = {RUN, WORKER, RUNS_TASK, OF_POOL, SLEEP};
static const uint32_t sleeps_alone[] = {RUN, WORKER, OF_POOL, SLEEP};
static const uint32_t computes_in_task[] = {RUN, WORKER, RUNS_TASK, HANDLE, CALL};
static const uint32_t of_virtual[] = {VIRTUAL, OF_POOL};
static const uint32_t meets[] = {RUN, AT_BARRIER, BARRIER, CONDITION, PARK}, sleeps_before[] = {RUN, AT_BARRIER, SLEEP};
static const uint32_t sleeps_elsewhere[] = {RUN, TASK, SLEEP};
static const uint32_t took[] = {RUN, WORKER, RUNS_TASK, OF_POOL, TAKE, CONDITION, PARK};

#define LIST(list) list, ARRAY_LEN(list)

/* What a thread that sleeps in LIST does while another WAITS for PART of the time, and a third does as OTHER says. */
static enum activity sleeps_in(const uint32_t *list, uint32_t depth, const uint32_t *waits, uint32_t waits_depth,
			       uint64_t part, const uint32_t *other, uint32_t other_depth)
{
	static const struct profile_thread threads[] = {{.tid = 1, .name = "a"}, {.tid = 2, .name = "b"},
							{.tid = 3, .name = "c"}};
	const struct profile_stack stacks[] = {
		{.frames = list, .depth = depth, .thread = 0, .state = THREAD_SLEEPING, .weight = WHOLE},
		{.frames = waits, .depth = waits_depth, .thread = 1, .state = THREAD_PARKED, .weight = part},
		{.frames = other, .depth = other_depth, .thread = 2,
		 .state = other == took ? THREAD_PARKED : THREAD_RUNNING, .weight = WHOLE},
	};
	struct profile_frame seen[FRAMES];
	const struct profile p = {
		.weight_kind = WEIGHT_WALL, .duration = WHOLE, .frames = seen, .frame_count = FRAMES, .stacks = stacks,
		.stack_count = ARRAY_LEN(stacks), .threads = threads, .thread_count = ARRAY_LEN(threads),
	};
	uint8_t *found, was;

	/* a program has virtual threads if their frames are there */
	memcpy(seen, frames, sizeof(seen));
	if (other != of_virtual)
		seen[VIRTUAL] = frames[RUN];
	found = activity_of_stacks(&p);
	assert_non_null(found);
	was = found[0];
	free(found);
	return was;
}

static void a_task_whose_result_is_waited_for(void **state)
{
	(void)state;
	assert_int_equal(sleeps_in(LIST(sleeps_in_task), LIST(asks_for_result), 1000, LIST(works)), ACTIVITY_SLEEP);
	assert_int_equal(sleeps_in(LIST(sleeps_in_task), LIST(asks_for_result), 500, LIST(works)), ACTIVITY_SLEEP);
	/* hardly anybody waits; it makes no result; what is waited for is of another class; main waits for all */
	assert_int_equal(sleeps_in(LIST(sleeps_in_task), LIST(asks_for_result), 400, LIST(works)), ACTIVITY_IDLE);
	assert_int_equal(sleeps_in(LIST(sleeps_alone), LIST(asks_for_result), 1000, LIST(works)), ACTIVITY_IDLE);
	assert_int_equal(sleeps_in(LIST(sleeps_in_task), LIST(in_other_class), 1000, LIST(works)), ACTIVITY_IDLE);
	assert_int_equal(sleeps_in(LIST(sleeps_in_task), LIST(asks_in_main), 1000, LIST(works)), ACTIVITY_IDLE);
	/* others may make it: one that computes, one that takes, and virtual threads that are not seen */
	assert_int_equal(sleeps_in(LIST(sleeps_in_task), LIST(asks_for_result), 1000, LIST(computes_in_task)),
			 ACTIVITY_IDLE);
	assert_int_equal(sleeps_in(LIST(sleeps_in_task), LIST(asks_for_result), 1000, LIST(took)), ACTIVITY_IDLE);
	assert_int_equal(sleeps_in(LIST(sleeps_in_task), LIST(asks_for_result), 1000, LIST(of_virtual)), ACTIVITY_IDLE);
}

static void who_comes_late_to_a_barrier(void **state)
{
	(void)state;
	assert_int_equal(sleeps_in(LIST(sleeps_before), LIST(meets), 960, LIST(works)), ACTIVITY_SLEEP);
	assert_int_equal(sleeps_in(LIST(sleeps_before), LIST(meets), 400, LIST(works)), ACTIVITY_IDLE);
	assert_int_equal(sleeps_in(LIST(sleeps_elsewhere), LIST(meets), 960, LIST(works)), ACTIVITY_IDLE);
}

/* ---- what comes to an end ---- */

static const uint32_t main_gets[] = {MAIN, FUTURE, AWAITS, PARK}, main_joins[] = {MAIN, PROMISE_JOIN, PROMISE, PARK};
static const uint32_t main_gets_promise[] = {MAIN, PROMISE_GET, PROMISE, PARK};
static const uint32_t converts[] = {RUN, TASK, HANDLE, WAIT_FOR, WAIT}, parent[] = {RUN, TASK, JOIN, WAIT};
static const uint32_t main_joins_thread[] = {MAIN, JOIN, WAIT}, loop_of_pool[] = {RUN, WORKER, RUNS_TASK, OF_POOL, SLEEP};

/* What else is known of the recording, in which the wait weighs WHOLE. */
struct beside {
	const uint32_t *other; /* stack of another thread, or NULL */
	uint32_t depth;
	enum thread_state state;
	uint64_t weight;       /* of it */
	uint64_t passing;      /* time of a thread that was not there all the time */
	uint64_t children;
	bool virtual_threads;
	enum weight_kind kind;
	uint64_t waits;
};

static enum activity waits_beside(const uint32_t *list, uint32_t depth, enum thread_state state, struct beside b)
{
	const struct profile_thread threads[] = {{.tid = 1, .name = "a", .weight = WHOLE},
						 {.tid = 2, .name = "b", .weight = WHOLE},
						 {.tid = 3, .name = "c", .weight = b.passing}};
	const struct profile_stack stacks[] = {
		{.frames = list, .depth = depth, .thread = 0, .state = (uint8_t)state, .samples = b.waits,
		 .weight = WHOLE},
		{.frames = b.other, .depth = b.depth, .thread = 1, .state = (uint8_t)b.state, .weight = b.weight},
	};
	struct profile_frame seen[FRAMES];
	const struct profile p = {
		.weight_kind = b.kind, .duration = WHOLE, .frames = seen, .frame_count = FRAMES, .stacks = stacks,
		.stack_count = b.other ? 2 : 1, .threads = threads, .thread_count = ARRAY_LEN(threads),
		.children_cpu = b.children,
	};
	uint8_t *found, was;

	memcpy(seen, frames, sizeof(seen));
	if (!b.virtual_threads)
		seen[VIRTUAL] = frames[RUN];
	found = activity_of_stacks(&p);
	assert_non_null(found);
	was = found[0];
	free(found);
	return was;
}
#define WALL .kind = WEIGHT_WALL
#define OTHER(list, state_, weight_) \
	.other = list, .depth = ARRAY_LEN(list), .state = THREAD_##state_, .weight = weight_
#define WAITS_BESIDE(list, state, ...) \
	waits_beside(LIST(list), THREAD_##state, (struct beside){__VA_ARGS__})

/* Its tasks are work, but for one that is a loop and has none. */
static void main_waits_for_tasks(void **state)
{
	(void)state;
	assert_int_equal(WAITS_BESIDE(main_gets, PARKED, WALL), ACTIVITY_PARK);
	assert_int_equal(WAITS_BESIDE(main_gets, PARKED, WALL, OTHER(computes_in_task, RUNNING, 1000)),
			 ACTIVITY_PARK);
	assert_int_equal(WAITS_BESIDE(main_gets, PARKED, WALL, OTHER(loop_of_pool, SLEEPING, 1000)),
			 ACTIVITY_IDLE);
	assert_int_equal(WAITS_BESIDE(main_gets, PARKED, WALL, OTHER(took, PARKED, 1000)), ACTIVITY_IDLE);
	assert_int_equal(WAITS_BESIDE(main_gets, PARKED, WALL, OTHER(took, PARKED, 890)), ACTIVITY_PARK);
	/* a promise may be the end of the program */
	assert_int_equal(WAITS_BESIDE(main_joins, PARKED, WALL), ACTIVITY_IDLE);
	assert_int_equal(WAITS_BESIDE(main_joins, PARKED, WALL, .virtual_threads = true), ACTIVITY_IDLE);
	assert_int_equal(WAITS_BESIDE(main_gets_promise, PARKED, WALL), ACTIVITY_IDLE);
	assert_int_equal(WAITS_BESIDE(main_gets_promise, PARKED, WALL, .virtual_threads = true), ACTIVITY_PARK);
}

static void processes_and_threads_end(void **state)
{
	(void)state;
	assert_int_equal(WAITS_BESIDE(converts, WAITING, WALL), ACTIVITY_IDLE);
	assert_int_equal(WAITS_BESIDE(converts, WAITING, WALL, .children = 1000), ACTIVITY_WAIT);
	assert_int_equal(WAITS_BESIDE(parent, WAITING, WALL), ACTIVITY_IDLE);
	assert_int_equal(WAITS_BESIDE(parent, WAITING, WALL, .passing = 240), ACTIVITY_IDLE);
	assert_int_equal(WAITS_BESIDE(parent, WAITING, WALL, .passing = 250), ACTIVITY_WAIT);
	assert_int_equal(WAITS_BESIDE(parent, WAITING, WALL, .passing = 1000), ACTIVITY_IDLE); /* it stays */
	assert_int_equal(WAITS_BESIDE(main_joins_thread, WAITING, WALL, .passing = 500), ACTIVITY_IDLE);
	assert_int_equal(WAITS_BESIDE(in_object, WAITING, WALL, .passing = 500, .children = 1000), ACTIVITY_IDLE);
}

/* A wait that has an event began in the recording: so what several were for came. */
static void several_waits_have_ended(void **state)
{
	(void)state;
	assert_int_equal(WAITS_BESIDE(main_joins, PARKED, .kind = WEIGHT_WAIT, .waits = 1), ACTIVITY_IDLE);
	assert_int_equal(WAITS_BESIDE(main_joins, PARKED, .kind = WEIGHT_WAIT, .waits = 2), ACTIVITY_PARK);
	assert_int_equal(WAITS_BESIDE(converts, WAITING, .kind = WEIGHT_WAIT, .waits = 1), ACTIVITY_IDLE);
	assert_int_equal(WAITS_BESIDE(converts, WAITING, .kind = WEIGHT_WAIT, .waits = 2), ACTIVITY_WAIT);
	assert_int_equal(WAITS_BESIDE(parent, WAITING, .kind = WEIGHT_WAIT, .waits = 2), ACTIVITY_WAIT);
	assert_int_equal(WAITS_BESIDE(main_joins_thread, WAITING, .kind = WEIGHT_WAIT, .waits = 2), ACTIVITY_IDLE);
}

/* What a thread that reads and does nothing else does, by what io saw of WEIGHT below the same methods. */
static enum activity reads_by_io(const uint32_t *list, uint32_t depth, uint64_t weight)
{
	static const struct profile_thread threads[] = {{.tid = 1, .name = "a"}};
	const struct profile_stack stacks[] = {
		{.frames = list, .depth = depth, .state = THREAD_NATIVE, .samples = 20, .weight = WHOLE},
	};
	const struct profile_stack seen[] = {{.frames = list, .depth = depth, .samples = 10, .weight = weight}};
	const struct profile io = {.weight_kind = WEIGHT_IO, .frames = frames, .frame_count = FRAMES, .stacks = seen,
				   .stack_count = 1};
	const struct profile *session[] = {&io};
	const struct profile p = {
		.weight_kind = WEIGHT_WALL, .duration = WHOLE, .frames = frames, .frame_count = FRAMES,
		.stacks = stacks, .stack_count = 1, .threads = threads, .thread_count = 1, .session = session,
		.session_count = 1,
	};
	uint8_t *found = activity_of_stacks(&p), was;

	assert_non_null(found);
	was = found[0];
	free(found);
	return was;
}

static void io_says_whose_reads_they_are(void **state)
{
	(void)state;
	assert_int_equal(reads_by_io(LIST(of_peer), 0), ACTIVITY_IDLE);
	assert_int_equal(reads_by_io(LIST(of_peer), 1), ACTIVITY_NETWORK);
	assert_int_equal(reads_by_io(LIST(deep_of_peer), 0), ACTIVITY_IDLE);
	assert_int_equal(reads_by_io(LIST(deep_of_peer), 1), ACTIVITY_NETWORK);
}

/* It is held as far as the JVM says: another thread initialises the class that it uses. */
static void who_waits_for_a_class(void **state)
{
	static const uint32_t uses[] = {RUN, TASK, HANDLE}, initialises[] = {RUN, TASK, HANDLE, CLASS_INIT, CALL, SLEEP};
	static const uint32_t of_other[] = {RUN, TASK, CALL, CLASS_INIT, SLEEP};

	(void)state;
	assert_int_equal(WAITS_BESIDE(uses, HELD, WALL), ACTIVITY_HELD);
	assert_int_equal(WAITS_BESIDE(uses, HELD, WALL, OTHER(initialises, SLEEPING, 500)), ACTIVITY_LOCK);
	assert_int_equal(WAITS_BESIDE(uses, HELD, WALL, OTHER(initialises, RUNNING, 1000)), ACTIVITY_LOCK);
	assert_int_equal(WAITS_BESIDE(uses, RUNNING, WALL, OTHER(initialises, SLEEPING, 500)), ACTIVITY_RUNNING);
	/* hardly any time, a class that another method uses, and a thread that lacks a CPU in the initialiser */
	assert_int_equal(WAITS_BESIDE(uses, HELD, WALL, OTHER(initialises, SLEEPING, 490)), ACTIVITY_HELD);
	assert_int_equal(WAITS_BESIDE(uses, HELD, WALL, OTHER(of_other, SLEEPING, 1000)), ACTIVITY_HELD);
	assert_int_equal(WAITS_BESIDE(initialises, HELD, WALL, OTHER(initialises, HELD, 1000)),
			 ACTIVITY_HELD);
}

/* What a thread is that is seen SAMPLES times ready in an initialiser, beside OTHER, and does MORE besides. */
static enum activity stands_in(const uint32_t *list, uint32_t depth, uint32_t samples, struct profile_stack other,
			       struct profile_stack more)
{
	static const struct profile_thread threads[] = {{.tid = 1, .name = "hen"}, {.tid = 2, .name = "egg"}};
	const struct profile_stack stacks[] = {
		{.frames = list, .depth = depth, .state = THREAD_HELD, .samples = samples, .weight = 1000},
		other, more,
	};
	const struct profile p = {
		.weight_kind = WEIGHT_WALL, .frames = frames, .frame_count = FRAMES, .duration = 1000,
		.stacks = stacks, .stack_count = ARRAY_LEN(stacks), .threads = threads,
		.thread_count = ARRAY_LEN(threads),
	};
	uint8_t *found = activity_of_stacks(&p), was;

	assert_non_null(found);
	was = found[0];
	free(found);
	return was;
}
#define STANDS_IN(list, samples, ...) stands_in(list, ARRAY_LEN(list), samples, __VA_ARGS__)

/* Two initialisers that need each other's class stand still, wherever in them they need it. */
static void who_waits_in_an_initialiser(void **state)
{
	static const uint32_t hen[] = {RUN, TASK, CLASS_INIT}, deep_hen[] = {RUN, TASK, CLASS_INIT, CALL, HANDLE};
	static const uint32_t egg[] = {RUN, CALL, CLASS_INIT, HANDLE}, plain[] = {RUN, TASK, CALL, HANDLE};
	const struct profile_stack nothing = OF(plain, 0, SLEEPING, 0), of_egg = OF(egg, 1, HELD, 500);

	(void)state;
	assert_int_equal(STANDS_IN(hen, 10, of_egg, nothing), ACTIVITY_LOCK);
	assert_int_equal(STANDS_IN(deep_hen, 400, of_egg, nothing), ACTIVITY_LOCK);
	assert_int_equal(STANDS_IN(hen, 10, (struct profile_stack)OF(egg, 1, SLEEPING, 500), nothing), ACTIVITY_LOCK);
	/* it ran before it began */
	assert_int_equal(STANDS_IN(hen, 10, of_egg, (struct profile_stack)OF(plain, 0, RUNNING, 900)), ACTIVITY_LOCK);
	/* seldom seen; in no initialiser; it runs in one; no other thread is in one, or hardly */
	assert_int_equal(STANDS_IN(hen, 9, of_egg, nothing), ACTIVITY_HELD);
	assert_int_equal(STANDS_IN(plain, 400, of_egg, nothing), ACTIVITY_HELD);
	assert_int_equal(STANDS_IN(hen, 400, of_egg, (struct profile_stack)OF(deep_hen, 0, RUNNING, 1)),
			 ACTIVITY_HELD);
	assert_int_equal(STANDS_IN(hen, 400, (struct profile_stack)OF(egg, 0, HELD, 500), nothing),
			 ACTIVITY_HELD);
	assert_int_equal(STANDS_IN(hen, 400, (struct profile_stack)OF(egg, 1, HELD, 499), nothing),
			 ACTIVITY_HELD);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_last_number_that_differs_is_folded),
		cmocka_unit_test(a_thread_without_its_like_keeps_its_name),
		cmocka_unit_test(where_all_differ_all_are_folded),
		cmocka_unit_test(hard_names),
		cmocka_unit_test(as_the_user_says),
		cmocka_unit_test(three_hundred_thousand_threads),
		cmocka_unit_test(states_are_refined_by_methods),
		cmocka_unit_test(who_only_waits_for_the_next_thing_is_idle),
		cmocka_unit_test(depth_counts_where_it_may_be_a_request),
		cmocka_unit_test(who_is_woken_and_has_no_cpu_has_no_work),
		cmocka_unit_test(helper_processes_are_waited_for), cmocka_unit_test(reads_of_messages),
		cmocka_unit_test(a_latch_in_a_task),
		cmocka_unit_test(sleep_in_a_task),
		cmocka_unit_test(other_waits_hold_up_even_if_they_last),
		cmocka_unit_test(waits_alone_have_to_fill_the_time),
		cmocka_unit_test(sleep_inside_a_monitor),
		cmocka_unit_test(a_task_whose_result_is_waited_for),
		cmocka_unit_test(who_comes_late_to_a_barrier),
		cmocka_unit_test(main_waits_for_tasks),
		cmocka_unit_test(processes_and_threads_end),
		cmocka_unit_test(several_waits_have_ended),
		cmocka_unit_test(io_says_whose_reads_they_are),
		cmocka_unit_test(who_waits_for_a_class), cmocka_unit_test(who_waits_in_an_initialiser),
		cmocka_unit_test(sleep_in_another_method_of_the_class),
		cmocka_unit_test(every_activity_has_its_words),
		cmocka_unit_test(waits_alone_in_a_task),
		cmocka_unit_test(groups_have_sums),
		cmocka_unit_test(nothing_at_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
