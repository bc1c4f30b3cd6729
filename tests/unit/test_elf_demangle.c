/* Readable names of C++ and Rust functions, and hostile ones on a small stack. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "common/elf/elf.h"

#define SMALL_STACK (256 * 1024) /* the collector's may be as small */

static const struct {
	const char *raw, *text; /* NULL: not mangled */
} names[] = {
	{"JVM_Sleep", NULL},
	{"malloc", NULL},
	{"", NULL},
	{"_", NULL},
	{"_Z", NULL},
	{"_ZERO", NULL},
	{"__libc_start_main", NULL},
	{"_GLOBAL__sub_I_ad_x86.cpp", NULL},
	{"_ZN7Monitor4waitEl", "Monitor::wait"},
	{"_ZN7Monitor4waitEl.cold", "Monitor::wait"},
	{"_ZN7Monitor4waitEl.constprop.0.isra.1", "Monitor::wait"},
	{"_ZN7MonitorC2Ev", "Monitor::Monitor"},
	{"_ZN7MonitorD1Ev", "Monitor::~Monitor"},
	{"_ZL12static_thingv", "static_thing"},
	{"_ZNK1AcvbEv", "A::operator bool"},
	{"_ZNSt6vectorIiSaIiEE9push_backEOi", "std::vector<int, std::allocator<int> >::push_back"},
	{"_ZSt4sortIPiEvT_S1_", "std::sort<int*>"},
	{"_ZN5StackIjL8MEMFLAGS1EE4pushEj", "Stack<unsigned int, (MEMFLAGS)1>::push"},
	{"_ZZ4mainENKUlvE_clEv", "main::{lambda()#1}::operator()"},
	{"_ZN12_GLOBAL__N_13runEv", "(anonymous namespace)::run"},
	/* Rust, older and newer; the hash says nothing to people. */
	{"_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt"},
	{"_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE.llvm.1234", "core::fmt::Write::write_fmt"},
	{"_RNvCs1234_7mycrate3foo", "mycrate::foo"},
	{"_RNvMs_NtCs1234_7mycrate3fooNtB4_3Bar3baz", "<mycrate::foo::Bar>::baz"},
};

static void table(void **state)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(names); i++) {
		char *text = demangle(names[i].raw);

		if (!names[i].text) {
			if (text)
				fail_msg("\"%s\" gave \"%s\"", names[i].raw, text);
			continue;
		}
		if (!text)
			fail_msg("\"%s\" gave nothing", names[i].raw);
		assert_string_equal(text, names[i].text);
		free(text);
	}
}

static void with_parameters(void **state)
{
	static const struct {
		const char *raw, *text;
	} rows[] = {
		{"_ZN7Monitor4waitEl", "Monitor::wait(long)"}, {"_ZN7Monitor4waitEv", "Monitor::wait()"},
		{"_RNvCs1234_7mycrate3foo", "mycrate::foo"}, {"JVM_Sleep", NULL}, {"_Z", NULL},
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		char *text = demangle_full(rows[i].raw);

		if (rows[i].text)
			assert_string_equal(text, rows[i].text);
		else
			assert_null(text);
		free(text);
	}
}

static void too_long(void **state)
{
	char name[5000];

	memset(name, 'A', sizeof(name));
	memcpy(name, "_ZN4000", 7);
	name[4999] = '\0';
	assert_null(demangle(name));
}

/* f<a<int>, a<a<int>, a<int> >, …>: each argument is twice as long as the one before. */
static void exploding(void **state)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char name[512] = "_Z1fI1aIiE";
	size_t n = strlen(name);
	clock_t start = clock();
	char *text;
	int i;

	for (i = 0; i < 34; i++)
		n += (size_t)sprintf(name + n, "S0_IS%c_S%c_E", digits[i + 1], digits[i + 1]);
	strcpy(name + n, "EEvv");
	assert_null(demangle(name));
	strcpy(name + strlen("_Z1fI1aIiE") + 4 * strlen("S0_IS1_S1_E"), "Evv");
	text = demangle(name);
	assert_non_null(text);
	assert_int_equal(strncmp(text, "f<a<int>, a<a<int>, a<int> >, ", 30), 0);
	free(text);
	assert_true(clock() - start < CLOCKS_PER_SEC);
}

static void nested(const char *start, const char *part, const char *end)
{
	char name[2048];
	size_t n = strlen(start), m = strlen(part);

	strcpy(name, start);
	while (n + m + strlen(end) < 1020) {
		strcpy(name + n, part);
		n += m;
	}
	strcpy(name + n, end);
	free(demangle(name));
}

static void *hostile(void *arg)
{
	static const char letters[] = "NSKLRIEJPOZUTtsrvVcdilmjxyfghznabX_0123456789ABCCCCC";
	size_t i;

	nested("_Z1f", "P", "i");
	nested("_Z1f", "M1a", "i");
	nested("_Z1fI", "N1aI", "i");
	nested("_ZN", "I", "E");
	nested("_Z1fIX", "ng", "Li1EEEv");
	nested("_Z1fv", "F", "v");
	nested("_Z1fDT", "cl", "E");
	nested("_Z", "Z1fvE", "1g");
	nested("_Z1f", "S_", "");
	nested("_Z1fI", "S0_I", "");
	nested("_RNv", "N", "Cs_1a1b");
	nested("_RIC1a", "R", "uE");
	nested("_RINvC1a1b", "T", "");
	nested("_RMC0", "B_", "");
	srand(5);
	for (i = 0; i < 60000; i++) {
		char name[64];
		size_t n = 2, most = 3 + (size_t)rand() % 55;

		memcpy(name, rand() % 3 ? "_Z" : "_R", 2);
		while (n < most)
			name[n++] = letters[(size_t)rand() % (sizeof(letters) - 1)];
		name[n] = '\0';
		free(demangle(name));
	}
	/* Real ones with one letter changed. */
	for (i = 0; i < 40000; i++) {
		char name[128];

		strcpy(name, names[8 + (size_t)rand() % (ARRAY_LEN(names) - 8)].raw);
		name[2 + (size_t)rand() % (strlen(name) - 2)] =
			letters[(size_t)rand() % (sizeof(letters) - 1)];
		free(demangle(name));
	}
	*(bool *)arg = true;
	return NULL;
}

static void hostile_names(void **state)
{
	pthread_attr_t attr;
	pthread_t thread;
	bool done = false;

	pthread_attr_init(&attr);
	assert_int_equal(pthread_attr_setstacksize(&attr, SMALL_STACK), 0);
	assert_int_equal(pthread_create(&thread, &attr, hostile, &done), 0);
	pthread_join(thread, NULL);
	pthread_attr_destroy(&attr);
	assert_true(done);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table),
		cmocka_unit_test(with_parameters),
		cmocka_unit_test(too_long),
		cmocka_unit_test(exploding),
		cmocka_unit_test(hostile_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
