/*
 * The finding about a lock: what helps, by whose it is and what those do that have it; and what waits alone cannot show.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/base.h"
#include "profile/findings/findings.h"
#include "work_sample.h"

static struct findings found;

/* The advice about a lock of P; "": none is told of. */
static const char *advice_of(const struct profile *p, const struct surroundings *around)
{
	uint32_t i;

	assert_int_equal(findings_find(&found, &p, 1, around), 0);
	for (i = 0; i < found.count; i++)
		if (strcmp(found.rows[i].id, "lock") == 0)
			return found.rows[i].advice;
	return "";
}

/* What the program does in computeIfAbsent it does with the map's lock. */
static void what_runs_under_a_lock_of_the_jdk(void **state)
{
	struct profile_frame frames[W_FRAMES];
	struct profile waits = work_waits(), wall = work_sample(false);

	(void)state;
	memcpy(frames, work_frames, sizeof(frames));
	frames[W_RESERVE] = (struct profile_frame)JAVA("java/util/concurrent/ConcurrentHashMap", "computeIfAbsent");
	waits.frames = wall.frames = frames;
	assert_non_null(strstr(advice_of(&waits, NULL), "JDK's own lock, but who has it is in shop.Stock.recount: do that"));
	assert_non_null(strstr(advice_of(&wall, NULL), "JDK's own lock, but who has it is in shop.Stock.recount: do that"));
	/* all that is done there is the JDK's */
	frames[W_RECOUNT] = (struct profile_frame)JAVA("java/util/concurrent/ConcurrentHashMap", "putVal");
	frames[W_LAMBDA] = frames[W_RECOUNT];
	assert_string_equal(advice_of(&waits, NULL),
			    "It is the JDK's own lock: ask for it less often, or from fewer threads.");
	assert_string_equal(advice_of(&wall, NULL),
			    "It is the JDK's own lock: ask for it less often, or from fewer threads.");
}

/* Who waits for what a deadlock holds waits for ever, however short the holding was meant to be. */
static void beside_a_deadlock(void **state)
{
	struct profile wall = work_sample(false);
	struct surroundings s = {.known = 0};

	(void)state;
	assert_non_null(strstr(advice_of(&wall, &s), "Hold it for less long"));
	around_set(&s, AROUND_deadlocked, 0);
	assert_non_null(strstr(advice_of(&wall, &s), "Hold it for less long"));
	around_set(&s, AROUND_deadlocked, 2);
	assert_non_null(strstr(advice_of(&wall, &s), "See to the deadlock first"));
	assert_null(strstr(advice_of(&wall, &s), "less long"));
}

/* Who was blocked before the recording began, and still is as it ends, is in no wait. */
static void what_waits_alone_cannot_show(void **state)
{
	struct profile p = work_waits(), wall = work_sample(false), io = work_waits();
	const struct profile *const with_wall[] = {&p, &wall};

	(void)state;
	assert_true(*advice_of(&p, NULL));
	assert_string_equal(found.note, "");
	p.stack_count = p.lock_count = p.holder_count = p.owner_count = 0;
	p.stored = p.taken = p.weight_stored = 0;
	p.cpu_time = 5 * WORK_MS;
	assert_string_equal(advice_of(&p, NULL), "");
	assert_int_equal(found.count, 0);
	assert_non_null(strstr(found.note, "-e wall shows them"));
	/* a program that runs does something */
	p.cpu_time = 1 * WORK_S;
	advice_of(&p, NULL);
	assert_string_equal(found.note, "");
	p.cpu_time = 5 * WORK_MS;
	wall.stack_count = 0;
	assert_int_equal(findings_find(&found, with_wall, 2, NULL), 0);
	assert_string_equal(found.note, "");
	io = p;
	io.event = "io";
	io.weight_kind = WEIGHT_IO;
	advice_of(&io, NULL);
	assert_string_equal(found.note, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_runs_under_a_lock_of_the_jdk), cmocka_unit_test(beside_a_deadlock),
		cmocka_unit_test(what_waits_alone_cannot_show),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
