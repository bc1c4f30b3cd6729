/* The text outputs of one small profile, letter by letter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "format_sample.h"

static void expect(const struct profile *p, const char *format,
		   const struct format_options *options, const char *expected)
{
	char *text = sample_write_text(p, format, options);

	assert_string_equal(text, expected);
	free(text);
}

#define RUN "start_thread;demo/OrderService.run;"
#define RUN_AT "start_thread;demo/OrderService.run:"
#define MAIN "[main tid=101];"
#define WORKER "[worker,1 tid=102];"
#define LAMBDA "demo/OrderService$$Lambda$14.0x0000000800c03000.apply"
#define LAMBDA_DOTS "demo.OrderService$$Lambda$14.0x0000000800c03000.apply"
#define SURVIVOR "G1ParScanThreadState::copy_to_survivor_space(G1HeapRegionAttr, oopDesc*)"
#define EVIL "evil/\"</script><script>alert(1)</script>.a,b\\ <!--"
#define EVIL_DOTS "evil.\"<.script><script>alert(1)<.script>.a;b\\ <!--"

static void collapsed(void **state)
{
	struct profile p = sample_profile(false);
	static const char expected[] =
		"[truncated];demo/Tree.walk;demo/Tree.walk 2\n"
		"start_thread;" SURVIVOR " 6\n"
		RUN "demo/Größe.<init> 1\n"
		RUN LAMBDA ";java/util/HashMap.put 10\n"
		RUN "demo/Tree.walk;demo/Tree.walk;demo/Tree.walk 8\n"
		RUN "java/io/FileOutputStream.writeBytes;write;do_syscall_64_[k] 7\n"
		RUN "java/util/HashMap.put 55\n"
		"start_thread;" EVIL " 1\n";

	(void)state;
	expect(&p, "collapsed", &(struct format_options){.total = false}, expected);
	expect(&p, "folded", &(struct format_options){.total = false}, expected);
}

static void collapsed_by_weight_thread_and_line(void **state)
{
	struct profile p = sample_profile(true);

	(void)state;
	expect(&p, "collapsed",
	       &(struct format_options){.total = true, .threads = true, .lines = true},
	       "[ [31m<b>\"evil\"</b> tid=104];start_thread;" EVIL " 10000000\n"
	       "[GC Thread#0 tid=103];start_thread;" SURVIVOR " 60000000\n"
	       MAIN "[truncated];demo/Tree.walk:7;demo/Tree.walk:7 20000000\n"
	       MAIN RUN_AT "12;demo/Größe.<init>:3 10000000\n"
	       MAIN RUN_AT "12;demo/Tree.walk:7;demo/Tree.walk:7;demo/Tree.walk:7 80000000\n"
	       MAIN RUN_AT "12;java/util/HashMap.put:610 300000000\n"
	       MAIN RUN_AT "14;java/util/HashMap.put:610 200000000\n"
	       WORKER RUN_AT "12;java/io/FileOutputStream.writeBytes;write;do_syscall_64_[k]"
	       " 90000000\n"
	       WORKER RUN_AT "14;" LAMBDA ";java/util/HashMap.put:610 100000000\n"
	       WORKER RUN_AT "14;java/util/HashMap.put:610 50000000\n");
}

#define LOSS_LINE                                                                                   \
	"93 samples taken, 90 stored, 3 lost (queue_full 2: 20 ms, recursion 1: 10 ms) · 920 ms of" \
	" 980 ms CPU time sampled, 30 ms unsampled · 97.78 % complete stacks"

#define COST                                                                                      \
	"Walks ended early   : 2 (truncated 2)\n"                                                 \
	"Queues              : 60 KB, 1 increment, capacity up to 40, fill up to 21\n"            \
	"Handler             : mean 1.2 µs, p99 3.4 µs, p99.9 5.6 µs, max 12 µs (without the"     \
	" kernel's delivery)\n"                                                                   \
	"Collector's drain   : mean 45 µs, p99 120 µs, p99.9 200 µs, max 210 µs\n"                \
	"Own CPU time        : 1.5 ms (0.15 % of the process)\n"                                  \
	"Threads armed       : 12 by perf events, 1 by timers\n"

#define HEADER                                                                   \
	"--- Execution profile ---\n"                                            \
	"Total samples       : 90\n"                                             \
	"queue_full          : 2 (2.15%)\n"                                      \
	"recursion           : 1 (1.08%)\n"                                      \
	"truncated           : 2 (2.15%)\n"                                      \
	"Process             : 4711 demo.OrderService, JDK 17.0.15+6-Debian\n"   \
	"Recorded            : 1.00 s from 2026-09-21 14:13:20 UTC\n"            \
	"Event               : cpu (engine perf), interval 10 ms, effective 10.2 ms\n" \
	"Samples             : " LOSS_LINE "\n" COST "\n"

#define TRACE_1                                     \
	"--- 550000000 ns (59.78%), 55 samples\n"   \
	"  [ 0] java.util.HashMap.put\n"            \
	"  [ 1] demo.OrderService.run\n"            \
	"  [ 2] start_thread\n\n"

#define TRACE_2                                     \
	"--- 100000000 ns (10.87%), 10 samples\n"   \
	"  [ 0] java.util.HashMap.put\n"            \
	"  [ 1] " LAMBDA_DOTS "\n"                  \
	"  [ 2] demo.OrderService.run\n"            \
	"  [ 3] start_thread\n\n"

#define TRACE_WALK                                  \
	"--- 80000000 ns (8.70%), 8 samples\n"      \
	"  [ 0] demo.Tree.walk\n"                   \
	"  [ 1] demo.Tree.walk\n"                   \
	"  [ 2] demo.Tree.walk\n"                   \
	"  [ 3] demo.OrderService.run\n"            \
	"  [ 4] start_thread\n\n"

#define TRACE_WRITE                                 \
	"--- 90000000 ns (9.78%), 7 samples\n"      \
	"  [ 0] do_syscall_64_[k]\n"                \
	"  [ 1] write\n"                            \
	"  [ 2] java.io.FileOutputStream.writeBytes\n" \
	"  [ 3] demo.OrderService.run\n"            \
	"  [ 4] start_thread\n\n"

#define TRACES_REST                                 \
	"--- 60000000 ns (6.52%), 6 samples\n"      \
	"  [ 0] " SURVIVOR "\n"                     \
	"  [ 1] start_thread\n\n"                   \
	"--- 20000000 ns (2.17%), 2 samples\n"      \
	"  [ 0] demo.Tree.walk\n"                   \
	"  [ 1] demo.Tree.walk\n"                   \
	"  [ 2] [truncated]\n\n"                    \
	"--- 10000000 ns (1.09%), 1 sample\n"       \
	"  [ 0] demo.Größe.<init>\n"                \
	"  [ 1] demo.OrderService.run\n"            \
	"  [ 2] start_thread\n\n"                   \
	"--- 10000000 ns (1.09%), 1 sample\n"       \
	"  [ 0] " EVIL_DOTS "\n"                    \
	"  [ 1] start_thread\n\n"

#define FLAT_HEAD                                         \
	"          ns  percent  samples  top\n"           \
	"  ----------  -------  -------  ---\n"           \
	"   650000000   70.65%       65  java.util.HashMap.put\n"

#define FLAT_REST                                          \
	"   100000000   10.87%       10  demo.Tree.walk\n" \
	"    90000000    9.78%        7  do_syscall_64_[k]\n" \
	"    60000000    6.52%        6  " SURVIVOR "\n"   \
	"    10000000    1.09%        1  demo.Größe.<init>\n" \
	"    10000000    1.09%        1  " EVIL_DOTS "\n"

static void text(void **state)
{
	struct profile p = sample_profile(false);

	(void)state;
	expect(&p, "text", &(struct format_options){.total = false},
	       HEADER TRACE_1 TRACE_2 TRACE_WRITE TRACE_WALK TRACES_REST FLAT_HEAD FLAT_REST);
}

static void traces_and_flat_alone(void **state)
{
	struct profile p = sample_profile(false);

	(void)state;
	expect(&p, "traces", &(struct format_options){.total = true},
	       HEADER TRACE_1 TRACE_2 TRACE_WRITE TRACE_WALK TRACES_REST);
	expect(&p, "flat", &(struct format_options){.total = false}, HEADER FLAT_HEAD FLAT_REST);
	expect(&p, "flat", &(struct format_options){.flat = 1}, HEADER FLAT_HEAD);
	expect(&p, "traces", &(struct format_options){.traces = 1, .flat = 1},
	       HEADER TRACE_1 "(7 more stacks with 35 samples, 38.89 %, are not shown)\n\n" FLAT_HEAD);
}

static void call_tree(void **state)
{
	struct profile p = sample_profile(false);

	(void)state;
	expect(&p, "calltree", &(struct format_options){.total = false},
	       HEADER
	       "  total     self     samples  depth  frame\n"
	       "100.00%    0.00%          90  [  0] all\n"
	       " 97.78%    0.00%          88  [  1] start_thread\n"
	       " 90.00%    0.00%          81  [  2]   demo.OrderService.run\n"
	       " 61.11%   61.11%          55  [  3]     java.util.HashMap.put\n"
	       " 11.11%    0.00%          10  [  3]     " LAMBDA_DOTS "\n"
	       " 11.11%   11.11%          10  [  4]     java.util.HashMap.put\n"
	       "  8.89%    0.00%           8  [  3]     demo.Tree.walk\n"
	       "  8.89%    0.00%           8  [  4]     demo.Tree.walk\n"
	       "  8.89%    8.89%           8  [  5]     demo.Tree.walk\n"
	       "  7.78%    0.00%           7  [  3]     java.io.FileOutputStream.writeBytes\n"
	       "  7.78%    0.00%           7  [  4]     write\n"
	       "  7.78%    7.78%           7  [  5]     do_syscall_64_[k]\n"
	       "  1.11%    1.11%           1  [  3]     demo.Größe.<init>\n"
	       "  6.67%    6.67%           6  [  2]   " SURVIVOR "\n"
	       "  1.11%    1.11%           1  [  2]   " EVIL_DOTS "\n"
	       "  2.22%    0.00%           2  [  1] [truncated]\n"
	       "  2.22%    0.00%           2  [  2] demo.Tree.walk\n"
	       "  2.22%    2.22%           2  [  3] demo.Tree.walk\n");
}

#define HOT_TITLE "CPU profile of demo.OrderService (pid 4711, JDK 17.0.15+6-Debian), 1.00 s"

#define HOT_TRUST                                                                                 \
	"93 samples taken, 90 stored, 3 lost (queue_full 2: 20 ms, recursion 1: 10 ms)\n"         \
	"920 ms of 980 ms CPU time sampled, 30 ms unsampled\n97.78 % complete stacks\n"

static void hot(void **state)
{
	struct profile p = sample_profile(false);

	(void)state;
	expect(&p, "hot", &(struct format_options){.details = true},
	       HOT_TITLE ", engine perf, interval 10 ms\n\n"
	       "  self%   samples   total%   samples              method\n"
	       " 72.22%        65   72.22%        65  ███████▎    java.util.HashMap.put\n"
	       " 11.11%        10   11.11%        10  █▏          demo.Tree.walk\n"
	       "  7.78%         7    7.78%         7  ▊           do_syscall_64_[k]\n"
	       "  6.67%         6    6.67%         6  ▋           " SURVIVOR "\n"
	       "  1.11%         1    1.11%         1  ▏           demo.Größe.<init>\n"
	       "  1.11%         1    1.11%         1  ▏           " EVIL_DOTS "\n\n" HOT_TRUST COST);
	expect(&p, "hot", &(struct format_options){.total = true, .flat = 2},
	       HOT_TITLE "\n\n"
	       "  self%      time   total%      time              method\n"
	       " 70.65%    650 ms   70.65%    650 ms  ███████▏    java.util.HashMap.put\n"
	       " 10.87%    100 ms   10.87%    100 ms  █▏          demo.Tree.walk\n"
	       " 18.48%  in 4 more methods\n\n" HOT_TRUST);
}

/* One line vouches for a result, without advice, where there is nothing to warn of. */
static void one_line_vouches(void **state)
{
	struct profile p = sample_profile(false);
	char *text;

	(void)state;
	memset(p.lost, 0, sizeof(p.lost));
	memset(p.lost_weight, 0, sizeof(p.lost_weight));
	p.taken = p.complete = p.stored;
	p.ambiguous = 9;
	p.unsampled = 1000000;
	text = sample_write_text(&p, "hot", &(struct format_options){.flat = 1});
	assert_non_null(strstr(text, "\n90 samples taken, all stored · 920 ms of 980 ms CPU time sampled · 100 % complete "
				     "stacks · 10.00 % may belong to the method before or behind it in inlined code\n"));
	assert_null(strstr(text, "Queues"));
	free(text);
}

