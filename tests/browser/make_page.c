/*
 * make_page.c - write a page (or any format) of a made-up profile through the real writers.
 *
 *   make_page sample|threads|lines|clean|empty|demo|large [FORMAT [STACKS]] > file
 *
 * sample: the profile of the unit tests, with names that try to break out; threads, lines, clean:
 * the same with -t, --lines, and without losses. demo: a plausible order service. large: STACKS
 * distinct stacks (100,000), 20 to 80 frames deep. The same arguments make the same bytes.
 * wall, locks: threads that wait for a lock, and idle ones, as the command shows them.
 * findings, nothing: with what stands out, and where nothing does.
 * leaks: objects that are there, some of whose places grow. memory, kept, native: a few classes, the same of what is
 * there, and native memory.
 * time: wall, with when each sample was taken; time-agent: the same, as the agent writes it by itself; large-time: large,
 * with that of about ten times as many samples; large-minutes: the same of 200 threads in ten minutes.
 * fine: ten minutes in steps of 100 s, and how many samples there were in each 20 ms: all in the middle of a second.
 * marks: time, with pauses, spans and other events beside; their names try to break out.
 * io: calls that read and write. calls, calls-threads, calls-none: a trace, merged, by thread, without times.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../unit/calls_sample.h"
#include "../unit/format_sample.h"
#include "../unit/work_sample.h"
#include "beside_samples.h"
#include "profile/findings/findings.h"
#include "profile/model/profile_marks.h"
#include "profile/views/views.h"

#define DEPTH_MAX 96

static uint64_t seed = 42;

/* xorshift64*: the same numbers on every machine. */
static uint32_t pick(uint32_t limit)
{
	seed ^= seed >> 12;
	seed ^= seed << 25;
	seed ^= seed >> 27;
	return (uint32_t)((seed * 0x2545f4914f6cdd1dull) >> 33) % limit;
}

static void *need(void *memory)
{
	if (!memory) {
		fprintf(stderr, "make_page: out of memory\n");
		exit(1);
	}
	return memory;
}

/* ---- large: many distinct stacks ---- */

#define LARGE_METHODS 8000

static void large_frames(struct profile *p)
{
	static const char *const packages[] = {"java/util", "java/util/concurrent", "com/example/orders",
		"com/example/orders/pricing", "org/springframework/web/servlet", "io/netty/channel"};
	struct profile_frame *frames = need(calloc(LARGE_METHODS, sizeof(*frames)));
	uint32_t i;

	for (i = 0; i < LARGE_METHODS; i++) {
		char *text = need(malloc(128)), *name = need(malloc(32));

		snprintf(text, 128, "%s/Component%u", packages[i % ARRAY_LEN(packages)], i / 8);
		snprintf(name, 32, "operation%u", i % 8);
		frames[i] = (struct profile_frame){
			.class_name = text, .name = name, .signature = "()V", .kind = (uint8_t)(i % 4),
		};
	}
	p->frames = frames;
	p->frame_count = LARGE_METHODS;
}

/*
 * Each stack shares a random part of the one before it, as neighbours in a real tree do. A step's
 * callee is one of four that its caller has, the first much more often than the last.
 */
static void large_stacks(struct profile *p, uint32_t count)
{
	struct profile_stack *stacks = need(calloc(count, sizeof(*stacks)));
	uint32_t path[DEPTH_MAX] = {0}, i, d;

	for (i = 0; i < count; i++) {
		uint32_t depth = 20 + pick(60), shared = pick(depth);
		uint32_t *frames = need(malloc(DEPTH_MAX * sizeof(*frames)));

		for (d = shared ? shared : 1; d < depth; d++) {
			uint32_t branch = pick(8);

			branch = branch < 5 ? 0 : branch - 4;
			path[d] = (path[d - 1] * 4 + branch * 7 + d * 131) % LARGE_METHODS;
		}
		/* what is on top: a few methods often, the others seldom */
		path[depth - 1] = pick(3) ? pick(64) : pick(LARGE_METHODS);
		memcpy(frames, path, sizeof(path));
		stacks[i] = (struct profile_stack){frames, depth, PROFILE_NO_THREAD, 1 + pick(9), 0, THREAD_NONE, 0, 0, 0};
		stacks[i].weight = stacks[i].samples * 1000000 + pick(1000);
	}
	p->stacks = stacks;
	p->stack_count = count;
}

