/*
 * The finding about a kind of work: which it is by the methods on the stack, and whether the time may be of a method of
 * the program that is compiled into the JDK's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/base.h"
#include "profile/findings/findings.h"

#define MOST 5

static struct profile_finding last;

/* The sentence of finding ID of a program all whose CPU time has the stack FRAMES, AMBIGUOUS of 200 samples unsure. */
static const char *said_of(const struct profile_frame *frames, uint32_t depth, uint64_t ambiguous, const char *id)
{
	static const uint32_t numbers[MOST] = {0, 1, 2, 3, 4};
	const struct profile_stack stack = {.frames = numbers, .depth = depth, .samples = 200, .weight = 2 * NS_PER_S,
					    .thread = PROFILE_NO_THREAD};
	const struct profile p = {
		.event = "cpu", .engine = "cpu", .main_class = "", .jdk = "", .weight_kind = WEIGHT_CPU, .pid = 7,
		.duration = 2 * NS_PER_S, .cpu_time = 2 * NS_PER_S, .taken = 200, .stored = 200, .complete = 200,
		.weight_stored = 2 * NS_PER_S, .frames = frames, .frame_count = depth, .stacks = &stack, .stack_count = 1,
		.ambiguous = ambiguous,
	};
	const struct profile *const one = &p;
	static struct findings f;
	uint32_t i;

	assert_int_equal(findings_find(&f, &one, 1, NULL), 0);
	memset(&last, 0, sizeof(last));
	for (i = 0; i < f.count; i++)
		if (strcmp(f.rows[i].id, id) == 0)
			last = f.rows[i];
	return last.sentence;
}

#define JAVA(class, method) {.class_name = class, .name = method, .kind = FRAME_C2}
#define INTO(class, method) {.class_name = class, .name = method, .kind = FRAME_INLINED}
#define LINE JAVA("demo/Shop", "line")

/* What is on the stack decides, and not what the program might have called it for. */
static void what_is_on_the_stack(void **state)
{
	static const struct {
		const char *words, *advice, *never; /* NULL: it is no kind of work */
		uint32_t depth;
		struct profile_frame frames[MOST];
	} cases[] = {
		{NULL, NULL, NULL, 2, {LINE, JAVA("java/lang/String", "split")}},
		{NULL, NULL, NULL, 3, {LINE, JAVA("java/lang/String", "split"), JAVA("java/util/ArrayList", "add")}},
		{"regular expressions", "Compile patterns once", "", 3,
		 {LINE, JAVA("java/lang/String", "split"), JAVA("java/util/regex/Pattern", "compile")}},
		{"regular expressions", "Compile patterns once", "", 2, {LINE, JAVA("java/util/regex/Matcher", "find")}},
		{"decompressing", "Decompress each thing once", "level", 3,
		 {LINE, JAVA("java/util/zip/Inflater", "inflate"), JAVA("java/util/zip/Inflater", "inflateBytesBytes")}},
		{"decompressing", "Decompress each thing once", "level", 3,
		 {LINE, JAVA("java/util/zip/GZIPInputStream", "read"), JAVA("java/util/zip/CRC32", "update")}},
		{"compressing", "Use a lower level", "once", 3,
		 {LINE, JAVA("java/util/zip/GZIPOutputStream", "write"), JAVA("java/util/zip/Deflater", "deflate")}},
		{NULL, NULL, NULL, 2, {LINE, JAVA("java/util/zip/CRC32", "update")}},
		{"walking stacks", "Hand on what", "level", 3,
		 {LINE, JAVA("java/lang/StackWalker", "walk"), JAVA("java/lang/StackStreamFactory$AbstractStackWalker", "walk")}},
		{"logging", "Raise the level", "hand on", 3,
		 {LINE, JAVA("java/util/logging/Logger", "info"), JAVA("java/lang/StackWalker", "walk")}},
		{"copied at each change", "Each add, set and remove copies", "Vector", 2,
		 {LINE, JAVA("java/util/concurrent/CopyOnWriteArrayList", "add")}},
		{NULL, NULL, NULL, 2, {LINE, JAVA("java/util/concurrent/CopyOnWriteArrayList", "get")}},
		{"synchronized collections", "Vector, Hashtable", "copies", 2, {LINE, JAVA("java/util/Vector", "add")}},
		{NULL, NULL, NULL, 4, {LINE, JAVA("java/util/stream/ReferencePipeline", "collect"),
		 JAVA("java/util/TreeMap", "computeIfAbsent"), JAVA("java/lang/String", "compareTo")}},
		{"boxing", "Use primitive", "loop", 3,
		 {LINE, JAVA("java/util/stream/ReferencePipeline", "collect"), JAVA("java/lang/Integer", "valueOf")}},
		{"java.util.stream itself", "A loop is faster", "", 3,
		 {LINE, JAVA("java/util/stream/ReferencePipeline", "collect"),
		  JAVA("java/util/ArrayList$ArrayListSpliterator", "forEachRemaining")}},
	};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(cases); i++) {
		const char *said = said_of(cases[i].frames, cases[i].depth, 0, "hot_family");

		assert_int_equal(*said != '\0', cases[i].words != NULL);
		if (!cases[i].words)
			continue;
		assert_non_null(strstr(said, cases[i].words));
		assert_non_null(strstr(said, ", 100 % of that for demo.Shop.line."));
		assert_non_null(strstr(last.advice, cases[i].advice));
		assert_true(!*cases[i].never || !strstr(last.advice, cases[i].never));
	}
	assert_non_null(strstr(said_of(cases[0].frames, cases[0].depth, 0, "hot_method"),
			       "with the JDK's methods that it calls, 100 % of that in java.lang.String.split."));
}