/* What is wider than its column does not run into the one before. */
static void hot_for_an_hour(void **state)
{
	struct profile p = sample_profile(false);
	struct profile_stack one = p.stacks[0];
	char *text;

	(void)state;
	one.weight = p.weight_stored = 3793ull * NS_PER_S;
	p.stacks = &one;
	p.stack_count = 1;
	text = sample_write_text(&p, "hot", &(struct format_options){.total = true});
	assert_non_null(strstr(text, "100.00% 63 min 13 s  100.00% 63 min 13 s  "));
	free(text);
}

static void colour_only_where_asked(void **state)
{
	struct profile p = sample_profile(true);
	char *plain, *colour;

	(void)state;
	plain = sample_write_text(&p, "hot", &(struct format_options){.threads = true});
	assert_null(strchr(plain, '\033'));
	colour = sample_write_text(&p, "hot", &(struct format_options){.color = true});
	assert_non_null(strstr(colour, "\033[1;31m93 samples taken")); /* 3 % lost: a warning */
	free(plain);
	free(colour);
}

/* No terminal sequence comes out of a name, in no text output. */
static void names_are_printable(void **state)
{
	static const char *const names[] = {"collapsed", "text", "traces", "flat", "calltree", "hot"};
	struct profile p = sample_profile(true);
	unsigned i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(names); i++) {
		char *all = sample_write_text(&p, names[i], &(struct format_options){.threads = true});

		assert_null(strchr(all, '\033'));
		free(all);
	}
}

