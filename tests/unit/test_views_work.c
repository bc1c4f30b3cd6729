/*
 * The short report of wall time and of waits, as the command makes it: locks first, groups of threads, no idle waits.
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

static char *wall_in(const char *format, const struct format_options *options, bool by_method)
{
	struct profile p = work_sample(by_method);

	return sample_write_text(&p, format, options);
}

static char *wall(const struct format_options *options, bool by_method)
{
	return wall_in("hot", options, by_method);
}

static void the_lock_comes_first(void **state)
{
	const struct format_options options = {.views = &views};
	char *text = wall(&options, false);

	(void)state;
	assert_string_equal(line_of(text, "order-* waited"),
			    "order-* waited 1.50 s to enter a monitor in shop.Stock.reserve, 37.50 % of what is not idle; its "
			    "owner, order-*, was most likely in shop.Stock.recount (sleep)");
	assert_true(strstr(text, "\n\norder-* waited") == strstr(text, "\n\n"));
	free(text);
	text = wall(&options, true);
	assert_true(strstr(line_of(text, "order-* waited"), " for a ReentrantLock in shop.Stock.reserve, "));
	assert_true(strstr(line_of(text, "order-* waited"), "in shop.Stock.recount (sleep)"));
	free(text);
}

/* On a busy machine those that want the lock stand without a CPU in the method that asks, whether they have it or not. */
static void who_has_no_cpu_has_no_lock(void **state)
{
	const struct format_options options = {.views = &views};
	struct profile p = work_sample(false);
	struct profile_stack stacks[9];
	size_t i;
	char *text;

	(void)state;
	memcpy(stacks, p.stacks, sizeof(stacks));
	for (i = 0; i < p.stack_count; i++)
		if (stacks[i].state == THREAD_SLEEPING && stacks[i].depth == ARRAY_LEN(holding))
			stacks[i] = (struct profile_stack){
				.frames = blocked, .depth = ARRAY_LEN(blocked), .thread = stacks[i].thread,
				.state = THREAD_RUNNABLE, .samples = stacks[i].samples, .weight = stacks[i].weight,
			};
	p.stacks = p.moments_of = stacks;
	text = sample_write_text(&p, "hot", &options);
	assert_string_equal(line_of(text, "order-* waited"),
			    "order-* waited 1.50 s to enter a monitor, or several, in shop.Stock.reserve, 37.50 % of what is not "
			    "idle");
	free(text);
}

static void groups_that_worked_have_a_line(void **state)
{
	const struct format_options options = {.views = &views};
	char *text = wall(&options, false);

	(void)state;
	assert_string_equal(line_of(text, "threads called"),
			    "not idle  threads  running    lock   sleep  threads called");
	assert_string_equal(line_of(text, "%  order-*"), "     4 s        2    25.0%   37.5%   37.5%  order-*");
	assert_string_equal(line_of(text, "idle all"), "3 threads in 2 groups were idle all the time, as far as stacks tell");
	assert_null(strstr(text, "http-nio"));
	free(text);
}

static void methods_are_of_work(void **state)
{
	const struct format_options options = {.views = &views};
	char *text = wall(&options, false);

	(void)state;
	assert_null(strstr(text, "Unsafe.park"));
	assert_string_equal(line_of(text, "(monitor)"),
			    " 37.50%    1.50 s   75.00%       3 s  ███▊        shop.Stock.reserve  (monitor)");
	assert_string_equal(line_of(text, "left out"), "idle waits are left out: 84.62 % of the time; --idle shows them");
	assert_true(strstr(text, "520 samples taken, all stored"));
	free(text);
}

