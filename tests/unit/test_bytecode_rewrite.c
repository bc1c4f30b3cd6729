/* Rewriting class files: what is put in, what follows, and damaged classes that stay as they were. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "class_maker.h"
#include "common/bytecode/rewrite.h"

#define IRETURN 0xac
#define RETURN 0xb1
#define NOP 0x00
#define ILOAD_0 0x1a
#define ICONST_0 0x03
#define IFEQ 0x99
#define GOTO 0xa7
#define ATHROW 0xbf
#define ALOAD_0 0x2a
#define INVOKESPECIAL 0xb7
#define INVOKESTATIC 0xb8

static const struct rewrite_probes probes = {
	.class = "java/lang/JstrobeProbe", .enter = "enter", .enter_if = "enterIf", .leave = "leave", .leave_if = "leaveIf", .again = "again",
	.sleep = "sleep"};
static uint32_t first_id;
static enum skip last_skip;

static bool choose_all(void *data, const struct rewrite_method *m, uint32_t *id)
{
	*id = first_id++;
	return true;
}

static void note_skip(void *data, const struct rewrite_method *m, uint32_t id, enum skip why)
{
	last_skip = why;
}

static const struct rewrite all = {.probes = &probes, .choose = choose_all, .skipped = note_skip};

/* A rewritten class, opened, at its only method's code. */
struct rewritten {
	struct buffer bytes;
	struct class_file file;
	unsigned max_stack, max_locals;
	const uint8_t *code;
	uint32_t length;
	struct cursor handlers, attributes;
	unsigned handler_count, attribute_count;
};

static void open_rewritten(struct rewritten *r, struct class_maker *k)
{
	struct cursor at, code;
	struct attribute a;
	struct member m;
	enum skip why;

	class_end(k);
	memset(r, 0, sizeof(*r));
	r->bytes.fd = -1;
	last_skip = SKIP_NONE;
	assert_int_equal(rewrite_class((const uint8_t *)k->bytes.data, k->bytes.length, &all, &r->bytes, &why), 1);
	assert_int_equal(why, SKIP_NONE);
	assert_int_equal(last_skip, SKIP_NONE);
	assert_true(classfile_open(&r->file, (const uint8_t *)r->bytes.data, r->bytes.length));
	at = cursor_at(&r->file.file, r->file.methods);
	assert_int_equal(cursor_be16(&at), 1);
	assert_true(member_next(&r->file, &at, &m));
	at = m.attributes;
	assert_true(attribute_next(&r->file, &at, &a));
	assert_true(text_is(&a.name, "Code"));
	r->max_stack = cursor_be16(&a.body);
	r->max_locals = cursor_be16(&a.body);
	code = cursor_cut(&a.body, cursor_be32(&a.body));
	r->code = code.at;
	r->length = (uint32_t)cursor_left(&code);
	r->handler_count = cursor_be16(&a.body);
	r->handlers = cursor_cut(&a.body, 8 * r->handler_count);
	r->attribute_count = cursor_be16(&a.body);
	r->attributes = a.body;
	assert_false(a.body.failed);
}

static void close_rewritten(struct rewritten *r, struct class_maker *k)
{
	classfile_close(&r->file);
	buffer_free(&r->bytes);
	class_free(k);
}

/* The body of the code attribute NAME. */
static struct cursor attribute(struct rewritten *r, const char *name)
{
	struct cursor at = r->attributes;
	struct attribute a;
	unsigned i;

	for (i = 0; i < r->attribute_count && attribute_next(&r->file, &at, &a); i++)
		if (text_is(&a.name, name))
			return a.body;
	fail_msg("no attribute %s", name);
	return at;
}

static void assert_calls(const struct rewritten *r, uint32_t pc, const char *name)
{
	struct text method, type;

	assert_true(pc + 3 <= r->length);
	assert_int_equal(r->code[pc], INVOKESTATIC);
	assert_true(classfile_reference(&r->file, (uint16_t)(r->code[pc + 1] << 8 | r->code[pc + 2]), &method, &type));
	assert_true(text_is(&method, name));
}

static void begin(struct class_maker *k, unsigned major, unsigned access, const char *name, const char *type)
{
	first_id = 1;
	class_begin(k, major, "a/B", "java/lang/Object");
	class_method(k, access, name, type);
}

