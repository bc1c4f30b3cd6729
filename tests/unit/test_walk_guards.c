/*
 * Places in compiled code that only guards tell: the code that C2 of 17 made of
 *
 *     root(i): mid(i) + 1    mid(i): leaf(i * 40503)    leaf(i): four reads of an array that depend on each other
 *
 * without DebugNonSafepoints, as it was in the code cache. Two places are described, calls of the uncommon trap.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "agent/hooks/faults.h"
#include "agent/walk/guards.h"
#include "agent/zone/zone.h"
#include "common/base/error.h"
#include "fake_stack.h"

static const uint8_t root_code[] = {
	0x89, 0x84, 0x24, 0x00, 0xc0, 0xfe, 0xff,                   /*  0 stack bang */
	0x55, 0x48, 0x83, 0xec, 0x20,                               /*  7 push rbp; sub rsp, 32 */
	0x49, 0xba, 0xd0, 0x84, 0xc1, 0x9e, 0x06, 0x00, 0x00, 0x00, /*  c mov r10, class */
	0x45, 0x8b, 0x42, 0x70,                                     /* 16 mov r8d, [r10 + 112] */
	0x47, 0x8b, 0x5c, 0xc4, 0x0c,                               /* 1a mov r11d, [r12 + r8*8 + 12]: faults for null */
	0x41, 0x8b, 0xcb, 0xff, 0xc9, 0x69, 0xfe, 0x37, 0x9e, 0x00, 0x00, 0x8b, 0xef, 0x23, 0xe9, /* 1f */
	0x45, 0x85, 0xdb, 0x76, 0x65,                               /* 2e test r11d, r11d; jbe 98: length 0 */
	0x4b, 0x8d, 0x14, 0xc4, 0x44, 0x8b, 0x54, 0xaa, 0x10, 0x44, 0x8b, 0xc7, 0x41, 0xc1, 0xe0, 0x03, 0x44, 0x2b,
	0xc7, 0x45, 0x8b, 0xda, 0x41, 0xc1, 0xe3, 0x05, 0x45, 0x2b, 0xda, 0x44, 0x03, 0xdf, 0x44, 0x23, 0xd9, 0x46,
	0x8b, 0x5c, 0x9a, 0x10, 0x44, 0x8b, 0xcf, 0x41, 0xd1, 0xe1, 0x44, 0x03, 0xcf, 0x41, 0x8b, 0xdb, 0xc1, 0xe3,
	0x04, 0x41, 0x03, 0xdb, 0x41, 0x03, 0xd8, 0x23, 0xd9, 0x44, 0x6b, 0x5c, 0x9a, 0x10, 0x0d, 0x45, 0x03, 0xd9,
	0x44, 0x23, 0xd9, 0x42, 0x8b, 0x44, 0x9a, 0x10, 0xff, 0xc0, /* 83 inc eax */
	0x48, 0x83, 0xc4, 0x20, 0x5d,                               /* 85 add rsp, 32; pop rbp */
	0x49, 0x3b, 0xa7, 0x40, 0x03, 0x00, 0x00, 0x0f, 0x87, 0x25, 0x00, 0x00, 0x00, 0xc3, /* 8a poll; ret */
	0xbe, 0xe4, 0xff, 0xff, 0xff, 0x44, 0x89, 0x04, 0x24, 0x89, 0x7c, 0x24, 0x04, 0x89, 0x4c, 0x24, 0x08,
	0x66, 0x90, 0xe8, 0, 0, 0, 0,                               /* ab call the trap */
	0xbe, 0xf6, 0xff, 0xff, 0xff, 0x66, 0x90, 0xe8, 0, 0, 0, 0, /* b7 call the trap: null */
	0xf4, 0xf4, 0xf4, 0xf4,
};
enum { FRAME_STANDS = 0xc, FAULTS = 0x1a, BRANCH = 0x31, BEHIND = 0x33, LAST_READ = 0x7e, EPILOGUE = 0x85, RANGE_TRAP = 0xb0,
       NULL_TRAP = 0xbc };

static struct fake_jvm jvm;
static uintptr_t leaf, mid, root, caller, code;

