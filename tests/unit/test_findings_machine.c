/*
 * Findings about what keeps a program from running, by what a look from outside told: which sentence, which advice, and
 * when there is none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/base.h"
#include "profile/findings/findings.h"

#define CPUS 2

static struct profile_finding last;

/* The sentence of finding ID of P with AROUND; "": there is none. Its advice is in last.advice. */
static const char *said(const struct profile *p, const struct surroundings *around, const char *id)
{
	static struct findings f;
	uint32_t i;

	assert_int_equal(findings_find(&f, &p, 1, around), 0);
	memset(&last, 0, sizeof(last));
	for (i = 0; i < f.count; i++)
		if (strcmp(f.rows[i].id, id) == 0)
			last = f.rows[i];
	return last.sentence;
}

static const struct profile no_samples = {
	.event = "alloc", .engine = "alloc", .main_class = "", .jdk = "", .weight_kind = WEIGHT_BYTES, .duration = NS_PER_S,
};

/* SPAN ms; the rest in ms of CPU time: of the program, that it wanted besides, and that all programs used. */
static struct surroundings machine(uint64_t span, uint64_t cpu, uint64_t delay, uint64_t busy)
{
	struct surroundings s = {.known = 0};

	around_set(&s, AROUND_span, span * NS_PER_MS);
	around_set(&s, AROUND_cpus, CPUS);
	around_set(&s, AROUND_cpu, cpu * NS_PER_MS);
	around_set(&s, AROUND_run_delay, delay * NS_PER_MS);
	around_set(&s, AROUND_machine_busy, busy * NS_PER_MS);
	around_set(&s, AROUND_machine_all, CPUS * span * NS_PER_MS);
	return s;
}

static void who_uses_the_cpus_decides_the_advice(void **state)
{
	struct surroundings own = machine(2000, 3900, 3900, 4000), others = machine(2000, 200, 800, 3900);
	struct surroundings both = machine(2000, 2000, 2000, 4000), moments = machine(2000, 600, 500, 1200);

	(void)state;
	assert_non_null(strstr(said(&no_samples, &own, "run_queue"), "For 50 % of the time in which threads wanted to run, "
			       "they had no CPU: the program has more of them than its 2 CPUs can run"));
	assert_string_equal(last.advice, "Fewer busy threads, or more CPUs.");
	assert_non_null(strstr(said(&no_samples, &others, "run_queue"), "98 % busy, 5 % of it by this program"));
	assert_null(strstr(last.advice, "more CPUs,"));
	assert_non_null(strstr(last.advice, "Other programs use them"));
	assert_non_null(strstr(said(&no_samples, &both, "run_queue"), "100 % busy, 50 % of it by this program"));
	assert_non_null(strstr(last.advice, "less beside it"));
	assert_non_null(strstr(said(&no_samples, &moments, "run_queue"), "though the machine's CPUs were only 30 % busy"));
	assert_null(strstr(last.advice, "CPUs"));
	/* how many CPUs there are is not known */
	own.known &= ~((uint64_t)1 << AROUND_cpus);
	assert_non_null(strstr(said(&no_samples, &own, "run_queue"), "than its CPUs can run"));
}

static void little_is_no_trouble(void **state)
{
	struct surroundings idle = machine(2000, 4, 100, 3900), fed = machine(2000, 3900, 300, 4000);
	struct surroundings moment = machine(20, 39, 39, 40);
	/* threads that wait, and are late whenever they wake up; one that always wants a CPU, and has hardly any of it */
	struct surroundings late = machine(2000, 60, 1500, 3900), starved = machine(2000, 60, 1800, 3900);
	struct surroundings more = machine(2000, 120, 1500, 3900);
	struct profile own = no_samples;

	(void)state;
	assert_string_equal(said(&no_samples, &late, "run_queue"), "");
	assert_non_null(strstr(said(&no_samples, &starved, "run_queue"), "For 97 % of the time"));
	assert_non_null(strstr(said(&no_samples, &more, "run_queue"), "For 93 % of the time"));
	own.own_cpu = 60 * NS_PER_MS; /* it is jstrobe that used it */
	assert_string_equal(said(&own, &more, "run_queue"), "");
	assert_string_equal(said(&no_samples, &idle, "run_queue"), "");
	assert_string_equal(said(&no_samples, &fed, "run_queue"), "");
	/* counters that tick each 10 ms say nothing of 20; what is as it is stays */
	assert_string_equal(said(&no_samples, &moment, "run_queue"), "");
	around_set(&moment, AROUND_interpreted_only, 1);
	assert_non_null(strstr(said(&no_samples, &moment, "interpreted_only"), "-Xint"));
}

