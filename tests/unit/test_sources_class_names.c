/*
 * Names of classes, read from a JVM's memory that is made up here, and asked of a JVMTI that counts its questions.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <jvmti.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/sources/class_names.h"
#include "agent/zone/zone.h"

/* A class: what a reference leads to. */
struct fake_class {
	struct fake_mirror *mirror;
	const char *signature; /* what JVMTI says */
};

struct fake_symbol {
	uint16_t length;
	char body[600];
};

struct fake_klass {
	uint64_t header[3];
	struct fake_symbol *name;
};

struct fake_mirror {
	uint64_t header[4];
	struct fake_klass *klass;
	struct fake_symbol symbol;
	struct fake_klass is;
};

static int asked, given_back;

static jvmtiError JNICALL get_signature(jvmtiEnv *ti, jclass class, char **signature, char **generic)
{
	(void)ti, (void)generic;
	asked++;
	*signature = strdup(((struct fake_class *)((uintptr_t)class & ~(uintptr_t)7))->signature);
	return *signature ? JVMTI_ERROR_NONE : JVMTI_ERROR_OUT_OF_MEMORY;
}

static jvmtiError JNICALL deallocate(jvmtiEnv *ti, unsigned char *memory)
{
	(void)ti;
	given_back++;
	free(memory);
	return JVMTI_ERROR_NONE;
}

static const struct jvmtiInterface_1_ functions = {.GetClassSignature = get_signature, .Deallocate = deallocate};
static jvmtiEnv environment = &functions, *const ti = &environment;

/* CLASS has NAME in the JVM's memory, and JVMTI spells it SIGNATURE. */
static jclass made(struct fake_class *class, struct fake_mirror *mirror, const char *name, const char *signature)
{
	memset(mirror, 0, sizeof(*mirror));
	mirror->klass = &mirror->is;
	mirror->is.name = &mirror->symbol;
	mirror->symbol.length = (uint16_t)strlen(name);
	memset(mirror->symbol.body, 'x', sizeof(mirror->symbol.body)); /* no zero ends it */
	memcpy(mirror->symbol.body, name, strlen(name));
	*class = (struct fake_class){.mirror = mirror, .signature = signature};
	return (jclass)class;
}

static const int32_t klass_at = offsetof(struct fake_mirror, klass);

static int setup(void **state)
{
	(void)state;
	zone.layout.mirror_klass = (uintptr_t)&klass_at;
	zone.layout.klass_name = offsetof(struct fake_klass, name);
	zone.layout.symbol_length = offsetof(struct fake_symbol, length);
	zone.layout.symbol_body = offsetof(struct fake_symbol, body);
	asked = given_back = 0;
	return class_names_open();
}

static int teardown(void **state)
{
	(void)state;
	class_names_release();
	return asked == given_back ? 0 : -1;
}

static void test_the_jvm_is_asked_once(void **state)
{
	struct fake_mirror mirrors[3];
	struct fake_class classes[3];
	const char *const is[3] = {"pkg/Order", "[Ljava/lang/String;", "[[B"};
	jclass order = made(&classes[0], &mirrors[0], is[0], "Lpkg/Order;");
	jclass strings = made(&classes[1], &mirrors[1], is[1], is[1]);
	jclass bytes = made(&classes[2], &mirrors[2], is[2], is[2]);
	uint32_t numbers[3] = {class_number_of_class(ti, order), class_number_of_class(ti, strings),
			       class_number_of_class(ti, bytes)};
	int i;

	(void)state;
	assert_int_equal(asked, 3);
	for (i = 0; i < 3; i++)
		assert_string_equal(class_name_of(numbers[i]), is[i]);
	for (i = 0; i < 1000; i++) {
		assert_int_equal(class_number_of_class(ti, order), numbers[0]);
		assert_int_equal(class_number_of_class(ti, strings), numbers[1]);
		assert_int_equal(class_number_of_class(ti, bytes), numbers[2]);
	}
	assert_int_equal(asked, 3);
}