/* ---- demo: an order service ---- */

struct demo_line {
	const char *stack; /* "kind name;kind name;…", root first */
	uint32_t samples;
};

#define REQUEST "N start_thread;N thread_native_entry;N JavaThread::thread_main_inner;" \
	"I java/lang/Thread.run;J java/util/concurrent/ThreadPoolExecutor$Worker.run;" \
	"J java/util/concurrent/ThreadPoolExecutor.runWorker;J demo/OrderService$Request.run;"
#define GC "N start_thread;N thread_native_entry;N GangWorker::run;N G1EvacuateTask::work;"

static const struct demo_line demo_lines[] = {
	{REQUEST "J demo/json/Parser.parse;L demo/json/Parser.value;L demo/json/Parser.object;J demo/json/Parser.string;L java/lang/StringBuilder.append;L java/lang/AbstractStringBuilder.ensureCapacityInternal;J java/util/Arrays.copyOf", 812},
	{REQUEST "J demo/json/Parser.parse;L demo/json/Parser.value;L demo/json/Parser.object;J demo/json/Parser.string", 1543},
	{REQUEST "J demo/json/Parser.parse;L demo/json/Parser.value;L demo/json/Parser.object;J demo/json/Parser.value;J demo/json/Parser.number;L java/lang/Double.parseDouble;J jdk/internal/math/FloatingDecimal.readJavaFormatString", 604},
	{REQUEST "J demo/json/Parser.parse;L demo/json/Parser.value;L demo/json/Parser.object;J java/util/HashMap.put;L java/util/HashMap.putVal", 733},
	{REQUEST "J demo/json/Parser.parse;L demo/json/Parser.value;L demo/json/Parser.object;J java/util/HashMap.put;L java/util/HashMap.putVal;J java/util/HashMap.resize", 288},
	{REQUEST "J demo/Validator.check;J java/util/regex/Matcher.matches;L java/util/regex/Matcher.match;J java/util/regex/Pattern$Loop.match;J java/util/regex/Pattern$GroupTail.match;J java/util/regex/Pattern$CharProperty.match", 901},
	{REQUEST "J demo/Validator.check;J java/util/regex/Matcher.matches;L java/util/regex/Matcher.match;J java/util/regex/Pattern$Loop.match;J java/util/regex/Pattern$Loop.match;J java/util/regex/Pattern$BmpCharProperty.match", 377},
	{REQUEST "J demo/Pricing.total;J demo/Pricing$$Lambda$14+0x0000000800c03000.applyAsLong;L demo/Pricing.discount;J java/math/BigDecimal.multiply;L java/math/BigDecimal.divideAndRound", 455},
	{REQUEST "J demo/Pricing.total;J java/util/stream/ReferencePipeline.collect;J java/util/stream/AbstractPipeline.evaluate;J java/util/stream/ReduceOps$ReduceOp.evaluateSequential;J java/util/ArrayList$ArrayListSpliterator.forEachRemaining", 391},
	{REQUEST "C demo/Pricing.total;C demo/Catalog.lookup;C java/util/TreeMap.getEntry;L java/lang/String.compareTo;J java/lang/StringLatin1.compareTo", 520},
	{REQUEST "J demo/Archive.store;J java/util/zip/DeflaterOutputStream.write;L java/util/zip/DeflaterOutputStream.deflate;J java/util/zip/Deflater.deflate;W java/util/zip/Deflater.deflateBytesBytes;N Java_java_util_zip_Deflater_deflateBytesBytes;N deflate;N deflate_slow;N longest_match", 1120},
	{REQUEST "J demo/Archive.store;J java/util/zip/DeflaterOutputStream.write;L java/util/zip/DeflaterOutputStream.deflate;J java/util/zip/Deflater.deflate;W java/util/zip/Deflater.deflateBytesBytes;N Java_java_util_zip_Deflater_deflateBytesBytes;N deflate;N deflate_slow;N compress_block", 301},
	{REQUEST "J demo/Archive.store;J java/io/FileOutputStream.write;W java/io/FileOutputStream.writeBytes;N writeBytes;N __write;K entry_SYSCALL_64_after_hwframe;K do_syscall_64;K ksys_write;K vfs_write;K ext4_file_write_iter;K copy_page_from_iter_atomic", 212},
	{REQUEST "J demo/Archive.store;J java/io/FileOutputStream.write;W java/io/FileOutputStream.writeBytes;N writeBytes;N __write;K entry_SYSCALL_64_after_hwframe;K do_syscall_64;K ksys_write;K fsnotify", 64},
	{REQUEST "I demo/Audit.log;I java/lang/String.format;I java/util/Formatter.format;I java/util/Formatter.parse", 188},
	{REQUEST "J demo/Stock.reserve;N ObjectMonitor::enter;N ObjectMonitor::TrySpin", 140},
	{GC "N G1ParEvacuateFollowersClosure::do_void;N G1ParScanThreadState::trim_queue_to_threshold;N G1ParScanThreadState::copy_to_survivor_space", 488},
	{GC "N G1ParEvacuateFollowersClosure::do_void;N TaskTerminator::offer_termination", 77},
	{"N start_thread;N thread_native_entry;N JavaThread::thread_main_inner;N CompileBroker::compiler_thread_loop;N CompileBroker::invoke_compiler_on_method;N C2Compiler::compile_method;N Compile::Compile;N PhaseIdealLoop::build_and_optimize", 266},
	{"N start_thread;N thread_native_entry;N JavaThread::thread_main_inner;N CompileBroker::compiler_thread_loop;N CompileBroker::invoke_compiler_on_method;N C2Compiler::compile_method;N Compile::Compile;N Compile::Code_Gen;N PhaseChaitin::Register_Allocate", 194},
	{"O [break_native];N __memmove_avx_unaligned_erms", 9},
};

