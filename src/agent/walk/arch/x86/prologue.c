/*
 * prologue.c (x86) - compiled code at its first and last instructions.
 *
 *   prologue                                  epilogue
 *     mov [rsp-N], eax      stack bang          add rsp, N        frame still stands
 *     push rbp              C1, C2              pop rbp           ← return address one word above sp
 *     sub rsp, N                                cmp rsp, [r15+x]  ← at sp: 17+ return poll
 *     mov [rsp+N-8], rbp    C2, small frames    ja  stub
 *     (cmp [r15+x], …       entry barrier)      ret
 *
 *   stub of the return poll, behind the epilogue (17+, C1SafepointPollStub, C2SafepointPollStub):
 *     mov r10, pc           the frame is gone, the return address at sp
 *     mov [r15+x], r10      JavaThread::_saved_exception_pc
 *     jmp SafepointBlob
 *
 * On i386 the same with half the registers, and the thread is looked up by esp wherever it is needed:
 *     mov ebx, esp;  shr ebx, 12;  mov ebx, [ebx*4 + table]
 * Seen in code of 17 and 25 (C1_MacroAssembler::build_frame, MacroAssembler::verified_entry,
 * MachEpilogNode::emit). Reads are fault-safe; what is not recognised counts as the method's body: code_unwind.c.
 */
#include "code.h"
#include "insn.h"
#include "prologues.h"

#define HANDLER_MAX 512 /* instructions of a handler that are looked at */
#define PROLOGUE_MAX 24
#define EPILOGUE_MAX 8
#define CLASS_CHECK_MAX 24
#define PUSH_FP 0x55

static bool starts_with(const uint8_t *code, const uint8_t *bytes, unsigned n)
{
	return __builtin_memcmp(code, bytes, n) == 0;
}

/* mov [rsp + n], rbp */
static bool stores_fp(const uint8_t *c)
{
	if (WORD == 8 && *c++ != 0x48)
		return false;
	return c[0] == 0x89 && (c[1] == 0x6c || c[1] == 0xac) && c[2] == 0x24;
}

bool frame_saves_fp(const uint8_t *code, int32_t *at)
{
	const uint8_t *number = code + (WORD == 8 ? 4 : 3);

	*at = -WORD;
	if (code[0] == PUSH_FP)
		return true;
	*at = (int8_t)*number;
	if (stores_fp(code) && number[-2] == 0xac)
		__builtin_memcpy(at, number, sizeof(*at));
	return stores_fp(code);
}

/*
 * Whether from PC to the verified ENTRY only the receiver's class is looked at. Methods that take value objects have
 * another entry in front, which builds a frame (own_size.c).
 */
static bool is_class_check(const struct layout *l, const struct blob *b, uintptr_t pc, uintptr_t entry)
{
	uint8_t code[INSN_MAX + 1];
	struct insn insn;
	unsigned i;

	for (i = 0; i < CLASS_CHECK_MAX && pc < entry; i++) {
		if (!load_bytes(code, pc, sizeof(code)) || !insn_decode(code, &insn))
			return false;
		pc += insn.length;
		if (insn.does == INSN_JUMP) { /* to a stub, if it does not fit */
			uintptr_t target = pc + (uintptr_t)(intptr_t)insn.amount;

			if (target >= b->code && target < code_blob_end(l, b))
				return false;
		} else if (insn.does != INSN_OTHER && insn.does != INSN_BRANCH) {
			return false;
		}
	}
	return pc == entry;
}

/*
 * What the instructions from ENTRY up to PC have done: bytes that sp was LOWERED by, and whether the caller's
 * fp was SAVED. False when one of them does not belong into a prologue.
 */