/* What is called where a check fails, by NAME; EXTRA places are described that a compiler without the flag leaves out. */
static void make(const char *name, uint32_t extra, bool null_table)
{
	const struct fake_code made = {
		.method = root, .level = 4, .frame_words = 6, .frame_complete = FRAME_STANDS, .bytes = root_code,
		.byte_count = sizeof(root_code), .scopes = {{0, root, 1}, {1, mid, 4}, {2, leaf, 13}, {2, leaf, 3}},
		.pcs = {{RANGE_TRAP, 3}, {NULL_TRAP, 4}},
	};
	uintptr_t stub = fake_stub(&jvm, 6, -1, NULL, 0), blob, maps = fake_room(&jvm, 8);
	const uint32_t table[] = {1, FAULTS, RANGE_TRAP};
	struct layout *l = &jvm.zone.layout;
	int32_t to;

	code = fake_nmethod(&jvm, &made);
	blob = fake_blob_of(&jvm, code);
	to = (int32_t)(stub - (code + RANGE_TRAP));
	memcpy((void *)(code + RANGE_TRAP - 4), &to, 4);
	to = (int32_t)(stub - (code + NULL_TRAP));
	memcpy((void *)(code + NULL_TRAP - 4), &to, 4);
	*fake_at(fake_blob_of(&jvm, stub) + (uintptr_t)l->blob_name) = (uintptr_t)name;
	/* Free places of the fake's headers. */
	l->blob_oop_maps = 40;
	l->oop_map_count = 0;
	l->nmethod_null_checks = null_table ? 92 : -1;
	l->nmethod_null_checks_width = 2;
	*fake_at(blob + 40) = maps;
	*fake_at(maps) = 2 - extra;
	*(uint16_t *)(blob + 92) = 16;
	memcpy((void *)(*fake_at(blob + (uintptr_t)l->nmethod_immutable) + 16), table, sizeof(table));
}

static void open_jvm(void)
{
	fake_open(&jvm, FAKE_YOUNG);
	caller = fake_method(&jvm, "pkg/A", "main", "()V", 100);
	root = fake_method(&jvm, "pkg/A", "root", "(I)I", 50);
	mid = fake_method(&jvm, "pkg/A", "mid", "(I)I", 50);
	leaf = fake_method(&jvm, "pkg/A", "leaf", "(I)I", 50);
}

static int set_up(void **state)
{
	stack_open_store();
	open_jvm();
	return 0;
}

static int tear_down(void **state)
{
	fake_close(&jvm);
	stack_close_store();
	return 0;
}

static struct walked w;

/* Walk from the instruction at offset AT, where the frame stands. */
static void walk_at(uint32_t at)
{
	struct fake_stack s;
	struct error err;
	uintptr_t ret;

	stack_begin(&s, &jvm);
	stack_interpreted(&s, caller, 1, 0);
	*fake_at(ret = s.sp - 8) = s.pc;
	*fake_at(ret - 8) = s.fp;
	s = (struct fake_stack){&jvm, code + at, ret - 40, s.fp};
	assert_int_equal(faults_install(&err), 0);
	stack_walk(&jvm, &s, NULL, &w);
	faults_remove();
}

static void expect_leaf(uint32_t at, uint32_t bci)
{
	walk_at(at);
	if (!w.root || w.count != 4 || w.frame[0] != frame_java(FRAME_INLINED, leaf, bci) ||
	    w.frame[1] != frame_java(FRAME_INLINED, mid, 4) || w.frame[2] != frame_java(FRAME_C2, root, 1))
		fail_msg("at +%x: root %d, %u frames, %llx", at, w.root, w.count, (unsigned long long)w.frame[0]);
}

static void expect_root(uint32_t at)
{
	walk_at(at);
	if (!w.root || w.count != 2 || w.frame[0] != frame_java(FRAME_C2, root, FRAME_NO_BCI))
		fail_msg("at +%x: root %d, %u frames, %llx", at, w.root, w.count, (unsigned long long)w.frame[0]);
}

static void guards_tell(void **state)
{
	static const uint8_t body[] = {0x33, 0x37, 0x3c, 0x43, 0x53, 0x56, 0x5b, 0x67, 0x72, 0x78, 0x7b, LAST_READ, 0x83};
	size_t i;

	make("UncommonTrapBlob", 0, true);
	expect_leaf(FAULTS, 3);
	expect_leaf(0x2e, 13);
	expect_leaf(BRANCH, 13);
	for (i = 0; i < sizeof(body); i++)
		expect_leaf(body[i], 13);
	expect_root(EPILOGUE);
}

