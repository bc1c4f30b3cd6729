/*
 * A method's names are read from memory that may go away at any moment: each read fails once, and
 * from each on all do. The frame then has its true name or says that it has none.
 *
 * The reading is compiled into this file, with loads of its own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "load_test.h"

#include "agent/collect/names/method_identity.c"
#include "agent/collect/names/name_java.c"

#include "agent/collect/names/named_frames.h"
#include "fake_jvm.h"

static unsigned loads, fail_at;
static bool ever;

static int may_load(uintptr_t address, unsigned width)
{
	loads++;
	return loads != fail_at && !(ever && fail_at && loads > fail_at);
}

static struct fake_jvm jvm;
static uint64_t unloaded;

/* The name of the frame of METHOD, as an output shows it. */
static const char *name_of(struct frames *f, uintptr_t method, uint64_t bci)
{
	static char text[256];
	uint64_t word = frame_java(FRAME_INTERPRETED, method, (uint32_t)bci);
	uint32_t number = frames_name(f, &jvm.zone, word, method_epoch_now(&jvm.zone.epochs));
	const struct named_frame *n = &f->named.items[number];

	assert_true(number < f->named.count);
	snprintf(text, sizeof(text), "%s%s%s", strings_get(&f->strings, n->class_name),
		 n->class_name ? "." : "", strings_get(&f->strings, n->name));
	return text;
}

/* Name three frames with that fault. */
static void names(uintptr_t a, uintptr_t b)
{
	struct frames f = {.lines = true, .drain = 1};
	unsigned i;

	method_identities_init(&f.methods);
	loads = 0;
	for (i = 0; i < 3; i++) {
		const char *name = name_of(&f, i == 1 ? b : a, 5);

		if (strcmp(name, "[unloaded]") != 0)
			assert_string_equal(name, i == 1 ? "pkg/B.beta" : "pkg/A.alpha");
		else
			assert_true(fail_at > 0);
	}
	frames_free(&f);
}

static void each_load_fails(void **state)
{
	uintptr_t a, b;
	unsigned all;

	fake_open(&jvm, FAKE_YOUNG);
	a = fake_method(&jvm, "pkg/A", "alpha", "()V", 100);
	b = fake_method(&jvm, "pkg/B", "beta", "(I)I", 50);
	atomic_store(&jvm.zone.epochs.unloaded[0], &unloaded);
	names(a, b);
	all = loads;
	assert_true(all > 20);
	for (fail_at = 1; fail_at <= all; fail_at++)
		for (ever = false;; ever = true) {
			names(a, b);
			if (ever)
				break;
		}
	print_message("each of %u reads of names failed, alone and with all after it\n", all);
	fail_at = 0;
	fake_close(&jvm);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_load_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