static void quotas(void **state)
{
	struct surroundings s = machine(2000, 400, 1500, 800);

	(void)state;
	around_set(&s, AROUND_throttles, 15);
	around_set(&s, AROUND_quota_periods, 20);
	around_set(&s, AROUND_throttled, 1400 * NS_PER_MS);
	around_set(&s, AROUND_cpu_limit, 200);
	assert_non_null(strstr(said(&no_samples, &s, "throttled"), "quota of 0.2 CPUs was used up in 75 % of its periods"));
	/* it is told as what it is, once */
	assert_string_equal(said(&no_samples, &s, "run_queue"), "");
	/* it was lifted, or a file says what cannot be */
	around_set(&s, AROUND_cpu_limit, 0);
	around_set(&s, AROUND_throttles, UINT64_MAX);
	assert_non_null(strstr(said(&no_samples, &s, "throttled"), "quota was used up in 100 % of its periods"));
	assert_true(last.score <= 1);
}

static void figures_that_cannot_be(void **state)
{
	struct surroundings s;
	unsigned i;

	(void)state;
	for (i = 0; i < SURROUNDINGS; i++)
		around_set(&s, (enum surrounding)i, UINT64_MAX);
	around_set(&s, AROUND_span, NS_PER_S);
	around_set(&s, AROUND_deadlocked, 0);
	said(&no_samples, &s, "gc");
	assert_true(last.score <= 1);
}

/* ---- many small calls ---- */

enum frame_number { RUN, SERVE, FILES, CHANNEL, SOCKET, GET_TASK, TAKE, PARK, FRAMES };
static const struct profile_frame frames[FRAMES] = {
	[RUN] = {.class_name = "java/lang/Thread", .name = "run", .kind = FRAME_C2},
	[SERVE] = {.class_name = "demo/Shop", .name = "serve", .kind = FRAME_C2},
	[FILES] = {.class_name = "java/io/FileInputStream", .name = "read0", .kind = FRAME_C2},
	[GET_TASK] = {.class_name = "java/util/concurrent/ThreadPoolExecutor", .name = "getTask", .kind = FRAME_C2},
	[TAKE] = {.class_name = "java/util/concurrent/LinkedBlockingQueue", .name = "take", .kind = FRAME_C2},
	[PARK] = {.class_name = "jdk/internal/misc/Unsafe", .name = "park", .kind = FRAME_C2},
	[SOCKET] = {.class_name = "java/net/Socket$SocketInputStream", .name = "read", .kind = FRAME_C2},
	[CHANNEL] = {.class_name = "sun/nio/ch/SocketChannelImpl", .name = "read", .kind = FRAME_C2},
};
static const uint32_t of_file[] = {RUN, SERVE, FILES}, of_channel[] = {RUN, SERVE, CHANNEL},
		      of_socket[] = {RUN, SERVE, SOCKET}, at_queue[] = {RUN, GET_TASK, TAKE, PARK},
		      at_work[] = {RUN, SERVE, SERVE, SERVE, SERVE, SERVE};

static struct profile cpu(const struct profile_stack *stack)
{
	return (struct profile){
		.event = "cpu", .engine = "perf", .main_class = "", .jdk = "", .weight_kind = WEIGHT_CPU, .taken = 200,
		.stored = 200, .complete = 200, .weight_stored = 2 * NS_PER_S, .duration = 2 * NS_PER_S,
		.cpu_time = 2 * NS_PER_S, .interval = 10 * NS_PER_MS, .pid = 7, .frames = frames, .frame_count = FRAMES,
		.stacks = stack, .stack_count = 1,
	};
}