static uint8_t demo_kind(char letter)
{
	static const char letters[] = "ICJLWNKO";

	return (uint8_t)(strchr(letters, letter) - letters);
}

/* One frame from "K name"; names with a slash are Java's, those of the VM lie in libjvm.so. */
static struct profile_frame demo_frame(char *word)
{
	struct profile_frame f = {.kind = demo_kind(word[0]), .name = word + 2};
	char *dot = strrchr(word, '.');

	if (f.kind <= FRAME_WRAPPER && dot) {
		*dot = '\0';
		f.class_name = word + 2;
		f.name = dot + 1;
		f.signature = "()V";
	} else if (f.kind == FRAME_NATIVE) {
		f.library = strstr(f.name, "::") || !strcmp(f.name, "thread_native_entry") ? "libjvm.so"
			    : strstr(f.name, "deflate") || strstr(f.name, "match") ||
				      strstr(f.name, "block") ? "libz.so.1" : "libc.so.6";
	}
	return f;
}

static void demo_fill(struct profile *p)
{
	struct profile_frame *frames = need(calloc(1024, sizeof(*frames)));
	struct profile_stack *stacks = need(calloc(ARRAY_LEN(demo_lines), sizeof(*stacks)));
	uint32_t i, count = 0;

	for (i = 0; i < ARRAY_LEN(demo_lines); i++) {
		uint32_t *path = need(calloc(64, sizeof(*path)));
		char *copy = need(strdup(demo_lines[i].stack)), *rest = copy, *word;
		uint32_t depth = 0;

		while ((word = strsep(&rest, ";"))) {
			frames[count] = demo_frame(word);
			path[depth++] = count++;
		}
		stacks[i] = (struct profile_stack){path, depth, PROFILE_NO_THREAD,
						   demo_lines[i].samples,
						   demo_lines[i].samples * 1002000ull, THREAD_NONE, 0, 0, 0};
	}
	p->frames = frames;
	p->frame_count = count;
	p->stacks = stacks;
	p->stack_count = ARRAY_LEN(demo_lines);
}

/* Samples of P are of objects: some of many, some of few. */
static void stand_for_objects(struct profile *p)
{
	struct profile_stack *stacks = (struct profile_stack *)(uintptr_t)p->stacks;
	uint32_t i;

	p->event = "alloc";
	p->weight_kind = WEIGHT_BYTES;
	for (i = 0; i < p->stack_count; i++) {
		stacks[i].objects = stacks[i].samples * (1 + 100 * (i % 3));
		p->objects += stacks[i].objects;
	}
}

#define IO_ROWS 120

