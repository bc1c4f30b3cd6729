/*
 * insn.c (x86) - decoding instructions as far as a walk needs it.
 *
 *   prefixes  REX | VEX | EVEX  opcode  ModRM  SIB  displacement  immediate
 *
 * What follows an opcode stands in one string a map, one letter an opcode:
 *     .  nothing   m  ModRM   b  a byte   z  16 or 32 bits   v  as z, 64 with REX.W (mov)   w  two bytes
 *     B  ModRM and a byte   Z  ModRM and z   g  ModRM, and an immediate if it is `test` (F6, F7)
 *     e  two bytes and one (enter)   o  an address   !  not an instruction, or not known
 *     5  a prefix in 64-bit mode, else nothing   6  not an instruction in 64-bit mode, else nothing
 */
#include "insn.h"

static const char one_byte[] =
	"mmmmbz!!mmmmbz!!" "mmmmbz!!mmmmbz!!" "mmmmbz!!mmmmbz!!" "mmmmbz!!mmmmbz!!"
	"5555555555555555" "................" "66!m!!!!zZbB...." "bbbbbbbbbbbbbbbb"
	"BZ!Bmmmmmmmmmmmm" "..........!....." "oooo....bz......" "bbbbbbbbvvvvvvvv"
	"BBw.!!BZe.w..b!." "mmmm!!!.mmmmmmmm" "bbbbbbbbzz!b...." "!.!!..gg......mm";
static const char two_bytes[] = /* behind 0F */
	"mmmm!.......!m.B" "mmmmmmmmmmmmmmmm" "mmmmmmmmmmmmmmmm" "........!!!!!!!!"
	"mmmmmmmmmmmmmmmm" "mmmmmmmmmmmmmmmm" "mmmmmmmmmmmmmmmm" "BBBBmmm.mmmmmmmm"
	"zzzzzzzzzzzzzzzz" "mmmmmmmmmmmmmmmm" "...mBm!!...mBmmm" "mmmmmmmmmmBmmmmm"
	"mmBmBBBm........" "mmmmmmmmmmmmmmmm" "mmmmmmmmmmmmmmmm" "mmmmmmmmmmmmmmmm";

enum { RSP = 4, RBP = 5 };

/* Where the parts of an instruction are. */
struct parts {
	const uint8_t *code;
	unsigned at;        /* bytes read so far */
	bool narrow;        /* prefix 66 */
	bool wide;          /* REX.W */
	bool whole;         /* its operands are as wide as a register */
	bool high_reg, high_rm; /* REX.R, REX.B */
	bool legacy;        /* of the one-byte map, without VEX or EVEX */
	uint8_t opcode;
	unsigned modrm;     /* its place, 0 = none */
	unsigned map;       /* 1 one byte, 2 behind 0F, 3 behind 0F 38, 4 behind 0F 3A */
};

static int32_t number(const uint8_t *at, unsigned bytes)
{
	int32_t wide;
	int16_t half;

	switch (bytes) {
	case 1: return (int8_t)*at;
	case 2: __builtin_memcpy(&half, at, 2); return half;
	default: __builtin_memcpy(&wide, at, 4); return wide;
	}
}

static bool is_prefix(uint8_t c)
{
	return c == 0x66 || c == 0x67 || c == 0xf0 || c == 0xf2 || c == 0xf3 || c == 0x2e || c == 0x36 ||
	       c == 0x3e || c == 0x26 || c == 0x64 || c == 0x65;
}

/* The map that a VEX or EVEX prefix names by NUMBER, as struct parts counts them; 0: not known. */
static unsigned vector_map(unsigned number)
{
	static const uint8_t maps[8] = {0, 2, 3, 4, 0, 3, 3, 0}; /* 5 and 6: half-precision numbers */

	return number < 8 ? maps[number] : 0;
}

/* VEX and EVEX; in 32-bit mode their first bytes are older instructions too, which need an operand in memory. */
static bool is_vector(const uint8_t *c)
{
	return (c[0] == 0xc5 || c[0] == 0xc4 || c[0] == 0x62) && (INSN_WORD == 8 || c[1] >> 6 == 3);
}