/* The names that slow paths have had, and those of calls. */
static void by_their_names(void **state)
{
	static const struct {
		const char *name;
		bool guard;
	} stubs[] = {
		{"C1 Runtime throw_range_check_failed_blob", true}, {"throw_range_check_failed Runtime1 stub", true},
		{"C2 Runtime new_instance", true}, {"_new_instance_Java", true}, {"UncommonTrapBlob", true},
		{"resolve_static_call", false}, {"Shared Runtime resolve_opt_virtual_call_blob", false},
		{"vtable chunks", false}, {"", false},
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(stubs); i++) {
		make(stubs[i].name, 0, true);
		if (stubs[i].guard)
			expect_leaf(BEHIND, 13);
		else
			expect_root(BEHIND);
	}
}

/* With DebugNonSafepoints what is described next counts; before the first place that may be far away. */
static void dense_code_is_left_alone(void **state)
{
	make("UncommonTrapBlob", 1, true);
	expect_root(BEHIND);
}

static struct guarded find_from(uint32_t at, bool is_return, bool *found)
{
	struct debug_info d;
	struct guarded g = {0, false, 0, 0};
	struct error err;
	struct blob b;

	assert_int_equal(faults_install(&err), 0);
	assert_true(code_blob_read(&jvm.zone.layout, fake_blob_of(&jvm, code), &b));
	assert_true(decode_info(&jvm.zone.layout, b.address, &d));
	assert_true(decode_is_sparse(&jvm.zone.layout, &d, b.address));
	*found = guards_find(&jvm.zone.layout, &b, &d, code + at, is_return, &g);
	faults_remove();
	return g;
}

static struct guarded find(uint32_t at, bool *found)
{
	return find_from(at, false, found);
}

/* What is not known is said; and what one look has found is true of the instructions around, too. */
static void how_sure(void **state)
{
	struct guarded g;
	bool found;

	make("UncommonTrapBlob", 0, true);
	g = find(0x2e, &found);
	assert_true(found && !g.unsure);
	assert_true(g.first == code + 0x2e && g.last == code + BRANCH);
	g = find(0x5b, &found);
	assert_true(found && g.unsure); /* the method itself may have begun again */
	assert_true(g.first == code + BEHIND && g.last == code + 0x5b);
	g = find(EPILOGUE, &found);
	assert_true(found && !g.unsure && g.scope == 0);
	/* Without the table only the branch tells. */
	make("UncommonTrapBlob", 0, false);
	g = find(FAULTS, &found);
	assert_true(found && g.unsure);
	/* Nothing at all from its beginning to its end: the method itself. */
	make("vtable chunks", 0, true);
	g = find(0x5b, &found);
	assert_true(found && !g.unsure && g.scope == 0);
}

/* root's loop: i++; poll; call a leaf routine; the method that is inlined behind it has a check. */
static const uint8_t loop_code[] = {
	0x89, 0x84, 0x24, 0x00, 0xc0, 0xfe, 0xff, 0x55, 0x48, 0x83, 0xec, 0x20,
	0xff, 0xc3, 0x85, 0x03,                   /*  c inc ebx; test [rbx], eax: the poll */
	0xe8, 0, 0, 0, 0,                         /* 10 call */
	0x48, 0x3b, 0xc1, 0x7c, 0xf2,             /* 15 cmp rax, rcx; jl c */
	0x45, 0x85, 0xdb, 0x76, 0x06,             /* 1a test r11d, r11d; jbe 25 */
	0x48, 0x83, 0xc4, 0x20, 0x5d, 0xc3,       /* 1f add rsp, 32; pop rbp; ret */
	0xbe, 0xe4, 0xff, 0xff, 0xff, 0xe8, 0, 0, 0, 0, /* 25 call the trap */
	0xf4, 0xf4, 0xf4, 0xf4,
};
enum { POLL = 0xe, LEAF_CALL = 0x10, LEAF_RETURN = 0x15, LOOP_TRAP = 0x2f };