/* Samples of P are of calls that read and write: exact sums, and estimates that are more and less sure. */
static void stand_for_calls(struct profile *p)
{
	struct profile_stack *stacks = (struct profile_stack *)(uintptr_t)p->stacks;
	struct profile_io *lines = need(calloc(IO_ROWS, sizeof(*lines)));
	uint32_t i;

	p->event = "io";
	p->weight_kind = WEIGHT_IO;
	for (i = 0; i < p->stack_count; i++)
		stacks[i].outside = stacks[i].weight / (1 + i % 3) * (i % 2);
	for (i = 0; i < IO_ROWS; i++) {
		struct profile_io *l = &lines[i];
		char *name = need(malloc(64));
		double sure = i % 4 ? 1.0 / (1 + pick(i % 3 ? 4 : 100)) : 0;

		snprintf(name, 64, i == 5 ? "/data/<script>alert(1)</script>" : "/data/journal-%u", i);
		*l = (struct profile_io){.target = name, .operation = (uint8_t)(i % IO_OPERATIONS),
					 .kind = (uint8_t)(i % IO_KINDS)};
		l->calls = 1 + ((uint64_t)pick(1u << 31) >> pick(31));
		l->bytes = ((uint64_t)pick(1u << 31) << 9) >> pick(40);
		l->time = i % 7 ? 1 | (((uint64_t)pick(1u << 31) << 7) >> pick(37)) : 0;
		l->idle = i % 7 && i % 11 ? 0 : 1 | ((uint64_t)pick(1u << 31) << 3);
		l->longest = 1 | (uint64_t)pick(1u << 31) >> pick(31); /* not in the middle between two that are shown */
		l->calls_error = (uint64_t)((double)l->calls * sure);
		l->bytes_error = (uint64_t)((double)l->bytes * sure);
		l->time_error = (uint64_t)((double)l->time * sure);
		l->idle_error = (uint64_t)((double)l->idle * sure);
	}
	p->io = lines;
	p->io_count = IO_ROWS;
	for (i = 0; i < IO_OPERATIONS; i++)
		p->io_counted[i] = (struct profile_io_counted){i * 12345, i * 1234567, i * 123456789};
}

/* … that are there; two places of three grow. */
static void let_grow(struct profile *p)
{
	struct profile_growth *growth = need(calloc(p->stack_count, sizeof(*growth)));
	uint32_t i;

	p->event = "live";
	p->survivors = true;
	p->counted = 40 << 20;
	p->heap_most = 512 << 20;
	p->growth = growth;
	p->growth_of = p->stacks;
	p->growth_span = 90 * NS_PER_S;
	for (i = 0; i < p->stack_count; i++)
		growth[i] = (struct profile_growth){.halves = {i % 3 * 100000, i % 3 * 90000},
						    .variance = {100, 100}};
}

static int by_time(const void *a, const void *b)
{
	const struct profile_moment *x = a, *y = b;

	return x->at != y->at ? (x->at < y->at ? -1 : 1) : x->stack < y->stack ? -1 : x->stack > y->stack;
}

#define TIME_STEPS 10000

/*
 * When the samples of P were taken, within ten seconds: those of even stacks in the first half, of odd ones in the
 * second; a stack of over 100 samples in one batch that lasts nine seconds from its beginning on, unless EACH.
 */
static void take_times_of(struct profile *p, bool each, uint32_t steps, uint64_t step)
{
	struct profile_moment *moments;
	uint32_t i;
	uint64_t k, n = 0;

	for (i = 0; i < p->stack_count; i++)
		n += p->stacks[i].samples;
	p->moments = moments = need(calloc(n + 1, sizeof(*moments)));
	for (i = 0; i < p->stack_count; i++) {
		const struct profile_stack *s = &p->stacks[i];
		bool batch = !each && s->samples > 100;

		for (k = 0; k < (batch ? 1 : s->samples); k++)
			moments[p->moment_count++] = (struct profile_moment){
				.at = batch ? 0 : (uint32_t)(i % 2 * steps / 2 + k * (steps / 2) / s->samples),
				.span = batch ? steps * 9 / 10 : 0, .stack = i,
				.thread = s->thread != PROFILE_NO_THREAD ? s->thread : p->thread_count ? i % p->thread_count :
					  PROFILE_NO_THREAD,
				.samples = batch ? (uint32_t)s->samples : 1,
				.weight = batch ? s->weight : s->weight / s->samples,
			};
	}
	qsort(moments, p->moment_count, sizeof(*moments), by_time);
	p->moments_of = p->stacks;
	p->moment_step = step;
	p->duration = steps * step;
}

