/* Files of speedscope, the Firefox Profiler, OTLP and perf script: small ones, and those cut, damaged, made to harm. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "foreign_files.h"
#include "format_sample.h"

#define HEAD "event,thread,thread_id,state,trace_id,span_id,labels,samples,weight,unit,stack\r\n"

static void expect(const char *file, const char *expected)
{
	char *text = foreign_as(file, strlen(file), "csv");

	assert_string_equal(text, expected);
	free(text);
}

/* That FILE is read, and what is said of it. */
static void expect_note(const char *file, size_t size, const char *note)
{
	struct error err;
	struct conversion *c = foreign_read(file, size, "csv", &err);

	if (!c)
		fail_msg("refused: %s", err.text);
	if (!strstr(readers_notes(c), note))
		fail_msg("%s is not in: %s", note, readers_notes(c));
	readers_free(c);
}

static void expect_refused(const char *file, size_t size, const char *reason)
{
	struct error err;
	struct conversion *c = foreign_read(file, size, "csv", &err);

	assert_null(c);
	if (!strstr(err.text, reason))
		fail_msg("%s is not in: %s", reason, err.text);
}

/* ---- speedscope ---- */

#define SPEEDSCOPE "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
#define FRAMES "\"shared\":{\"frames\":[{\"name\":\"main\",\"file\":\"a.py\",\"line\":3},{\"name\":\"java.util.HashMap.put\"}]}"

/* Times of any unit, as of samples or of functions that are entered and left; frames may stand behind them. */
static void speedscope_files(void **state)
{
	(void)state;
	expect(SPEEDSCOPE "\"profiles\":[{\"type\":\"evented\",\"name\":\"t1\",\"unit\":\"milliseconds\",\"startValue\":0,"
	       "\"endValue\":10,\"events\":[{\"type\":\"O\",\"frame\":0,\"at\":0},{\"type\":\"O\",\"frame\":1,\"at\":1.5},"
	       "{\"type\":\"C\",\"frame\":1,\"at\":3},{\"type\":\"C\",\"frame\":0,\"at\":10.25}]},"
	       "{\"weights\":[1,2e-1],\"type\":\"sampled\",\"name\":\"t2\",\"unit\":\"seconds\",\"startValue\":0,"
	       "\"endValue\":3,\"samples\":[[0],[0,1]]}]," FRAMES "}",
	       HEAD "time,t1,,,,,,2,8750000,ns,main\r\ntime,t1,,,,,,1,1500000,ns,main;java.util.HashMap.put\r\n"
	       "time,t2,,,,,,1,1000000000,ns,main\r\ntime,t2,,,,,,1,200000000,ns,main;java.util.HashMap.put\r\n");
	/* one profile is no thread */
	expect(SPEEDSCOPE FRAMES ",\"profiles\":[{\"type\":\"sampled\",\"name\":\"a.py\",\"unit\":\"none\",\"startValue\":0,"
	       "\"endValue\":3,\"samples\":[[0],[0,1]],\"weights\":[5,7]}]}",
	       HEAD "units,,,,,,,5,5,units,main\r\nunits,,,,,,,7,7,units,main;java.util.HashMap.put\r\n");
	expect(SPEEDSCOPE FRAMES ",\"profiles\":[{\"type\":\"sampled\",\"name\":\"x\",\"unit\":\"bytes\",\"startValue\":0,"
	       "\"endValue\":3,\"samples\":[[1]],\"weights\":[18014398509481985]}]}",
	       HEAD "space,,,,,,,1,18014398509481985,bytes,java.util.HashMap.put\r\n");
}

static void speedscope_is_damaged(void **state)
{
	static const char lost[] = SPEEDSCOPE FRAMES ",\"profiles\":[{\"type\":\"sampled\",\"name\":\"x\",\"unit\":\"none\","
				   "\"samples\":[[0,99],[-1]],\"weights\":[5,-7]},{\"name\":\"y\",\"unit\":\"seconds\","
				   "\"events\":[{\"type\":\"O\",\"frame\":0,\"at\":1},{\"type\":\"C\",\"frame\":0,\"at\":2}]}]}";
	size_t end = strstr(lost, ",{\"name\":\"y\"") - lost;

	(void)state;
	expect_note(lost, strlen(lost), "2 of its numbers lead to no frame");
	expect_note(lost, strlen(lost), "1 weights are below 0");
	expect_note(lost, end + 5, "this file of speedscope is cut or damaged; what stands before is read");
	expect_refused(lost, 150, "a file of speedscope that is cut or damaged");
	foreign_damage(lost, strlen(lost), "csv");
}

