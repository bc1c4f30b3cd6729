#include "thumb.h"

/* BITS bits of WORD from bit FROM on, as a signed number. */
static int32_t field(uint32_t word, unsigned from, unsigned bits)
{
	return (int32_t)(word << (32 - from - bits)) >> (32 - bits);
}

static void go(struct thumb *t, enum thumb_does does, uint32_t target)
{
	t->does = (uint8_t)does;
	t->target = target;
}

/* Register TO becomes FROM and AMOUNT. */
static void add(struct thumb *t, unsigned to, unsigned from, int32_t amount)
{
	t->amount = amount;
	if (to == THUMB_SP)
		t->does = from == THUMB_SP ? THUMB_SP_ADD : from == THUMB_BASE ? THUMB_SP_BASE : THUMB_SP_LOST;
	else if (to == THUMB_BASE && (from == THUMB_SP || from == THUMB_BASE))
		t->does = from == THUMB_SP ? THUMB_BASE_SP : THUMB_BASE_ADD;
}

/* REGISTERS are stored below sp, or loaded from it on; it moves by BYTES. */
static void stack(struct thumb *t, bool load, uint32_t registers, int32_t bytes)
{
	t->does = load ? THUMB_POP : THUMB_PUSH;
	t->registers = (uint16_t)registers;
	t->amount = bytes;
	t->leaves = load && registers & 1u << THUMB_PC;
}

/* A constant of BYTES at TARGET. */
static void literal(struct thumb *t, uint32_t target, int32_t bytes)
{
	go(t, THUMB_LITERAL, target);
	t->amount = bytes;
}

/* Instructions on all registers: add, mov, bx, blx. */
static void high_register(uint32_t h, struct thumb *t)
{
	unsigned to = (h >> 4 & 8) | (h & 7), from = h >> 3 & 15;

	switch (h >> 8 & 3) {
	case 0: /* add */
		if (to == THUMB_SP)
			t->does = THUMB_SP_LOST;
		else if (to == THUMB_PC)
			t->does = THUMB_END;
		break;
	case 2: /* mov */
		if (to == THUMB_PC)
			t->does = THUMB_END;
		else
			add(t, to, from, 0);
		break;
	case 3: go(t, h & 0x80 ? THUMB_CALL : THUMB_END, 0); break;
	default: break;
	}
}

static void narrow_other(uint32_t h, uint32_t at, struct thumb *t)
{
	if ((h & 0xff00) == 0xb000) {
		t->does = THUMB_SP_ADD;
		t->amount = (int32_t)(h & 0x7f) * (h & 0x80 ? -4 : 4);
	} else if ((h & 0xf500) == 0xb100) { /* cbz, cbnz */
		go(t, THUMB_BRANCH, at + 4 + ((h >> 3 & 0x40) | (h >> 2 & 0x3e)));
	} else if ((h & 0xf600) == 0xb400) {
		uint32_t registers = (h & 0xff) | (h & 0x100 ? 1u << (h & 0x800 ? THUMB_PC : THUMB_LR) : 0);

		stack(t, h & 0x800, registers, 4 * __builtin_popcount(registers));
	} else if ((h & 0xff00) == 0xbf00 && h & 15) {
		t->does = THUMB_IF;
		t->amount = 4 - __builtin_ctz(h & 15);
	}
}

static void narrow(uint32_t h, uint32_t at, struct thumb *t)
{
	switch (h >> 12) {
	case 3: /* add, sub with eight bits */
		if ((h & 0x3700) == 0x3700)
			add(t, THUMB_BASE, THUMB_BASE, (int32_t)(h & 0xff) * (h & 0x800 ? -1 : 1));
		break;
	case 4:
		if ((h & 0xfc00) == 0x4400)
			high_register(h, t);
		else if ((h & 0xf800) == 0x4800)
			literal(t, ((at + 4) & ~3u) + (h & 0xff) * 4, 4);
		break;
	case 10:
		if (!(h & 0x800))
			go(t, THUMB_ADDRESS, ((at + 4) & ~3u) + (h & 0xff) * 4);
		else if ((h & 0xff00) == 0xaf00)
			add(t, THUMB_BASE, THUMB_SP, (int32_t)(h & 0xff) * 4);
		break;
	case 11: narrow_other(h, at, t); break;
	case 13:
		if ((h & 0xf00) == 0xe00)
			t->does = THUMB_END; /* udf */
		else if ((h & 0xf00) != 0xf00)
			go(t, THUMB_BRANCH, at + 4 + (uint32_t)field(h, 0, 8) * 2);
		break;
	case 14: go(t, THUMB_JUMP, at + 4 + (uint32_t)field(h, 0, 11) * 2); break;
	default: break;
	}
}