static void take_times(struct profile *p, bool each)
{
	take_times_of(p, each, TIME_STEPS, NS_PER_MS);
}

/* Sample I of P was taken in the middle of second I. */
static void count_finely(struct profile *p)
{
	uint64_t i, n = p->duration / (20 * NS_PER_MS), seconds = p->duration / NS_PER_S;
	uint32_t *counts = need(calloc(n, sizeof(*counts)));

	for (i = 0; i < p->stored; i++)
		counts[i % seconds * 50 + 25]++;
	p->fine_counts = counts;
	p->fine_count = n;
	p->fine_step = 20 * NS_PER_MS;
}

#define CROWD 200

/* So many threads take the stacks of P in turn. */
static void let_crowd_run(struct profile *p)
{
	struct profile_thread *threads = need(calloc(CROWD, sizeof(*threads)));
	struct profile_stack *stacks = (struct profile_stack *)(uintptr_t)p->stacks;
	uint32_t i;

	for (i = 0; i < CROWD; i++) {
		char *name = need(malloc(32));

		snprintf(name, 32, "%s-%u", i % 3 ? "http-nio-8080-exec" : "order-worker", i);
		threads[i] = (struct profile_thread){1000 + i, name, 0, 0};
	}
	for (i = 0; i < p->stack_count; i++) {
		stacks[i].thread = i % CROWD;
		threads[i % CROWD].samples += stacks[i].samples;
		threads[i % CROWD].weight += stacks[i].weight;
	}
	p->threads = threads;
	p->thread_count = CROWD;
	p->per_thread = true;
}

/* ---- marks ---- */

#define HOSTILE_SPAN "</script><b>checkout</b>\xe2\x80\xae"
#define SPANS 22
#define POLLS 11

/*
 * On the first thread 20 spans of 100 ms in the first half, on the second two of 2 s from 6 s and from 8 s on; a pause at 3 s, and
 * seven that are known by their part of the time alone; a moment at 7 s. Of another name ten spans of 100 ms on the first
 * thread, and one of 3 s from 5 s on, on the third, which waits for work.
 */
static void put_marks(struct profile *p)
{
	static uint32_t parts[PROFILE_MARK_PARTS], polls[PROFILE_MARK_STEPS], spans[PROFILE_MARK_STEPS], pauses[PROFILE_MARK_STEPS];
	static const struct profile_mark_gc gcs[] = {{"G1New", "G1 <Evacuation> Pause"}};
	static const struct profile_other_event events[] = {
		{"jdk.ThreadStart", 12, 0, 0, 5 * NS_PER_MS, 9 * NS_PER_S, NULL, 0, 0, false},
		{"</script>evil", 5, 3 * NS_PER_MS, 2 * NS_PER_MS, 0, NS_PER_S, "heap<i>Used", 5 << 20, 3 << 20, true}};
	static struct profile_mark_name names[] = {
		{MARK_KIND_PAUSE, "GC Pause", 8, 270 * NS_PER_MS, 200 * NS_PER_MS, 1, parts, pauses, false},
		{MARK_KIND_SPAN, HOSTILE_SPAN, SPANS, 6 * NS_PER_S, 2 * NS_PER_S, SPANS, NULL, spans, false},
		{MARK_KIND_EVENT, "deploy<b>", 1, 0, 0, 1, NULL, NULL, false},
		{MARK_KIND_SPAN, "poll", POLLS, 4 * NS_PER_S, 3 * NS_PER_S, POLLS, NULL, polls, false}};
	static struct profile_mark items[SPANS + POLLS + 2];
	static struct profile_mark_thread threads[3];
	static struct profile_marks marks = {names, items, gcs, threads, events, 4, SPANS + POLLS + 2, 1, 3, 2,
					     .duration = TIME_STEPS * NS_PER_MS};
	uint32_t i, n = 0;

	for (i = 0; i < 3; i++)
		threads[i] = (struct profile_mark_thread){p->threads[i].tid, p->threads[i].name};
	for (i = 0; i < 20; i++) {
		if (i == 12) /* they are in the order of time */
			items[n++] = (struct profile_mark){3 * NS_PER_S, 200 * NS_PER_MS, 0, PROFILE_NO_THREAD, 1};
		items[n++] = (struct profile_mark){i * 250 * NS_PER_MS, 100 * NS_PER_MS, 1, 0, 0};
		if (i % 2)
			items[n++] = (struct profile_mark){(i * 250 + 200) * NS_PER_MS, 100 * NS_PER_MS, 3, 0, 0};
	}
	items[n++] = (struct profile_mark){5 * NS_PER_S, 3 * NS_PER_S, 3, 2, 0};
	items[n++] = (struct profile_mark){6 * NS_PER_S, 2 * NS_PER_S, 1, 1, 0};
	items[n++] = (struct profile_mark){7 * NS_PER_S, 0, 2, PROFILE_NO_THREAD, 0};
	items[n++] = (struct profile_mark){8 * NS_PER_S, 2 * NS_PER_S, 1, 1, 0};
	spans[mark_step(100 * NS_PER_MS)] = 20;
	spans[mark_step(2 * NS_PER_S)] = 2;
	polls[mark_step(100 * NS_PER_MS)] = POLLS - 1;
	polls[mark_step(3 * NS_PER_S)] = 1;
	pauses[mark_step(10 * NS_PER_MS)] = 7;
	pauses[mark_step(200 * NS_PER_MS)] = 1;
	parts[100] = 7;
	put_rows(&marks);
	p->marks = &marks;
}

