/* What the hook knows of the classes and methods that it gives probes to. The JVM is a fake here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "agent/tracing/trace_classes.h"
#include "class_maker.h"

#define NATIVE 0x0108 /* static native */
#define STATIC 0x0008
#define RETURN 0xb1

static jvmtiError JNICALL allocate(jvmtiEnv *ti, jlong size, unsigned char **bytes)
{
	*bytes = malloc((size_t)size);
	return JVMTI_ERROR_NONE;
}

static jvmtiError JNICALL set_mode(jvmtiEnv *ti, jvmtiEventMode mode, jvmtiEvent event, jthread thread, ...)
{
	return JVMTI_ERROR_NONE;
}

static struct jvmtiInterface_1_ ti_calls = {
	.Allocate = allocate, .SetEventNotificationMode = set_mode,
};
static jvmtiEnv ti = &ti_calls;

static struct text text_of(const char *text)
{
	return (struct text){text, (uint16_t)strlen(text)};
}

/* Load class NAME with the methods a()V and b()V, and with c()V, of which there is no code. */
static void load(const char *name)
{
	static const uint8_t code[] = {RETURN};
	struct class_maker k;
	unsigned char *bytes = NULL;
	jint size = 0;

	class_begin(&k, 52, name, "java/lang/Object");
	class_method(&k, STATIC, "a", "()V");
	class_code(&k, 0, 0, code, sizeof(code));
	class_method(&k, STATIC, "b", "()V");
	class_code(&k, 0, 0, code, sizeof(code));
	class_method(&k, NATIVE, "c", "()V");
	class_end(&k);
	trace_classes_load(&ti, NULL, NULL, NULL, name, NULL, (jint)k.bytes.length, (unsigned char *)k.bytes.data, &size,
			   &bytes);
	assert_non_null(bytes);
	free(bytes);
	class_free(&k);
}

static int64_t find(const struct trace_classes *c, const char *class_name, const char *name, const char *type)
{
	struct text of = text_of(class_name), named = text_of(name), typed = text_of(type);

	return trace_classes_find(c, &of, &named, &typed);
}

static void each_has_its_number(void **state)
{
	struct trace_classes c = {.timing = TREE_EXACT, .jdk = 17, .first = 1};
	struct error err;
	int64_t i;

	assert_int_equal(patterns_add(&c.patterns, "p.*", false, &err), 0);
	trace_classes_begin(&ti, &c);
	load("p/A");
	load("p/B");
	load("p/A"); /* by another class loader, or again */
	trace_classes_end(&ti);
	assert_int_equal(c.class_count, 2);
	assert_int_equal(c.methods.count, 4);
	assert_int_equal(c.skipped.count, 2);
	assert_string_equal(strings_get(&c.texts, c.skipped.items[1].name), "p.B.c()V");
	for (i = 0; i < 4; i++) {
		const struct trace_method *m = &c.methods.items[i];

		assert_int_equal(find(&c, i < 2 ? "p/A" : "p/B", i & 1 ? "b" : "a", "()V"), i);
		assert_string_equal(strings_get(&c.texts, m->class_name), i < 2 ? "p.A" : "p.B");
		assert_string_equal(strings_get(&c.texts, m->name), i & 1 ? "b" : "a");
	}
	assert_int_equal(find(&c, "p/A", "a", "(I)V"), -1);
	assert_int_equal(find(&c, "p/C", "a", "()V"), -1);
	trace_classes_loading_over(&ti);
	trace_classes_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(each_has_its_number)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
