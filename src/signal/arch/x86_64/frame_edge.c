/*
 * frame_edge.c (x86_64) - compiled code at its first and last instructions.
 *
 *   prologue                                  epilogue
 *     mov [rsp-N], eax      stack bang          add rsp, N        frame still stands
 *     push rbp              C1, C2              pop rbp           ← return address at sp + 8
 *     sub rsp, N                                cmp rsp, [r15+x]  ← at sp: 17+ return poll
 *     mov [rsp+N-8], rbp    C2, small frames    ja  stub
 *     (cmp [r15+x], …       entry barrier)      ret
 *
 *   stub of the return poll, behind the epilogue (17+, C1SafepointPollStub, C2SafepointPollStub):
 *     mov r10, pc           the frame is gone, the return address at sp
 *     mov [r15+x], r10      JavaThread::_saved_exception_pc
 *     jmp SafepointBlob
 *
 * Seen in code of 17 and 25 (C1_MacroAssembler::build_frame, MacroAssembler::verified_entry,
 * MachEpilogNode::emit). Reads are fault-safe; what is not recognised counts as the method's body: way_out.c.
 */
#include "insn.h"
#include "signal/walk.h"

#define ENTRY_MAX 512 /* bytes before an interpreted method's frame stands */

/* One instruction of a prologue, by its first bytes. */
struct pattern {
	uint8_t length;      /* bytes of the whole instruction */
	uint8_t match;       /* bytes compared */
	uint8_t bytes[5];
	uint8_t what;
};
enum { OTHER, PUSHED, LOWERED, SAVED };

static const struct pattern prologue[] = {
	{1, 1, {0x55}, PUSHED},                          /* push rbp */
	{4, 3, {0x48, 0x83, 0xec}, LOWERED},             /* sub rsp, imm8 */
	{7, 3, {0x48, 0x81, 0xec}, LOWERED},             /* sub rsp, imm32 */
	{5, 4, {0x48, 0x89, 0x6c, 0x24}, SAVED},         /* mov [rsp+imm8], rbp */
	{8, 4, {0x48, 0x89, 0xac, 0x24}, SAVED},         /* mov [rsp+imm32], rbp */
	{7, 3, {0x89, 0x84, 0x24}, OTHER},               /* mov [rsp-N], eax: stack bang */
	{3, 3, {0x48, 0x8b, 0xec}, OTHER},               /* mov rbp, rsp */
	{3, 3, {0x48, 0x89, 0xe5}, OTHER},
	{5, 5, {0x0f, 0x1f, 0x44, 0x00, 0x00}, OTHER},   /* nop: patchable entry */
	{7, 3, {0x0f, 0x1f, 0x80}, OTHER},
	{4, 3, {0x0f, 0x1f, 0x40}, OTHER},
	{2, 2, {0x66, 0x90}, OTHER},
	{1, 1, {0x90}, OTHER},
	{8, 3, {0x41, 0x81, 0x7f}, OTHER},               /* cmp [r15+imm8], imm32: entry barrier */
	{11, 3, {0x41, 0x81, 0xbf}, OTHER},
	{6, 2, {0x0f, 0x85}, OTHER},                     /* jne */
	{6, 2, {0x0f, 0x84}, OTHER},
	{2, 1, {0x75}, OTHER},
	{2, 1, {0x74}, OTHER},
};

static bool starts_with(const uint8_t *code, const uint8_t *bytes, unsigned n)
{
	return __builtin_memcmp(code, bytes, n) == 0;
}

static const struct pattern *recognise(const uint8_t *code)
{
	unsigned i;

	for (i = 0; i < ARRAY_LEN(prologue); i++)
		if (starts_with(code, prologue[i].bytes, prologue[i].match))
			return &prologue[i];
	return NULL;
}

/* What the instructions from ENTRY up to PC have done. False when one is unknown. */
static bool follow_prologue(uintptr_t entry, uintptr_t pc, bool *pushed, bool *lowered, bool *saved)
{
	uint8_t code[8];
	unsigned i;

	*pushed = *lowered = *saved = false;
	for (i = 0; i < 24 && entry < pc; i++) {
		const struct pattern *p;

		if (!load_bytes(code, entry, sizeof(code)))
			return false;
		p = recognise(code);
		if (!p)
			return false;
		*pushed |= p->what == PUSHED;
		*lowered |= p->what == LOWERED;
		*saved |= p->what == SAVED;
		entry += p->length;
	}
	return true;
}

static uintptr_t verified_entry(const struct layout *l, const struct blob *b)
{
	uint64_t offset;
	uintptr_t entry;

	if (l->nmethod_entry_offset >= 0 &&
	    load_field(b->address + (uintptr_t)l->nmethod_entry_offset, l->nmethod_entry_offset_width,
		       &offset))
		return b->code + offset;
	if (l->nmethod_entry >= 0 && load_word(b->address + (uintptr_t)l->nmethod_entry, &entry))
		return entry;
	return b->code;
}

