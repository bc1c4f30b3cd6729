/* Names that the kernel has cut. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "agent/threads/native_names.h"

static const char *whole(const char *name)
{
	static char text[NATIVE_NAME];

	strcpy(text, name);
	native_name_whole(text);
	return text;
}

static void those_of_hotspot_are_whole_again(void **state)
{
	(void)state;
	assert_string_equal(whole("C2 CompilerThre"), "C2 CompilerThread");
	assert_string_equal(whole("VM Periodic Tas"), "VM Periodic Task Thread");
	assert_string_equal(whole("Monitor Deflati"), "Monitor Deflation Thread");
	/* others are theirs, also if they begin alike */
	assert_string_equal(whole("C2 Compiler"), "C2 Compiler");
	assert_string_equal(whole("Attach Listener"), "Attach Listener");
	assert_string_equal(whole("C2 CompilerThread0"), "C2 CompilerThread0");
	assert_string_equal(whole(""), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(those_of_hotspot_are_whole_again)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