static void read_prefixes(struct parts *p)
{
	const uint8_t *c = p->code;
	unsigned i;

	for (i = 0; i < 8 && is_prefix(c[i]); i++)
		p->narrow |= c[i] == 0x66;
	p->legacy = true;
	p->map = 1;
	p->whole = INSN_WORD == 4 && !p->narrow;
	if (is_vector(c + i) && c[i] == 0xc5) {
		p->map = 2;
		p->at = i + 2;
	} else if (is_vector(c + i) && c[i] == 0xc4) {
		p->map = vector_map(c[i + 1] & 31);
		p->at = i + 3;
	} else if (is_vector(c + i)) {
		p->map = vector_map(c[i + 1] & 7);
		p->at = i + 4;
	} else {
		if (INSN_WORD == 8 && (c[i] & 0xf0) == 0x40) {
			p->wide = p->whole = c[i] & 8;
			p->high_reg = c[i] & 4;
			p->high_rm = c[i] & 1;
			i++;
		}
		p->at = i;
		return;
	}
	p->legacy = false;
}

static void read_opcode(struct parts *p)
{
	const uint8_t *c = p->code;

	if (p->legacy && c[p->at] == 0x0f) {
		p->map = 2;
		p->at++;
		if (c[p->at] == 0x38 || c[p->at] == 0x3a)
			p->map = c[p->at++] == 0x38 ? 3 : 4;
	}
	p->opcode = c[p->at++];
}

/* Bytes of ModRM, SIB and displacement. */
static unsigned operand_bytes(const uint8_t *c)
{
	unsigned mod = c[0] >> 6, rm = c[0] & 7, sib = mod != 3 && rm == 4;

	if (mod == 3)
		return 1;
	if (mod == 0 && (rm == 5 || (sib && (c[1] & 7) == 5)))
		return 1 + sib + 4;
	return 1 + sib + (mod == 1 ? 1 : mod == 2 ? 4 : 0);
}

static char shape(const struct parts *p)
{
	switch (p->map) {
	case 1: return one_byte[p->opcode];
	case 2: return two_bytes[p->opcode];
	case 3: return 'm';
	case 4: return 'B';
	default: return '!';
	}
}

/* call, jmp and jcc to an address in the code. */
static bool is_near_branch(const struct parts *p)
{
	return p->legacy && ((p->map == 1 && (p->opcode == 0xe8 || p->opcode == 0xe9)) ||
			     (p->map == 2 && (p->opcode & 0xf0) == 0x80));
}

/*
 * REX.W wins over prefix 66, which compilers put before a call to pad it (`data16 data16 rex.W call __tls_get_addr`).
 * In 64-bit mode Intel's CPUs ignore the prefix before near branches altogether; AMD's do only with REX.W, without
 * which no code has it.
 */
static unsigned number_bytes(const struct parts *p)
{
	return p->narrow && !p->wide && !(INSN_WORD == 8 && is_near_branch(p)) ? 2 : 4;
}

/* Go behind the operands. False: not an instruction that is known. */
static bool read_operands(struct parts *p)
{
	char s = shape(p);
	unsigned z = number_bytes(p);

	if (s == 'm' || s == 'B' || s == 'Z' || s == 'g') {
		p->modrm = p->at;
		p->at += operand_bytes(p->code + p->at);
	}
	if (p->map == 1 && p->opcode == 0x8f && (p->code[p->modrm] & 0x38))
		return false; /* AMD's XOP */
	switch (s) {
	case '!': return false;
	case '5':
	case '6':
		if (INSN_WORD == 8)
			return false;
		break;
	case 'b':
	case 'B': p->at += 1; break;
	case 'w': p->at += 2; break;
	case 'e': p->at += 3; break;
	case 'o': p->at += INSN_WORD; break;
	case 'z':
	case 'Z': p->at += z; break;
	case 'v': p->at += p->wide ? 8 : z; break;
	case 'g':
		if ((p->code[p->modrm] & 0x30) == 0)
			p->at += p->opcode == 0xf6 ? 1 : z;
		break;
	}
	return p->at <= INSN_MAX;
}

