/* Stacks of a JVM that is asked instead of walked: a fake AsyncGetCallTrace. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fake_stack.h"

#define DISTANCE 640 /* of the JNIEnv in a JavaThread */

/* As forte.hpp has them. */
struct call_frame {
	int32_t lineno;
	void *method_id;
};
struct call_trace {
	void *env;
	int32_t num_frames;
	struct call_frame *frames;
};

static struct fake_jvm jvm;
static uintptr_t method[2], id[2];
static ucontext_t context;
static int32_t answer; /* frames the fake has to tell, or its error */
static unsigned asked;

/* Frame I: byte code index I, methods in turn; the last one is native. */
static void fake_agct(void *trace, int32_t depth, void *ucontext)
{
	struct call_trace *t = trace;
	int32_t i;

	asked++;
	assert_ptr_equal(ucontext, &context);
	assert_int_equal((uintptr_t)t->env, jvm.java_thread + DISTANCE);
	t->num_frames = answer < depth ? answer : depth;
	for (i = 0; i < t->num_frames; i++)
		t->frames[i] = (struct call_frame){i == answer - 1 ? -3 : i, (void *)&id[i & 1]};
}

static int set_up(void **state)
{
	stack_open_store();
	fake_open(&jvm, FAKE_OLD);
	method[0] = id[0] = fake_method(&jvm, "pkg/A", "alpha", "()V", 100);
	method[1] = id[1] = fake_method(&jvm, "pkg/B", "beta", "(I)I", 50);
	jvm.zone.has_jvm = false;
	jvm.zone.agct_env = DISTANCE;
	atomic_store(&jvm.zone.agct, fake_agct);
	asked = 0;
	return 0;
}

static int tear_down(void **state)
{
	fake_close(&jvm);
	stack_close_store();
	return 0;
}

/* From a pc that no image holds: the native walk ends at once, for want of a caller. */
static const struct walked *walk(void)
{
	static struct walked w;
	struct walk_regs r = {.pc = 0x5000, .sp = jvm.stack_low + 64, .all = &context};
	struct fake_stack s = {.jvm = &jvm, .pc = r.pc, .sp = r.sp};

	stack_walk(&jvm, &s, &r, &w);
	return &w;
}

static void frames_of_both(void **state)
{
	const struct walked *w;

	answer = 3;
	w = walk();
	assert_int_equal(asked, 1);
	assert_int_equal(w->count, 4);
	assert_true(w->root);
	assert_true(w->frame[0] == frame_pc(FRAME_NATIVE, 0x5000));
	assert_true(w->frame[1] == frame_java(FRAME_INTERPRETED, method[0], 0));
	assert_true(w->frame[2] == frame_java(FRAME_INTERPRETED, method[1], 1));
	assert_true(w->frame[3] == frame_java(FRAME_WRAPPER, method[0], FRAME_NO_BCI));
}

/* More frames than there is room at first: asked again with more, none is lost. */
static void deep(void **state)
{
	const struct walked *w;
	int32_t i;

	answer = 900;
	w = walk();
	assert_true(asked > 1);
	assert_int_equal(w->count, 901);
	assert_true(w->root);
	for (i = 0; i < answer - 1; i++)
		assert_true(w->frame[i + 1] ==
			    frame_java(FRAME_INTERPRETED, method[i & 1], (uint32_t)i));
}

/* And more than a stack may have: cut, and it says so. */
static void too_deep(void **state)
{
	const struct walked *w;

	answer = 1000000;
	w = walk();
	assert_false(w->root);
	assert_true(w->count > 500 && w->count <= jvm.zone.depth);
	assert_true(w->frame[w->count - 1] == frame_other(OTHER_END, END_truncated));
	assert_true(w->frame[1] == frame_java(FRAME_INTERPRETED, method[0], 0));
}

static void no_answer(void **state)
{
	const struct walked *w;

	answer = -5;
	w = walk();
	assert_false(w->root);
	assert_int_equal(w->count, 3);
	assert_true(w->frame[1] == frame_other(OTHER_END, END_bad_native));
	assert_true(w->frame[2] == frame_other(OTHER_END, END_no_answer));
	answer = 0;
	w = walk();
	assert_false(w->root);
	assert_int_equal(w->count, 2);
	assert_true(w->frame[1] == frame_other(OTHER_END, END_bad_native));
}

/* A method without an id, or with one that leads nowhere, is a frame that says so. */
static void no_id(void **state)
{
	const struct walked *w;

	answer = 3;
	id[1] = 0;
	w = walk();
	assert_int_equal(w->count, 4);
	assert_true(w->frame[2] == frame_other(OTHER_END, END_no_answer));
	assert_true(w->frame[1] == frame_java(FRAME_INTERPRETED, method[0], 0));
}

/* Only threads of the JVM, and only while it may be asked. */
static void not_asked(void **state)
{
	answer = 3;
	atomic_store(&jvm.record.java_thread, 0);
	assert_int_equal(walk()->count, 2);
	atomic_store(&jvm.record.java_thread, jvm.java_thread);
	atomic_store(&jvm.zone.agct, NULL);
	assert_int_equal(walk()->count, 2);
	assert_int_equal(asked, 0);
}

#define T(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {T(frames_of_both), T(deep), T(too_deep),
					   T(no_answer), T(no_id), T(not_asked)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
