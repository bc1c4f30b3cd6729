/*
 * What the page says of memory beside the tree: who asked for it, when what is there came, and what grows.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "common/base/json_writer.h"
#include "profile/views/memory_page.h"
#include "profile/views/views.h"
#include "work_sample.h"

#define MB ((uint64_t)1 << 20)

static const struct profile_frame frames[] = {
	JAVA("java/lang/Thread", "run"), JAVA("shop/Orders", "order"), JAVA("java/util/Arrays", "copyOf"),
	{.class_name = "byte[]", .name = "", .kind = FRAME_OTHER},
	{.name = "os::malloc", .library = "libjvm.so", .kind = FRAME_NATIVE},
	{.name = "deflate", .library = "libz.so", .kind = FRAME_NATIVE},
};
static const uint32_t made[] = {0, 1, 2, 3}, anew[] = {0, 2, 3}, by_jvm[] = {0, 1, 4}, by_library[] = {0, 1, 5};

static struct profile sample(const char *event, struct profile_stack *stacks)
{
	struct profile p = {.event = event, .weight_kind = WEIGHT_BYTES, .frames = frames,
			    .frame_count = ARRAY_LEN(frames), .stacks = stacks, .stack_count = 2};
	uint32_t i;

	for (i = 0; i < p.stack_count; i++) {
		p.objects += stacks[i].objects;
		p.stored += stacks[i].samples;
		p.weight_stored += stacks[i].weight;
	}
	p.taken = p.stored;
	return p;
}

static void expect(const struct profile *p, const char *text)
{
	struct format_options options = {.views = &views, .dot = true};
	struct buffer out = BUFFER_INIT;
	struct json_writer w = JSON_WRITER(&out, JSON_LINE);

	json_object(&w, NULL);
	assert_int_equal(memory_page_put(&w, p, &options), 0);
	json_end(&w);
	buffer_putc(&out, '\0');
	assert_string_equal(out.data, text);
	buffer_free(&out);
}

static void test_allocated(void **state)
{
	struct profile_stack stacks[] = {
		{.frames = made, .depth = 4, .thread = PROFILE_NO_THREAD, .samples = 3, .weight = 3 * MB, .objects = 9},
		{.frames = anew, .depth = 3, .thread = PROFILE_NO_THREAD, .samples = 1, .weight = MB, .objects = 2}};
	struct profile p = sample("alloc", stacks), cpu = {.event = "cpu"};

	(void)state;
	assert_true(memory_page_is_of(&p));
	assert_false(memory_page_is_of(&cpu));
	/* the tree has all of it */
	expect(&p, "{\"memory\":{\"kept\":false,\"heap\":[0,0],\"span\":0}}\n");
}

static void test_kept(void **state)
{
	struct profile_stack stacks[] = {
		{.frames = made, .depth = 4, .thread = PROFILE_NO_THREAD, .samples = 3, .weight = 3 * MB, .objects = 9},
		{.frames = anew, .depth = 3, .thread = PROFILE_NO_THREAD, .samples = 1, .weight = MB, .objects = 2}};
	struct profile_growth growth[] = {{.halves = {MB, 2 * MB}, .variance = {1, 1}}, {.halves = {0, 500}}};
	struct profile p = sample("live", stacks);

	(void)state;
	p.survivors = true;
	p.counted = 5 * MB;
	p.heap_most = 50 * MB;
	p.growth = growth;
	p.growth_of = stacks;
	p.growth_span = 3600 * WORK_S;
	/* at least twice the smaller half in that time, but for chance */
	expect(&p, "{\"memory\":{\"kept\":true,\"heap\":[5242880,52428800],\"span\":3600000000000,"
		   "\"ages\":[[\"byte[]\",1048576,2097652]],\"growth\":[[\"byte[]\",\"java.util.Arrays.copyOf\","
		   "\"shop.Orders.order\",3145728,2097152,2097148,2097156,\"\"]]}}\n");
}

static void test_native(void **state)
{
	struct profile_stack stacks[] = {
		{.frames = by_jvm, .depth = 3, .thread = PROFILE_NO_THREAD, .samples = 3, .weight = 3 * MB},
		{.frames = by_library, .depth = 3, .thread = PROFILE_NO_THREAD, .samples = 1, .weight = MB}};
	struct profile p = sample("nativemem", stacks);

	(void)state;
	expect(&p, "{\"memory\":{\"kept\":false,\"places\":[[\"shop.Orders.order\",\"\",3,3145728],"
		   "[\"deflate\",\"shop.Orders.order\",1,1048576]],\"placesMore\":[0,0],"
		   "\"libraries\":[[\"libjvm.so\",3145728],[\"libz.so\",1048576]],\"heap\":[0,0],\"span\":0}}\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_allocated),
		cmocka_unit_test(test_kept),
		cmocka_unit_test(test_native),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