static bool follow_prologue(uintptr_t entry, uintptr_t pc, int32_t *lowered, bool *saved)
{
	uint8_t code[INSN_MAX + 1];
	struct insn insn;
	unsigned i;

	*lowered = 0;
	*saved = false;
	for (i = 0; i < PROLOGUE_MAX && entry < pc; i++, entry += insn.length) {
		if (!load_bytes(code, entry, sizeof(code)) || !insn_decode(code, &insn))
			return false;
		switch (insn.does) {
		case INSN_RELEASE:
			*lowered -= insn.amount;
			*saved |= code[0] == PUSH_FP;
			break;
		case INSN_POP: *lowered -= WORD; break;
		case INSN_OTHER: *saved |= stores_fp(code); break;
		case INSN_FP_FROM_SP:
		case INSN_SP_TO:
		case INSN_RELOAD:
		case INSN_CALL:
		case INSN_CALL_MEMORY:
		case INSN_CALL_REGISTER:
		case INSN_BRANCH: break;
		default: return false;
		}
	}
	return entry == pc && *lowered >= 0 && *lowered < 1 << 24;
}

/*
 * At or behind the frame's end, from where nothing but a poll lies before the return: *OFFSET of the return
 * address from sp.
 */
static bool in_epilogue(uintptr_t pc, uint32_t *offset, bool *fp_saved)
{
	uint8_t code[INSN_MAX + 1];
	struct insn insn;
	unsigned i;

	*offset = 0;
	*fp_saved = false;
	for (i = 0; i < EPILOGUE_MAX; i++, pc += insn.length) {
		if (!load_bytes(code, pc, sizeof(code)) || !insn_decode(code, &insn))
			return false;
		switch (insn.does) {
		case INSN_RETURN: return true;
		case INSN_POP_FP:
			if (i > 0)
				return false;
			*offset = (uint32_t)WORD;
			*fp_saved = true;
			break;
		case INSN_OTHER:
		case INSN_SP_TO:
		case INSN_BRANCH: break;
		default: return false;
		}
	}
	return false;
}

/*
 * At the stub of the return poll. Behind a call that never returns its first address is that call's return address
 * too, for which debug information says that the frame stands.
 */
static bool at_poll_stub(uintptr_t pc, uint32_t *offset, bool *fp_saved)
{
	uint8_t code[18];

	*offset = 0;
	*fp_saved = false;
	return load_bytes(code, pc, sizeof(code)) && is_poll_stub(code);
}

bool frame_prologue(const struct layout *l, const struct blob *b, uintptr_t pc, struct frame_state *e)
{
	uintptr_t entry = code_entry(l, b);
	int32_t lowered;

	e->part = FRAME_PROLOGUE;
	if (pc == entry || (pc < entry && is_class_check(l, b, pc, entry))) {
		e->return_offset = 0;
		e->fp_saved = false;
		return true;
	}
	if (pc > entry && b->frame_complete > 0 && pc < b->code + (uintptr_t)b->frame_complete &&
	    follow_prologue(entry, pc, &lowered, &e->fp_saved)) {
		e->return_offset = (uint32_t)lowered;
		return true;
	}
	e->part = in_epilogue(pc, &e->return_offset, &e->fp_saved) ||
				  at_poll_stub(pc, &e->return_offset, &e->fp_saved)
			  ? FRAME_EPILOGUE
			  : FRAME_BODY;
	return e->part == FRAME_EPILOGUE;
}

bool frame_sets_sender(uintptr_t pc)
{
	static const uint8_t sets[] = {ADAPTER_SETS_SENDER};
	uint8_t code[sizeof(sets)];

	return load_bytes(code, pc - 1, sizeof(code)) && starts_with(code, sets, sizeof(sets));
}

/*
 * SharedRuntime::generate_handler_blob (8 to 25):
 *     push rbx                    room for a return address
 *     push rbp; mov rbp, rsp; …   registers are kept
 *     mov rbx, [r15 + field]      JavaThread::_saved_exception_pc; on i386 the thread is in edi
 *     mov [rbp + 8], rbx
 */
