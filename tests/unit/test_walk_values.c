/*
 * Methods that take value objects (JDK 28): two entries, one of which makes room for fields, and a word in the frame
 * that says how large it is. Each instruction of them, from both entries, and as callers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "agent/hooks/faults.h"
#include "agent/zone/zone.h"
#include "common/base/error.h"
#include "fake_stack.h"

static struct fake_jvm jvm;
static struct walked w;
static uintptr_t a, b;

static int set_up(void **state)
{
	struct decode_cache *cache = test_calloc(1, sizeof(*cache) + 65536);

	stack_open_store();
	fake_open(&jvm, FAKE_YOUNG);
	cache->size = 65536;
	atomic_store(&jvm.zone.cache, cache);
	a = fake_method(&jvm, "pkg/A", "alpha", "()V", 100);
	b = fake_method(&jvm, "pkg/B", "beta", "(I)I", 50);
	return 0;
}

static int tear_down(void **state)
{
	test_free(atomic_load(&jvm.zone.cache));
	fake_close(&jvm);
	stack_close_store();
	return 0;
}

/* What an instruction does; N is its amount. */
enum does {
	NOTHING,
	PUSH_FP, /* push rbp */
	POP_FP,  /* pop rbp */
	LOWER,   /* sub rsp, N */
	RAISE,   /* add rsp, N */
	SAVE_FP, /* mov [rsp + N], rbp */
	PUT,     /* mov qword [rsp + AT], N */
	GROW,    /* add rsp, [rsp + N] */
	CLOBBER, /* mov rbp, rax */
	CALL,    /* which has returned */
	JUMP,    /* N instructions further than the next */
	RETURN,
};

struct act {
	enum does does;
	uint32_t n, at;
};

#define STEPS 48
struct program {
	struct act step[STEPS];
	unsigned count;
	unsigned pointers, fields, stands; /* the entries' first steps, and that from which on the frame stands */
};

static void put(struct program *p, enum does does, uint32_t n, uint32_t at)
{
	assert_true(p->count < STEPS);
	p->step[p->count++] = (struct act){does, n, at};
}

/* As verified_entry() makes it, of SIZE bytes below the caller's fp; ROOM below it was made. Small: without a bang. */
static void put_frame(struct program *p, uint32_t size, uint32_t room, bool small)
{
	if (small) {
		put(p, LOWER, size + 8, 0);
		put(p, SAVE_FP, size, 0);
	} else {
		put(p, NOTHING, 0, 0);
		put(p, PUSH_FP, 0, 0);
		put(p, LOWER, size, 0);
	}
	put(p, PUT, size + room, size - 8);
}

/* C2's code of a method with a frame of SIZE + 16 bytes, whose first entry makes ROOM. */
static void make(struct program *p, uint32_t size, uint32_t room, bool small)
{
	*p = (struct program){0};
	put_frame(p, size, 0, small); /* for the entry barrier */
	put(p, NOTHING, 0, 0);
	put(p, RAISE, size, 0);
	put(p, POP_FP, 0, 0);
	put(p, PUSH_FP, 0, 0);
	put(p, LOWER, room - 8, 0);
	put(p, NOTHING, 0, 0);
	put_frame(p, size, room, true);
	put(p, JUMP, small ? 4 : 5, 0);
	p->fields = p->count;
	put_frame(p, size, 0, small);
	put(p, NOTHING, 0, 0);
	p->stands = p->count;
	put(p, CLOBBER, 0, 0);
	put(p, CALL, 0, 0);
	put(p, NOTHING, 0, 0);
	put(p, GROW, size - 8, 0);
	put(p, POP_FP, 0, 0);
	put(p, NOTHING, 0, 0);
	put(p, RETURN, 0, 0);
}

/* ---- its machine code ---- */

static unsigned with_number(uint8_t *to, const void *code, unsigned n, uint32_t number)
{
	memcpy(to, code, n);
	memcpy(to + n, &number, 4);
	return n + 4;
}