static void sample_often(struct profile *p, unsigned times)
{
	struct profile_stack *stacks = (struct profile_stack *)(uintptr_t)p->stacks;
	uint32_t i;

	for (i = 0; i < p->stack_count; i++) {
		stacks[i].samples *= times;
		stacks[i].weight *= times;
	}
}

/* Counters that fit the stacks of P: two samples lost. */
static void count_up(struct profile *p)
{
	uint32_t i;

	memset(p->lost, 0, sizeof(p->lost));
	memset(p->lost_weight, 0, sizeof(p->lost_weight));
	memset(p->ended_early, 0, sizeof(p->ended_early));
	p->stored = p->weight_stored = 0;
	for (i = 0; i < p->stack_count; i++) {
		p->stored += p->stacks[i].samples;
		p->weight_stored += p->stacks[i].weight;
	}
	p->lost[LOSS_queue_full] = 2;
	p->lost_weight[LOSS_queue_full] = 2000000;
	p->ended_early[END_bad_native] = 9;
	p->taken = p->stored + 2;
	p->complete = p->stored - 9;
	p->interval = 1000000;
	p->effective_interval = p->stored ? p->weight_stored / p->stored : 0;
	p->duration = 10020000000;
	p->unsampled = 12000000;
	p->cpu_time = p->weight_stored + 14000000;
	p->started_at = 1790000000123456789;
}

static struct profile make(const char *what, uint32_t stacks, struct format_options *options)
{
	struct profile p;

