/* Results in JSON: what the writers wrote is read again; what is cut, damaged or something else is refused. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "calls_sample.h"
#include "format_sample.h"
#include "saved_files.h"
#include "profile/readers/input/json_pull.h"
#include "profile/readers/readers.h"
#include "profile/writers/format.h"

/* ---- values ---- */

static void json_is_read_value_by_value(void **state)
{
	static const char text[] = " {\"a\\u0041\\ud83d\\ude00\\ud800\\n\": 12.75e1 , \"deep\":[[{}],{\"x\":[true,null,-1]},\"]\"],"
				   "\"list\":[1,2],\"last\":18446744073709551615}";
	struct json j;

	(void)state;
	json_init(&j, text, sizeof(text) - 1);
	assert_true(json_open(&j, '{'));
	assert_string_equal(json_key(&j), "aA\xf0\x9f\x98\x80\xef\xbf\xbd\n");
	assert_int_equal(json_number(&j), 127);
	assert_string_equal(json_key(&j), "deep");
	json_skip(&j);
	assert_string_equal(json_key(&j), "list");
	assert_true(json_open(&j, '['));
	assert_true(json_item(&j));
	assert_int_equal(json_number(&j), 1);
	assert_true(json_item(&j));
	assert_int_equal(json_number(&j), 2);
	assert_false(json_item(&j));
	assert_string_equal(json_key(&j), "last");
	assert_true(json_number(&j) == UINT64_MAX);
	assert_null(json_key(&j));
	assert_null(j.error);
	assert_int_equal(json_peek(&j), 0);
	json_free(&j);
}

static void what_is_no_json_is_said(void **state)
{
	static const char *const wrong[] = {
		"", "{", "{\"a\"", "{\"a\":", "{\"a\":}", "{\"a\" 1}", "{\"a\":1 \"b\":2}", "{a:1}", "[", "\"a", "{\"\\x\":1}",
		"{\"\\u12g4\":1}", "{\"a\":[1}",
	};
	unsigned i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(wrong); i++) {
		struct json j;

		json_init(&j, wrong[i], strlen(wrong[i]));
		if (json_open(&j, '{'))
			while (json_key(&j))
				json_skip(&j);
		if (!j.error)
			fail_msg("not refused: %s", wrong[i]);
		json_free(&j);
	}
}

static void nesting_has_a_limit(void **state)
{
	char text[2 * JSON_DEPTH + 10];
	struct json j;

	(void)state;
	memset(text, '[', sizeof(text));
	json_init(&j, text, sizeof(text));
	json_skip(&j);
	assert_non_null(j.error);
	json_free(&j);
}

/* ---- results ---- */

