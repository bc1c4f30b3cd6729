/*
 * The page's table of locks: what was waited for each, by whom, and who had it, as far as it is known.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "common/base/json_writer.h"
#include "profile/views/views.h"
#include "work_sample.h"

/* The member `work` of the page of P; the caller's to free. */
static char *work_member(const struct profile *p)
{
	struct format_options options = {.views = &views};
	struct buffer out = BUFFER_INIT;
	struct json_writer w = JSON_WRITER(&out, JSON_LINE);
	struct work *work = views.begin(p, &options);

	assert_non_null(work);
	json_object(&w, NULL);
	assert_int_equal(views.page(&w, p, work), 0);
	json_end(&w);
	views.end(work);
	assert_int_equal(out.failed, 0);
	buffer_putc(&out, '\0');
	return out.data;
}

static void has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("%s is not in %s", part, text);
}

static void test_waits(void **state)
{
	struct profile p = work_waits();
	char *text = work_member(&p);

	(void)state;
	/* idle waits at the queue are no row; of 2 s it is known who had the lock for 0.4 */
	has(text, "\"lockRows\":[{\"lock\":\"shop.Stock\",\"identity\":\"1b2c\",\"kind\":\"monitor\","
		  "\"asked\":\"shop.Stock.reserve\",\"locks\":1,\"waits\":40,\"weight\":2000000000,"
		  "\"longest\":1000000000,\"open\":0,\"unowned\":false,\"several\":false,"
		  "\"groups\":[[\"order-*\",2,40,2000000000]],"
		  "\"owners\":[[\"order-*\",\"shop.Stock.recount\",3,300000000],"
		  "[\"order-*\",\"shop.Orders.handle\",1,100000000]],\"known\":400000000,"
		  "\"named\":[[\"order-2\",1200000000,1200000000]],"
		  "\"waiting\":[[\"order-*\",30,1500000000],[\"order-*\",10,500000000]],"
		  "\"having\":[[\"order-2\",3,300000000],[\"order-1\",1,100000000]],\"more\":[0,0]}],\"lockMore\":[0,0]");
	has(text, "\"lockNames\":[\"java.lang.Thread.run\",\"shop.Orders.work\",\"shop.Orders.handle\","
		  "\"shop.Stock.reserve\",\"shop.Stock\",\"shop.Stock.recount\",\"java.lang.Thread.sleep0\"]");
	/* 5 frames twice, then 6 and 3, none cut: 05 0001020304 00, … */
	has(text, "\"lockStacks\":\"BQABAgMEAAUAAQIDBAAGAAECAwUGAAMAAQIA\"");
	free(text);
}

/* Owners without a stack are told of a lock as far as their waits can have been for no other. */
static void test_named(void **state)
{
	static struct profile_waits locks[3], owners[4];
	struct profile p = work_waits();
	char *text;

	(void)state;
	locks[0] = p.locks[0];
	locks[1] = p.locks[1];
	locks[2] = (struct profile_waits){.name = "shop/Cart", .kind = LOCK_MONITOR, .identity = 9, .waits = 20,
					  .time = 600 * WORK_MS, .longest = 200 * WORK_MS};
	/* more than all waits for the cart; one wait longer than those; neither; and those beyond the ones kept apart */
	owners[0] = (struct profile_waits){.name = "evictor", .waits = 9, .time = 900 * WORK_MS, .longest = 200 * WORK_MS};
	owners[1] = (struct profile_waits){.name = "rebuild", .waits = 3, .time = 500 * WORK_MS, .longest = 300 * WORK_MS};
	owners[2] = (struct profile_waits){.name = "idler", .waits = 9, .time = 600 * WORK_MS, .longest = 200 * WORK_MS};
	owners[3] = (struct profile_waits){.name = "", .waits = 9, .time = 900 * WORK_MS, .longest = 300 * WORK_MS};
	p.locks = locks;
	p.lock_count = 3;
	p.owners = owners;
	p.owner_count = 4;
	p.holder_count = 0;
	text = work_member(&p);
	has(text, "\"owners\":[],\"known\":0,\"named\":[[\"evictor\",300000000,900000000],"
		  "[\"rebuild\",300000000,500000000]],");
	free(text);
	/* a quarter of its waits is left out here: those may have been the rebuild's longest and the evictor's */
	locks[1].time = 2500 * WORK_MS;
	text = work_member(&p);
	has(text, "\"owners\":[],\"known\":0,\"named\":[],");
	free(text);
	/* a lock that keeps none has none */
	locks[1].time = 2 * WORK_S;
	locks[1].kind = LOCK_WAIT;
	text = work_member(&p);
	has(text, "\"owners\":[],\"known\":0,\"named\":[],");
	free(text);
}