/* What could not be counted is not said to be none; what the filter kept out is not said to be quiet. */
static void no_samples_for_a_reason(void **state)
{
	struct profile p = sample_empty();
	char *all;

	(void)state;
	p.weight_kind = WEIGHT_COUNT;
	p.event = "page-faults";
	p.threads_refused = 11;
	all = sample_write_text(&p, "loss", &(struct format_options){.total = true});
	assert_string_equal(all, "No samples: page-faults could not be counted · 11 threads could not be armed, "
				 "so theirs are not counted\n");
	free(all);
	p.threads_refused = 0;
	all = sample_write_text(&p, "loss", &(struct format_options){.total = true});
	assert_non_null(strstr(all, "No samples: no page-faults in 1 s"));
	free(all);
	p.filter_none = true;
	all = sample_write_text(&p, "loss", &(struct format_options){.total = true});
	assert_non_null(strstr(all, "No samples: no thread matched the filter"));
	free(all);
}

/* All virtual threads may be one in the list of threads. */
static void threads_are_not_miscounted(void **state)
{
	static const struct {
		uint32_t threads;
		bool as_one, per_thread;
		const char *says;
	} rows[] = {
		{5, false, false, "wall time of 5 threads"},
		{5, true, false, "wall time of 4 platform threads and virtual threads"},
		{1, true, false, "wall time of virtual threads"},
		{5, true, true, "wall time of 4 threads and further virtual threads"},
	};
	struct profile p = sample_profile(true);
	size_t i;

	(void)state;
	p.weight_kind = WEIGHT_WALL;
	for (i = 0; i < ARRAY_LEN(rows); i++) {
		char *all;

		p.thread_count = rows[i].threads;
		p.virtual_as_one = rows[i].as_one;
		p.per_thread = rows[i].per_thread;
		all = sample_write_text(&p, "loss", &(struct format_options){.total = true});
		if (!strstr(all, rows[i].says))
			fail_msg("%s: %s", rows[i].says, all);
		free(all);
	}
}

