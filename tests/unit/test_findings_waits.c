/*
 * The finding about what threads waited for: whose method it names, and that nothing waits in a program without work.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "profile/findings/findings.h"

#define S 1000000000ull
#define DURATION (5 * S)

enum frame_number { RUN, MAIN, SEND, THROTTLE, WAIT, PARK, FUTURE, CONNECTION, VIRTUAL, YIELD, QUEUE,
	BARRIER, LATCH, CONDITION, LAMBDA, SLEEP, PERMIT, CLIENT, FRAMES };
#define JAVA(class, method) {.class_name = class, .name = method, .kind = FRAME_C2}
static const struct profile_frame frames[FRAMES] = {
	[RUN] = JAVA("java/lang/Thread", "run"),
	[MAIN] = JAVA("demo/Load", "main"),
	[SEND] = JAVA("demo/Load", "send"),
	[THROTTLE] = JAVA("demo/Throttle", "await"),
	[WAIT] = JAVA("java/lang/Object", "wait0"),
	[PARK] = JAVA("jdk/internal/misc/Unsafe", "park"),
	[FUTURE] = JAVA("java/util/concurrent/FutureTask", "get"),
	[CONNECTION] = JAVA("sun/nio/ch/SocketDispatcher", "read0"),
	[VIRTUAL] = JAVA("java/lang/VirtualThread", "run"),
	[YIELD] = JAVA("java/lang/VirtualThread", "yieldContinuation"),
	[QUEUE] = JAVA("java/util/concurrent/ArrayBlockingQueue", "put"),
	[BARRIER] = JAVA("java/util/concurrent/CyclicBarrier", "dowait"),
	[SLEEP] = JAVA("java/lang/Thread", "sleep0"),
	[PERMIT] = JAVA("java/util/concurrent/Semaphore", "acquire"),
	[CLIENT] = JAVA("demo/Load", "client"),
	[LAMBDA] = JAVA("demo/Load$$Lambda+0x0000000800c03000", "next"),
	[LATCH] = JAVA("java/util/concurrent/CountDownLatch", "await"),
	[CONDITION] = JAVA("java/util/concurrent/locks/AbstractQueuedSynchronizer$ConditionObject", "await"),
};
static const struct profile_thread threads[] = {{1, "main", 0, 0}, {2, "load-1", 0, 0}};
static const uint32_t throttled[] = {MAIN, SEND, THROTTLE, THROTTLE, WAIT}, sends[] = {MAIN, SEND};
static const uint32_t asks[] = {RUN, SEND, SEND, SEND, FUTURE, PARK}, reads[] = {RUN, SEND, SEND, SEND, CONNECTION};

#define SEEN(list, thread_, state_, samples_, weight_) \
	{.frames = list, .depth = ARRAY_LEN(list), .thread = thread_, .state = THREAD_##state_, .samples = samples_, \
	 .weight = weight_}

static struct profile wall(const struct profile_stack *stacks, uint32_t count, uint64_t cpu_time)
{
	struct profile p = {
		.event = "wall", .engine = "wall", .main_class = "", .jdk = "", .weight_kind = WEIGHT_WALL,
		.duration = DURATION, .cpu_time = cpu_time, .frames = frames, .frame_count = FRAMES, .stacks = stacks,
		.stack_count = count, .threads = threads, .thread_count = ARRAY_LEN(threads), .per_thread = true,
	};
	uint32_t i;

	for (i = 0; i < count; i++) {
		p.stored += stacks[i].samples;
		p.weight_stored += stacks[i].weight;
	}
	p.taken = p.stored;
	return p;
}

static const char *advice;

/* The sentence about waits of P, with its advice; "": there is none. */
static const char *said_of(const struct profile *p)
{
	static struct findings f;
	uint32_t i;

	assert_int_equal(findings_find(&f, &p, 1, NULL), 0);
	advice = "";
	for (i = 0; i < f.count; i++)
		if (strcmp(f.rows[i].id, "waits") == 0) {
			advice = f.rows[i].advice;
			return f.rows[i].sentence;
		}
	return "";
}

static void the_method_that_waits_is_named(void **state)
{
	const struct profile_stack stacks[] = {
		SEEN(throttled, 0, WAITING, 80, 4 * S), SEEN(sends, 0, RUNNING, 20, 1 * S),
	};
	struct profile p = wall(stacks, 2, 1 * S);

	(void)state;
	assert_string_equal(said_of(&p), "For 80 % of the time in which threads had work, they were in Object.wait, "
			    "most of it those called main in demo.Throttle.await.");
}

