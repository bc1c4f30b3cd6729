#include "agent/walk/walk.h"
#include "insn.h"

#define SP 1u
#define THREAD 16u /* R16_thread: 8 to 25 */

/* Those whose further opcode stands in bits 21 to 30, as IBM counts them. */
static void extended(uint32_t word, struct insn *i)
{
	uint32_t to = word >> 21 & 31, by = word >> 16 & 31;

	switch (word & 0x7fe) {
	case 181 << 1: /* stdux */
		if (by == SP)
			i->does = to == SP ? INSN_PUSH : INSN_RESIZE;
		break;
	case 467 << 1: /* mtspr, 8: the link register */
		if ((word & 0x1ff800) == 0x080000) {
			i->does = INSN_RELOAD;
			i->number = (uint8_t)to;
		}
		break;
	case 339 << 1: /* mfspr */
		if ((word & 0x1ff800) == 0x080000)
			i->does = INSN_KEEP;
		break;
	case 266 << 1: /* add */
		if (to == SP)
			i->does = INSN_POP;
		break;
	case 444 << 1: /* or, that is mr */
		if (by == SP && to != SP)
			i->does = INSN_POP;
		break;
	default: break;
	}
}

void insn_decode(uint32_t word, struct insn *i)
{
	uint32_t to = word >> 21 & 31, by = word >> 16 & 31;
	int16_t offset = (int16_t)(word & 0xffff);

	*i = (struct insn){.does = INSN_OTHER};
	switch (word >> 26) {
	case 0: i->does = INSN_END; break;
	case 14: /* addi */
		if (to == SP && by == SP)
			i->does = offset > 0 ? INSN_POP : INSN_RESIZE;
		break;
	case 16: /* bc */
		if (word & 1)
			i->does = INSN_CALL;
		break;
	case 18: /* b */
		i->does = word & 1 ? INSN_CALL : INSN_JUMP;
		i->amount = (int32_t)(word << 6) >> 6 & ~3;
		break;
	case 19:
		if ((word & 0x7fe) == 16 << 1 && (to & 0x14) == 0x14) /* blr */
			i->does = word & 1 ? INSN_CALL : INSN_RETURN;
		else if ((word & 0x7fe) == 528 << 1) /* bctr */
			i->does = word & 1 ? INSN_CALL : (to & 0x14) == 0x14 ? INSN_AWAY : INSN_OTHER;
		break;
	case 31: extended(word, i); break;
	case 58: /* ld */
		if (to == SP && !(word & 3)) {
			i->does = INSN_POP;
		} else if (by == THREAD && !(word & 3)) {
			i->does = INSN_FIELD;
			i->number = (uint8_t)to;
			i->amount = offset;
		}
		break;
	case 62: /* std, stdu */
		if ((word & 3) == 1 && by == SP) {
			i->does = to == SP ? INSN_PUSH : INSN_RESIZE;
		} else if ((word & 3) == 0 && by == SP) {
			i->does = INSN_STORE;
			i->number = (uint8_t)to;
			i->amount = offset;
		}
		break;
	default: break;
	}
}

/* bl, bctrl, blrl, and those under a condition. */
bool follows_call(uintptr_t pc)
{
	struct insn i;

	return !(pc & (INSN_BYTES - 1)) && insn_fetch(pc - INSN_BYTES, &i) && i.does == INSN_CALL;
}