static void no_samples(void **state)
{
	static const char line[] =
		"No samples: the process used 3.2 ms of CPU time in 1 s; a sample is taken each 10 ms"
		" of CPU time", own[] = "used 3.2 ms of CPU time in 1 s (3 ms of it for jstrobe); a sample is",
				 hint[] = " each 10 ms of CPU time; for what it waits for, record -e wall";
	static const char *const with_line[] = {"text", "traces", "flat", "calltree", "hot", "loss"};
	struct profile p = sample_empty();
	const struct profile *const both[] = {&p, &p};
	unsigned i;

	(void)state;
	expect(&p, "collapsed", &(struct format_options){.threads = true}, "");
	for (i = 0; i < ARRAY_LEN(with_line); i++) {
		char *all = sample_write_text(&p, with_line[i], &(struct format_options){.total = true});

		assert_non_null(strstr(all, line));
		assert_non_null(strstr(all, hint));
		free(all);
	}
	/* of several events, wall time may be one; findings say what there is to record */
	for (i = 0; i < ARRAY_LEN(with_line); i++) {
		struct buffer out = BUFFER_INIT;

		format_write(format_by_name(with_line[i]), both, 2, &(struct format_options){.total = false}, &out, NULL);
		buffer_putc(&out, '\0');
		assert_non_null(strstr(out.data, line));
		assert_null(strstr(out.data, "record -e wall"));
		buffer_free(&out);
	}
	p.own_cpu = 3000000;
	p.cpu_time = 3200000;
	for (i = 0; i < ARRAY_LEN(with_line); i++) {
		char *all = sample_write_text(&p, with_line[i], &(struct format_options){.total = true});

		assert_non_null(strstr(all, own));
		free(all);
	}
}