/* What a thread of the program waits for itself may be work or an answer; `main` waits for the others, a queue is one of work. */
static void waits_for_work_or_an_answer(void **state)
{
	static const struct profile_frame frames[] = {
		JAVA("java/lang/Thread", "run"), JAVA("shop/Box", "ask"), JAVA("java/lang/Object", "wait"),
		JAVA("java/lang/Object", "wait0"), JAVA("shop/Main", "main"),
		JAVA("java/util/concurrent/LinkedBlockingQueue", "take"),
		JAVA("java/util/concurrent/locks/AbstractQueuedSynchronizer$ConditionObject", "await"),
		JAVA("java/net/DatagramSocket", "receive"),
	};
	static const struct profile_thread ones[] = {
		{1, "client-1", 10, WORK_S}, {2, "client-2", 10, WORK_S}, {3, "main", 10, WORK_S},
		{4, "consumer", 10, WORK_S}, {5, "committer", 10, WORK_S}, {6, "dns", 10, WORK_S}, {7, "other", 10, WORK_S},
	};
	static const uint32_t asks[] = {0, 1, 2, 3}, stays[] = {4, 2, 3}, takes[] = {0, 1, 5, 6}, commits[] = {0, 1, 6},
			      receives[] = {0, 1, 7};
	const struct profile_stack stacks[] = {
		SEEN(asks, 0, WAITING, 10, WORK_S), SEEN(asks, 1, WAITING, 10, WORK_S), SEEN(stays, 2, WAITING, 10, WORK_S),
		SEEN(takes, 3, PARKED, 10, WORK_S), SEEN(commits, 4, PARKED, 10, WORK_S), SEEN(receives, 5, NATIVE, 10, WORK_S),
		SEEN(asks, 6, WAITING, 10, WORK_S),
	};
	struct profile p = work_sample(false);
	const struct format_options options = {.views = &views};
	char *text;

	(void)state;
	p.frames = frames;
	p.frame_count = ARRAY_LEN(frames);
	p.threads = ones;
	p.thread_count = ARRAY_LEN(ones);
	p.stacks = stacks;
	p.stack_count = ARRAY_LEN(stacks);
	p.stored = 70;
	p.weight_stored = 7 * WORK_S;
	p.duration = WORK_S;
	text = sample_write_text(&p, "hot", &options);
	assert_string_equal(line_of(text, "idle all"), "2 threads in 2 groups were idle all the time, as far as stacks tell");
	assert_string_equal(line_of(text, "for an answer:"), "5 threads in 4 groups waited all the time for work or for an "
			    "answer: client-* in shop.Box.ask, committer in shop.Box.ask, dns in shop.Box.ask, and 1 more");
	assert_string_equal(line_of(text, "left out"), "idle waits are left out: 100 % of the time (71.43 % may be waits for an "
			    "answer); --idle shows them");
	free(text);
}

/* Not the JDK's method in which nearly all of it is; a thread without one of the program's has what it has. */
static void methods_are_of_the_program(void **state)
{
	struct profile p = work_sample(true);
	static const uint32_t by_lambda[] = {W_RUN, W_WORK, W_HANDLE, W_RESERVE, W_LAMBDA, W_LOCK, W_PARK};
	struct profile_stack stacks[9];
	const struct format_options options = {.views = &views, .threads = true}, narrow = {.views = &views, .width = 85},
				    all = {.views = &views, .idle = true};
	char *text;

	(void)state;
	memcpy(stacks, p.stacks, sizeof(stacks));
	stacks[1].weight = 2 * WORK_S; /* one long wait of a virtual thread: time counts, not samples */
	stacks[1].samples = 1;
	stacks[1].frames = by_lambda; /* which is no method of the program: it hands on */
	stacks[1].depth = ARRAY_LEN(by_lambda);
	p.per_thread = true;
	p.stacks = stacks;
	p.weight_stored += 1500 * WORK_MS;
	p.stored -= 9;
	text = sample_write_text(&p, "hot", &options);
	assert_string_equal(line_of(text, "  (ReentrantLock.lock)"),
			    " 54.55%       3 s   81.82%    4.50 s  █████▌      shop.Stock.reserve  (ReentrantLock.lock)");
	assert_string_equal(line_of(text, "sleep0)"),
			    " 27.27%    1.50 s   27.27%    1.50 s  ██▊         shop.Stock.recount  (Thread.sleep0)");
	assert_string_equal(line_of(text, "Orders.handle"),
			    " 18.18%       1 s  100.00%    5.50 s  █▉          shop.Orders.handle");
	assert_null(strstr(text, "Unsafe.park"));
	assert_string_equal(line_of(text, "order-2 tid"), " 63.64%    3.50 s  [order-2 tid=2]  shop.Stock.reserve (57% of it)");
	free(text);
	text = sample_write_text(&p, "hot", &narrow);
	assert_non_null(strstr(text, "  shop.Stock.recount  (Thread.sleep0)\n"));
	assert_non_null(strstr(text, "  Stock.reserve  (ReentrantLock.lock)\n"));
	free(text);
	text = sample_write_text(&p, "hot", &all);
	assert_non_null(strstr(text, "  jdk.internal.misc.Unsafe.park\n"));
	assert_non_null(strstr(text, "  shop.Orders.work  (Thread.sleep0)\n"));
	free(text);
	p.weight_kind = WEIGHT_CPU;
	text = sample_write_text(&p, "hot", &options);
	assert_non_null(strstr(text, "  java.lang.Thread.sleep0\n"));
	free(text);
}

