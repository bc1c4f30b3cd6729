/*
 * barrier_stub.c (x86_64) - compiled code that saves registers on top of its frame for a call.
 *
 * The slow path of a GC barrier lies behind the method's code and calls the JVM as if it were an
 * ordinary instruction: all registers that live across it are kept first (SaveLiveRegisters, ZGC since
 * 14, G1 since 24), so the frame is bigger there than the method says, by a number that is nowhere but
 * in the code. What follows the call takes it all back:
 *
 *     call  ZBarrierSetRuntime::load_barrier_on_oop_field_preloaded
 *     add   rsp, 8                    if rsp had to be aligned, and a jump over the other case
 *     jmp   +5
 *     vmovdqu xmm0, [rsp] ...         or mov r11, [rsp]; vzeroupper
 *     add   rsp, 128
 *     pop   r11 ...
 *     mov   rdx, rax                  the result
 *     jmp   back
 */
#include "signal/walk.h"

#define INSTRUCTIONS 64
#define NEAR 13 /* a jump so short skips the call of the other case */

/* Bytes of an operand [rsp + x] from its ModRM byte on, 0 if it is none. */
static unsigned stack_operand(const uint8_t *c)
{
	if ((c[0] & 7) != 4 || c[1] != 0x24)
		return 0;
	switch (c[0] >> 6) {
	case 0: return 2;
	case 1: return 3;
	case 2: return 6;
	}
	return 0;
}

/* movdqu, movups, movsd, movaps, kmov: what vectors are loaded by. */
static bool loads_vector(uint8_t opcode)
{
	return opcode == 0x6f || opcode == 0x10 || opcode == 0x28 || opcode == 0x90;
}

/* Length of a vector's reload from the stack at C, 0 if it is none. */
static unsigned vector_reload(const uint8_t *c)
{
	unsigned at = 0, operand;

	if (c[0] == 0xc5 && c[1] == 0xf8 && c[2] == 0x77)
		return 3; /* vzeroupper */
	if (c[0] == 0xc5 || c[0] == 0xc4 || c[0] == 0x62) {
		at = c[0] == 0xc5 ? 2 : c[0] == 0xc4 ? 3 : 4; /* VEX of two and three bytes, EVEX */
	} else {
		at += c[at] == 0x66 || c[at] == 0xf2 || c[at] == 0xf3;
		at += (c[at] & 0xf0) == 0x40;
		if (c[at++] != 0x0f)
			return 0;
	}
	operand = loads_vector(c[at]) ? stack_operand(c + at + 1) : 0;
	return operand ? at + 1 + operand : 0;
}

/* Length of a move into a register from the stack or another register at C, 0 if it is none. */
static unsigned move(const uint8_t *c)
{
	unsigned rex = (c[0] & 0xf0) == 0x40, operand;

	if (c[rex] != 0x8b && c[rex] != 0x89)
		return 0;
	if ((c[rex + 1] & 0xc0) == 0xc0)
		return rex + 2;
	operand = c[rex] == 0x8b ? stack_operand(c + rex + 1) : 0;
	return operand ? rex + 1 + operand : 0;
}

/* Length of what gives *BYTES of the stack back at C, 0 if it does not. */
static unsigned release(const uint8_t *c, uint32_t *bytes)
{
	int32_t wide;

	*bytes = 8;
	if ((c[0] & 0xf8) == 0x58)
		return 1;
	if (c[0] == 0x41 && (c[1] & 0xf8) == 0x58)
		return 2;
	if (c[0] != 0x48 || c[2] != 0xc4 || (c[1] != 0x83 && c[1] != 0x81))
		return 0;
	__builtin_memcpy(&wide, c + 3, sizeof(wide));
	wide = c[1] == 0x83 ? (int8_t)c[3] : wide;
	*bytes = wide > 0 && wide < 65536 ? (uint32_t)wide : 0;
	return c[1] == 0x83 ? 4 : 7;
}

/* Length of a jump at C and its DISTANCE from behind it, 0 if it is none. */
static unsigned jump(const uint8_t *c, int32_t *distance)
{
	if (c[0] == 0xeb) {
		*distance = (int8_t)c[1];
		return 2;
	}
	if (c[0] != 0xe9)
		return 0;
	__builtin_memcpy(distance, c + 1, sizeof(*distance));
	return 5;
}

uint32_t frame_saved(uintptr_t pc)
{
	uint32_t bytes, all = 0;
	int32_t distance;
	uint8_t code[16];
	unsigned i, n;

	for (i = 0; i < INSTRUCTIONS; i++, pc += n) {
		if (!load_bytes(code, pc, sizeof(code)))
			return 0;
		n = release(code, &bytes);
		if (n) {
			all += bytes;
			continue;
		}
		n = jump(code, &distance);
		if (n && distance > 0 && distance <= NEAR)
			n += (unsigned)distance;
		else if (n)
			return all;
		else if ((n = vector_reload(code)) == 0 && (n = move(code)) == 0)
			return 0;
	}
	return 0;
}