/* What short calls stand for is not told like what was counted. */
static void io(void **state)
{
	static const struct profile_io lines[] = {
		{"/data/journal", IO_SYNC, IO_KIND_FILE, 517, 0, 400000000, 0, 23100000, 0, 0, 0, 0},
		{"/data/index", IO_READ, IO_KIND_FILE, 836, 856064, 30000000, 0, 60000, 60, 61440, 2000000, 0},
		{"10.0.0.7:5432", IO_READ, IO_KIND_SOCKET, 34, 34000, 1000000, 5000000, 29000, 34, 34000, 1000000, 2000000},
		{"pipe", IO_WRITE, IO_KIND_PIPE, 3, 3, 0, 4000, 2000, 0, 0, 0, 0},
	};
	struct profile p = sample_profile(false);
	const char *from, *end;
	char *all;

	(void)state;
	p.weight_kind = WEIGHT_IO;
	p.interval = NS_PER_MS;
	p.io = lines;
	p.io_count = ARRAY_LEN(lines);
	p.io_counted[IO_READ] = (struct profile_io_counted){742, 700000, 36000000};
	p.io_counted[IO_SYNC] = (struct profile_io_counted){517, 0, 400000000};
	all = sample_write_text(&p, "hot", &(struct format_options){.total = true});
	from = strstr(all, "    time      %     calls");
	end = strstr(all, "    time      %   samples  asked");
	assert_true(from && end > from);
	all[end - all] = '\0';
	assert_string_equal(from,
		"    time      %     calls     bytes   longest  file\n"
		"  400 ms  43.48%       517   0 bytes   23.1 ms  sync /data/journal\n"
		"  ~30 ms    3.3%      ~840   ~840 KB     60 µs  read /data/index\n"
		"\n"
		"    time      %     calls     bytes   longest  peer\n"
		"  < 6 ms    0.1%     < 200  < 200 KB     29 µs  read 10.0.0.7:5432, and ~5 ms idle\n"
		"\n"
		"    time      %     calls     bytes   longest  other\n"
		"    4 µs    idle         3   3 bytes      2 µs  write pipe\n"
		"\n");
	all[end - all] = ' ';
	from = strstr(end, "    time in samples");
	assert_non_null(from);
	assert_ptr_equal(strstr(from,
		"    time in samples    calls     bytes  all calls, each counted\n"
		"   36 ms    100.00%       742    684 KB  read\n"
		"  400 ms    100.00%       517   0 bytes  sync\n"
		"\n"
		"~ estimated: of calls shorter than 1 ms some are samples and stand for the others; < less than, estimated "
		"from few\n"), from);
	free(all);
	/* each call was a sample: nothing is an estimate */
	p.io_count = 1;
	all = sample_write_text(&p, "hot", &(struct format_options){.total = true});
	assert_null(strchr(all, '~'));
	free(all);
}