/* A recording has no table of locks: of what its stacks say the class is known, and of monitors the kind. */
static void test_recorded(void **state)
{
	struct profile p = work_waits();
	char *text;

	(void)state;
	p.recorded = true;
	p.lock_count = p.owner_count = p.holder_count = 0;
	text = work_member(&p);
	has(text, "\"lockWaits\":true,\"lockOwners\":false,\"lockRows\":[{\"lock\":\"shop.Stock\",\"identity\":\"\","
		  "\"kind\":\"monitor\",\"asked\":\"shop.Stock.reserve\",\"locks\":0,\"waits\":40,\"weight\":2000000000,"
		  "\"longest\":0,\"open\":0,");
	has(text, "\"owners\":[],\"known\":0,\"named\":[],");
	free(text);
}

static void test_wall(void **state)
{
	struct profile p = work_sample(false);
	char *text = work_member(&p);

	(void)state;
	has(text, "\"lockRows\":[{\"lock\":\"\",\"identity\":\"\",\"kind\":\"monitor\","
		  "\"asked\":\"shop.Stock.reserve\",\"locks\":0,\"waits\":30,\"weight\":1500000000,\"longest\":0,");
	has(text, "\"owners\":[[\"order-*\",\"shop.Stock.recount\",\"sleep\"]],\"known\":0,");
	has(text, "\"having\":[],\"more\":[0,0]}]");
	free(text);
	p = work_sample(true);
	text = work_member(&p);
	has(text, "\"lockRows\":[{\"lock\":\"java.util.concurrent.locks.ReentrantLock\",\"identity\":\"\",\"kind\":\"lock\",");
	free(text);
}

/* More locks than a page has place for: the heaviest are there, and the others counted. */
static void test_many(void **state)
{
	enum { LOCKS = 130, STACKS_OF_FIRST = 20 };
	static struct profile_waits locks[LOCKS];
	static struct profile_frame frames[LOCKS + 100];
	static struct profile_stack stacks[LOCKS + STACKS_OF_FIRST];
	static uint32_t lists[LOCKS + STACKS_OF_FIRST][100];
	struct profile p = work_waits();
	char *text;
	uint32_t i, k;

	(void)state;
	for (i = 0; i < 100; i++)
		frames[i] = work_frames[W_HANDLE];
	for (i = 0; i < LOCKS; i++) {
		locks[i] = (struct profile_waits){.name = "shop/Stock", .kind = LOCK_MONITOR, .identity = i + 1,
						  .waits = 1, .time = 1000 - i, .longest = 1000 - i};
		frames[100 + i] = work_frames[W_STOCK];
		frames[100 + i].lock = (uint16_t)(i + 1);
	}
	for (i = 0; i < ARRAY_LEN(stacks); i++) {
		for (k = 0; k < 99; k++)
			lists[i][k] = k;
		lists[i][99] = 100 + (i < LOCKS ? i : 0);
		stacks[i] = (struct profile_stack)SEEN(lists[i], 0, BLOCKED, 1, i < LOCKS ? 1000 - i : 1);
	}
	p.locks = locks;
	p.lock_count = LOCKS;
	p.holder_count = p.owner_count = 0;
	p.frames = frames;
	p.frame_count = ARRAY_LEN(frames);
	p.stacks = stacks;
	p.stack_count = ARRAY_LEN(stacks);
	text = work_member(&p);
	has(text, "\"lockRows\":[{\"lock\":\"shop.Stock\",\"identity\":\"1\",\"kind\":\"monitor\",");
	has(text, "\"waits\":21,\"weight\":1020,");
	has(text, "\"owners\":[],\"known\":0,\"named\":[],");
	has(text, "\"having\":[],\"more\":[9,0]}"); /* of 21 stacks 12 are there */
	has(text, "\"identity\":\"64\"");
	assert_null(strstr(text, "\"identity\":\"65\""));
	has(text, "\"lockMore\":[30,26565]"); /* 900 + 899 + … + 871 */
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_waits),
		cmocka_unit_test(test_named),
		cmocka_unit_test(test_recorded),
		cmocka_unit_test(test_wall),
		cmocka_unit_test(test_many),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
