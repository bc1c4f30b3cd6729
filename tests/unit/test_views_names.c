/* Names that fit a column: packages go first, and no word is cut. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "profile/views/short_name.h"

static void packages_are_shortened_from_the_left(void **state)
{
	static const struct {
		const char *name;
		unsigned columns;
		const char *shown;
	} cases[] = {
		{"com.acme.orders.OrderService.process", 36, "com.acme.orders.OrderService.process"},
		{"com.acme.orders.OrderService.process", 35, "c.acme.orders.OrderService.process"},
		{"com.acme.orders.OrderService.process", 32, "c.a.orders.OrderService.process"},
		{"com.acme.orders.OrderService.process", 26, "c.a.o.OrderService.process"},
		{"com.acme.orders.OrderService.process", 25, "OrderService.process"},
		{"com.acme.orders.OrderService.process", 12, "com.acme.orders.OrderService.process"},
		{"OrderService.process", 3, "OrderService.process"},
		{"process", 3, "process"},
		{"", 3, ""},
		{"demo.Gr\u00f6\u00dfe.<init>", 14, "d.Gr\u00f6\u00dfe.<init>"},
		{"\u00e4\u00f6.Klasse.gehe", 3, "\u00e4\u00f6.Klasse.gehe"},
		{"G1ParScanThreadState::copy(int, oop)", 10, "G1ParScanThreadState::copy(int, oop)"},
		{"std::vector<int>.x", 5, "std::vector<int>.x"},
		{"finish_task_switch.isra.0_[k]", 10, "finish_task_switch.isra.0_[k]"},
		{"com.acme.Map.put(java.lang.Object)", 33, "c.acme.Map.put(java.lang.Object)"},
		{"java.util.concurrent.locks.ReentrantLock$Sync@1a", 32, "j.u.c.l.ReentrantLock$Sync@1a"},
		{"ReentrantLock", 3, "ReentrantLock"},
		{"...", 1, "..."},
		{"a.b.c", 1, "a.b.c"},
	};
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct buffer out = BUFFER_INIT;

		short_name(&out, cases[i].name, cases[i].columns);
		buffer_putc(&out, '\0');
		assert_string_equal(out.data, cases[i].shown);
		buffer_free(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(packages_are_shortened_from_the_left)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
