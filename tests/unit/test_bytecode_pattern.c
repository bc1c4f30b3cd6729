/* Patterns: which methods are meant. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "class_maker.h"
#include "common/bytecode/pattern.h"

struct row {
	const char *patterns, *excluded;
	const char *class, *method, *type;
	bool meant;
};

static const struct row rows[] = {
	/* classes */
	{"a.b.C", "", "a/b/C", "m", "()V", true},
	{"a/b/C", "", "a/b/C", "m", "()V", true},
	{"a.b.C", "", "a/b/C", "<init>", "()V", true},
	{"a.b.C", "", "a/b/CD", "m", "()V", false},
	{"a.b.C", "", "b/C", "m", "()V", false},
	{"a.b.C", "", "a/b/C$D", "m", "()V", false},
	{"a.b.C$D", "", "a/b/C$D", "m", "()V", true},
	{"C", "", "C", "m", "()V", true},
	/* methods */
	{"a.b.C.m", "", "a/b/C", "m", "()V", true},
	{"a.b.C::m", "", "a/b/C", "m", "()V", true},
	{"a.b.C.m", "", "a/b/C", "mm", "()V", false},
	{"a.b.C::m", "", "a/b/C/m", "x", "()V", false},
	{"a.b.C.m", "", "a/b/C/m", "x", "()V", true}, /* a class of that name is meant as well */
	{"a.b.C.<init>", "", "a/b/C", "<init>", "()V", true},
	{"a.b.C.get*", "", "a/b/C", "getName", "()V", true},
	{"a.b.C.get*", "", "a/b/C", "setName", "()V", false},
	/* signatures */
	{"C::m(II)J", "", "C", "m", "(II)J", true},
	{"C::m(II)J", "", "C", "m", "(II)I", false},
	{"C::m(II)", "", "C", "m", "(II)I", true},
	{"C::m(int,int)", "", "C", "m", "(II)I", true},
	{"C::m(int)", "", "C", "m", "(II)I", false},
	{"C::m()", "", "C", "m", "(I)V", false},
	{"C::m()", "", "C", "m", "()V", true},
	{"C.m(String,int[][])", "", "C", "m", "(Ljava/lang/String;[[I)V", true},
	{"C.m(java.lang.String,int[][])", "", "C", "m", "(Ljava/lang/String;[[I)V", true},
	{"C.m(String,int[])", "", "C", "m", "(Ljava/lang/String;[[I)V", false},
	{"C.m(tring)", "", "C", "m", "(Ljava/lang/String;)V", false},
	{"C.m(Map.Entry)", "", "C", "m", "(Ljava/util/Map$Entry;)V", true},
	{"C::m(Ljava/lang/String;I)V", "", "C", "m", "(Ljava/lang/String;I)V", true},
	{"C::m(Ljava/lang/String;I)V", "", "C", "m", "(Ljava/lang/String;J)V", false},
	{"X::y(Ljava/lang/String;)V;C::m(ILjava/util/Map;)Ljava/util/Map;", "", "C", "m",
	 "(ILjava/util/Map;)Ljava/util/Map;", true},
	{"C::m(int, String);X", "", "C", "m", "(ILjava/lang/String;)V", true},
	{"C::m(int, String);X", "", "X", "m", "()V", true},
	{"C.m(Entry)", "", "C", "m", "(Ljava/util/Map$Entry;)V", true},
	/* packages */
	{"a.b.*", "", "a/b/C", "m", "()V", true},
	{"a.b.*", "", "a/b/c/D", "m", "()V", false},
	{"a.b.**", "", "a/b/c/D", "m", "()V", true},
	{"a.b.**", "", "a/bb/D", "m", "()V", false},
	{"**", "", "a/b/C", "m", "()V", true},
	{"a.*", "", "a/b/C", "m", "()V", false},
	/* any class */
	{"*", "", "a/b/C", "m", "()V", true},
	{"*", "", "C", "m", "()V", true},
	{"*.*", "", "a/b/C", "m", "()V", true},
	{"*.*", "", "C", "m", "()V", true},
	{"*.<init>", "", "a/b/C", "<init>", "()V", true},
	{"*.<init>", "", "C", "<init>", "()V", true},
	{"*.<init>", "", "a/b/C", "m", "()V", false},
	{"*::m", "", "a/b/C", "m", "()V", true},
	{"*::m", "", "a/b/C", "n", "()V", false},
	{"**.m", "", "a/b/C", "m", "()V", true},
	{"**.m", "", "a/b/C", "n", "()V", false},
	{"a.*.C.m", "", "a/b/C", "m", "()V", true},
	{"a.*.**.m", "", "a/b/c/d/C", "m", "()V", true},
	{"a.**.x.*.m", "", "a/x/b/x/C", "m", "()V", true},
	{"*Service.**", "", "OrderService", "m", "()V", true},
	{"**Service", "", "a/OrderService", "m", "()V", true},
	/* several, and exclusions */
	{"X;a.b.C", "", "a/b/C", "m", "()V", true},
	{"X a.b.C", "", "a/b/C", "m", "()V", true},
	{"a.**", "a.b.C", "a/b/C", "m", "()V", false},
	{"a.**", "a.b.C.m", "a/b/C", "m", "()V", false},
	{"a.**", "a.b.C.m", "a/b/C", "n", "()V", true},
	{"a.**", "**.<init>", "a/b/C", "<init>", "()V", false},
	/* annotations: the class made here has @x.Marked */
	{"@x.Marked", "", "a/b/C", "m", "()V", true},
	{"@Marked", "", "a/b/C", "m", "()V", true},
	{"@y.Marked", "", "a/b/C", "m", "()V", false},
	{"@Mark", "", "a/b/C", "m", "()V", false},
	{"a.**", "@Marked", "a/b/C", "m", "()V", false},
};