/* Who waits in several methods waits most often in one. */
static void one_of_many_methods(void **state)
{
	static const uint32_t in_send[] = {MAIN, SEND, SEND, WAIT}, in_main[] = {MAIN, MAIN, MAIN, WAIT};
	const struct profile_stack stacks[] = {
		SEEN(throttled, 0, WAITING, 40, 2 * S), SEEN(in_send, 0, WAITING, 30, 3 * S / 2),
		SEEN(in_main, 0, WAITING, 20, 1 * S), SEEN(sends, 0, RUNNING, 10, S / 2),
	};
	struct profile p = wall(stacks, 4, 1 * S);

	(void)state;
	assert_non_null(strstr(said_of(&p), "called main, most often in demo.Throttle.await."));
}

/* 0.01 s of CPU time in 5 s: whatever its threads wait for, they had no work. */
static void without_cpu_time_there_was_no_work(void **state)
{
	const struct profile_stack stacks[] = {SEEN(asks, 1, PARKED, 100, 5 * S)};
	const struct profile_stack of_peer[] = {SEEN(reads, 1, NATIVE, 100, 5 * S)};
	struct profile p = wall(stacks, 1, 10 * 1000000ull);

	(void)state;
	assert_string_equal(said_of(&p), "");
	p.cpu_time = 200 * 1000000ull;
	assert_non_null(strstr(said_of(&p), "parked"));
	/* what jstrobe itself used is no work of the program */
	p.own_cpu = 190 * 1000000ull;
	assert_string_equal(said_of(&p), "");
	/* it is not known */
	p.cpu_time = p.own_cpu = 0;
	assert_non_null(strstr(said_of(&p), "parked"));
	/* a peer that does not answer costs no CPU time */
	p = wall(of_peer, 1, 10 * 1000000ull);
	assert_non_null(strstr(said_of(&p), "waited for the other side of a connection (for an answer, or a client's next "
					    "request), most of it those called load-1 in demo.Load.send."));
}

static const uint32_t puts[] = {RUN, SEND, SEND, SEND, QUEUE, CONDITION, PARK}, meets[] = {RUN, SEND, BARRIER, CONDITION, PARK};
static const uint32_t counted[] = {RUN, SEND, SEND, SEND, SEND, SEND, SEND, SEND, LATCH, PARK};
static const uint32_t signalled[] = {RUN, SEND, SEND, SEND, SEND, SEND, SEND, SEND, CONDITION, PARK};

/* What the program calls says what for; who has made something for which there is no room has work without CPU time. */
static void it_is_said_what_for(void **state)
{
	static const struct {
		struct profile_stack stack;
		const char *what;
		bool without_cpu; /* it is said then, too */
	} cases[] = {
		{SEEN(puts, 1, PARKED, 100, 5 * S), "parked (for room in a queue), most", true},
		{SEEN(meets, 1, PARKED, 100, 5 * S), "parked (for others to come, as to a barrier), most", true},
		{SEEN(asks, 1, PARKED, 100, 5 * S), "parked (for results of tasks), most", false},
		{SEEN(counted, 1, PARKED, 60, 3 * S), "parked (for a latch), most", false},
		{SEEN(signalled, 1, PARKED, 60, 3 * S), "parked (for a result, a condition, a queue), most", false},
	};
	const struct profile_stack busy = SEEN(sends, 1, RUNNING, 40, 2 * S);
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(cases); i++) {
		struct profile_stack stacks[] = {cases[i].stack, busy};
		struct profile p = wall(stacks, 2, 1 * S);

		assert_non_null(strstr(said_of(&p), cases[i].what));
		p.cpu_time = 10 * 1000000ull;
		assert_int_equal(*said_of(&p) != '\0', cases[i].without_cpu);
	}
}

/* What is read from a connection may be the next request: where I/O was recorded that is idle, and not told of. */
static void reads_may_be_of_requests(void **state)
{
	const struct profile_stack stacks[] = {SEEN(reads, 1, NATIVE, 100, 5 * S)};
	const struct profile_stack served[] = {SEEN(reads, 1, NATIVE, 100, 0)}, asked[] = {SEEN(reads, 1, NATIVE, 100, 5 * S)};
	const uint32_t other_way[] = {MAIN, SEND, CONNECTION}, no_read[] = {MAIN, SEND};
	const struct profile_stack writes[] = {SEEN(no_read, 1, NATIVE, 100, 5 * S)}; /* no read ended meanwhile */
	const struct profile_stack elsewhere[] = {SEEN(other_way, 1, NATIVE, 100, 0)};
	const struct {
		const struct profile_stack *io;
		const char *said;
	} cases[] = {
		{NULL, "connection (for an answer, or a client's next request), most of it those called load-1"},
		{asked, "connection, most of it those called load-1 in demo.Load.send."},
		{elsewhere, "connection, most of it those called load-1 in demo.Load.send."},
		{served, ""},
		{writes, "connection (for an answer, or a client's next request), most of it those called load-1"},
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(cases); i++) {
		struct profile p = wall(stacks, 1, 1 * S), io = wall(cases[i].io ? cases[i].io : served, 1, 1 * S);
		const struct profile *const session[] = {&p, &io};
		struct findings f;

		io.event = "io";
		io.weight_kind = WEIGHT_IO;
		p.session = session;
		p.session_count = cases[i].io ? 2 : 1;
		assert_int_equal(findings_find(&f, session, p.session_count, NULL), 0);
		assert_int_equal(f.count, *cases[i].said != '\0');
		assert_true(!f.count || strstr(f.rows[0].sentence, cases[i].said));
	}
}

