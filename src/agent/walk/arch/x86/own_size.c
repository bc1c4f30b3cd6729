/*
 * own_size.c (x86) - frames of methods that take value objects (JDK 28, JEP 401).
 *
 * C2 passes the fields of such an object, not the object. A method that gets more of them than there are registers has
 * a second entry for callers that know nothing of it (C1, interpreter): it makes room below what they pushed, and puts
 * the fields there. How large the frame is by that, a word in it says, which its end is found by (needs_stack_repair):
 *
 *   sp ─▶ ┌────────────────┐                    mov [rsp + n], size        prologue
 *         │ locals, spills │                    ...
 *         │ size           │ ◀ n                add rsp, [rsp + n]         epilogue
 *         │ caller's fp    │                    pop rbp
 *         │ (nothing)      │                    ret
 *         ├────────────────┤ ◀ frame_bytes
 *         │ fields         │
 *         │ caller's fp    │ ◀ sp + size
 *         │ return address │
 *         └────────────────┘
 *
 * If the caller passed fields, the parts of the middle are not there: size is frame_bytes - 2 words. No table of the
 * JVM's says which methods these are; their prologue does.
 */
#include "insn.h"
#include "prologues.h"

#define BEFORE 64 /* bytes before the place where the frame stands: an entry barrier, and what is looked for */

/* mov qword [rsp + n], number */
static bool puts_number(const uint8_t *c, int32_t *at, uint32_t *number)
{
	bool far = c[2] == 0x84;

	if (WORD != 8 || c[0] != 0x48 || c[1] != 0xc7 || (c[2] != 0x44 && !far) || c[3] != 0x24)
		return false;
	*at = (int8_t)c[4];
	if (far)
		__builtin_memcpy(at, c + 4, sizeof(*at));
	__builtin_memcpy(number, c + (far ? 8 : 5), sizeof(*number));
	return true;
}

bool frame_puts_size(const uint8_t *code, uint32_t frame_bytes, uint32_t *size)
{
	uint32_t number;
	int32_t at;

	if (!puts_number(code, &at, &number) || at < 0 || (uint32_t)at + FRAME_SIZE_WORD != frame_bytes ||
	    number < frame_bytes - 2 * WORD || number - (frame_bytes - 2 * WORD) > FRAME_ROOM_MAX)
		return false;
	*size = number;
	return true;
}

uint32_t frame_own_size(const struct layout *l, const struct blob *b)
{
	uint8_t code[BEFORE + INSN_MAX];
	uint32_t i, size, n = (uint32_t)MIN(b->frame_complete, BEFORE);

	if (b->frame_bytes < 4 * WORD || b->frame_complete <= 0 ||
	    !load_bytes(code, b->code + (uint32_t)b->frame_complete - n, n + INSN_MAX))
		return 0;
	for (i = 0; i < n; i++)
		if (frame_puts_size(code + i, b->frame_bytes, &size) && size + 2 * WORD == b->frame_bytes)
			return size;
	return 0;
}