/* At or behind the frame's end: *OFFSET of the return address from sp. */
static bool in_epilogue(const uint8_t *c, uint32_t *offset, bool *fp_saved)
{
	static const uint8_t poll[] = {0x49, 0x3b, 0xa7};       /* cmp rsp, [r15+imm32] */
	static const uint8_t poll_near[] = {0x49, 0x3b, 0x67};  /* cmp rsp, [r15+imm8]: 24 and later */
	static const uint8_t poll_load[] = {0x4d, 0x8b, 0x97};  /* mov r10, [r15+imm32]: 11 */
	static const uint8_t poll_test[] = {0x41, 0x85, 0x02};  /* test [r10], eax */

	*offset = 0;
	*fp_saved = false;
	if (c[0] == 0xc3 || c[0] == 0xc2)
		return true;
	if (c[0] == 0x5d) {
		*offset = 8;
		*fp_saved = true;
		return true;
	}
	if (starts_with(c, poll, 3) && c[7] == 0x0f && c[8] == 0x87)
		return true;
	if (starts_with(c, poll_near, 3) && c[4] == 0x0f && c[5] == 0x87)
		return true;
	if (c[0] == 0x0f && c[1] == 0x87 && c[6] == 0xc3)
		return true;
	if (starts_with(c, poll_load, 3) && starts_with(c + 7, poll_test, 3) && c[10] == 0xc3)
		return true;
	if (starts_with(c, poll_test, 3) && c[3] == 0xc3)
		return true;
	return c[0] == 0x85 && c[1] == 0x05 && c[6] == 0xc3; /* test [rip+imm32], eax: 8 */
}

bool frame_edge(const struct layout *l, const struct blob *b, uintptr_t pc, uint32_t *offset,
		bool *fp_saved)
{
	uintptr_t entry = verified_entry(l, b);
	bool pushed, lowered, saved;
	uint8_t code[16];

	if (pc <= entry) {
		*offset = 0;
		*fp_saved = false;
		return true;
	}
	if (b->frame_complete > 0 && pc < b->code + (uintptr_t)b->frame_complete &&
	    follow_prologue(entry, pc, &pushed, &lowered, &saved)) {
		*offset = lowered ? b->frame_bytes - 8 : pushed ? 8 : 0;
		*fp_saved = pushed || saved;
		return true;
	}
	return load_bytes(code, pc, sizeof(code)) && in_epilogue(code, offset, fp_saved);
}

bool frame_not_built(uintptr_t entry, uintptr_t pc)
{
	uint8_t code[INSN_MAX + 1];
	struct insn insn;
	unsigned i;

	if (pc < entry || pc - entry > ENTRY_MAX)
		return false;
	for (i = 0; i < ENTRY_MAX && entry < pc; i++, entry += insn.length)
		if (!load_bytes(code, entry, sizeof(code)) || !insn_decode(code, &insn) ||
		    insn.does == INSN_FP_FROM_SP)
			return false;
	return entry == pc;
}

/*
 * The end of remove_activation (interp_masm_x86.cpp, 8 to 25), behind `leave`:
 *     pop r13;  mov rsp, rbx;  (24 and later: some instructions that do not matter)  jmp r13
 */
bool frame_exit_interpreted(const struct walk_regs *r, uintptr_t *pc, uintptr_t *sp)
{
	static const uint8_t pop[] = {0x41, 0x5d}, jump[] = {0x41, 0xff, 0xe5};
	enum { RBX = 3 };
	uintptr_t at = r->pc;
	uint8_t code[INSN_MAX + 1];
	struct insn insn;
	unsigned i;

	*pc = r->bcp;
	*sp = r->sp;
	for (i = 0; i < 8 && load_bytes(code, at, sizeof(code)) && insn_decode(code, &insn); i++) {
		if (insn.does == INSN_JUMP_AWAY)
			return starts_with(code, jump, sizeof(jump));
		if (insn.does == INSN_SP_FROM && insn.amount == RBX)
			*sp = r->method;
		else if (insn.does == INSN_POP && starts_with(code, pop, sizeof(pop)) && i < 2)
			load_word(r->sp, pc);
		else if (insn.does != INSN_OTHER && insn.does != INSN_BRANCH)
			return false;
		at += insn.length;
	}
	return false;
}

bool frame_sets_sender(uintptr_t pc)
{
	static const uint8_t sets[] = {0x58, 0x4c, 0x8b, 0xec}; /* pop rax; mov r13, rsp */
	uint8_t code[4];

	return load_bytes(code, pc - 1, sizeof(code)) && starts_with(code, sets, sizeof(sets));
}

/*
 * SharedRuntime::generate_handler_blob (8 to 25):
 *     push rbx                    room for a return address
 *     push rbp; mov rbp, rsp; …   registers are kept
 *     mov rbx, [r15 + field]      JavaThread::_saved_exception_pc
 *     mov [rbp + 8], rbx
 */
bool frame_polled(uintptr_t start, uintptr_t pc, uint32_t *field)
{
	static const uint8_t get[] = {0x49, 0x8b, 0x9f}, put[] = {0x48, 0x89, 0x5d, 0x08};
	uint8_t code[INSN_MAX + 1];
	struct insn insn;
	unsigned i;

	for (i = 0; i < ENTRY_MAX; i++, start += insn.length) {
		if (!load_bytes(code, start, sizeof(code)) || !insn_decode(code, &insn) || insn.does == INSN_CALL)
			return false;
		if (starts_with(code, get, sizeof(get)) && starts_with(code + 7, put, sizeof(put)))
			break;
	}
	__builtin_memcpy(field, code + 3, sizeof(*field));
	return i < ENTRY_MAX && pc <= start + 7;
}

bool frame_exception_pc(const struct walk_regs *r, uintptr_t *pc)
{
	return r && context_dwarf_register(r->all, 1 /* rdx */, pc);
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
	return code[0] == 0x41 && (code[1] & 0xf8) == first ? 2 : 0;
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
			*return_slot = sp + 8 * i;
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
	*return_slot = sp + 8 * pushed;
	return pushed > 0;
}

bool stub_edge(uintptr_t start, uintptr_t pc, uintptr_t sp, uintptr_t fp, uintptr_t *return_slot,
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
		*return_slot = sp + 8;
		return true;
	}
	if (fp < sp)
		return false;
	*return_slot = fp + 8;
	return true;
}