static void a_buffer_helps_streams(void **state)
{
	const struct profile_stack file = {.frames = of_file, .depth = 3, .samples = 200, .weight = 2 * NS_PER_S,
					   .thread = PROFILE_NO_THREAD};
	const struct profile_stack channel = {.frames = of_channel, .depth = 3, .samples = 200, .weight = 2 * NS_PER_S,
					      .thread = PROFILE_NO_THREAD};
	const struct profile_stack socket = {.frames = of_socket, .depth = 3, .samples = 200, .weight = 2 * NS_PER_S,
					     .thread = PROFILE_NO_THREAD};
	struct profile streams = cpu(&file), server = cpu(&channel), requests = cpu(&socket);
	const struct profile io = {.event = "io", .engine = "io", .main_class = "", .jdk = "", .weight_kind = WEIGHT_IO,
				   .duration = 2 * NS_PER_S};
	const struct profile *const with_io[] = {&requests, &io};
	static struct findings f;
	uint32_t i;
	struct surroundings s = machine(2000, 2000, 0, 2000);

	(void)state;
	around_set(&s, AROUND_read_calls, 80000);
	around_set(&s, AROUND_read_bytes, 1520000);
	assert_non_null(strstr(said(&streams, &s, "small_io"), "40,000 calls a second read 19 bytes each on average"));
	assert_non_null(strstr(last.advice, "BufferedInputStream"));
	assert_true(last.score > 1);
	/* a server of small requests reads whole ones */
	assert_non_null(strstr(said(&server, &s, "small_io"), "40,000 calls a second read 19 bytes each on average"));
	assert_null(strstr(last.advice, "BufferedInputStream"));
	assert_true(last.score < 0.3);
	/* so does one that reads its requests in blocking calls, and answers each */
	around_set(&s, AROUND_write_calls, 79000);
	around_set(&s, AROUND_written_bytes, 79000 * 600ull);
	assert_non_null(strstr(said(&requests, &s, "small_io"), "40,000 calls a second read 19 bytes each on average"));
	assert_string_equal(last.advice, "jstrobe record -e io 7 names files, peers and places; for a server of small requests "
			    "that is how it works, else a buffer helps.");
	assert_true(last.score < 0.3);
	said(&streams, &s, "small_io"); /* a file has no requests */
	assert_non_null(strstr(last.advice, "BufferedInputStream"));
	around_set(&s, AROUND_read_bytes, 80000); /* byte by byte, whatever is written */
	said(&requests, &s, "small_io");
	assert_non_null(strstr(last.advice, "BufferedInputStream"));
	around_set(&s, AROUND_read_bytes, 1520000);
	around_set(&s, AROUND_write_calls, 20000); /* several reads for each answer */
	said(&requests, &s, "small_io");
	assert_string_equal(last.advice, "Put a buffer in between (BufferedInputStream), and flush less often. "
					 "jstrobe record -e io 7 names files, peers and places.");
	/* where calls were sampled, they are there */
	assert_int_equal(findings_find(&f, with_io, 2, &s), 0);
	for (i = 0; i < f.count; i++)
		assert_null(strstr(f.rows[i].advice, "record -e io"));
	assert_non_null(strstr(f.rows[0].advice, "The tables of reads and writes name files, peers and places."));
	/* what was sampled does not say who reads */
	said(&no_samples, &s, "small_io");
	assert_null(strstr(last.advice, "BufferedInputStream"));
}

/* ---- few samples ---- */

/* Of two samples nothing is said of shares, whatever they are of. */
static void few_samples_say_nothing(void **state)
{
	struct profile_stack one = {.frames = of_file, .depth = 2, .samples = 200, .weight = 2 * NS_PER_S,
				    .thread = PROFILE_NO_THREAD};
	struct profile p = cpu(&one);

	(void)state;
	assert_non_null(strstr(said(&p, NULL, "hot_method"), "demo.Shop.serve uses"));
	p.taken = p.stored = p.complete = one.samples = 2;
	one.weight = 20 * NS_PER_MS;
	p.weight_stored = p.cpu_time = 20 * NS_PER_MS;
	assert_string_equal(said(&p, NULL, "hot_method"), "");
	assert_non_null(strstr(said(&p, NULL, "few_samples"), "There are only 2 samples of CPU time"));
	one.samples = 1;
	p.taken = p.stored = p.complete = 1;
	assert_non_null(strstr(said(&p, NULL, "few_samples"), "There is only 1 sample of CPU time"));
}

