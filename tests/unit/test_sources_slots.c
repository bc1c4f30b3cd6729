/* What a walk from outside depends on is in the words that slots compare: each word of made stacks is changed in turn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "agent/hooks/faults.h"
#include "agent/sources/wall/wall.h"
#include "fake_stack.h"

static struct fake_jvm jvm;
static struct wall_slots slots;
static struct stack_store store;
static uintptr_t anchor[3]; /* sp, fp, pc as the fake JVM notes them */

struct method_identities {
	uint32_t length;
	uint64_t frame[64];
};

static void walk(struct method_identities *s)
{
	struct stack_chunk chunk = {0};
	struct stack_trace_writer w;

	assert_true(stack_trace_begin(&w, &store, &chunk, 64));
	s->length = walk_outside(&jvm.zone, &jvm.record, &w) ? (uint32_t)(w.pos - w.trace->frame) : 0;
	memcpy(s->frame, w.trace->frame, s->length * sizeof(*s->frame));
	atomic_store(&store.arena[0].used, 0); /* the next one lies where this one did */
}

/* The stack as it stands, with what the JVM and the kernel would leave above and below. */
static void make(enum fake_shape shape, struct fake_stack *s)
{
	struct fake_code code = {.level = 4, .frame_words = 6, .frame_complete = 9, .pcs = {{30, 2}, {64, 1}}};
	uintptr_t interpreted, compiled;
	struct error err;

	assert_int_equal(faults_install(&err), 0); /* in each test: cmocka puts its own before */
	fake_open(&jvm, shape);
	assert_int_equal(stack_store_open(&store, 16u << 20, &err), 0);
	interpreted = fake_method(&jvm, "pkg/A", "alpha", "()V", 100);
	code.method = fake_method(&jvm, "pkg/B", "beta", "()V", 50);
	code.scopes[0] = (struct fake_scope){0, code.method, 11};
	code.scopes[1] = (struct fake_scope){0, code.method, 22};
	compiled = fake_nmethod(&jvm, &code);
	stack_begin(s, &jvm);
	stack_interpreted(s, interpreted, 7, 3);
	stack_compiled(s, compiled + 64, 6);
	stack_compiled(s, compiled + 30, 6);
	stack_interpreted(s, interpreted, 9, 1);
	stack_interpreted(s, interpreted, 20, 0);
	stack_reenter(s, false);
	stack_compiled(s, compiled + 64, 6);
	stack_interpreted(s, interpreted, 55, 2);
	stack_compiled(s, compiled + 30, 6);
	stack_native(s, 0x10, 16);
	memcpy(anchor, fake_at(jvm.java_thread + 512), sizeof(anchor));
	atomic_store(&jvm.zone.layout.code_ready, true);
	zone.layout = jvm.zone.layout;
}

static void unmake(void)
{
	stack_store_close(&store);
	fake_close(&jvm);
	faults_remove();
}

static bool note(void)
{
	return wall_slots_note(&slots, anchor[0], anchor[2], anchor[1], jvm.stack_high);
}

static void each_word(void **state)
{
	enum fake_shape shape;

	for (shape = 0; shape < FAKE_SHAPES; shape++) {
		uint32_t missed = 0, free_words = 0, followed = 0;
		struct method_identities whole, other;
		struct fake_stack s;
		uintptr_t at;

		make(shape, &s);
		walk(&whole);
		assert_int_equal(whole.length, 8);
		assert_true(note());
		assert_true(wall_slots_hold(&slots));
		for (at = anchor[0]; at < jvm.stack_high; at += 8) {
			uint64_t was = *fake_at(at), others[] = {0, was + 8, was - 8, ~was, *fake_at(at + 8), anchor[2]};
			bool holds = true, matters = false;
			size_t i;

			for (i = 0; i < ARRAY_LEN(others); i++) {
				if (others[i] == was)
					continue;
				*fake_at(at) = others[i];
				walk(&other);
				matters |= other.length != whole.length ||
					   memcmp(other.frame, whole.frame, whole.length * sizeof(*whole.frame)) != 0;
				holds &= wall_slots_hold(&slots);
				*fake_at(at) = was;
			}
			missed += matters && holds;
			free_words += holds;
			followed += matters;
		}
		assert_true(wall_slots_hold(&slots));
		if (missed || followed < 20 || !free_words)
			fail_msg("shape %d: %u of %u words that matter are not compared, %u words are free", shape,
				 missed, followed, free_words);
		unmake();
	}
}

/* What the garbage collector may write is no move: an object in the word where a compiled method keeps it. */
static void objects(void **state)
{
	struct fake_stack s;
	uint32_t i;

	make(FAKE_YOUNG, &s);
	assert_true(note());
	for (i = 0; i < 6; i++) {
		uint64_t *word = fake_at(anchor[0] + 8 * i);
		uint64_t was = *word;

		if (i == 4)
			assert_int_equal(was & 7, 0); /* its caller's frame pointer */
		if (i < 4) {
			*word = 0x7f00dead0000;
			assert_true(wall_slots_hold(&slots));
			*word = was;
		}
	}
	unmake();
}

/* Too deep, no end known, unreadable: nothing is noted, and nothing holds. */
static void refused(void **state)
{
	uintptr_t method;
	struct fake_stack s;
	uint32_t i;

	make(FAKE_OLD, &s);
	assert_false(wall_slots_note(&slots, anchor[0], anchor[2], anchor[1], 0));
	assert_false(wall_slots_hold(&slots));
	assert_false(wall_slots_note(&slots, anchor[0] + 1, anchor[2], anchor[1], jvm.stack_high));
	assert_false(wall_slots_note(&slots, 0x1000, anchor[2], anchor[1], 0x3000));
	method = fake_method(&jvm, "pkg/C", "gamma", "()V", 10);
	for (i = 0; i < WALL_SLOTS / 4; i++)
		stack_interpreted(&s, method, 1, 0);
	assert_false(wall_slots_note(&slots, s.sp, s.pc, s.fp, jvm.stack_high));
	assert_false(wall_slots_hold(&slots));
	unmake();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_word),
		cmocka_unit_test(objects),
		cmocka_unit_test(refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