static void idle_ones_on_demand(void **state)
{
	const struct format_options options = {.views = &views, .idle = true}, plain = {.idle = false};
	char *text = wall(&options, false);

	(void)state;
	assert_true(strstr(text, "Unsafe.park") && strstr(text, "http-nio-8080-exec-*") && strstr(text, "main"));
	assert_string_equal(line_of(text, "-exec-*"), "    20 s        2        -       -       -  100.0%  http-nio-8080-exec-*");
	assert_null(strstr(text, "left out"));
	free(text);
	text = wall(&plain, false); /* as the agent makes it */
	assert_true(strstr(text, "Unsafe.park") && !strstr(text, "threads called"));
	free(text);
}

/* Stacks of owners say nothing of who waited: all waits count. */
static void owners_have_waiters(void **state)
{
	const struct profile p = work_waits();
	const struct format_options options = {.views = &views, .owners = true};
	char *text = sample_write_text(&p, "hot", &options);

	(void)state;
	assert_true(strstr(text, "  order-1\n") && strstr(text, "  http-nio-8080-exec-1\n"));
	assert_null(strstr(text, "waits for work"));
	free(text);
}

static void json_has_groups(void **state)
{
	const struct format_options options = {.views = &views}, plain = {.idle = false};
	char *text = wall_in("json", &options, false);
	const char *at;
	unsigned activities = 0;

	(void)state;
	assert_true(strstr(text, "\"groups\""));
	assert_true(strstr(text, "\"name\": \"order-*\", \"threads\": 2, \"idle_threads\": 0, \"samples\": 80, "
				 "\"weight\": 4000000000, \"activity\": {\"running\": 1000000000, \"runnable\": 0, "
				 "\"lock\": 1500000000,"));
	assert_true(strstr(strstr(text, "\"program_methods\""), "{\"name\": \"shop.Stock.reserve\", \"called\": \"monitor\", \"self\": 30, "
				 "\"total\": 60, \"self_weight\": 1500000000, \"total_weight\": "));
	assert_true(strstr(text, "{\"name\": \"java.lang.Thread.sleep0\", \"type\"")); /* as ever */
	for (at = text; (at = strstr(at, "\"activity\": \"")); at++)
		activities++;
	assert_int_equal(activities, 9);
	assert_true(strstr(text, "\"state\": \"sleeping\", \"activity\": \"idle\""));
	free(text);
	text = wall_in("json", &plain, false);
	assert_null(strstr(text, "activity"));
	free(text);
}

static void waits_have_owners(void **state)
{
	struct profile_waits owner = {.name = "order-2", .waits = 40, .time = 2 * WORK_S, .longest = 1 * WORK_S}, locks[8];
	struct profile p = work_waits(), few;
	uint32_t i;
	const struct format_options options = {.views = &views}, all = {.views = &views, .idle = true};
	char *text;

	(void)state;
	p.owners = &owner;
	p.owner_count = 1;
	few = p;
	text = sample_write_text(&p, "hot", &options);
	assert_string_equal(line_of(text, "order-* waited"),
			    "order-* waited 2 s for shop.Stock@1b2c (monitor) in shop.Stock.reserve, 100 % of all waits that are not idle; "
			    "its owner, order-*, was mostly in shop.Stock.recount (75.00 %) when they began to wait");
	assert_string_equal(line_of(text, "waits for work"),
			    "    20 s    idle        10       5 s  waits for work, at 1 lock; --idle shows them");
	assert_string_equal(line_of(text, "1 s  shop.Stock@1b2c (monitor)"),
			    "     2 s 100.00%        40       1 s  shop.Stock@1b2c (monitor) in shop.Stock.reserve");
	assert_string_equal(line_of(text, "  order-2"), "     2 s 100.00%        40       1 s  order-2");
	assert_null(strstr(text, "exec-1"));
	assert_null(strstr(text, "no owner is known"));
	assert_string_equal(line_of(text, "work alone"), "2 threads in 1 group waited for work alone");
	free(text);
	owner.time = 500 * WORK_MS; /* the others waited while some read, say */
	few.owners = &owner;
	text = sample_write_text(&few, "hot", &options);
	assert_string_equal(line_of(text, "  order-2"), "  500 ms 100.00%        40       1 s  order-2");
	assert_string_equal(line_of(text, "no owner is known"), "  1.50 s                              no owner is known: "
			    "the lock was just passed on, or its owner could not be told");
	free(text);
	memcpy(locks, p.locks, p.lock_count * sizeof(*locks));
	for (i = 0; i < p.lock_count; i++) {
		locks[i].kind = LOCK_PARK;
		locks[i].name = "java/util/concurrent/locks/ReentrantLock$FairSync";
	}
	few.locks = locks;
	text = sample_write_text(&few, "hot", &options);
	assert_non_null(strstr(text, "no owner is known: the lock was just passed on"));
	free(text);
	for (i = 0; i < p.lock_count; i++)
		locks[i].name = i % 2 ? "java/util/concurrent/locks/ReentrantReadWriteLock$FairSync" :
					"java/util/concurrent/Semaphore$FairSync";
	text = sample_write_text(&few, "hot", &options);
	assert_non_null(strstr(text, "no owner is known: read locks, semaphores, conditions and results keep none"));
	free(text);
	text = sample_write_text(&p, "hot", &all);
	assert_true(strstr(text, "ConditionObject@7 (park)") && strstr(text, "http-nio-8080-exec-1"));
	free(text);
}