/* A program that hardly wants to run waits, also where that little is late; one that wants to and cannot does not. */
static void who_wants_no_cpu_waits(void **state)
{
	struct profile_stack one = {.frames = of_file, .depth = 2, .samples = 2, .weight = 20 * NS_PER_MS,
				    .thread = PROFILE_NO_THREAD};
	struct surroundings idle = machine(2000, 20, 60, 4000), starved = machine(2000, 150, 700, 4000);
	struct surroundings late = machine(2000, 20, 1500, 4000);
	struct profile p = cpu(&one);
	const struct profile wall = {
		.event = "wall", .engine = "wall", .main_class = "", .jdk = "", .weight_kind = WEIGHT_WALL,
		.duration = 2 * NS_PER_S,
	};
	/* wall time of a program whose one thread waits for work, and of one that sleeps besides */
	const struct profile_thread thread = {1, "main", 40, 2 * NS_PER_S};
	struct profile_stack slept[] = {
		{.frames = at_queue, .depth = 4, .samples = 38, .weight = 1900 * NS_PER_MS, .state = THREAD_PARKED},
		{.frames = at_work, .depth = 6, .samples = 2, .weight = 50 * NS_PER_MS, .state = THREAD_SLEEPING},
	};
	struct profile idle_wall = wall;
	const struct profile *const both[] = {&p, &wall}, *const with_idle[] = {&p, &idle_wall};
	static struct findings f;
	uint32_t i;

	(void)state;
	p.taken = p.stored = p.complete = 2;
	p.weight_stored = p.cpu_time = 20 * NS_PER_MS;
	assert_non_null(strstr(said(&p, &idle, "not_the_cpu"), "used 1.0 % of one CPU: it waits"));
	assert_non_null(strstr(last.advice, "record -e wall"));
	assert_non_null(strstr(said(&p, &idle, "few_samples"), "only 2 samples"));
	assert_string_equal(last.advice, ""); /* once is enough */
	p.own_cpu = 16 * NS_PER_MS;
	assert_non_null(strstr(said(&p, &idle, "not_the_cpu"), "used 0.2 % of one CPU: it waits"));
	p.own_cpu = 0;
	assert_int_equal(findings_find(&f, both, 2, &idle), 0);
	for (i = 0; i < f.count; i++)
		assert_null(strstr(f.rows[i].advice, "record -e wall"));
	idle_wall.threads = &thread;
	idle_wall.thread_count = 1;
	idle_wall.per_thread = true;
	idle_wall.frames = frames;
	idle_wall.frame_count = FRAMES;
	idle_wall.stacks = slept;
	idle_wall.stack_count = 2;
	idle_wall.stored = idle_wall.taken = 40;
	idle_wall.weight_stored = 1950 * NS_PER_MS;
	idle_wall.cpu_time = NS_PER_MS;
	assert_int_equal(findings_find(&f, with_idle, 2, &idle), 0);
	assert_int_equal(f.count, 0);
	slept[1].weight = 150 * NS_PER_MS;
	assert_int_equal(findings_find(&f, with_idle, 2, &idle), 0);
	assert_string_equal(f.rows[0].id, "not_the_cpu");
	assert_string_equal(f.rows[0].advice, "The profile of wall time shows what its threads wait for.");
	/* late for moments: it waits all the same */
	assert_non_null(strstr(said(&p, &late, "not_the_cpu"), "used 1.0 % of one CPU: it waits"));
	p.weight_stored = p.cpu_time = 150 * NS_PER_MS;
	assert_string_equal(said(&p, &starved, "not_the_cpu"), "");
	assert_non_null(strstr(said(&p, &starved, "run_queue"), "they had no CPU"));
}

/* ---- input and output ---- */