	/* "more-…": as the command writes it */
	if (!strncmp(what, "more-", 5)) {
		options->views = &views;
		what += 5;
	}
	options->threads = !strcmp(what, "threads");
	options->lines = !strcmp(what, "lines");
	/* the callers first, root at the bottom, names in the longest spelling, small ones together */
	if (!strcmp(what, "styled"))
		options->reverse = options->inverted = options->dot = options->sig = true;
	options->minwidth = !strcmp(what, "styled") ? 5 : 0;
	if (!strcmp(what, "empty"))
		return sample_empty();
	p = sample_profile(options->threads);
	if (!strcmp(what, "clean")) {
		memset(p.lost, 0, sizeof(p.lost));
		p.taken = p.complete = p.stored;
	} else if (!strcmp(what, "kinds-unknown")) {
		p.kinds_unknown = true;
	} else if (!strcmp(what, "demo") || !strcmp(what, "styled") || !strcmp(what, "events")) {
		demo_fill(&p);
		count_up(&p);
	} else if (!strcmp(what, "objects")) {
		demo_fill(&p);
		count_up(&p);
		stand_for_objects(&p);
		options->views = &views;
	} else if (!strcmp(what, "io")) {
		demo_fill(&p);
		count_up(&p);
		stand_for_calls(&p);
		options->flat = 1000;
	} else if (!strcmp(what, "wall") || !strcmp(what, "locks")) {
		p = strcmp(what, "wall") ? work_waits() : work_sample(false);
		options->views = &views;
	} else if (!strcmp(what, "time") || !strcmp(what, "time-agent")) {
		p = work_sample(false);
		options->views = strcmp(what, "time") ? NULL : &views;
		take_times(&p, false);
	} else if (!strcmp(what, "fine")) {
		large_frames(&p);
		large_stacks(&p, 300);
		sample_often(&p, 7);
		count_up(&p);
		options->views = &views;
		take_times_of(&p, true, 6, 100 * NS_PER_S);
		count_finely(&p);
	} else if (!strcmp(what, "marks")) {
		p = work_sample(false);
		options->views = &views;
		take_times(&p, false);
		put_marks(&p);
	} else if (!strcmp(what, "large-time")) {
		large_frames(&p);
		large_stacks(&p, stacks);
		sample_often(&p, 7);
		count_up(&p);
		options->views = &views;
		take_times(&p, true);
	} else if (!strcmp(what, "large-minutes")) {
		large_frames(&p);
		large_stacks(&p, stacks);
		sample_often(&p, 7);
		let_crowd_run(&p);
		count_up(&p);
		options->views = &views;
		take_times_of(&p, true, 60000, 10 * NS_PER_MS);
	} else if (!strcmp(what, "leaks")) {
		demo_fill(&p);
		count_up(&p);
		stand_for_objects(&p);
		let_grow(&p);
		options->views = &views;
	} else if (!strcmp(what, "memory") || !strcmp(what, "kept") || !strcmp(what, "native")) {
		p = of_memory(!strcmp(what, "kept"), !strcmp(what, "native"));
		options->views = &views;
	} else if (!strcmp(what, "large")) {
		large_frames(&p);
		large_stacks(&p, stacks);
		count_up(&p);
	}
	return p;
}

static int write_calls(const char *what, const char *form)
{
	struct profile p = calls_sample(!strcmp(what, "calls-threads"), strcmp(what, "calls-none"));
	const struct format_options options = {.total = true, .views = strstr(what, "-more") ? &views : NULL};
	const struct profile *one = &p;
	struct buffer out;

	buffer_init(&out, STDOUT_FILENO);
	format_write(format_by_name(form), &one, 1, &options, &out, NULL);
	return buffer_flush(&out) ? 1 : 0;
}

static int write_profile(int argc, char **argv, const char *what)
{
	const struct format *f = format_by_name(argc > 2 ? argv[2] : "flamegraph");
	struct format_options options = {.total = false};
	struct profile p = make(what, argc > 3 ? (uint32_t)atoi(argv[3]) : 100000, &options), faults;
	const struct profile *both[] = {&p, &faults};
	struct format_beside beside;
	struct findings findings;
	struct buffer out;
	int result;

	if (!f) {
		fprintf(stderr, "make_page: no format called %s\n", argv[2]);
		return 2;
	}
	buffer_init(&out, STDOUT_FILENO);
	/* "events": a session of two, the second a smaller one that is counted */
	faults = sample_profile(false);
	faults.event = "page-faults";
	faults.weight_kind = WEIGHT_COUNT;
	faults.interval = 7;
	/* "findings", "nothing": as the command shows them */
	if (strcmp(what, "findings") == 0 || strcmp(what, "nothing") == 0) {
		need(findings_find(&findings, both, 1, NULL) ? NULL : &findings);
		findings.count = what[0] == 'n' ? 0 : findings.count;
		snprintf(findings.rows[0].advice, sizeof(findings.rows[0].advice), "The page (-f x.html) shows who calls that.");
		findings_beside(&beside, &findings, NULL);
		options.beside = &beside;
		options.views = &views;
	}
	format_write(f, both, strcmp(what + (strncmp(what, "more-", 5) ? 0 : 5), "events") ? 1 : 2, &options, &out, NULL);
	result = buffer_flush(&out);
	buffer_free(&out);
	return result ? 1 : 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "demo";

	return strncmp(what, "calls", 5) ? write_profile(argc, argv, what) : write_calls(what, argc > 2 ? argv[2] : "html");
}