/* A stack of thousands of frames, of which each enters and leaves costs one step. */
static void speedscope_of_many_events(void **state)
{
	struct buffer file = BUFFER_INIT;
	struct error err;
	struct conversion *c;
	unsigned i;

	(void)state;
	buffer_puts(&file, SPEEDSCOPE FRAMES ",\"profiles\":[{\"type\":\"evented\",\"name\":\"x\",\"unit\":\"none\",\"events\":[");
	for (i = 0; i < 100000; i++)
		buffer_printf(&file, "%s{\"type\":\"%c\",\"frame\":0,\"at\":%u}", i ? "," : "", i < 30000 || i % 2 ? 'O' : 'C', i);
	buffer_puts(&file, "]}]}");
	c = foreign_read(file.data, file.length, "collapsed", &err);
	if (!c)
		assert_int_equal(err.code, E2BIG);
	else
		readers_free(c);
	buffer_free(&file);
}

/* ---- the Firefox Profiler ---- */

#define FIREFOX "{\"meta\":{\"interval\":1,\"startTime\":1700000000000.5,\"product\":\"fox\"," \
		"\"sampleUnits\":{\"time\":\"ms\",\"threadCPUDelta\":\"\xc2\xb5s\"}},"
#define STACKS "\"stackTable\":{\"prefix\":[null,0,1],\"frame\":[0,1,2],\"length\":3}," \
	       "\"frameTable\":{\"func\":[0,1,2],\"line\":[null,4,null],\"length\":3}," \
	       "\"funcTable\":{\"name\":[0,1,2],\"resource\":[-1,0,-1],\"fileName\":[null,null,3]}," \
	       "\"resourceTable\":{\"lib\":[0],\"name\":[1]},\"stringArray\":[\"(root)\",\"nsThread::Run\",\"onload\",\"y.js\"]"
#define SAMPLES "\"samples\":{\"stack\":[1,2,null,1],\"time\":[0,1,2,3],\"weight\":null,\"weightType\":\"samples\"," \
		"\"threadCPUDelta\":[null,500,0,700],\"length\":4}"
#define FIREFOX_ROWS HEAD "cpu,GeckoMain,77,,,,,1,500000,ns,(root);nsThread::Run;onload\r\n" \
		     "cpu,GeckoMain,77,,,,,1,700000,ns,(root);nsThread::Run\r\n" \
		     "time,GeckoMain,77,,,,,2,2000000,ns,(root);nsThread::Run\r\n" \
		     "time,GeckoMain,77,,,,,1,1000000,ns,(root);nsThread::Run;onload\r\n"

static void firefox_files(void **state)
{
	(void)state;
	expect(FIREFOX "\"libs\":[{\"name\":\"libxul.so\"}],\"threads\":[{\"name\":\"GeckoMain\",\"tid\":77," SAMPLES "," STACKS
	       "}]}", FIREFOX_ROWS);
	/* newer ones have one set of tables for all threads, maybe behind them */
	expect(FIREFOX "\"libs\":[{\"name\":\"libxul.so\"}],\"threads\":[{\"name\":\"GeckoMain\",\"tid\":\"77\"," SAMPLES
	       "}],\"shared\":{" STACKS "}}", FIREFOX_ROWS);
	/* what Firefox itself writes: rows, and processes inside */
	expect("{\"meta\":{\"version\":27,\"interval\":2},\"libs\":[],\"threads\":[{\"name\":\"Gecko\",\"tid\":7,\"samples\":"
	       "{\"schema\":{\"stack\":0,\"time\":1},\"data\":[[1,0.5],[0,1.5],[null,2]]},\"stackTable\":{\"schema\":{\"prefix\":0,"
	       "\"frame\":1},\"data\":[[null,0],[0,1]]},\"frameTable\":{\"schema\":{\"location\":0,\"line\":4},\"data\":[[0],[1,null,"
	       "null,null,33]]},\"stringTable\":[\"(root)\",\"Foo::bar (in libxul.so)\"]}],\"processes\":[{\"meta\":{\"interval\":2},"
	       "\"threads\":[{\"name\":\"Web\",\"tid\":8,\"samples\":{\"schema\":{\"stack\":0,\"time\":1},\"data\":[[0,0.5]]},"
	       "\"stackTable\":{\"schema\":{\"prefix\":0,\"frame\":1},\"data\":[[null,0]]},\"frameTable\":{\"schema\":{\"location\":0},"
	       "\"data\":[[0]]},\"stringTable\":[\"(root)\"]}]}]}",
	       HEAD "time,Gecko,7,,,,,1,2000000,ns,(root);Foo::bar\r\ntime,Gecko,7,,,,,1,2000000,ns,(root)\r\n"
	       "time,Web,8,,,,,1,2000000,ns,(root)\r\n");
}