static void entry_and_exit(void **state)
{
	static const uint8_t code[] = {ILOAD_0, IRETURN};
	struct class_maker k;
	struct rewritten r;

	begin(&k, 52, 0x0009, "m", "(I)I");
	class_code(&k, 1, 1, code, sizeof(code));
	first_id = 7;
	open_rewritten(&r, &k);
	/* sipush 7; invokestatic enter; lstore_1; iload_0; lload_1; invokestatic leave; ireturn */
	assert_int_equal(r.length, 3 + 3 + 1 + 1 + 1 + 3 + 1);
	assert_memory_equal(r.code, "\x11\x00\x07", 3);
	assert_calls(&r, 3, "enter");
	assert_int_equal(r.code[6], 0x40);
	assert_int_equal(r.code[7], ILOAD_0);
	assert_int_equal(r.code[8], 0x1f);
	assert_calls(&r, 9, "leave");
	assert_int_equal(r.code[12], IRETURN);
	/* nothing in it throws, so no handler is needed */
	assert_int_equal(r.handler_count, 0);
	assert_int_equal(r.max_locals, 3);
	assert_true(r.max_stack >= 3);
	close_rewritten(&r, &k);
}

static void numbers_beyond_a_short_are_constants(void **state)
{
	static const uint8_t code[] = {RETURN};
	struct cursor at;
	struct class_maker k;
	struct rewritten r;

	begin(&k, 52, 0x0009, "m", "()V");
	class_code(&k, 0, 0, code, sizeof(code));
	first_id = 100000;
	open_rewritten(&r, &k);
	assert_int_equal(r.code[0], 0x12); /* ldc */
	at = classfile_constant(&r.file, r.code[1], CONSTANT_INTEGER);
	assert_int_equal(cursor_be32(&at), 100000);
	assert_false(at.failed);
	close_rewritten(&r, &k);
}

static void what_throws_is_caught_last(void **state)
{
	/* the method's own handler covers the call; ours covers all, behind it */
	static const uint8_t frames[] = {0, 1, 64 + 4, 7, 0, 4}; /* one: same locals, one item on the stack, at 4 */
	uint8_t code[] = {INVOKESTATIC, 0, 0, RETURN, 0x57, RETURN};
	struct class_maker k;
	struct rewritten r;
	struct cursor at;
	unsigned method;

	begin(&k, 52, 0x0009, "m", "()V");
	method = class_methodref(&k, "a/C", "n", "()V");
	code[1] = (uint8_t)(method >> 8);
	code[2] = (uint8_t)method;
	class_code(&k, 1, 0, code, sizeof(code));
	class_handler(&k, 0, 3, 4);
	class_code_attribute(&k, "StackMapTable", frames, sizeof(frames));
	open_rewritten(&r, &k);
	/* 7 entry, 3 call, 4 leave, 1 return, 7 again, 1 pop, 4 leave, 1 return, handler: 4 leave, 1 athrow */
	assert_int_equal(r.length, 33);
	assert_calls(&r, 19, "again");
	assert_int_equal(r.code[32], ATHROW);
	assert_int_equal(r.handler_count, 2);
	assert_int_equal(cursor_be16(&r.handlers), 7);
	assert_int_equal(cursor_be16(&r.handlers), 10);
	assert_int_equal(cursor_be16(&r.handlers), 15);
	assert_int_equal(cursor_be16(&r.handlers), 0);
	assert_int_equal(cursor_be16(&r.handlers), 7);
	assert_int_equal(cursor_be16(&r.handlers), 28);
	assert_int_equal(cursor_be16(&r.handlers), 28);
	assert_int_equal(cursor_be16(&r.handlers), 0);
	/* frames: at 15, full, local 0 the probe's long; at 28 ours */
	at = attribute(&r, "StackMapTable");
	assert_int_equal(cursor_be16(&at), 2);
	assert_int_equal(cursor_u8(&at), 255);
	assert_int_equal(cursor_be16(&at), 15);
	assert_int_equal(cursor_be16(&at), 1);
	assert_int_equal(cursor_u8(&at), 4);
	assert_int_equal(cursor_be16(&at), 1);
	assert_int_equal(cursor_u8(&at), 7);
	assert_int_equal(cursor_be16(&at), 4);
	assert_int_equal(cursor_u8(&at), 255);
	assert_int_equal(cursor_be16(&at), 28 - 15 - 1);
	close_rewritten(&r, &k);
}