/* The JDK makes the class of a lambda: who calls it is the program's method. */
static void lambdas_are_no_place(void **state)
{
	static const uint32_t by_lambda[] = {RUN, SEND, SEND, SEND, LAMBDA, FUTURE, PARK};
	const struct profile_stack stacks[] = {SEEN(by_lambda, 1, PARKED, 100, 5 * S)};
	struct profile p = wall(stacks, 1, 1 * S);

	(void)state;
	assert_non_null(strstr(said_of(&p), "called load-1 in demo.Load.send."));
}

/* Where it is not known for whom threads wait, who sleeps in the same class is named; not for moments, nor elsewhere. */
static void who_sleeps_there_is_named(void **state)
{
	static const uint32_t sleeps[] = {RUN, SEND, SLEEP}, elsewhere[] = {RUN, THROTTLE, SLEEP}, pauses[] = {RUN, CLIENT, SLEEP};
	static const uint32_t wants_permit[] = {RUN, SEND, SEND, MAIN, PERMIT, PARK};
	struct profile_stack stacks[] = {SEEN(puts, 1, PARKED, 100, 5 * S), SEEN(sleeps, 0, SLEEPING, 80, 4 * S)};
	struct profile p = wall(stacks, 2, 1 * S);
	const struct profile *one = &p;
	struct findings f;
	unsigned i;

	(void)state;
	for (i = 0; i < 2; i++) {
		assert_int_equal(findings_find(&f, &one, 1, NULL), 0);
		assert_int_equal(f.count, 1);
		assert_non_null(strstr(f.rows[0].advice, " Meanwhile main slept 4 s in methods of that class."));
		/* the same of permits */
		stacks[0] = (struct profile_stack)SEEN(wants_permit, 1, PARKED, 100, 5 * S);
	}
	assert_string_equal(f.rows[0].id, "lock");
	/* a client beside it in the same class, which no one who wants a permit has gone through */
	stacks[1] = (struct profile_stack)SEEN(pauses, 0, SLEEPING, 80, 4 * S);
	assert_int_equal(findings_find(&f, &one, 1, NULL), 0);
	assert_string_equal(f.rows[0].id, "lock");
	assert_null(strstr(f.rows[0].advice, "Meanwhile"));
	stacks[0] = (struct profile_stack)SEEN(puts, 1, PARKED, 100, 5 * S);
	assert_int_equal(findings_find(&f, &one, 1, NULL), 0);
	assert_null(strstr(f.rows[0].advice, "Meanwhile"));
	stacks[0] = (struct profile_stack)SEEN(wants_permit, 1, PARKED, 100, 5 * S);
	stacks[1] = (struct profile_stack)SEEN(elsewhere, 0, SLEEPING, 80, 4 * S);
	assert_int_equal(findings_find(&f, &one, 1, NULL), 0);
	assert_null(strstr(f.rows[0].advice, "Meanwhile"));
	stacks[1] = (struct profile_stack)SEEN(sleeps, 0, SLEEPING, 40, 2 * S);
	assert_int_equal(findings_find(&f, &one, 1, NULL), 0);
	assert_null(strstr(f.rows[0].advice, "Meanwhile"));
	/* nor is it who waits */
	stacks[1] = (struct profile_stack)SEEN(sleeps, 1, SLEEPING, 80, 4 * S);
	assert_int_equal(findings_find(&f, &one, 1, NULL), 0);
	assert_null(strstr(f.rows[0].advice, "Meanwhile"));
}