/* An unloaded class's memory is another class's: its name is what is there now. */
static void test_memory_that_is_another_class_by_now(void **state)
{
	struct fake_mirror mirror;
	struct fake_class class;
	jclass c = made(&class, &mirror, "pkg/First", "Lpkg/First;");

	(void)state;
	assert_string_equal(class_name_of(class_number_of_class(ti, c)), "pkg/First");
	made(&class, &mirror, "pkg/Second", "Lpkg/Second;");
	assert_string_equal(class_name_of(class_number_of_class(ti, c)), "pkg/Second");
	made(&class, &mirror, "pkg/First", "Lpkg/First;");
	assert_string_equal(class_name_of(class_number_of_class(ti, c)), "pkg/First");
	assert_int_equal(asked, 2);
}

/* A hidden class has a '+' where JVMTI has a dot; a name without room; a reference with a tag. */
static void test_names_that_are_asked_for_each_time(void **state)
{
	char name[500], signature[502];
	struct fake_mirror mirror;
	struct fake_class class __attribute__((aligned(8)));
	jclass c = made(&class, &mirror, "pkg/Run$$Lambda+0x00007f0012345678", "Lpkg/Run$$Lambda.0x00007f0012345678;");
	const char *was;

	(void)state;
	class_number_of_class(ti, c);
	assert_string_equal(class_name_of(class_number_of_class(ti, c)), "pkg/Run$$Lambda.0x00007f0012345678");
	assert_int_equal(asked, 2);
	memset(name, 'n', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	snprintf(signature, sizeof(signature), "L%s;", name);
	c = made(&class, &mirror, name, signature);
	class_number_of_class(ti, c);
	was = class_name_of(class_number_of_class(ti, c));
	assert_true(strlen(was) > 200 && strncmp(was, name, strlen(was)) == 0);
	assert_int_equal(asked, 4);
	c = (jclass)((uintptr_t)made(&class, &mirror, "pkg/Global", "Lpkg/Global;") | 2);
	class_number_of_class(ti, c);
	assert_string_equal(class_name_of(class_number_of_class(ti, c)), "pkg/Global");
	assert_int_equal(asked, 6);
	assert_int_equal(class_number_of_class(ti, NULL), 0);
}

/* Nothing of it may fault: pointers that lead nowhere, a JVM that does not export the fields. */
static void test_memory_that_cannot_be_read(void **state)
{
	struct fake_mirror mirror;
	struct fake_class class;
	jclass c = made(&class, &mirror, "pkg/There", "Lpkg/There;");
	uint32_t number = class_number_of_class(ti, c);

	(void)state;
	mirror.is.name = (void *)16;
	assert_int_equal(class_number_of_class(ti, c), number);
	mirror.klass = (void *)16;
	assert_int_equal(class_number_of_class(ti, c), number);
	mirror.klass = NULL;
	assert_int_equal(class_number_of_class(ti, c), number);
	class.mirror = NULL;
	assert_int_equal(class_number_of_class(ti, c), number);
	zone.layout.mirror_klass = 0;
	assert_int_equal(class_number_of_class(ti, made(&class, &mirror, "pkg/There", "Lpkg/There;")), number);
	assert_int_equal(asked, 6);
}

/* Once what was read is not what the JVM says, nothing is read any more: the last of these tests, as that stays. */
static void test_a_jvm_with_other_names(void **state)
{
	struct fake_mirror mirror;
	struct fake_class class;
	jclass c = made(&class, &mirror, "pkg/Read", "Lpkg/Said;");

	(void)state;
	assert_string_equal(class_name_of(class_number_of_class(ti, c)), "pkg/Said");
	made(&class, &mirror, "pkg/Said", "Lpkg/Other;");
	assert_string_equal(class_name_of(class_number_of_class(ti, c)), "pkg/Other");
	assert_int_equal(asked, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_the_jvm_is_asked_once, setup, teardown),
		cmocka_unit_test_setup_teardown(test_memory_that_is_another_class_by_now, setup, teardown),
		cmocka_unit_test_setup_teardown(test_names_that_are_asked_for_each_time, setup, teardown),
		cmocka_unit_test_setup_teardown(test_memory_that_cannot_be_read, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_jvm_with_other_names, setup, teardown),
	};

	return cmocka_run_group_tests_name("class_names", tests, NULL, NULL);
}
