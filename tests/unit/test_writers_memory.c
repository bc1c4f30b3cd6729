/*
 * Writers run in other people's processes: each allocation of each writer fails once here, and the
 * answer must be ENOMEM in the buffer or a complete output, never a crash or a cut one that claims
 * to be whole.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>

#include "calls_sample.h"
#include "failing_allocations.h"
#include "format_sample.h"
#include "profile/exports/exports.h"
#include "timed_sample.h"

static struct format_options options;

static struct buffer write_failing(const struct format *f, const struct profile *p, unsigned n)
{
	struct buffer out = BUFFER_INIT;

	allocations = 0;
	fail_at = n;
	format_write(f, &p, 1, &options, &out, NULL);
	fail_at = 0;
	return out;
}

static void each_allocation_fails_once(struct profile p)
{
	const struct format *f;
	unsigned n, refused;

	for (f = formats; f->name; f++) {
		struct buffer whole = write_failing(f, &p, 0);
		unsigned count = allocations;

		if (!f->write) {
			assert_int_equal(whole.failed, ENOTSUP);
			buffer_free(&whole);
			continue;
		}
		assert_int_equal(whole.failed, 0);
		assert_true(count > 0);
		for (n = 1, refused = 0; n <= count; n++) {
			struct buffer out = write_failing(f, &p, n);

			if (out.failed) {
				assert_int_equal(out.failed, ENOMEM);
				refused++;
			} else {
				assert_int_equal(out.length, whole.length);
				assert_memory_equal(out.data, whole.data, whole.length);
			}
			buffer_free(&out);
		}
		assert_true(refused > 0);
		buffer_free(&whole);
	}
}

static void every_allocation_fails_once(void **state)
{
	(void)state;
	if (!OWN_ALLOCATOR) {
		print_message("AddressSanitizer has its own allocator: run without it\n");
		skip();
	}
	options = (struct format_options){.threads = true, .lines = true, .exports = exports_write};
	each_allocation_fails_once(sample_profile(true));
	each_allocation_fails_once(timed_profile());
	options = (struct format_options){.threads = true, .include = "*.put", .minwidth = 20, .exports = exports_write};
	each_allocation_fails_once(sample_profile(true));
}

/* A recording goes on without a name that it had no memory for, so of that only failures count. */
static void every_allocation_of_a_trace_fails_once(void **state)
{
	static const char *const forms[] = {"text", "json", "collapsed", "html", "jfr"};
	struct profile p = calls_sample(true, true);
	unsigned i, n;

	(void)state;
	options = (struct format_options){.total = true};
	if (!OWN_ALLOCATOR) {
		print_message("AddressSanitizer has its own allocator: run without it\n");
		skip();
	}
	for (i = 0; i < ARRAY_LEN(forms); i++) {
		struct buffer whole = write_failing(format_by_name(forms[i]), &p, 0);
		unsigned count = allocations, refused = 0;

		assert_int_equal(whole.failed, 0);
		assert_true(count > 0);
		for (n = 1; n <= count; n++) {
			struct buffer out = write_failing(format_by_name(forms[i]), &p, n);

			if (out.failed)
				refused++;
			else if (out.length != whole.length && strcmp(forms[i], "jfr") != 0)
				fail_msg("%s is cut when allocation %u fails", forms[i], n);
			buffer_free(&out);
		}
		assert_true(refused > 0);
		buffer_free(&whole);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_allocation_fails_once),
		cmocka_unit_test(every_allocation_of_a_trace_fails_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