/* A comparator may be compiled into what sorts, a small method into the program's own; an expression calls nothing. */
static void what_may_be_the_programs(void **state)
{
	static const struct {
		const char *words;
		bool unsure;
		uint32_t depth;
		struct profile_frame frames[MOST];
	} cases[] = {
		{"sorting", true, 2, {LINE, JAVA("java/util/TimSort", "mergeHi")}},
		{"sorting", true, 3, {LINE, JAVA("java/util/TimSort", "sort"), INTO("java/util/TimSort", "mergeHi")}},
		{"java.util.stream itself", true, 3,
		 {LINE, JAVA("java/util/stream/LongPipeline", "sum"),
		  INTO("java/util/stream/Streams$RangeIntSpliterator", "forEachRemaining")}},
		{"boxing", true, 2, {LINE, INTO("java/lang/Integer", "valueOf")}},
		{"regular expressions", false, 2, {LINE, JAVA("java/util/regex/Pattern$Curly", "match")}},
		{"regular expressions", false, 3,
		 {LINE, JAVA("java/util/regex/Matcher", "find"), INTO("java/util/regex/Pattern$Curly", "match")}},
		{"sorting", false, 2,
		 {LINE, {.class_name = "java/util/TimSort", .name = "mergeHi", .kind = FRAME_INTERPRETED}}},
	};
	static const char together[] = " or into methods of the program compiled together with it, 100 % of that for";
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(cases); i++) {
		/* nearly all of it may be of another method */
		assert_non_null(strstr(said_of(cases[i].frames, cases[i].depth, 190, "hot_family"), cases[i].words));
		assert_int_equal(strstr(last.sentence, together) != NULL, cases[i].unsure);
		assert_int_equal(strstr(last.advice, "DebugNonSafepoints") != NULL, cases[i].unsure);
		assert_true(!cases[i].unsure || strstr(last.advice, "95 % of the samples may belong to the method"));
		/* some of it, which is no reason to start the JVM anew */
		said_of(cases[i].frames, cases[i].depth, 20, "hot_family");
		assert_int_equal(strstr(last.sentence, together) != NULL, cases[i].unsure);
		assert_null(strstr(last.advice, "DebugNonSafepoints"));
		/* hardly any */
		said_of(cases[i].frames, cases[i].depth, 2, "hot_family");
		assert_null(strstr(last.sentence, together));
		assert_null(strstr(last.advice, "DebugNonSafepoints"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_on_the_stack), cmocka_unit_test(what_may_be_the_programs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