/* A node that computeIfAbsent made for one value is no lock that threads meet at again; another monitor is. */
static void reservations_are_one_row(void **state)
{
	static const char *const classes[] = {"java/util/concurrent/ConcurrentHashMap$ReservationNode", "shop/Stock"};
	const struct format_options options = {.views = &views};
	size_t c, i;

	(void)state;
	for (c = 0; c < ARRAY_LEN(classes); c++) {
		struct profile p = work_waits();
		struct profile_frame frames[W_FRAMES];
		struct profile_waits locks[14];
		char *text;

		memcpy(frames, p.frames, sizeof(frames));
		frames[W_STOCK].class_name = classes[c];
		frames[W_STOCK].lock = 6;
		for (i = 0; i < ARRAY_LEN(locks); i++)
			locks[i] = (struct profile_waits){
				.name = classes[c], .kind = LOCK_MONITOR, .identity = 0x100 + i, .waits = 5,
				.time = 100 * WORK_MS, .longest = 20 * WORK_MS,
			};
		p.frames = frames;
		p.locks = locks;
		p.lock_count = ARRAY_LEN(locks);
		p.holder_count = 0;
		text = sample_write_text(&p, "hot", &options);
		assert_int_equal(strstr(text, "ReservationNode (monitor), 14 objects in shop.Stock.reserve") != NULL, c == 0);
		assert_int_equal(strstr(text, "@105 (monitor)") != NULL, c == 1);
		assert_int_equal(strstr(text, "@105") != NULL, c == 1); /* nor is it what was waited for */
		free(text);
	}
}

static void only_idle_waits_leave_no_table(void **state)
{
	static const struct profile_stack stacks[] = {SEEN(queued, 2, PARKED, 5, 10 * WORK_S)};
	struct profile p = work_waits();
	const struct format_options options = {.views = &views}, all = {.views = &views, .idle = true};
	char *text;

	(void)state;
	p.stacks = stacks;
	p.stack_count = 1;
	p.lock_count = 1;
	p.weight_stored = 10 * WORK_S;
	p.stored = p.taken = p.complete = 5;
	text = sample_write_text(&p, "hot", &options);
	assert_true(strstr(text, "No thread waited for a lock.\n"));
	assert_null(strstr(text, "lock waited for"));
	assert_null(strstr(text, "thread that waited"));
	assert_string_equal(line_of(text, "left out"), "idle waits are left out: 100 % of the time; --idle shows them");
	free(text);
	text = sample_write_text(&p, "hot", &all);
	assert_true(strstr(text, "lock waited for") && !strstr(text, "No thread"));
	free(text);
}

static void without_threads_and_without_work(void **state)
{
	static const struct profile_stack stacks[] = {SEEN(idle, PROFILE_NO_THREAD, PARKED, 10, 1 * WORK_S)};
	const struct profile p = {
		.event = "wall", .engine = "wall", .main_class = "", .jdk = "", .weight_kind = WEIGHT_WALL, .taken = 10,
		.stored = 10, .weight_stored = 1 * WORK_S, .complete = 10, .frames = work_frames, .frame_count = W_FRAMES,
		.stacks = stacks, .stack_count = 1,
	};
	const struct format_options options = {.views = &views};
	char *text = sample_write_text(&p, "hot", &options);

	(void)state;
	assert_true(strstr(text, "idle waits are left out: 100 % of the time"));
	assert_null(strstr(text, "threads called"));
	assert_null(strstr(text, "self%"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_lock_comes_first), cmocka_unit_test(who_has_no_cpu_has_no_lock),
		cmocka_unit_test(groups_that_worked_have_a_line),
		cmocka_unit_test(methods_are_of_work),
		cmocka_unit_test(waits_for_work_or_an_answer), cmocka_unit_test(methods_are_of_the_program),
		cmocka_unit_test(idle_ones_on_demand),
		cmocka_unit_test(owners_have_waiters), cmocka_unit_test(json_has_groups),
		cmocka_unit_test(waits_have_owners), cmocka_unit_test(reservations_are_one_row), cmocka_unit_test(only_idle_waits_leave_no_table),
		cmocka_unit_test(without_threads_and_without_work),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