/* Short writes to a peer take long where there is no CPU: that is said by another sentence. */
static void writes_without_a_cpu(void **state)
{
	static const struct {
		enum io_operation operation;
		enum io_kind kind;
		bool starved;
		uint64_t each; /* µs */
		const char *advice; /* NULL: there is no sentence */
	} cases[] = {
		{IO_WRITE, IO_KIND_SOCKET, true, 230, NULL},       {IO_WRITE, IO_KIND_SOCKET, false, 230, "they are many"},
		{IO_WRITE, IO_KIND_SOCKET, true, 5000, "its own"}, {IO_WRITE, IO_KIND_FILE, true, 230, "its own"},
		{IO_READ, IO_KIND_SOCKET, true, 230, "its own"},   {IO_SYNC, IO_KIND_FILE, true, 200000, "its own"},
	};
	const struct surroundings starved = machine(5000, 2000, 6000, 20000), calm = machine(5000, 2000, 20, 4000);
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(cases); i++) {
		const struct profile_io io = {
			.target = "127.0.0.1", .operation = (uint8_t)cases[i].operation, .kind = (uint8_t)cases[i].kind,
			.calls = 5710000 / cases[i].each, .bytes = 1 << 20, .time = 5710 * NS_PER_MS,
		};
		const struct profile p = {
			.event = "io", .engine = "io", .main_class = "", .jdk = "", .weight_kind = WEIGHT_IO,
			.duration = 5 * NS_PER_S, .io = &io, .io_count = 1,
		};
		const char *sentence = said(&p, cases[i].starved ? &starved : &calm, "io");

		assert_int_equal(!!*sentence, cases[i].advice != NULL);
		if (!cases[i].advice)
			continue;
		assert_non_null(strstr(sentence, "In 5 s all threads together spent 5.71 s in "));
		assert_non_null(strstr(last.advice, cases[i].advice));
	}
}

/* A thread that wakes another one up writes 8 bytes: no buffer makes these calls fewer. */
static void wakeups_are_no_io(void **state)
{
	struct profile_io io[] = {
		{.target = "anon_inode:[eventfd]", .operation = IO_WRITE, .kind = IO_KIND_OTHER, .calls = 20000,
		 .bytes = 160000, .time = 4 * NS_PER_S},
		{.target = "/x/log", .operation = IO_WRITE, .kind = IO_KIND_FILE, .calls = 2000, .bytes = 160000,
		 .time = 2 * NS_PER_S},
	};
	struct profile p = {
		.event = "io", .engine = "io", .main_class = "", .jdk = "", .weight_kind = WEIGHT_IO,
		.duration = 5 * NS_PER_S, .io = io, .io_count = 1,
	};

	(void)state;
	assert_string_equal(said(&p, NULL, "io"), "");
	p.io_count = 2;
	assert_non_null(strstr(said(&p, NULL, "io"), "of /x/log."));
}

/* Fewer calls help where the calls are what takes time, and a thread of its own where there is none. */
static void what_helps_against_long_calls(void **state)
{
	static const struct {
		enum io_operation operation;
		enum io_kind kind;
		uint64_t calls, thread; /* ms that one thread reads and writes */
		const char *calls_text, *advice, *never; /* NULL: no word is out of place */
	} cases[] = {
		{IO_READ, IO_KIND_SOCKET, 13, 4900, "13 calls", "Each takes 376.9 ms on average: so long takes the other side.", "Fewer"},
		{IO_WRITE, IO_KIND_PIPE, 1, 4900, "1 call (", "Each takes 4.90 s on average: so long takes the other side.", "Fewer"},
		{IO_WRITE, IO_KIND_PIPE, 0, 4900, "calls that go on (", "Each takes 4.90 s", "Fewer"},
		{IO_READ, IO_KIND_FILE, 13, 4900, "13 calls", "Fewer and larger calls help.", "of its own"},
		{IO_READ, IO_KIND_FILE, 13, 2000, "13 calls", "Fewer and larger calls help, or a thread of its own.", NULL},
		{IO_READ, IO_KIND_SOCKET, 9800, 2000, "9,800 calls", "Fewer and larger calls help, or a thread of its own.", NULL},
		{IO_READ, IO_KIND_SOCKET, 9800, 4900, "9,800 calls", "Fewer and larger calls help.", "of its own"},
		{IO_READ, IO_KIND_SOCKET, 980, 2000, "980 calls", "Each takes 5 ms on average, until the other side has answered", "Fewer"},
		{IO_READ, IO_KIND_PIPE, 980, 2000, "980 calls", "fewer requests do", "Fewer"},
		{IO_READ, IO_KIND_FILE, 980, 2000, "980 calls", "Fewer and larger calls help, or a thread of its own.", NULL},
		{IO_CONNECT, IO_KIND_SOCKET, 980, 2000, "980 calls (connect)", "Keep connections and use them again (a pool, "
		 "keep-alive): 5 ms for each on average.", "larger"},
		{IO_CONNECT, IO_KIND_SOCKET, 13, 4900, "13 calls (connect)", "376.9 ms for each on average", "larger"},
	};
	const struct surroundings calm = machine(5000, 2000, 20, 4000);
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(cases); i++) {
		const struct profile_io io = {
			.target = "pipe", .operation = (uint8_t)cases[i].operation, .kind = (uint8_t)cases[i].kind,
			.calls = cases[i].calls, .bytes = 1 << 20, .time = 4900 * NS_PER_MS,
		};
		const struct profile_thread thread[] = {
			{1, "a", 40, cases[i].thread * NS_PER_MS}, {2, "b", 40, (4900 - cases[i].thread) * NS_PER_MS},
		};
		const struct profile p = {
			.event = "io", .engine = "io", .main_class = "", .jdk = "", .weight_kind = WEIGHT_IO,
			.duration = 5 * NS_PER_S, .io = &io, .io_count = 1, .threads = thread, .thread_count = 2,
		};

		assert_non_null(strstr(said(&p, &calm, "io"), cases[i].calls_text));
		assert_non_null(strstr(last.advice, cases[i].advice));
		assert_true(!cases[i].never || !strstr(last.advice, cases[i].never));
	}
}

