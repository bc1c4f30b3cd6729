/* Names of classes that are made at run time, and of lambdas by what they call. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "profile/model/frame_name.h"
#include "profile/model/lasting_names.h"

static void classes(void **state)
{
	static const char *const names[][2] = {
		{"java/util/HashMap", NULL},
		{"demo/Order$Line", NULL},
		{"demo/OrderService$$Lambda$14+0x0000000800c03000", "demo/OrderService$$Lambda"},
		{"demo/OrderService$$Lambda$14.0x0000000800c03000", "demo/OrderService$$Lambda"},
		{"demo/OrderService$$Lambda/0x0000000800c03000", "demo/OrderService$$Lambda"},
		{"demo/OrderService$$Lambda$1/1234567", "demo/OrderService$$Lambda"},
		{"java/lang/invoke/LambdaForm$MH+0x00007f662c004000", "java/lang/invoke/LambdaForm$MH"},
		{"java/lang/invoke/LambdaForm$DMH/0x00007f662c004000", "java/lang/invoke/LambdaForm$DMH"},
		{"com/sun/proxy/$Proxy12", "com/sun/proxy/$Proxy"},
		{"jdk/proxy2/$Proxy7", "jdk/proxy/$Proxy"},
		{"$Proxy3", "$Proxy"},
		{"acme/proxy2/Client", NULL},
		{"acme/Http$Proxy2", NULL},
		{"jdk/internal/reflect/GeneratedMethodAccessor12", "jdk/internal/reflect/GeneratedMethodAccessor"},
		{"sun/reflect/GeneratedConstructorAccessor3", "sun/reflect/GeneratedConstructorAccessor"},
		{"sun/reflect/GeneratedSerializationConstructorAccessor1",
		 "sun/reflect/GeneratedSerializationConstructorAccessor"},
		{"acme/Shop$$FastClassByCGLIB$$1a2b3c4d", "acme/Shop$$FastClassByCGLIB"},
		{"acme/Shop$$EnhancerBySpringCGLIB$$7f$$FastClassBySpringCGLIB$$8e",
		 "acme/Shop$$EnhancerBySpringCGLIB$$FastClassBySpringCGLIB"},
		{"acme/Shop$$SpringCGLIB$$0", "acme/Shop$$SpringCGLIB"},
		{"acme/Shop$ByteBuddy$xK3aQ9Zp", "acme/Shop$ByteBuddy"},
		{"acme/Shop$MockitoMock$123456", "acme/Shop$MockitoMock"},
		{"acme/Order$HibernateProxy$aB3dE5gH", "acme/Order$HibernateProxy"},
		{"", NULL}, {"+", NULL}, {"+0x", NULL}, {"0x12", NULL}, {"/1", NULL}, {"$$Lambda$", NULL}, {"$Proxy", NULL},
	};
	char out[128];
	size_t i;

	for (i = 0; i < ARRAY_LEN(names); i++) {
		assert_int_equal(lasting_class_name(names[i][0], out), names[i][1] != NULL);
		assert_string_equal(out, names[i][1] ? names[i][1] : names[i][0]);
	}
}

enum { RUN, LAMBDA_RUN, OTHER_RUN, BODY, BOX, CALLED, UPPER, REFERENCE, ALONE, INIT, PARK, ACCESSOR, OBJECT, NULLS, NULL_BODY };

static const struct profile_frame frames[] = {
	[RUN] = {"java/lang/Thread", "run", "()V", NULL, 0, FRAME_C2},
	[LAMBDA_RUN] = {"demo/Orders$$Lambda$14+0x0000000800c03000", "run", "()V", NULL, 0, FRAME_C2},
	[OTHER_RUN] = {"demo/Orders$$Lambda$14+0x0000000800c03000", "run", "()V", NULL, 0, FRAME_INTERPRETED},
	[BODY] = {"demo/Orders", "lambda$keepJournal$3", "()V", NULL, 0, FRAME_C2},
	[BOX] = {"java/lang/Integer", "valueOf", "(I)", NULL, 0, FRAME_INLINED},
	[CALLED] = {"demo/Orders", "price", "()V", NULL, 0, FRAME_C2},
	[UPPER] = {"java/lang/String", "toUpperCase", "()V", NULL, 0, FRAME_C2},
	[REFERENCE] = {"demo/Orders$$Lambda/0x0000000800c04000", "apply", "()V", NULL, 0, FRAME_C2},
	[ALONE] = {"demo/Orders$$Lambda/0x0000000800c05000", "test", "()V", NULL, 0, FRAME_C2},
	[INIT] = {"demo/Orders$$Lambda/0x0000000800c05000", "<init>", "()V", NULL, 0, FRAME_C2},
	[PARK] = {NULL, "pthread_cond_wait", NULL, "libc.so.6", 0, FRAME_NATIVE},
	[ACCESSOR] = {"jdk/internal/reflect/GeneratedMethodAccessor7", "invoke", "()V", NULL, 0, FRAME_C2},
	[OBJECT] = {NULL, "demo.Orders$$Lambda/0x0000000800c05000", NULL, NULL, 0, FRAME_OTHER},
	[NULLS] = {"demo/Old$$Lambda$2/1234", "run", "()V", NULL, 0, FRAME_C2},
	[NULL_BODY] = {"demo/Old", "lambda$null$1", "()V", NULL, 0, FRAME_C2},
};

static void expect(const struct lasting_names *l, uint32_t frame, unsigned style, const char *name)
{
	struct buffer out = BUFFER_INIT;

	frame_name_put(&out, &l->profile.frames[frame], style);
	buffer_putc(&out, '\0');
	assert_string_equal(out.data, name);
	buffer_free(&out);
}

#define STACK(list, n) {.frames = list, .depth = ARRAY_LEN(list), .thread = PROFILE_NO_THREAD, .samples = n, .weight = n}

static void lambdas(void **state)
{
	static const uint32_t boxed[] = {RUN, LAMBDA_RUN, BOX}, called[] = {RUN, OTHER_RUN, CALLED};
	static const uint32_t body[] = {RUN, LAMBDA_RUN, BODY, PARK}, top[] = {RUN, OTHER_RUN};
	static const uint32_t boxes[] = {RUN, REFERENCE, BOX}, upper[] = {RUN, REFERENCE, UPPER};
	static const uint32_t own[] = {RUN, REFERENCE, CALLED}, alone[] = {RUN, ALONE, PARK}, init[] = {RUN, INIT, UPPER};
	static const uint32_t nulls[] = {RUN, NULLS, NULL_BODY};
	static const struct profile_stack stacks[] = {
		STACK(boxed, 90), STACK(called, 80), STACK(body, 1), STACK(top, 7), STACK(boxes, 50), STACK(upper, 20),
		STACK(own, 10), STACK(alone, 5), STACK(init, 5), STACK(nulls, 1),
	};
	const struct profile p = {.event = "cpu", .frames = frames, .frame_count = ARRAY_LEN(frames), .stacks = stacks,
				  .stack_count = ARRAY_LEN(stacks)};
	struct lasting_names l;

	assert_int_equal(lasting_names_build(&l, &p), 0);
	/* the body of the lambda says what it is, however rarely it is seen; and all kinds of its code are one name */
	expect(&l, LAMBDA_RUN, STYLE_TEXT, "demo.Orders$$Lambda → keepJournal");
	expect(&l, OTHER_RUN, STYLE_COLLAPSED, "demo/Orders$$Lambda → keepJournal");
	expect(&l, OTHER_RUN, STYLE_COLLAPSED | STYLE_SIMPLE | STYLE_SIGNATURES, "Orders$$Lambda → keepJournal");
	/* a method reference: what is seen most above it, but for boxing */
	expect(&l, REFERENCE, STYLE_JSON, "demo.Orders$$Lambda → String.toUpperCase");
	/* no stack tells; constructors stay what they are */
	expect(&l, ALONE, STYLE_TEXT, "demo.Orders$$Lambda.test");
	expect(&l, INIT, STYLE_TEXT, "demo.Orders$$Lambda.<init>");
	expect(&l, ACCESSOR, STYLE_TEXT, "jdk.internal.reflect.GeneratedMethodAccessor.invoke");
	expect(&l, OBJECT, STYLE_TEXT, "demo.Orders$$Lambda");
	expect(&l, NULLS, STYLE_TEXT, "demo.Old$$Lambda → lambda$null$1");
	expect(&l, BODY, STYLE_TEXT, "demo.Orders.lambda$keepJournal$3");
	assert_int_equal(l.profile.stack_count, p.stack_count);
	lasting_names_free(&l);
}

static void nothing(void **state)
{
	const struct profile p = {.event = "cpu"};
	struct lasting_names l;

	assert_int_equal(lasting_names_build(&l, &p), 0);
	lasting_names_free(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(classes), cmocka_unit_test(lambdas), cmocka_unit_test(nothing)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