static unsigned reg(const struct parts *p)
{
	return (p->code[p->modrm] >> 3 & 7) | (p->high_reg ? 8u : 0);
}

/* The register that r/m is, 16 if it is memory. */
static unsigned rm(const struct parts *p)
{
	return p->code[p->modrm] >> 6 == 3 ? (p->code[p->modrm] & 7) | (p->high_rm ? 8u : 0) : 16;
}

static void becomes(struct insn *i, enum insn_does does, int32_t amount)
{
	i->does = (uint8_t)does;
	i->amount = amount;
}

/* add, sub, and … of a number to rsp. */
static void arithmetic(const struct parts *p, struct insn *i)
{
	unsigned what = p->code[p->modrm] >> 3 & 7;
	int32_t n = number(p->code + p->at - (p->opcode == 0x81 ? 4 : 1), p->opcode == 0x81 ? 4 : 1);

	if (rm(p) != RSP || what == 7)
		return;
	if (what == 0 || what == 5)
		becomes(i, INSN_RELEASE, what == 0 ? n : -n);
	else if (what == 4 && n < 0 && (n & -n) == -n)
		becomes(i, INSN_ALIGN, -n);
	else
		becomes(i, INSN_SP_LOST, 0);
}

/* lea rsp, [rsp + n] and lea rsp, [rbp + n] */
static void load_address(const struct parts *p, struct insn *i)
{
	const uint8_t *c = p->code + p->modrm;
	unsigned mod = c[0] >> 6;

	if (reg(p) != RSP)
		return;
	if ((c[0] & 7) == 4 && c[1] == 0x24 && !p->high_rm && mod < 3)
		becomes(i, INSN_RELEASE, mod == 0 ? 0 : number(c + 2, mod == 1 ? 1 : 4));
	else if ((c[0] & 7) == 5 && !p->high_rm && (mod == 1 || mod == 2))
		becomes(i, INSN_SP_FROM_FP, number(c + 1, mod == 1 ? 1 : 4));
	else
		becomes(i, INSN_SP_LOST, 0);
}

/* mov TO, FROM between registers, 16 = memory. */
static void copy(unsigned to, unsigned from, struct insn *i)
{
	if (to == RBP && from == RSP)
		becomes(i, INSN_FP_FROM_SP, 0);
	else if (to == RSP && from == RBP)
		becomes(i, INSN_SP_FROM_FP, 0);
	else if (to == RSP && from < 16)
		becomes(i, INSN_SP_FROM, (int32_t)from);
	else if (to == RSP)
		becomes(i, INSN_SP_LOST, 0);
	else if (from == RSP && to < 16)
		becomes(i, INSN_SP_TO, (int32_t)to);
}

/* mov REGISTER, [rsp + n] */
static void reload(const struct parts *p, struct insn *i)
{
	const uint8_t *c = p->code + p->modrm;
	unsigned mod = c[0] >> 6;

	if ((c[0] & 7) != 4 || c[1] != 0x24 || p->high_rm)
		return;
	becomes(i, INSN_RELOAD, mod == 0 ? 0 : number(c + 2, mod == 1 ? 1 : 4));
	i->number = (uint8_t)reg(p);
}

/* add rsp, FROM: rsp + n is known of, whatever else it may be. */
static void add_to_sp(const struct parts *p, struct insn *i)
{
	const uint8_t *c = p->code + p->modrm;
	unsigned mod = c[0] >> 6;

	if (p->whole && !p->high_rm && (c[0] & 7) == 4 && c[1] == 0x24 && mod < 3)
		becomes(i, INSN_RELEASE_BY, mod == 0 ? 0 : number(c + 2, mod == 1 ? 1 : 4));
	else
		becomes(i, INSN_SP_LOST, 0);
}