static void make_loop(bool poll)
{
	const struct fake_code made = {
		.method = root, .level = 4, .frame_words = 6, .frame_complete = FRAME_STANDS, .bytes = loop_code,
		.byte_count = sizeof(loop_code), .scopes = {{0, root, 1}, {1, mid, 4}, {2, leaf, 13}},
		.pcs = {{poll ? POLL : LOOP_TRAP, poll ? 1 : 3}, {poll ? LOOP_TRAP : 0, poll ? 3 : 0}},
	};
	uintptr_t stub = fake_stub(&jvm, 6, -1, NULL, 0), maps = fake_room(&jvm, 8);
	struct layout *l = &jvm.zone.layout;
	int32_t to;

	code = fake_nmethod(&jvm, &made);
	memcpy((void *)code, loop_code, sizeof(loop_code)); /* no call before the poll */
	to = (int32_t)(stub - (code + LOOP_TRAP));
	memcpy((void *)(code + LOOP_TRAP - 4), &to, 4);
	*fake_at(fake_blob_of(&jvm, stub) + (uintptr_t)l->blob_name) = (uintptr_t)"UncommonTrapBlob";
	l->blob_oop_maps = 40;
	l->oop_map_count = 0;
	l->nmethod_null_checks = -1;
	*fake_at(fake_blob_of(&jvm, code) + 40) = maps;
	*fake_at(maps) = 2;
}

static bool is_root(uint32_t scope)
{
	struct debug_info d;

	return decode_info(&jvm.zone.layout, fake_blob_of(&jvm, code), &d) &&
	       decode_same_methods(&jvm.zone.layout, &d, scope, 0);
}

/* A leaf routine's call belongs to the loop that it is in, not to what is behind that; or it is said. */
static void leaf_calls(void **state)
{
	static const uint8_t calls[][5] = {
		{0xe8, 0, 0, 0, 0}, {0x90, 0x90, 0x41, 0xff, 0xd2}, {0x90, 0x90, 0x90, 0xff, 0xd0},
	};
	struct guarded g;
	bool found;
	size_t i;

	for (i = 0; i < ARRAY_LEN(calls); i++) {
		make_loop(true);
		memcpy((void *)(code + LEAF_CALL), calls[i], sizeof(calls[i]));
		g = find_from(LEAF_RETURN, true, &found);
		assert_true(found && is_root(g.scope) && !g.unsure);
		make_loop(false);
		memcpy((void *)(code + LEAF_CALL), calls[i], sizeof(calls[i]));
		g = find_from(LEAF_RETURN, true, &found);
		assert_true(found && !is_root(g.scope) && g.unsure);
	}
	make_loop(true);
	memset((void *)(code + LEAF_CALL), 0x90, 5);
	find_from(LEAF_RETURN, true, &found);
	assert_false(found);
}

/* Whatever the table, the code and the descriptions say: no end without limit, no load that kills. */
static void damaged(void **state)
{
	uint32_t seed = 1, n;
	uintptr_t immutable;
	bool found;

	for (n = 0; n < 3000; n++) {
		if (n % 40 == 0) {
			fake_close(&jvm);
			open_jvm();
		}
		make("UncommonTrapBlob", 0, true);
		immutable = *fake_at(fake_blob_of(&jvm, code) + (uintptr_t)jvm.zone.layout.nmethod_immutable);
		seed = seed * 1664525 + 1013904223;
		((uint8_t *)code)[(seed >> 8) % sizeof(root_code)] = (uint8_t)(seed >> 24);
		((uint8_t *)immutable)[16 + (seed >> 4) % 60] ^= (uint8_t)(seed >> 16);
		find_from(FRAME_STANDS + (seed >> 12) % (EPILOGUE - FRAME_STANDS), n & 1, &found);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(guards_tell, set_up, tear_down),
		cmocka_unit_test_setup_teardown(by_their_names, set_up, tear_down),
		cmocka_unit_test_setup_teardown(dense_code_is_left_alone, set_up, tear_down),
		cmocka_unit_test_setup_teardown(how_sure, set_up, tear_down),
		cmocka_unit_test_setup_teardown(leaf_calls, set_up, tear_down),
		cmocka_unit_test_setup_teardown(damaged, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