/* A file with BYTES; its path. */
static const char *file_of(const char *bytes, size_t size)
{
	static char path[40];
	static int fd = -1;

	if (fd < 0)
		fd = memfd_create("saved", MFD_CLOEXEC);
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(pwrite(fd, bytes, size, 0), (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return path;
}

static struct conversion *read_all(const struct buffer *b, size_t size, struct error *err)
{
	struct conversion *c = NULL;
	struct options o;

	options_init(&o);
	err->code = 0;
	return readers_read(file_of(b->data, size), &o, false, &c, err) ? NULL : c;
}

static struct buffer collapsed_of(const struct profile *const *profiles, uint32_t count)
{
	struct buffer out = BUFFER_INIT;
	struct format_options options = {.total = true};

	format_write(format_by_name("collapsed"), profiles, count, &options, &out, NULL);
	buffer_putc(&out, '\0');
	assert_int_equal(out.failed, 0);
	return out;
}

/* ONE profile as JSON, and what is read of that; C to be freed. */
static const struct profile *const *written_and_read(const struct profile *const *one,
						     const struct format_options *options, struct buffer *json,
						     struct conversion **c)
{
	const struct profile *const *read;
	struct error err;
	uint32_t count;

	format_write(format_by_name("json"), one, 1, options, json, NULL);
	*c = read_all(json, json->length, &err);
	if (!*c)
		fail_msg("%s", err.text);
	read = convert_profiles(*c, &count);
	assert_int_equal(count, 1);
	return read;
}

/* What the samples came to, and of which threads they are, is said of a profile's JSON as of itself. */
static void counts_and_threads_come_back(void **state)
{
	static const char *const formats_of_it[] = {"hot", "collapsed"};
	struct profile_frame frames[ARRAY_LEN(sample_frames)];
	struct profile p = sample_profile(true);
	const struct profile *one = &p;
	struct format_options options = {.threads = true};
	struct buffer json = BUFFER_INIT;
	const struct profile *const *read;
	struct conversion *c;
	unsigned i;

	(void)state;
	/* a class whose name has slashes and dots is spelled with dots in JSON, and one of them is lost */
	memcpy(frames, sample_frames, sizeof(frames));
	frames[S_EVIL].class_name = "demo/Plain";
	frames[S_EVIL].name = "name";
	p.frames = frames;
	p.ambiguous = 9;
	p.unsampled = format_unsampled(&p);
	read = written_and_read(&one, &options, &json, &c);
	assert_null(read[0]->told);
	assert_int_equal(read[0]->taken, p.taken);
	assert_int_equal(read[0]->lost[LOSS_queue_full], p.lost[LOSS_queue_full]);
	assert_int_equal(read[0]->lost_weight[LOSS_queue_full], p.lost_weight[LOSS_queue_full]);
	assert_int_equal(read[0]->ambiguous, 9);
	assert_int_equal(read[0]->thread_count, p.thread_count);
	assert_true(read[0]->cpu_time == p.cpu_time && read[0]->own_cpu == p.own_cpu);
	assert_string_equal(read[0]->engine, "perf");
	for (i = 0; i < ARRAY_LEN(formats_of_it); i++) {
		struct buffer direct = BUFFER_INIT, again = BUFFER_INIT;

		p.recorded = true; /* walks and queues are not told of what is read */
		p.ends_unknown = read[0]->ends_unknown;
		format_write(format_by_name(formats_of_it[i]), &one, 1, &options, &direct, NULL);
		format_write(format_by_name(formats_of_it[i]), read, 1, &options, &again, NULL);
		buffer_putc(&direct, '\0');
		buffer_putc(&again, '\0');
		assert_string_equal(direct.data, again.data);
		buffer_free(&direct);
		buffer_free(&again);
	}
	buffer_free(&json);
	readers_free(c);
}

/* What grows, and when the heap is full, is said of a profile's JSON as of itself; of a part of its stacks, not. */
static void what_grows_comes_back(void **state)
{
	struct profile_growth growth[16] = {{.example = 0}};
	struct profile p = sample_profile(false);
	const struct profile *one = &p;
	struct format_options options = {.total = false};
	struct buffer json = BUFFER_INIT, direct = BUFFER_INIT, again = BUFFER_INIT;
	const struct profile *const *read;
	struct conversion *c;
	struct error err;
	const char *leaks[2], *ends[2];
	uint32_t count, i;

	(void)state;
	assert_in_range(p.stack_count, 2, ARRAY_LEN(growth));
	p.event = "live";
	p.weight_kind = WEIGHT_BYTES;
	p.survivors = true;
	p.counted = 3 << 20;
	p.heap_most = 64 << 20;
	p.growth = growth;
	p.growth_of = p.stacks;
	p.growth_span = 60 * NS_PER_S;
	for (i = 0; i < p.stack_count; i++)
		growth[i] = (struct profile_growth){.halves = {1000 * i, 900 * i},
						    .variance = {100.0 * i * i, 4.0 * i * i}};
	read = written_and_read(&one, &options, &json, &c);
	assert_true(read[0]->survivors && read[0]->growth_span == p.growth_span && read[0]->heap_most == 64 << 20);
	format_write(format_by_name("json"), read, 1, &options, &again, NULL);
	buffer_append(&direct, json.data, json.length);
	buffer_putc(&direct, '\0');
	buffer_putc(&again, '\0');
	leaks[0] = strstr(direct.data, "\"leaks\"");
	leaks[1] = strstr(again.data, "\"leaks\"");
	assert_non_null(leaks[0]);
	assert_non_null(leaks[1]);
	ends[0] = strstr(leaks[0], "\"threads\"");
	ends[1] = strstr(leaks[1], "\"threads\"");
	assert_true(ends[0] - leaks[0] > 300 && strstr(leaks[0], "heap_full") && ends[0] - leaks[0] == ends[1] - leaks[1]);
	assert_memory_equal(leaks[0], leaks[1], ends[0] - leaks[0]);
	readers_free(c);
	/* without growth it cannot be told, which is said */
	p.growth = NULL;
	json.length = 0;
	format_write(format_by_name("json"), &one, 1, &options, &json, NULL);
	c = read_all(&json, json.length, &err);
	assert_non_null(c);
	assert_null(convert_profiles(c, &count)[0]->growth);
	assert_non_null(strstr(readers_notes(c), "what grows is not shown: the file does not say"));
	readers_free(c);
	buffer_free(&json);
	buffer_free(&direct);
	buffer_free(&again);
}

/* The part of TEXT from FROM up to TO is the same in OTHER. */
static void same_part(const char *text, const char *other, const char *from, const char *to)
{
	const char *a = strstr(text, from), *b = strstr(other, from);

	assert_true(a && b && strstr(a, to) && strstr(b, to));
	assert_int_equal(strstr(a, to) - a, strstr(b, to) - b);
	assert_memory_equal(a, b, strstr(a, to) - a);
}

static const struct profile_io sample_io[] = {
	{"/tmp/journal \"1\"", IO_READ, IO_KIND_FILE, 12, 4096, 700, 0, 90, 3, 17, 5, 0},
	{"10.0.0.1:8080", IO_WRITE, IO_KIND_SOCKET, 1, 2, 3, UINT64_MAX, 4, 0, 0, 0, 1},
	{"", IO_OPERATIONS - 1, IO_KIND_OTHER, 0, 0, 0, 0, 0, 0, 0, 0, 0},
};

/* What calls were about, and how many there were, is written again as it was. */
static void calls_that_read_and_write_come_back(void **state)
{
	struct profile p = sample_profile(false);
	const struct profile *one = &p, *const *read;
	struct buffer json, again;
	struct conversion *c;
	struct error err;
	uint32_t count, i;

	(void)state;
	p.event = "io";
	p.weight_kind = WEIGHT_IO;
	p.io = sample_io;
	p.io_count = ARRAY_LEN(sample_io);
	p.io_counted[IO_READ] = (struct profile_io_counted){1000, 1 << 20, 5000};
	p.io_counted[IO_WRITE] = (struct profile_io_counted){0, 0, 7};
	json = saved_file_json(&one, 1, NULL);
	c = saved_file_read(json.data, json.length, "json", NULL, NULL, &err);
	if (!c)
		fail_msg("%s", err.text);
	read = convert_profiles(c, &count);
	assert_int_equal(read[0]->io_count, p.io_count);
	for (i = 0; i < p.io_count; i++)
		assert_string_equal(read[0]->io[i].target, sample_io[i].target);
	assert_memory_equal(read[0]->io_counted, p.io_counted, sizeof(p.io_counted));
	again = saved_file_json(read, 1, NULL);
	same_part(json.data, again.data, "\"io\": [", "\"images\": [");
	buffer_free(&again);
	readers_free(c);
	/* a page has the tables */
	c = saved_file_read(json.data, json.length, "html", NULL, NULL, &err);
	assert_non_null(c);
	again = (struct buffer)BUFFER_INIT;
	format_write(format_by_name("html"), convert_profiles(c, &count), 1, &(struct format_options){.total = true}, &again,
		     NULL);
	buffer_putc(&again, '\0');
	assert_non_null(strstr(again.data, "10.0.0.1:8080"));
	assert_non_null(strstr(again.data, "\"ioCounted\""));
	buffer_free(&again);
	readers_free(c);
	buffer_free(&json);
	/* without numbers of all calls none are claimed */
	memset(p.io_counted, 0, sizeof(p.io_counted));
	p.recorded = true;
	json = saved_file_json(&one, 1, NULL);
	assert_null(strstr(json.data, "\"operation\": \"read\", \"calls\": 0"));
	buffer_free(&json);
}

#define IO_HEAD "{\"schema\":1,\"event\":\"io\",\"weight\":{\"unit\":\"ns\"},"
#define IO_TAIL "\"stacks\":[{\"frames\":[\"m\"],\"kinds\":[\"jit\"],\"samples\":1,\"weight\":1}]}"

static void odd_tables_of_calls(void **state)
{
	static const struct {
		const char *text;
		int lines; /* -1: it is refused */
	} rows[] = {
		{"\"io\":[],", 0}, {"\"io\":[{\"operation\":\"read\"}],", 1},
		{"\"io\":[{\"operation\":\"hover\"},{\"calls\":1},{\"operation\":\"write\",\"kind\":\"moon\",\"x\":[{}]}],", 1},
		{"\"io\":[{\"operation\":\"read\"}],\"io\":[{\"operation\":\"read\"},{\"operation\":\"write\"}],", 2},
		{"\"io_counted\":[{\"operation\":\"hover\",\"calls\":1}],", 0},
		{"\"io\":{},", -1}, {"\"io\":[1],", -1}, {"\"io\":[{\"operation\":1}],", -1}, {"\"io\":null,", -1},
		{"\"io\":[{\"operation\":\"read\",\"calls\":-1}],", -1},
		{"\"io\":[{\"operation\":\"read\",\"bytes\":99999999999999999999}],", -1},
		{"\"io\":[{\"operation\":\"read\",\"time_ns\":\"1\"}],", -1}, {"\"io_counted\":[{\"calls\":null}],", -1},
		{"\"io_counted\":[[]],", -1},
	};
	unsigned i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(rows); i++) {
		char text[600];
		struct conversion *c;
		struct error err;
		uint32_t count;

		snprintf(text, sizeof(text), "%s%s%s", IO_HEAD, rows[i].text, IO_TAIL);
		c = saved_file_read(text, strlen(text), "json", NULL, NULL, &err);
		if (!c != (rows[i].lines < 0))
			fail_msg("%s: %s", rows[i].text, c ? "read" : err.text);
		if (!c)
			continue;
		assert_int_equal(convert_profiles(c, &count)[0]->io_count, rows[i].lines);
		readers_free(c);
	}
}

/* An event without samples is one of the session's still, where another has some. */
static void an_event_without_samples_stays(void **state)
{
	struct profile p = sample_profile(false), empty = sample_empty();
	const struct profile *both[] = {&p, &empty}, *const *read;
	struct buffer json, again;
	struct conversion *c;
	struct error err;
	uint32_t count;

	(void)state;
	empty.event = "lock";
	empty.weight_kind = WEIGHT_WAIT;
	json = saved_file_json(both, 2, NULL);
	c = saved_file_read(json.data, json.length, "json", NULL, NULL, &err);
	assert_non_null(c);
	read = convert_profiles(c, &count);
	assert_int_equal(count, 2);
	assert_string_equal(read[1]->event, "lock");
	assert_int_equal(read[1]->stored, 0);
	assert_null(read[1]->told);
	again = saved_file_json(read, 2, NULL);
	assert_non_null(strstr(again.data, "\"event\": \"lock\""));
	buffer_free(&again);
	readers_free(c);
	c = saved_file_read(json.data, json.length, "hot", NULL, NULL, &err);
	assert_non_null(c);
	convert_profiles(c, &count);
	assert_int_equal(count, 1);
	readers_free(c);
	buffer_free(&json);
}

/* Collapsed stacks, made from a profile and from its JSON, are the same. */
static void a_profile_comes_back(void **state)
{
	struct profile p = sample_profile(false);
	const struct profile *one = &p;
	struct format_options options = {.total = false};
	struct buffer json = BUFFER_INIT, direct, again;
	const struct profile *const *read;
	struct conversion *c;

	(void)state;
	read = written_and_read(&one, &options, &json, &c);
	assert_string_equal(read[0]->event, p.event);
	assert_string_equal(read[0]->main_class, p.main_class);
	assert_true(read[0]->stored == p.stored && read[0]->duration == p.duration);
	direct = collapsed_of(&one, 1);
	again = collapsed_of(read, 1);
	assert_int_equal(direct.length, again.length);
	buffer_free(&direct);
	buffer_free(&again);
	buffer_free(&json);
	readers_free(c);
}

static void a_trace_comes_back(void **state)
{
	struct profile trace = calls_sample(false, true);
	const struct profile *one = &trace;
	struct buffer json = BUFFER_INIT, again;
	const struct profile *const *read;
	struct conversion *c;
	struct error err;
	uint32_t count;

	(void)state;
	format_write(format_by_name("json"), &one, 1, &(struct format_options){.total = true}, &json, NULL);
	c = read_all(&json, json.length, &err);
	if (!c)
		fail_msg("%s", err.text);
	read = convert_profiles(c, &count);
	assert_int_equal(count, 1);
	assert_string_equal(read[0]->event, "calls");
	assert_true(read[0]->stored == trace.stored &&
		    read[0]->weight_stored == trace.calls->nodes[0].total.wall);
	again = collapsed_of(read, 1);
	assert_non_null(strstr(again.data, "com/acme/Main.run;com/acme/Order.total;com/acme/money/Round.<init> 500000\n"));
	assert_non_null(strstr(again.data, "NoPackage.rest;[monitor] 60000\n"));
	buffer_free(&again);
	/* they are calls, not samples */
	again = (struct buffer){.fd = -1};
	format_write(format_by_name("text"), read, 1, &(struct format_options){.total = true}, &again, NULL);
	assert_non_null(strstr(again.data, " calls in "));
	assert_null(strstr(again.data, "sample"));
	buffer_free(&again);
	buffer_free(&json);
	readers_free(c);
}

/* Cut anywhere it is refused with a reason; with any byte changed it is read or refused, and nothing else. */
static void each_cut_and_damage(void **state)
{
	struct profile trace = calls_sample(true, true);
	const struct profile *one = &trace;
	struct buffer json = BUFFER_INIT;
	struct conversion *c;
	struct error err;
	size_t i;

	(void)state;
	format_write(format_by_name("json"), &one, 1, &(struct format_options){.total = true}, &json, NULL);
	while (json.data[json.length - 1] == '\n')
		json.length--;
	for (i = 1; i < json.length; i++) {
		assert_null(read_all(&json, i, &err));
		assert_true(err.text[0]);
	}
	for (i = 0; i < json.length; i++) {
		char was = json.data[i];

		json.data[i] = was == '9' ? '{' : '9';
		c = read_all(&json, json.length, &err);
		if (c)
			readers_free(c);
		else
			assert_true(err.text[0]);
		json.data[i] = was;
	}
	buffer_free(&json);
}

/* A trace of WAYS chains of NODES nodes each, one below the other. */
static struct buffer chains(unsigned ways, unsigned nodes)
{
	struct buffer b = BUFFER_INIT;
	unsigned i, k;

	buffer_puts(&b, "{\"schema\":1,\"event\":\"trace\",\"timing\":\"full\",\"threads\":[],\"methods\":"
			"[{\"class\":\"A\",\"name\":\"m\",\"signature\":\"()V\"}],\"tree\":[");
	for (k = 0; k < ways; k++)
		for (i = 0; i < nodes; i++)
			if (i)
				buffer_printf(&b, ",{\"parent\":%u,\"method\":0,\"invocations\":1,\"self_wall\":1}", k * nodes + i);
			else
				buffer_printf(&b, "%s{\"thread\":%u,\"parent\":0}", k ? "," : "", k);
	buffer_puts(&b, "]}");
	return b;
}

/* Each node is a stack as long as it is deep: 240 KB were 200 MB, and 1 MB all memory. */
static void trees_have_limits(void **state)
{
	static const struct {
		unsigned ways, nodes;
		const char *says; /* NULL: it is read */
	} rows[] = {{1, 4000, NULL}, {100, 100, NULL}, {1, 8500, "fewer deep branches"}, {12, 4000, "fewer deep branches"}};
	unsigned i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(rows); i++) {
		struct buffer b = chains(rows[i].ways, rows[i].nodes);
		struct error err = {.code = 0};
		struct conversion *c = read_all(&b, b.length, &err);

		if (!c != !!rows[i].says || (rows[i].says && !strstr(err.text, rows[i].says)))
			fail_msg("row %u: %s", i, err.text);
		if (c)
			readers_free(c);
		buffer_free(&b);
	}
}