bool frame_polled(uintptr_t start, uintptr_t pc, uint32_t *field)
{
	static const uint8_t get[] = {POLLED_GET}, put[] = {POLLED_PUT};
	const unsigned stored = sizeof(get) + sizeof(*field);
	uint8_t code[INSN_MAX + 1];
	struct insn insn;
	unsigned i, calls = 0;

	for (i = 0; i < HANDLER_MAX; i++, start += insn.length) {
		if (!load_bytes(code, start, sizeof(code)) || !insn_decode(code, &insn))
			return false;
		calls += insn.does == INSN_CALL;
		if (calls > POLLED_CALLS)
			return false;
		if (starts_with(code, get, sizeof(get)) && starts_with(code + stored, put, sizeof(put)))
			break;
	}
	__builtin_memcpy(field, code + sizeof(get), sizeof(*field));
	return i < HANDLER_MAX && pc <= start + stored;
}

bool frame_exception_pc(const struct walk_regs *r, uintptr_t *pc)
{
	return r && context_register(r->all, 2 /* rdx */, pc);
}

bool follows_call(uintptr_t pc)
{
	uint8_t c[7];

	if (!load_bytes(c, pc - 7, sizeof(c)))
		return false;
	/* call rel32; call r/m with no displacement, 8 and 32 bits of it, and with a SIB byte. */
	return c[2] == 0xe8 || (c[5] == 0xff && (c[6] & 0x38) == 0x10) ||
	       (c[4] == 0xff && (c[5] & 0x38) == 0x10) || (c[3] == 0xff && (c[4] & 0x38) == 0x10) ||
	       (c[1] == 0xff && (c[2] & 0x38) == 0x10) || (c[0] == 0xff && (c[1] & 0x38) == 0x10);
}

/* Bytes of a push (FIRST 0x50) or pop (0x58) of one register at CODE, 0 if it is none. */
static unsigned stack_op(const uint8_t *code, uint8_t first)
{
	if ((code[0] & 0xf8) == first)
		return 1;
	return WORD == 8 && code[0] == 0x41 && (code[1] & 0xf8) == first ? 2 : 0;
}

/*
 * A stub without frame saves registers by pushes at its start and pops them before its
 * return (C1's slow_subtype_check): the return address lies above them.
 */
static bool over_pushes(uintptr_t start, uintptr_t pc, uintptr_t sp, uintptr_t *return_slot)
{
	unsigned i, n, pushed = 0;
	uint8_t code[2];

	for (i = 0; i < 16; i++, pc += n) {
		if (!load_bytes(code, pc, sizeof(code)))
			return false;
		if (code[0] == 0xc3) {
			*return_slot = sp + (uintptr_t)WORD * i;
			return true;
		}
		n = stack_op(code, 0x58);
		if (!n)
			break;
	}
	if (i > 0)
		return false; /* pops, but no return behind them */
	for (; pushed < 16 && start < pc; pushed++, start += n) {
		if (!load_bytes(code, start, sizeof(code)))
			return false;
		n = stack_op(code, 0x50);
		if (!n)
			break;
	}
	*return_slot = sp + (uintptr_t)WORD * pushed;
	return pushed > 0;
}

bool stub_frame_state(uintptr_t start, uintptr_t pc, uintptr_t sp, uintptr_t fp, uintptr_t *return_slot,
	       bool *fp_saved)
{
	uint8_t entry[8], here[2];
	unsigned nops = 0;

	if (!load_bytes(entry, start, sizeof(entry)) || !load_bytes(here, pc, sizeof(here)))
		return false;
	if (entry[0] == 0xf3 && entry[1] == 0x0f && entry[2] == 0x1e && entry[3] == 0xfa)
		nops = 4; /* endbr64 */
	*fp_saved = false;
	if (entry[nops] != 0x55)
		return over_pushes(start, pc, sp, return_slot);
	*return_slot = sp;
	if (pc <= start + nops || here[0] == 0xc3)
		return true;
	*fp_saved = true;
	if (pc == start + nops + 1 || here[0] == 0x5d) { /* pushed, rbp still the caller's; or about to pop */
		*return_slot = sp + WORD;
		return true;
	}
	if (fp < sp)
		return false;
	*return_slot = fp + WORD;
	return true;
}