static void tables_follow_the_code(void **state)
{
	static const uint8_t code[] = {NOP, NOP, RETURN};
	static const uint8_t lines[] = {0, 2, 0, 0, 0, 10, 0, 2, 0, 11};
	static const uint8_t variables[] = {0, 2, 0, 0, 0, 3, 0, 1, 0, 1, 0, 0, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0};
	struct class_maker k;
	struct rewritten r;
	struct cursor at;

	begin(&k, 52, 0x0009, "m", "(I)V");
	class_code(&k, 0, 1, code, sizeof(code));
	class_code_attribute(&k, "LineNumberTable", lines, sizeof(lines));
	class_code_attribute(&k, "LocalVariableTable", variables, sizeof(variables));
	class_code_attribute(&k, "Unknown", (const uint8_t *)"xyz", 3);
	open_rewritten(&r, &k);
	at = attribute(&r, "LineNumberTable");
	assert_int_equal(cursor_be16(&at), 2);
	assert_int_equal(cursor_be16(&at), 0); /* the entry belongs to the first line */
	assert_int_equal(cursor_be16(&at), 10);
	assert_int_equal(cursor_be16(&at), 9); /* and the exit to the return's */
	assert_int_equal(cursor_be16(&at), 11);
	at = attribute(&r, "LocalVariableTable");
	assert_int_equal(cursor_be16(&at), 2);
	assert_int_equal(cursor_be16(&at), 0);
	assert_int_equal(cursor_be16(&at), r.length);
	cursor_skip(&at, 6);
	assert_int_equal(cursor_be16(&at), 8);
	assert_int_equal(cursor_be16(&at), 1);
	at = attribute(&r, "Unknown");
	assert_int_equal(cursor_left(&at), 3);
	assert_memory_equal(at.at, "xyz", 3);
	close_rewritten(&r, &k);
}

/* A jump over SIZE bytes, forth and, with BACK, from behind them to the begin. */
static void jump_over(struct class_maker *k, uint8_t op, uint32_t size)
{
	uint8_t *code = calloc(1, size + 4);
	uint8_t frame[] = {0, 1, 251, (uint8_t)((size + 3) >> 8), (uint8_t)(size + 3)};

	begin(k, 52, 0x0009, "m", "()V");
	code[0] = op;
	code[1] = (uint8_t)((size + 3) >> 8);
	code[2] = (uint8_t)(size + 3);
	code[size + 3] = RETURN;
	class_code(k, 1, 0, code, size + 4);
	class_code_attribute(k, "StackMapTable", frame, sizeof(frame));
	free(code);
}

static void far_jumps_get_their_wide_form(void **state)
{
	struct class_maker k;
	struct rewritten r;
	uint32_t size;

	/* lengths at the border: the exit's probe is jumped to, not over, so 32767 stays near */
	for (size = 32760; size < 32764; size++) {
		jump_over(&k, GOTO, size);
		open_rewritten(&r, &k);
		assert_int_equal(r.code[7], GOTO);
		assert_int_equal((int16_t)(r.code[8] << 8 | r.code[9]), size + 3);
		close_rewritten(&r, &k);
	}
}

static void a_jump_over_exits_that_becomes_too_far_is_wide(void **state)
{
	/* goto over 32,000 bytes, 300 of them returns */
	uint32_t size = 32700, i;
	uint8_t *code = calloc(1, size + 4);
	struct class_maker k;
	struct rewritten r;

	begin(&k, 49, 0x0009, "m", "()V");
	code[0] = GOTO;
	code[1] = (uint8_t)((size + 3) >> 8);
	code[2] = (uint8_t)(size + 3);
	for (i = 0; i < 300; i++)
		code[100 + i] = RETURN;
	code[size + 3] = RETURN;
	class_code(&k, 1, 0, code, size + 4);
	free(code);
	open_rewritten(&r, &k);
	assert_int_equal(r.code[7], 0xc8);
	assert_int_equal((r.code[8] << 24 | r.code[9] << 16 | r.code[10] << 8 | r.code[11]), size + 5 + 300 * 4);
	close_rewritten(&r, &k);
}

/* `if` over 32,700 bytes, 300 of them returns from byte 100 on; a handler of the method's own around all that. */
static void far_if(struct class_maker *k, uint32_t size, unsigned handler)
{
	uint8_t *code = calloc(1, size + 4);
	/* same locals at: 101 (behind the first return), the target, and the handler with its exception */
	uint8_t frames[] = {0, 2, 251, 0, 101, 251, (uint8_t)((size + 4 - 102) >> 8), (uint8_t)(size + 4 - 102)};

	begin(k, 52, 0x0009, "m", "(I)V");
	code[0] = ILOAD_0;
	code[1] = IFEQ;
	code[2] = (uint8_t)((size + 3) >> 8);
	code[3] = (uint8_t)(size + 3);
	memset(code + 100, RETURN, 300);
	code[size + 3] = NOP;
	code = realloc(code, size + 6);
	code[size + 4] = handler ? RETURN : NOP;
	code[size + 5] = RETURN;
	class_code(k, 1, 1, code, size + 6);
	if (handler)
		class_handler(k, 0, handler, size + 4);
	class_code_attribute(k, "StackMapTable", frames, sizeof(frames));
	free(code);
}