/* Opcode FF: call, jmp and push of an operand. */
static void indirect(const struct parts *p, struct insn *i)
{
	switch (p->code[p->modrm] >> 3 & 7) {
	case 2: becomes(i, rm(p) == 16 ? INSN_CALL_MEMORY : INSN_CALL_REGISTER, 0); break;
	case 4: becomes(i, INSN_JUMP_AWAY, 0); break;
	case 6: becomes(i, INSN_RELEASE, -INSN_WORD); break;
	}
}

static void push_or_pop(const struct parts *p, struct insn *i)
{
	unsigned r = (p->opcode & 7) | (p->high_rm ? 8u : 0);

	if (p->opcode < 0x58)
		becomes(i, INSN_RELEASE, -INSN_WORD);
	else if (r == RSP || r == RBP)
		becomes(i, r == RSP ? INSN_POP_SP : INSN_POP_FP, INSN_WORD);
	else
		becomes(i, INSN_POP, (int32_t)r);
}

/* What the one-byte opcodes do. */
static void effect(const struct parts *p, struct insn *i)
{
	const uint8_t *end = p->code + p->at;

	switch (p->opcode) {
	case 0x44: case 0x4c: becomes(i, INSN_SP_LOST, 0); break;
	case 0x50 ... 0x5f: push_or_pop(p, i); break;
	/* pusha and popa, which gives rbp what it was: the code between them has to keep it. */
	case 0x60: becomes(i, INSN_RELEASE, -8 * INSN_WORD); break;
	case 0x61: becomes(i, INSN_RELEASE, 8 * INSN_WORD); break;
	case 0x68: case 0x6a: case 0x9c: becomes(i, INSN_RELEASE, -INSN_WORD); break;
	case 0x9d: becomes(i, INSN_RELEASE, INSN_WORD); break;
	case 0x70 ... 0x7f: case 0xe0 ... 0xe3: becomes(i, INSN_BRANCH, number(end - 1, 1)); break;
	case 0x81: case 0x83: arithmetic(p, i); break;
	case 0x01: case 0x29: case 0x31: case 0x21: case 0x09:
		if (rm(p) == RSP)
			becomes(i, INSN_SP_LOST, 0);
		break;
	case 0x87:
		if (rm(p) == RSP || reg(p) == RSP)
			becomes(i, INSN_SP_LOST, 0);
		break;
	case 0x89: copy(rm(p), reg(p), i); break;
	case 0x8b:
		if (rm(p) == 16 && reg(p) != RSP && p->whole)
			reload(p, i);
		else
			copy(reg(p), rm(p), i);
		break;
	case 0x03:
		if (reg(p) == RSP)
			add_to_sp(p, i);
		break;
	case 0x2b: case 0x23: case 0x0b:
		if (reg(p) == RSP)
			becomes(i, INSN_SP_LOST, 0);
		break;
	case 0x8d: load_address(p, i); break;
	case 0x8f: becomes(i, INSN_RELEASE, INSN_WORD); break;
	case 0xc2: case 0xc3: becomes(i, INSN_RETURN, 0); break;
	case 0xc8: becomes(i, INSN_SP_LOST, 0); break;
	case 0xc9: becomes(i, INSN_LEAVE, 0); break;
	case 0xcc: case 0xf4: becomes(i, INSN_END, 0); break;
	case 0xe8: becomes(i, INSN_CALL, number(end - 4, 4)); break;
	case 0xe9: becomes(i, INSN_JUMP, number(end - 4, 4)); break;
	case 0xeb: becomes(i, INSN_JUMP, number(end - 1, 1)); break;
	case 0xff: indirect(p, i); break;
	}
}

bool insn_decode(const uint8_t *code, struct insn *i)
{
	struct parts p = {.code = code};

	read_prefixes(&p);
	read_opcode(&p);
	if (!read_operands(&p))
		return false;
	*i = (struct insn){(uint8_t)p.at, INSN_OTHER, 0, 0};
	if (p.map == 1)
		effect(&p, i);
	else if (p.legacy && p.map == 2 && (p.opcode & 0xf0) == 0x80)
		becomes(i, INSN_BRANCH, number(code + p.at - 4, 4));
	else if (p.legacy && p.map == 2 && p.opcode == 0x0b)
		becomes(i, INSN_END, 0);
	return true;
}