/* A width does not cut a character in the middle. */
static void names_of_any_length(void **state)
{
	char name[400] = "";
	struct profile_frame own[FRAMES];
	const struct profile_stack stack = {.frames = of_file, .depth = 2, .samples = 200, .weight = 2 * NS_PER_S,
					    .thread = PROFILE_NO_THREAD};
	struct profile p = cpu(&stack);
	const unsigned char *c;
	unsigned i;

	(void)state;
	memcpy(own, frames, sizeof(own));
	for (i = 0; i < 190; i++)
		strcat(name, "\u00e4");
	own[SERVE].name = name;
	p.frames = own;
	for (c = (const unsigned char *)said(&p, NULL, "hot_method"); *c; c++) {
		if (*c >= 0xc0)
			assert_true((c[1] & 0xc0) == 0x80);
		else if (*c >= 0x80)
			assert_true(c[-1] >= 0xc0);
	}
	assert_non_null(strstr(last.sentence, "\u00e4"));
}

/* Samples that may be of a method that the compiler has put into this one are not told as this one's own. */
static void what_may_be_inlined_is_not_itself(void **state)
{
	static const struct profile_frame frames[] = {{.class_name = "demo/Sum", .name = "all", .kind = FRAME_C2}};
	static const uint32_t all[] = {0};
	static const struct profile_stack stacks[] = {
		{.frames = all, .depth = 1, .thread = PROFILE_NO_THREAD, .samples = 1000, .weight = NS_PER_S},
	};
	struct profile p = {
		.event = "cpu", .engine = "perf", .main_class = "", .jdk = "", .weight_kind = WEIGHT_CPU,
		.duration = NS_PER_S, .cpu_time = NS_PER_S, .frames = frames, .frame_count = 1, .stacks = stacks,
		.stack_count = 1, .taken = 1000, .stored = 1000, .weight_stored = NS_PER_S, .complete = 1000,
	};

	(void)state;
	assert_non_null(strstr(said(&p, NULL, "hot_method"), "demo.Sum.all uses 100 % of the CPU time itself, with the"));
	p.ambiguous = 49;
	assert_non_null(strstr(said(&p, NULL, "hot_method"), "time itself, with"));
	p.ambiguous = 50;
	assert_non_null(strstr(said(&p, NULL, "hot_method"), "time itself or in methods compiled together with it, with"));
	assert_null(strstr(last.advice, "DebugNonSafepoints"));
	p.ambiguous = 250;
	assert_non_null(strstr(said(&p, NULL, "hot_method"), "or in methods"));
	assert_non_null(strstr(last.advice, "DebugNonSafepoints"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_uses_the_cpus_decides_the_advice), cmocka_unit_test(little_is_no_trouble),
		cmocka_unit_test(quotas), cmocka_unit_test(figures_that_cannot_be), cmocka_unit_test(a_buffer_helps_streams),
		cmocka_unit_test(few_samples_say_nothing), cmocka_unit_test(who_wants_no_cpu_waits),
		cmocka_unit_test(writes_without_a_cpu), cmocka_unit_test(wakeups_are_no_io),
		cmocka_unit_test(what_helps_against_long_calls),
		cmocka_unit_test(names_of_any_length),
		cmocka_unit_test(what_may_be_inlined_is_not_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