static uint32_t number(const uint8_t *at, unsigned bytes)
{
	return bytes == 2 ? (uint32_t)(int16_t)(at[0] << 8 | at[1])
			  : (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* It goes to a goto_w behind the first return, whose frame is the target's, and which no handler covers. */
static void an_if_that_becomes_too_far_goes_by_a_bridge(void **state)
{
	uint32_t size = 32700, bridge, target;
	struct class_maker k;
	struct rewritten r;
	struct cursor at;

	far_if(&k, size, size);
	open_rewritten(&r, &k);
	/* 7 entry, iload_0, 3 the if; the first return at 100 takes 1 + 4 */
	assert_int_equal(r.code[8], IFEQ);
	bridge = 8 + number(r.code + 9, 2);
	assert_int_equal(bridge, 7 + 100 + 5);
	assert_int_equal(r.code[bridge], 0xc8);
	target = bridge + number(r.code + bridge + 1, 4);
	assert_int_equal(target, 7 + size + 4 + 5 + 300 * 4);
	at = attribute(&r, "StackMapTable");
	assert_int_equal(cursor_be16(&at), 3);
	assert_int_equal(cursor_u8(&at), 255);
	assert_int_equal(cursor_be16(&at), bridge);
	cursor_skip(&at, 6); /* int and long; no stack */
	assert_int_equal(cursor_u8(&at), 255);
	assert_int_equal(cursor_be16(&at), 4); /* 5 behind it: where 101 is now */
	/* the method's own handler, in two parts; nothing throws, so none of ours */
	assert_int_equal(r.handler_count, 2);
	assert_int_equal(cursor_be16(&r.handlers), 7);
	assert_int_equal(cursor_be16(&r.handlers), bridge);
	cursor_skip(&r.handlers, 4);
	assert_int_equal(cursor_be16(&r.handlers), bridge + 5);
	assert_int_equal(cursor_be16(&r.handlers), 7 + size + 5 + 300 * 4);
	close_rewritten(&r, &k);
}

static void switches_are_padded_anew(void **state)
{
	/* iload_0; tableswitch 0..1 → 24, 25, default 26; nop ... */
	static const uint8_t code[] = {ILOAD_0, 0xaa, 0, 0, 0, 0, 0, 25, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 23, 0, 0, 0, 24,
				       NOP, NOP, RETURN};
	struct class_maker k;
	struct rewritten r;

	begin(&k, 49, 0x0009, "m", "(I)V");
	class_code(&k, 1, 1, code, sizeof(code));
	open_rewritten(&r, &k);
	/* it stands at 8 now and is padded by 3 */
	assert_int_equal(r.code[8], 0xaa);
	assert_memory_equal(r.code + 9, "\0\0\0", 3);
	assert_memory_equal(r.code + 12, "\0\0\0\x1a\0\0\0\0\0\0\0\1\0\0\0\x18\0\0\0\x19", 20);
	assert_int_equal(r.code[32], NOP);
	close_rewritten(&r, &k);
}

static void constructors_have_two_handlers(void **state)
{
	/* invokestatic; pop-less; aload_0; invokespecial <init>; invokestatic; return */
	uint8_t code[] = {INVOKESTATIC, 0, 0, ALOAD_0, INVOKESPECIAL, 0, 0, INVOKESTATIC, 0, 0, RETURN};
	struct class_maker k;
	struct rewritten r;
	struct cursor at;
	unsigned helper, super;

	begin(&k, 52, 0x0001, "<init>", "()V");
	helper = class_methodref(&k, "a/C", "n", "()V");
	super = class_methodref(&k, "java/lang/Object", "<init>", "()V");
	code[1] = code[8] = (uint8_t)(helper >> 8);
	code[2] = code[9] = (uint8_t)helper;
	code[5] = (uint8_t)(super >> 8);
	code[6] = (uint8_t)super;
	class_code(&k, 1, 1, code, sizeof(code));
	open_rewritten(&r, &k);
	assert_int_equal(r.handler_count, 2);
	/* up to the call of super, not with it */
	assert_int_equal(cursor_be16(&r.handlers), 7);
	assert_int_equal(cursor_be16(&r.handlers), 7 + 4);
	assert_int_equal(cursor_be16(&r.handlers), r.length - 10);
	cursor_skip(&r.handlers, 2);
	/* from behind it */
	assert_int_equal(cursor_be16(&r.handlers), 7 + 7);
	assert_int_equal(cursor_be16(&r.handlers), r.length - 10);
	assert_int_equal(cursor_be16(&r.handlers), r.length - 5);
	/* the first one's frame has an uninitialised `this`, the second's nothing */
	at = attribute(&r, "StackMapTable");
	assert_int_equal(cursor_be16(&at), 2);
	cursor_skip(&at, 5);
	assert_int_equal(cursor_u8(&at), 6);
	assert_int_equal(cursor_u8(&at), 4);
	cursor_skip(&at, 5 + 5);
	assert_int_equal(cursor_u8(&at), 0);
	assert_int_equal(cursor_u8(&at), 4);
	close_rewritten(&r, &k);
}

static void what_cannot_be_is_skipped_with_its_reason(void **state)
{
	static const uint8_t code[] = {RETURN};
	struct buffer out = BUFFER_INIT;
	struct class_maker k;
	uint8_t *longest = calloc(1, 65535);
	enum skip why;
	static const struct {
		unsigned access;
		bool code;
		uint32_t length, locals;
		enum skip skip;
	} rows[] = {
		{0x0101, false, 0, 0, SKIP_NATIVE},
		{0x0401, false, 0, 0, SKIP_ABSTRACT},
		{0x0009, false, 0, 0, SKIP_DAMAGED},
		{0x0009, true, 65535, 0, SKIP_TOO_LONG},
		{0x0009, true, 8000, 0, SKIP_TOO_LONG_TO_COMPILE},
		{0x0009, true, 1, 65534, SKIP_TOO_MANY_LOCALS},
	};
	size_t i;

	longest[7999] = longest[65534] = RETURN;
	for (i = 0; i < ARRAY_LEN(rows); i++) {
		begin(&k, 52, rows[i].access, "m", "()V");
		if (rows[i].code)
			class_code(&k, 1, rows[i].locals, rows[i].length > 1 ? longest : code, rows[i].length);
		class_end(&k);
		last_skip = SKIP_NONE;
		assert_int_equal(rewrite_class((const uint8_t *)k.bytes.data, k.bytes.length, &all, &out, &why), 0);
		assert_int_equal(last_skip, rows[i].skip);
		assert_int_equal(out.length, 0);
		class_free(&k);
	}
	free(longest);
	buffer_free(&out);
}

/* Every cut of a class, and every byte of it changed: no crash, and what was not touched stays. */
static void damaged_classes(void **state)
{
	static const uint8_t code[] = {ILOAD_0, IFEQ, 0, 4, NOP, RETURN};
	static const uint8_t frames[] = {0, 1, 5};
	struct class_maker k;
	uint8_t *copy;
	size_t i;

	begin(&k, 52, 0x0009, "m", "(I)V");
	class_code(&k, 1, 1, code, sizeof(code));
	class_code_attribute(&k, "StackMapTable", frames, sizeof(frames));
	class_end(&k);
	for (i = 0; i < k.bytes.length; i++) {
		struct buffer out = BUFFER_INIT;
		enum skip why;

		copy = malloc(i + 1);
		memcpy(copy, k.bytes.data, i);
		assert_int_equal(rewrite_class(copy, i, &all, &out, &why), 0);
		assert_int_equal(out.length, 0);
		free(copy);
		copy = malloc(k.bytes.length);
		memcpy(copy, k.bytes.data, k.bytes.length);
		copy[i] ^= 0xff;
		if (!rewrite_class(copy, k.bytes.length, &all, &out, &why))
			assert_int_equal(out.length, 0);
		free(copy);
		buffer_free(&out);
	}
	class_free(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entry_and_exit),
		cmocka_unit_test(numbers_beyond_a_short_are_constants),
		cmocka_unit_test(what_throws_is_caught_last),
		cmocka_unit_test(tables_follow_the_code),
		cmocka_unit_test(far_jumps_get_their_wide_form),
		cmocka_unit_test(a_jump_over_exits_that_becomes_too_far_is_wide),
		cmocka_unit_test(an_if_that_becomes_too_far_goes_by_a_bridge),
		cmocka_unit_test(switches_are_padded_anew),
		cmocka_unit_test(constructors_have_two_handlers),
		cmocka_unit_test(what_cannot_be_is_skipped_with_its_reason),
		cmocka_unit_test(damaged_classes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