static bool meant(const struct row *row)
{
	struct patterns p = {.annotations = false};
	struct class_maker k;
	struct class_file c;
	struct cursor at;
	struct member m;
	struct error err;
	struct text name;
	bool result;

	assert_int_equal(patterns_add(&p, row->patterns, false, &err), 0);
	assert_int_equal(patterns_add(&p, row->excluded, true, &err), 0);
	class_begin(&k, 52, row->class, "java/lang/Object");
	class_method(&k, 0x0001, row->method, row->type);
	class_code(&k, 1, 1, (const uint8_t[]){0xb1}, 1);
	class_annotate(&k, "Lx/Marked;");
	class_end(&k);
	assert_true(classfile_open(&c, (const uint8_t *)k.bytes.data, k.bytes.length));
	at = cursor_at(&c.file, c.methods);
	cursor_be16(&at);
	assert_true(member_next(&c, &at, &m));
	result = patterns_match(&p, &c, &m);
	/* a pattern that matches has a hit, even beside another one that does */
	if (result && !strpbrk(row->patterns, "; ") && !*row->excluded) {
		assert_int_equal(p.list.items[0].hits, 1);
		assert_int_equal(patterns_add(&p, row->patterns, false, &err), 0);
		assert_true(patterns_match(&p, &c, &m));
		assert_int_equal(p.list.items[0].hits, 2);
		assert_int_equal(p.list.items[1].hits, 1);
	}
	assert_true(classfile_name(&c, c.this_class, &name));
	/* a class that has such a method is looked at */
	assert_true(!result || patterns_touch(&p, &name, true));
	classfile_close(&c);
	class_free(&k);
	patterns_free(&p);
	return result;
}

static void every_form(void **state)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++) {
		if (meant(&rows[i]) != rows[i].meant)
			fail_msg("%s (but %s) and %s.%s%s: %s", rows[i].patterns, rows[i].excluded, rows[i].class,
				 rows[i].method, rows[i].type, rows[i].meant ? "not matched" : "matched");
	}
}

static void classes_that_cannot_match_are_not_touched(void **state)
{
	static const struct {
		const char *patterns, *class;
		bool touched;
	} classes[] = {
		{"a.b.C", "a/b/C", true},      {"a.b.C", "a/b/D", false},   {"a.b.C.m", "a/b/C", true},
		{"a.b.C.m", "a/b/D", false},   {"a.b.*", "a/b/C", true},    {"a.b.*", "a/c/C", false},
		{"a.**", "a/b/c/D", true},     {"@Any", "a/b/C", true},     {"a.b.C::m(I)", "a/b/C", true},
		{"a.b.C::m", "a/b/C/m", false}, {"**.m", "any/Class", true}, {"a.b.C", "a/bb", false},
		{"a.b.C", "a/b", true}, /* its method C */
	};
	struct error err;
	size_t i;

	for (i = 0; i < ARRAY_LEN(classes); i++) {
		struct text name = {classes[i].class, (uint16_t)strlen(classes[i].class)};
		struct patterns p = {.annotations = false};

		assert_int_equal(patterns_add(&p, classes[i].patterns, false, &err), 0);
		if (patterns_touch(&p, &name, true) != classes[i].touched)
			fail_msg("%s and class %s", classes[i].patterns, classes[i].class);
		patterns_free(&p);
	}
}

static void nonsense_is_refused(void **state)
{
	static const char *const wrong[] = {".", "a..b", "a.b.", "::m", "C::m(I", "@A::m", "@A(I)", "*.*.*.*.*"};
	struct error err;
	size_t i;

	for (i = 0; i < ARRAY_LEN(wrong); i++) {
		struct patterns p = {.annotations = false};

		if (patterns_add(&p, wrong[i], false, &err) >= 0)
			fail_msg("%s was taken", wrong[i]);
		assert_non_null(strstr(err.text, "pattern"));
		patterns_free(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_form),
		cmocka_unit_test(classes_that_cannot_match_are_not_touched),
		cmocka_unit_test(nonsense_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