/* Waits are told by time; which was a thread's longest is not known, so that its table has no place for it. */
static void waits(void **state)
{
	static const struct profile_waits locks[] = {
		{.name = "demo/Stock", .identity = 0x1234, .kind = LOCK_MONITOR, .waits = 40, .time = 800000000,
		 .longest = 71000000, .open = 1},
	};
	struct profile p = sample_profile(true);
	const char *from;
	char *all;

	(void)state;
	p.event = "lock";
	p.weight_kind = WEIGHT_WAIT;
	p.locks = locks;
	p.lock_count = ARRAY_LEN(locks);
	all = sample_write_text(&p, "hot", &(struct format_options){.flat = 2});
	from = strstr(all, "    time      %");
	assert_non_null(from);
	assert_ptr_equal(strstr(from,
		"    time      %     waits   longest  lock waited for\n"
		"  800 ms  86.96%        40     71 ms  demo.Stock@1234 (monitor), 1 still waiting\n"
		"\n"
		"    time      %     waits  thread that waited\n"
		"  610 ms  66.30%        61  main\n"
		"  240 ms  26.09%        22  worker;1\n"
		"         and 2 more threads\n"
		"\n"), from);
	free(all);
	/* what was read from a file has these tables if the file has: JSON, not a recording */
	p.recorded = true;
	all = sample_write_text(&p, "hot", &(struct format_options){.flat = 2});
	assert_non_null(strstr(all, "  lock waited for\n"));
	free(all);
	/* by time all the same */
	p.lock_count = 0;
	all = sample_write_text(&p, "hot", &(struct format_options){.flat = 2});
	assert_non_null(strstr(all, "  self%      time   total%      time              method\n"));
	assert_null(strstr(all, "lock waited for"));
	free(all);
}

/* Calls that were idle weigh nothing: a stack that has no others is in no flame graph of their number either. */
static void idle_calls(void **state)
{
	struct profile_stack stacks[] = {sample_stacks[0], sample_stacks[5]};
	struct profile p = sample_profile(false);
	char *all;

	(void)state;
	stacks[1].weight = 0;
	p.stacks = stacks;
	p.stack_count = ARRAY_LEN(stacks);
	p.event = "io";
	p.weight_kind = WEIGHT_IO;
	all = sample_write_text(&p, "collapsed", &(struct format_options){.total = false});
	assert_string_equal(all, "start_thread;demo/OrderService.run;java/util/HashMap.put 30\n");
	free(all);
	p.weight_kind = WEIGHT_WALL;
	all = sample_write_text(&p, "collapsed", &(struct format_options){.total = false});
	assert_non_null(strstr(all, "write"));
	free(all);
}

/* Libraries and their functions are in the order in which stacks have them, as who reads it finds them. */
static void images_are_in_the_order_of_stacks(void **state)
{
	static const struct profile_frame frames[] = {
		{.name = "longest_match", .library = "libz.so", .kind = FRAME_NATIVE},
		{.name = "deflate", .library = "libz.so", .kind = FRAME_NATIVE},
		{.name = "clone3", .library = "libc.so.6", .kind = FRAME_NATIVE},
		{.name = "unused", .library = "libm.so", .kind = FRAME_NATIVE}};
	static const uint32_t stack[] = {2, 1, 0, 1};
	const struct profile_stack stacks[] = {
		{.frames = stack, .depth = ARRAY_LEN(stack), .thread = PROFILE_NO_THREAD, .samples = 1, .weight = 1}};
	struct profile p = sample_profile(false);
	char *text;

	(void)state;
	p.frames = frames;
	p.frame_count = ARRAY_LEN(frames);
	p.stacks = stacks;
	p.stack_count = 1;
	text = sample_write_text(&p, "json", &(struct format_options){.total = false});
	assert_non_null(strstr(text, "\"images\": [\n    {\"library\": \"libc.so.6\", \"names\": [\"clone3\"]},\n"
			       "    {\"library\": \"libz.so\", \"names\": [\"deflate\", \"longest_match\"]}\n  ]"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(collapsed),
		cmocka_unit_test(collapsed_by_weight_thread_and_line),
		cmocka_unit_test(text),
		cmocka_unit_test(traces_and_flat_alone),
		cmocka_unit_test(call_tree),
		cmocka_unit_test(hot),
		cmocka_unit_test(one_line_vouches),
		cmocka_unit_test(hot_for_an_hour),
		cmocka_unit_test(colour_only_where_asked),
		cmocka_unit_test(names_are_printable),
		cmocka_unit_test(no_samples),
		cmocka_unit_test(io),
		cmocka_unit_test(waits),
		cmocka_unit_test(idle_calls),
		cmocka_unit_test(no_samples_for_a_reason),
		cmocka_unit_test(threads_are_not_miscounted),
		cmocka_unit_test(images_are_in_the_order_of_stacks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