static void strangers_are_refused(void **state)
{
	static const struct {
		const char *text, *says;
	} files[] = {
		{"{\"a\": 1}", "no result of jstrobe"},
		{"{\"schema\": 2, \"stacks\": []}", "newer"},
		{"{\"schema\": 1, \"stacks\": []}", "no samples"},
		{"{\"schema\": 1, \"stacks\": []} x", "the end of the file"},
		{"{\"schema\":1,\"timing\":\"exact\",\"methods\":[],\"tree\":[{\"parent\":7,\"method\":0}]}", "behind its parent"},
	};
	unsigned i;

	(void)state;
	for (i = 0; i < ARRAY_LEN(files); i++) {
		struct buffer text = {.data = (char *)(uintptr_t)files[i].text, .length = strlen(files[i].text), .fd = -1};
		struct error err;

		assert_null(read_all(&text, text.length, &err));
		if (!strstr(err.text, files[i].says))
			fail_msg("%s: %s", files[i].text, err.text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(json_is_read_value_by_value),
		cmocka_unit_test(what_is_no_json_is_said),
		cmocka_unit_test(nesting_has_a_limit),
		cmocka_unit_test(a_profile_comes_back),
		cmocka_unit_test(counts_and_threads_come_back),
		cmocka_unit_test(what_grows_comes_back),
		cmocka_unit_test(calls_that_read_and_write_come_back),
		cmocka_unit_test(odd_tables_of_calls),
		cmocka_unit_test(an_event_without_samples_stays),
		cmocka_unit_test(a_trace_comes_back),
		cmocka_unit_test(each_cut_and_damage),
		cmocka_unit_test(trees_have_limits),
		cmocka_unit_test(strangers_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