/* The instruction of S at TO; JUMP: how far it jumps. */
static unsigned assemble(const struct act *s, uint32_t jump, uint8_t *to)
{
	static const uint8_t simple[][4] = {[PUSH_FP] = {1, 0x55}, [POP_FP] = {1, 0x5d},
					    [CLOBBER] = {3, 0x48, 0x89, 0xc5}, [RETURN] = {1, 0xc3}};
	bool near = (s->does == PUT ? s->at : s->n) < 128;
	unsigned n;

	switch (s->does) {
	case NOTHING: return with_number(to, "\x8b\x84\x24", 3, 8); /* mov eax, [rsp + 8] */
	case LOWER: return with_number(to, "\x48\x81\xec", 3, s->n);
	case RAISE: return with_number(to, "\x48\x81\xc4", 3, s->n);
	case CALL: return with_number(to, "\xe8", 1, 4);
	case JUMP: return with_number(to, "\xe9", 1, jump);
	case SAVE_FP: n = with_number(to, near ? "\x48\x89\x6c\x24" : "\x48\x89\xac\x24", 4, s->n); return near ? 5 : n;
	case GROW: n = with_number(to, near ? "\x48\x03\x64\x24" : "\x48\x03\xa4\x24", 4, s->n); return near ? 5 : n;
	case PUT:
		n = with_number(to, near ? "\x48\xc7\x44\x24" : "\x48\xc7\x84\x24", 4, s->at);
		return with_number(to, to, near ? 5 : n, s->n);
	default: memcpy(to, simple[s->does] + 1, simple[s->does][0]); return simple[s->does][0];
	}
}

/* How far step I jumps, once all offsets are known. */
static uint32_t jump(const struct program *p, const uint32_t *offset, unsigned i, bool known)
{
	return p->step[i].does == JUMP && known ? offset[i + 1 + p->step[i].n] - offset[i + 1] : 0;
}

/* The method of P, and where each of its steps begins. */
static uintptr_t compile(const struct program *p, uint32_t size, uint32_t *offset)
{
	struct fake_code code = {.method = b, .level = 4, .frame_words = size / 8 + 2, .scopes = {{0, b, 11}}};
	uint8_t bytes[512];
	unsigned i, pass;

	memset(bytes, 0x90, sizeof(bytes));
	for (pass = 0; pass < 2; pass++) {
		offset[0] = 0;
		for (i = 0; i < p->count; i++)
			offset[i + 1] = offset[i] + assemble(&p->step[i], jump(p, offset, i, pass), bytes + offset[i]);
	}
	code.frame_complete = (int)offset[p->stands];
	code.entry = offset[p->fields];
	code.pcs[0] = (struct fake_pc){(int)offset[p->stands + 2], 1};
	code.pcs[1] = (struct fake_pc){500, 1};
	code.bytes = bytes;
	code.byte_count = offset[p->count];
	code.size = 512;
	return fake_nmethod(&jvm, &code);
}

/* ---- running it ---- */

static unsigned execute(struct fake_stack *s, const struct act *i, unsigned next)
{
	switch (i->does) {
	case PUSH_FP: *fake_at(s->sp -= 8) = s->fp; break;
	case POP_FP: s->fp = *fake_at(s->sp); s->sp += 8; break;
	case LOWER: s->sp -= i->n; break;
	case RAISE: s->sp += i->n; break;
	case SAVE_FP: *fake_at(s->sp + i->n) = s->fp; break;
	case PUT: *fake_at(s->sp + i->at) = i->n; break;
	case GROW: s->sp += *fake_at(s->sp + i->n); break;
	case CLOBBER: s->fp = 0x42; break;
	case JUMP: return next + i->n;
	default: break;
	}
	return next;
}

static void walk(const struct fake_stack *s)
{
	struct error err;

	assert_int_equal(faults_install(&err), 0);
	stack_walk(&jvm, s, NULL, &w);
	faults_remove();
}

/* Interpreted code with a full expression stack has called. */
static void begin(struct fake_stack *s)
{
	unsigned n;

	stack_begin(s, &jvm);
	stack_interpreted(s, a, 1, 0);
	for (n = 0; n < 200; n++) /* what earlier calls left lies below */
		*fake_at(s->sp - 8 * n) = s->pc;
	*fake_at(s->sp -= 8) = s->pc;
}

static void from_entry(const struct program *p, uintptr_t code, const uint32_t *offset, unsigned entry)
{
	struct fake_stack s;
	unsigned i, round;

	for (round = 0; round < 2; round++) { /* as read, and as remembered */
		begin(&s);
		for (i = entry; i < p->count;) {
			s.pc = code + offset[i];
			walk(&s);
			if (!w.root || w.count != 2 || w.frame[0] >> 16 != frame_java(FRAME_C2, b, 0) >> 16 ||
			    w.frame[1] != frame_java(FRAME_INTERPRETED, a, 1))
				fail_msg("entry %u, step %u, round %u: root %d, %u frames: %llx", entry, i, round,
					 w.root, w.count, (unsigned long long)w.frame[w.count - 1]);
			i = execute(&s, &p->step[i], i + 1);
		}
	}
}