static void firefox_is_damaged(void **state)
{
	static const char whole[] = FIREFOX "\"libs\":[{\"name\":\"libxul.so\"}],\"threads\":[{\"name\":\"GeckoMain\",\"tid\":77,"
				    SAMPLES "," STACKS "}]}";
	static const char odd[] = FIREFOX "\"libs\":[],\"threads\":[{\"name\":\"T\",\"tid\":1,\"samples\":{\"stack\":[0,1,7]},"
				  "\"stackTable\":{\"prefix\":[5,1],\"frame\":[0,9]},\"frameTable\":{\"func\":[8]},"
				  "\"funcTable\":{\"name\":[0]},\"stringArray\":[]}]}";

	(void)state;
	expect_note(odd, strlen(odd), "of its numbers lead to no frame or text");
	expect_refused(whole, 300, "a file of the Firefox Profiler that is cut or damaged");
	foreign_damage(whole, strlen(whole), "csv");
	foreign_damage(odd, strlen(odd), "csv");
}

/* Processes inside of processes, without end. */
static void firefox_nests(void **state)
{
	struct buffer file = BUFFER_INIT;
	unsigned i;

	(void)state;
	for (i = 0; i < 100000; i++)
		buffer_puts(&file, "{\"meta\":{},\"processes\":[");
	expect_refused(file.data, file.length, "should be less nesting");
	buffer_free(&file);
}

/* ---- OTLP ---- */

/* Our own profile as messages and as JSON: both are read, and are the same. */
static void otlp_files(void **state)
{
	static const char *const formats[] = {"otlp", "otlpjson"};
	const struct format_options options = {.threads = true, .exports = exports_write};
	const struct profile p = sample_profile(true), *profiles[] = {&p};
	struct buffer out[2] = {BUFFER_INIT, BUFFER_INIT};
	char *text[2];
	size_t i;

	(void)state;
	for (i = 0; i < 2; i++) {
		format_write(format_by_name(formats[i]), profiles, 1, &options, &out[i], NULL);
		text[i] = foreign_as(out[i].data, out[i].length, "ndjson");
		assert_non_null(strstr(text[i], "copy_to_survivor_space"));
		assert_non_null(strstr(text[i], "\"thread\":\"worker;1\",\"thread_id\":102"));
		assert_non_null(strstr(text[i], "\"library\":\"libc.so.6\""));
		free(text[i]);
		text[i] = foreign_as(out[i].data, out[i].length, "hot");
		assert_non_null(strstr(text[i], "demo.OrderService (pid 4711, JDK 17.0.15+6-Debian)"));
	}
	assert_string_equal(text[0], text[1]);
	for (i = 0; i < 2; i++) {
		buffer_free(&out[i]);
		free(text[i]);
	}
}

/* A file of others: spelled as messages are, values by time, code that a Collector knows by its source. */
static void otlp_of_others(void **state)
{
	static const char file[] =
		"{\"resource_profiles\":[{\"scope_profiles\":[{\"profiles\":[{\"sample_type\":{\"type_strindex\":1,"
		"\"unit_strindex\":2},\"samples\":[{\"stack_index\":1,\"attribute_indices\":[1],\"timestamps_unix_nano\":"
		"[\"5\",\"6\",\"7\"]}]}]}]}],\"dictionary\":{\"string_table\":[\"\",\"samples\",\"count\",\"main\",\"a.c\","
		"\"thread.name\",\"/lib/libx.so\"],\"function_table\":[{},{\"name_strindex\":3,\"filename_strindex\":4}],"
		"\"mapping_table\":[{},{\"filename_strindex\":6}],\"attribute_table\":[{},{\"key_strindex\":5,\"value\":"
		"{\"string_value\":\"t\"}}],\"location_table\":[{},{\"mapping_index\":1,\"lines\":[{\"function_index\":1}]},"
		"{\"mapping_index\":1,\"address\":99}],\"stack_table\":[{},{\"location_indices\":[2,1]}]}}";

	(void)state;
	expect(file, HEAD "samples,t,,,,,,3,3,events,main;[libx.so]\r\n");
	foreign_damage(file, strlen(file), "csv");
}

static void otlp_is_damaged(void **state)
{
	const struct format_options options = {.threads = true, .exports = exports_write};
	struct profile p = sample_profile(true);
	const struct profile *profiles[] = {&p};
	struct buffer out = BUFFER_INIT;

	(void)state;
	p.stack_count = 3;
	p.frame_count = S_LAMBDA;
	format_write(format_by_name("otlp"), profiles, 1, &options, &out, NULL);
	foreign_damage(out.data, out.length, "csv");
	buffer_free(&out);
}

/* ---- perf script ---- */