/* bl, blx, b and b with a condition, in 32 bits. */
static void wide_branch(uint32_t a, uint32_t b, uint32_t at, struct thumb *t)
{
	uint32_t sign = a >> 10 & 1, j1 = b >> 13 & 1, j2 = b >> 11 & 1;
	uint32_t far = (uint32_t)-(int32_t)sign << 24 | (uint32_t)(j1 ^ sign ^ 1) << 23 |
		       (uint32_t)(j2 ^ sign ^ 1) << 22 | (a & 0x3ff) << 12 | (b & 0x7ff) << 1;
	uint32_t near = (uint32_t)-(int32_t)sign << 20 | j2 << 19 | j1 << 18 | (a & 0x3f) << 12 | (b & 0x7ff) << 1;

	switch (b & 0xd000) {
	case 0x8000:
		if ((a >> 6 & 15) < 14)
			go(t, THUMB_BRANCH, at + 4 + near);
		else if ((a & 0xfff0) == 0xf7f0)
			t->does = THUMB_END; /* udf */
		break;
	case 0x9000: go(t, THUMB_JUMP, at + 4 + far); break;
	case 0xc000:
		go(t, THUMB_CALL, ((at + 4) & ~3u) + far);
		t->leaves = true;
		break;
	default: go(t, THUMB_CALL, at + 4 + far);
	}
}

/* Eight bits in one of sixteen places, or repeated. */
static uint32_t modified(uint32_t a, uint32_t b)
{
	uint32_t by = (a >> 10 & 1) << 4 | (b >> 12 & 7) << 1 | (b >> 7 & 1), low = b & 0xff;

	switch (by >> 1) {
	case 0: return low;
	case 1: return low << 16 | low;
	case 2: return low << 24 | low << 8;
	case 3: return low * 0x01010101u;
	default: return ((low & 0x7f) | 0x80) << (32 - by);
	}
}

static void wide_immediate(uint32_t a, uint32_t b, uint32_t at, struct thumb *t)
{
	uint32_t plain = (a >> 10 & 1) << 11 | (b >> 12 & 7) << 8 | (b & 0xff);
	unsigned to = b >> 8 & 15, from = a & 15;

	if ((a & 0xfbff) == 0xf20f) { /* adr, forwards */
		go(t, THUMB_ADDRESS, ((at + 4) & ~3u) + plain);
		return;
	}
	switch (a & 0xfbe0) {
	case 0xf100: add(t, to, from, (int32_t)modified(a, b)); break;
	case 0xf1a0: add(t, to, from, -(int32_t)modified(a, b)); break;
	case 0xf200: add(t, to, from, (int32_t)plain); break;
	case 0xf2a0: add(t, to, from, -(int32_t)plain); break;
	default:
		if (to == THUMB_SP)
			t->does = THUMB_SP_LOST;
	}
}

/* Several registers, or two. */
static void wide_several(uint32_t a, uint32_t b, struct thumb *t)
{
	uint32_t pair = 1u << (b >> 12) | 1u << (b >> 8 & 15);
	bool load = a & 0x10;

	if (a == 0xe92d || a == 0xe8bd) {
		stack(t, load, b & 0xdfff, 4 * __builtin_popcount(b & 0xdfff));
	} else if ((a & 0xfff0) == 0xe8d0 && (b & 0xffe0) == 0xf000) { /* tbb, tbh */
		t->does = (a & 15) == THUMB_PC ? THUMB_TABLE : THUMB_END;
		t->amount = b & 0x10 ? 2 : 1;
	} else if (a == 0xe96d || a == 0xe8fd) { /* strd before, ldrd behind */
		stack(t, load, pair, (int32_t)(b & 0xff) * 4);
	} else if (a == 0xe9cd || a == 0xe9dd) {
		t->does = load ? THUMB_LOAD : THUMB_STORE;
		t->registers = (uint16_t)pair;
		t->amount = (int32_t)(b & 0xff) * 4;
	} else if ((a & 0xfe50) == 0xe810 && b & 1u << THUMB_PC) {
		t->does = THUMB_END;
	}
}

/* One register. */
static void wide_single(uint32_t a, uint32_t b, uint32_t at, struct thumb *t)
{
	unsigned number = b >> 12;
	int32_t offset = (int32_t)(b & 0xff), far = (int32_t)(b & 0xfff);

	if (a == 0xf84d && (b & 0xf00) == 0xd00) {
		stack(t, false, 1u << number, offset);
	} else if (a == 0xf85d && (b & 0xf00) == 0xb00) {
		stack(t, true, 1u << number, offset);
	} else if (a == 0xf8cd || (a == 0xf8dd && number != THUMB_PC && number != THUMB_SP)) {
		t->does = a == 0xf8dd ? THUMB_LOAD : THUMB_STORE;
		t->registers = (uint16_t)(1u << number);
		t->amount = far;
	} else if ((a & 0xff70) == 0xf850 && number == THUMB_PC) {
		t->does = THUMB_END;
	} else if ((a & 0xff70) == 0xf850 && number == THUMB_SP) {
		t->does = THUMB_SP_LOST;
	} else if ((a & 0xff7f) == 0xf85f) {
		literal(t, ((at + 4) & ~3u) + (uint32_t)(a & 0x80 ? far : -far), 4);
	}
}

/* vpush, vpop: the same in both states, but for the condition. */
static bool vector_stack(uint32_t a, uint32_t b, struct thumb *t)
{
	bool push = (a & 0xfbf) == 0xd2d;

	if ((!push && (a & 0xfbf) != 0xcbd) || (b & 0xe00) != 0xa00)
		return false;
	t->does = THUMB_SP_ADD;
	t->amount = (int32_t)(b & 0xff) * (push ? -4 : 4);
	return true;
}