/* Several things are named as such. */
static void most_of_it_is_for_one_thing(void **state)
{
	const struct profile_stack stacks[] = {
		SEEN(asks, 1, PARKED, 60, 3 * S), SEEN(puts, 1, PARKED, 40, 2 * S),
	}, three[] = {
		SEEN(asks, 1, PARKED, 40, 2 * S), SEEN(puts, 1, PARKED, 40, 2 * S), SEEN(meets, 1, PARKED, 20, 2 * S),
	};
	struct profile p = wall(stacks, 2, 1 * S);

	(void)state;
	assert_non_null(strstr(said_of(&p), "parked (most of it for results of tasks), most of it those called load-1 in"));
	p = wall(three, 3, 1 * S);
	assert_non_null(strstr(said_of(&p), "parked (for a result, a condition, a queue), most"));
}

/* Where there are waits alone they are told of by their time; not for whatever, nor for a part of one thread's time. */
static void waits_alone_are_told_of(void **state)
{
	struct profile_stack stacks[] = {SEEN(asks, 1, PARKED, 100, 4 * S), SEEN(puts, 0, PARKED, 10, S / 2)};
	struct profile p, other;
	const struct profile *both[] = {&p, &other};
	struct findings f;

	(void)state;
	p = wall(stacks, 2, 1 * S);
	p.event = "lock";
	p.weight_kind = WEIGHT_WAIT;
	assert_string_equal(said_of(&p), "Within 5 s, threads were parked 4.50 s in all (most of it for results of tasks), most "
					 "of it those called load-1 in demo.Load.send.");
	/* results for which was waited often are work, however little CPU time that took; one of them may be the end */
	p.cpu_time = 10 * 1000000ull;
	assert_true(*said_of(&p));
	stacks[0].samples = 10;
	assert_string_equal(said_of(&p), "");
	p.cpu_time = 1 * S;
	stacks[0] = (struct profile_stack)SEEN(asks, 1, PARKED, 100, S);
	p.weight_stored = 3 * S / 2;
	assert_true(*said_of(&p));
	stacks[1].weight = S / 5;
	p.weight_stored = 6 * S / 5;
	assert_string_equal(said_of(&p), "");
	stacks[0] = (struct profile_stack)SEEN(signalled, 1, PARKED, 100, 4 * S);
	assert_string_equal(said_of(&p), "");
	/* wall time knows more */
	stacks[0] = (struct profile_stack)SEEN(asks, 1, PARKED, 100, 4 * S);
	p.weight_stored = 5 * S;
	const struct profile_stack runs[] = {SEEN(sends, 1, RUNNING, 100, 5 * S)};
	other = wall(runs, 1, 1 * S);
	assert_int_equal(findings_find(&f, both, 2, NULL), 0);
	assert_int_equal(f.count, 0);
}

/* What a parked virtual thread reads is in no event of I/O: that would tell nothing apart. */
static void reads_of_virtual_threads(void **state)
{
	static const uint32_t parked[] = {VIRTUAL, SEND, SEND, SEND, CONNECTION, YIELD};
	const struct profile_stack of_virtual[] = {SEEN(parked, 1, NATIVE, 100, 5 * S)};
	const struct profile_stack of_platform[] = {SEEN(reads, 1, NATIVE, 100, 5 * S)};
	const struct profile_stack more_of_platform[] = {SEEN(parked, 1, NATIVE, 40, 2 * S), SEEN(reads, 1, NATIVE, 60, 3 * S)};
	struct profile p = wall(of_virtual, 1, 1 * S);

	(void)state;
	assert_non_null(strstr(said_of(&p), "(for an answer, or a client's next request)"));
	assert_null(strstr(advice, "tells these apart"));
	assert_non_null(strstr(advice, "virtual threads, whose reads -e io does not count"));
	p.event = "lock";
	p.weight_kind = WEIGHT_WAIT;
	said_of(&p);
	assert_non_null(strstr(advice, "-e wall --vthreads shows the calls."));
	p = wall(of_platform, 1, 1 * S);
	said_of(&p);
	assert_non_null(strstr(advice, "-e wall,io tells these apart. "));
	p = wall(more_of_platform, 2, 1 * S);
	said_of(&p);
	assert_non_null(strstr(advice, "-e wall,io tells these apart. "));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_method_that_waits_is_named), cmocka_unit_test(one_of_many_methods),
		cmocka_unit_test(without_cpu_time_there_was_no_work), cmocka_unit_test(it_is_said_what_for),
		cmocka_unit_test(reads_may_be_of_requests), cmocka_unit_test(lambdas_are_no_place),
		cmocka_unit_test(who_sleeps_there_is_named),
		cmocka_unit_test(most_of_it_is_for_one_thing), cmocka_unit_test(waits_alone_are_told_of),
		cmocka_unit_test(reads_of_virtual_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