#define PERF "# perf script\n#\n\njava worker 4711/4725 [001] 1234.567890:   10101010 cycles:u: \n" \
	     "\t    7f1a2b3c4d5e Ljava/util/HashMap;::put+0x1e (/tmp/perf-4711.map)\n" \
	     "\t7f1a2b3c4d5f int a.b.C.hash(java.lang.Object)+0x3 (/tmp/perf-4711.map)\n" \
	     "\t7f1a2b3c4d5f Foo::bar(int, char (*)(int))+0x3 (/usr/lib/libx.so)\n" \
	     "\t7f1 [unknown] (/usr/lib/libx.so)\n\tffffffff81000000 do_syscall_64+0x3d ([kernel.kallsyms])\n\n"
#define PERF_ROW "cycles,java worker,4725,,,,,1,10101010,events,\"do_syscall_64_[k];[libx.so];Foo::bar(int, char " \
		 "(*)(int));a.b.C.hash;java.util.HashMap.put\"\r\n"

static void perf_scripts(void **state)
{
	(void)state;
	expect(PERF, HEAD PERF_ROW);
	/* without a stack, a time, a period; with blanks in front */
	expect("   sleep    12 12.5:   1000 cpu-clock:  7f1 main (/bin/sleep)\n",
	       HEAD "cpu,sleep,12,,,,,1,1000,ns,main\r\n");
	expect("sleep 12 cycles: \n\t7f1 main+0x1 (/bin/sleep)\n\t7f2 f (inlined)\n\n",
	       HEAD "cycles,sleep,12,,,,,1,1,events,f;main\r\n");
	expect("sleep 12 [000] 12.5: sched:sched_switch: prev_comm=sleep prev_pid=12\n\t7f1 main+0x1 (/bin/sleep)\n",
	       HEAD "sched:sched_switch,sleep,12,,,,,1,1,events,main\r\n");
}

static void perf_script_is_damaged(void **state)
{
	static const char odd[] = PERF "what is this?\nsleep 12 12.5: cycles: \n\t7f1 main (/bin/sleep)\n";

	(void)state;
	expect_note(odd, strlen(odd), "1 lines are none of perf script's");
	foreign_damage(PERF, strlen(PERF), "csv");
}

/* Pages have time where the file has. */
static void times_are_kept(void **state)
{
	static const char *const files[] = {
		"sleep 12 [000] 12.5: cycles: \n\t7f1 main (/bin/sleep)\n\nsleep 12 [000] 12.75: cycles: \n\t7f1 main (/x)\n",
		FIREFOX "\"libs\":[],\"threads\":[{\"name\":\"T\",\"tid\":1,\"samples\":{\"stack\":[0,0],\"time\":[100,350]}," STACKS
		"}]}",
		FIREFOX "\"libs\":[],\"threads\":[{\"name\":\"T\",\"tid\":1,\"samples\":{\"stack\":[0,0],\"timeDeltas\":[100,250]},"
		STACKS "}]}",
	};
	static const uint32_t first[] = {0, 100, 100};
	size_t i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(files); i++) {
		struct error err;
		struct conversion *c = foreign_read(files[i], strlen(files[i]), "flamegraph", &err);
		const struct profile *p;
		uint32_t count;

		assert_non_null(c);
		p = convert_profiles(c, &count)[0];
		assert_int_equal(p->moment_count, 2);
		assert_int_equal(p->moment_step, NS_PER_MS);
		assert_int_equal(p->moments[0].at, first[i]);
		assert_int_equal(p->moments[1].at, first[i] + 250);
		assert_int_equal(p->duration, (first[i] + 250) * NS_PER_MS);
		assert_string_equal(p->threads[p->moments[1].thread].name, i ? "T" : "sleep");
		readers_free(c);
	}
}

/* Collapsed stacks are still what they were, and so are other texts. */
static void others_are_not_taken(void **state)
{
	(void)state;
	expect("main;java/util/Arrays.sort 5\n", HEAD "units,,,,,,,5,5,units,main;java.util.Arrays.sort\r\n");
	expect("worker 12;a:b: 7\n", HEAD "units,,,,,,,7,7,units,worker 12;a:b:\r\n");
	expect_refused("{\"meta\":1}", 10, "there are no samples");
	expect_refused("\n\n\n\n", 4, "there are no samples");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(speedscope_files),	  cmocka_unit_test(speedscope_is_damaged),
		cmocka_unit_test(speedscope_of_many_events), cmocka_unit_test(firefox_files),
		cmocka_unit_test(firefox_is_damaged),	  cmocka_unit_test(firefox_nests),
		cmocka_unit_test(otlp_files),		  cmocka_unit_test(otlp_of_others),
		cmocka_unit_test(otlp_is_damaged),	  cmocka_unit_test(perf_scripts),
		cmocka_unit_test(perf_script_is_damaged), cmocka_unit_test(times_are_kept),
		cmocka_unit_test(others_are_not_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