static void wide(uint32_t a, uint32_t b, uint32_t at, struct thumb *t)
{
	if ((a & 0xf800) == 0xf000 && b & 0x8000)
		wide_branch(a, b, at, t);
	else if ((a & 0xf800) == 0xf000)
		wide_immediate(a, b, at, t);
	else if ((a & 0xfe00) == 0xe800)
		wide_several(a, b, t);
	else if ((a & 0xfe00) == 0xf800)
		wide_single(a, b, at, t);
	else if ((a & 0xfe00) == 0xea00 && (b >> 8 & 15) == THUMB_SP)
		add(t, THUMB_SP, a == 0xea4f && !(b & 0x70f0) ? b & 15 : THUMB_PC, 0);
	else if ((a & 0xff3f) == 0xed1f && (b & 0xe00) == 0xa00) /* vldr */
		literal(t, ((at + 4) & ~3u) + (b & 0xff) * (a & 0x80 ? 4u : -4u), b & 0x100 ? 8 : 4);
	else if ((a & 0xf000) == 0xe000)
		vector_stack(a, b, t);
}

void thumb_decode(uint32_t first, uint32_t second, uint32_t at, struct thumb *t)
{
	*t = (struct thumb){.does = THUMB_OTHER, .bytes = first >= 0xe800 ? 4 : 2};
	if (t->bytes == 4)
		wide(first, second, at, t);
	else
		narrow(first, at, t);
}

/* add, sub and mov with sp or r7; and what else ends in one of them, or in pc. */
static void a32_data(uint32_t word, struct thumb *t)
{
	uint32_t by = (word >> 8 & 15) * 2, value = word & 0xff;
	unsigned operation = word >> 21 & 15, to = word >> 12 & 15, from = word >> 16 & 15;

	value = by ? value >> by | value << (32 - by) : value;
	if ((word & 0x0fffffd0) == 0x012fff10) {
		go(t, word & 0x20 ? THUMB_CALL : THUMB_END, 0);
	} else if (operation >= 8 && operation <= 11) {
		return; /* compares */
	} else if (word & 1u << 25 && (operation == 4 || operation == 2)) {
		add(t, to, from, operation == 4 ? (int32_t)value : -(int32_t)value);
	} else if ((word & 0x0fff0ff0) == 0x01a00000 && to != THUMB_PC) {
		add(t, to, word & 15, 0);
	} else if (to == THUMB_SP || to == THUMB_PC) {
		t->does = to == THUMB_SP ? THUMB_SP_LOST : THUMB_END;
	}
}

static void a32_memory(uint32_t word, uint32_t at, struct thumb *t)
{
	bool load = word & 1u << 20, by_sp = (word >> 16 & 15) == THUMB_SP;
	unsigned number = word >> 12 & 15;

	if ((word & 0x0e000000) == 0x08000000) {
		if (by_sp && (word & 0x01b00000) == (load ? 0x00b00000 : 0x01200000))
			stack(t, load, word & 0xffff, 4 * __builtin_popcount(word & 0xffff));
		else if (load && word & 1u << THUMB_PC)
			t->does = THUMB_END;
	} else if (by_sp && (word & 0x0f600000) == 0x04000000 && load) { /* behind */
		stack(t, true, 1u << number, (int32_t)(word & 0xfff));
	} else if (by_sp && (word & 0x0ff00000) == 0x05200000) { /* before, downwards */
		stack(t, false, 1u << number, (int32_t)(word & 0xfff));
	} else if (load && number == THUMB_PC) {
		t->does = THUMB_END;
	} else if ((word & 0x0f7f0000) == 0x051f0000) {
		literal(t, at + 8 + (word & 0xfff) * (word & 1u << 23 ? 1u : -1u), 4);
	}
}

void thumb_decode_wide(uint32_t word, uint32_t at, struct thumb *t)
{
	uint32_t target = at + 8 + (uint32_t)field(word, 0, 24) * 4, condition = word >> 28;

	*t = (struct thumb){.does = THUMB_OTHER, .bytes = 4};
	if ((word & 0xfe000000) == 0xfa000000) {
		go(t, THUMB_CALL, target | (word >> 23 & 2));
		t->leaves = true;
	} else if ((word & 0x0e000000) == 0x0a000000) {
		go(t, word & 1u << 24 ? THUMB_CALL : condition == 14 ? THUMB_JUMP : THUMB_BRANCH, target);
	} else if ((word & 0x0ffffff0) == 0x008ff000) {
		/* add pc, pc, n: into what follows, two instructions on at least. */
		go(t, THUMB_BRANCH, at + 8);
	} else if (condition == 14 && !vector_stack(word >> 16, word, t)) {
		if ((word & 0x0c000000) == 0 && ((word & 0x90) != 0x90 || word & 1u << 25))
			a32_data(word, t);
		else if ((word & 0x0c000000) == 0x04000000 || (word & 0x0e000000) == 0x08000000)
			a32_memory(word, at, t);
	}
}