static const struct {
	uint32_t size, room;
	bool small;
} all[] = {
	{16, 32, true}, {32, 48, false}, {112, 16, true}, {128, 256, false}, {144, 1040, true},
	{1024, 32, false}, {1024, 2032, false},
};

static void each_instruction(void **state)
{
	uint32_t offset[STEPS + 1];
	struct program p;
	uintptr_t code;
	size_t i;

	for (i = 0; i < ARRAY_LEN(all); i++) {
		make(&p, all[i].size, all[i].room, all[i].small);
		code = compile(&p, all[i].size, offset);
		from_entry(&p, code, offset, p.pointers);
		from_entry(&p, code, offset, p.fields);
	}
}

/* P runs from ENTRY up to where it calls. */
static void call_in(struct fake_stack *s, const struct program *p, uintptr_t code, const uint32_t *offset,
		    unsigned entry)
{
	unsigned i;

	for (i = entry; i != p->stands + 2;)
		i = execute(s, &p->step[i], i + 1);
	*fake_at(s->sp -= 8) = s->pc = code + offset[p->stands + 2];
}

/* It calls itself, by the one entry and the other in turn. */
static void callers(void **state)
{
	uint32_t offset[STEPS + 1];
	struct fake_stack s;
	struct program p;
	uintptr_t code;
	unsigned n, i, round;

	make(&p, 64, 80, false);
	code = compile(&p, 64, offset);
	for (round = 0; round < 16; round++) {
		begin(&s);
		for (n = 0; n < 12; n++) /* varied: no two rounds have the same order */
			call_in(&s, &p, code, offset, (n >> (round & 3) ^ round >> 2) & 1 ? p.pointers : p.fields);
		s.sp += 8;
		s.pc = code + offset[p.stands + 2];
		walk(&s);
		assert_true(w.root);
		assert_int_equal(w.count, 13);
		for (i = 0; i < 12; i++)
			assert_true(w.frame[i] >> 16 == frame_java(FRAME_C2, b, 0) >> 16);
		assert_true(w.frame[12] == frame_java(FRAME_INTERPRETED, a, 1));
	}
}

/* A size word that cannot be ends the walk by name, at the innermost frame as further up. */
static void hostile(void **state)
{
	static const uint64_t sizes[] = {0, 8, 63, 71, 64 + FRAME_ROOM_MAX + 8, UINT64_MAX,
					 (uint64_t)INT64_MIN, 1ull << 32};
	uint32_t offset[STEPS + 1];
	struct fake_stack s;
	struct program p;
	uintptr_t code;
	unsigned i, inner;

	make(&p, 64, 80, false);
	code = compile(&p, 64, offset);
	for (i = 0; i < ARRAY_LEN(sizes); i++) {
		for (inner = 0; inner < 2; inner++) {
			begin(&s);
			call_in(&s, &p, code, offset, p.pointers);
			*fake_at(s.sp + 8 + 56) = sizes[i];
			if (inner)
				call_in(&s, &p, code, offset, p.fields);
			s.sp += 8;
			s.pc = code + offset[p.stands + 2];
			walk(&s);
			if (w.root || w.count != 2 + inner ||
			    w.frame[1 + inner] != frame_other(OTHER_END, END_bad_compiled))
				fail_msg("size %llx, %u: root %d, %u frames", (unsigned long long)sizes[i], inner,
					 w.root, w.count);
		}
	}
}

/* Only that very number in that very place makes a word the frame's size. */
static void other_code(void **state)
{
	struct act step = {PUT, 64, 56};
	struct fake_code code = {.method = b, .level = 4, .frame_words = 10, .scopes = {{0, b, 11}}, .pcs = {{60, 1}}};
	uint8_t bytes[32];
	struct blob blob;
	uintptr_t made;
	int n, at;

	for (n = -16; n <= 16; n += 8) {
		for (at = -16; at <= 16; at += 8) {
			step.n = (uint32_t)(64 + n);
			step.at = (uint32_t)(56 + at);
			memset(bytes, 0x90, sizeof(bytes));
			code.byte_count = assemble(&step, 0, bytes);
			code.frame_complete = (int)code.byte_count + 4;
			code.bytes = bytes;
			made = fake_blob_of(&jvm, fake_nmethod(&jvm, &code));
			assert_true(code_blob_read(&jvm.zone.layout, made, &blob));
			assert_int_equal(frame_own_size(&jvm.zone.layout, &blob), n || at ? 0 : 64);
		}
	}
}

#define T(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {T(each_instruction), T(callers), T(hostile), T(other_code)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
