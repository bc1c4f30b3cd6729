/*
 * interpreted_prologue.c (x86) - the innermost interpreted frame at its method's first and last instructions.
 *
 * A method's entry keeps the caller's sp in r13 (on i386 esi), Method* in rbx and, for some instructions, the return
 * address in rax (TemplateInterpreterGenerator::generate_normal_entry; 8 to 25); its exit has the caller's sp and
 * the return address in registers.
 */
#include "agent/walk/decode.h"
#include "code.h"
#include "insn.h"
#include "prologues.h"

#define ENTRY_MAX 512 /* bytes before an interpreted method's frame stands */
#define INLINE_MAX 96 /* instructions of a method that the interpreter does itself */
#define THROW_MAX 48  /* instructions from a frame's removal by an exception to the jump to its handler */

enum { PUSH_RDX = 0x52, POP_RAX = 0x58, POP_RDX = 0x5a }; /* opcodes */

bool walk_at_entry(struct walk *w, enum step *step)
{
	const struct walk_regs *r = w->regs;
	uintptr_t pc = r->ret, fp = w->fp, above;
	struct method m;

	if (!interpreted_near(r->sender_sp, w->sp) || !decode_method(w->l, w->cache, r->method, &m))
		return false;
	/* Not popped yet: rax holds something older. */
	if (r->sender_sp == w->sp + WORD && load_word(w->sp, &above) && walk_is_code(w, above))
		pc = above;
	if (!walk_is_code(w, pc) && (!load_word(w->sp, &pc) || !walk_is_code(w, pc)))
		return false;
	if (w->fp >= w->sp && w->fp < r->sender_sp && load_word(w->fp + WORD, &above) && above == pc &&
	    !load_word(w->fp, &fp))
		return false;
	if (!stack_trace_put(w->out, interpreted_word(&m, 0))) {
		*step = STEP_END;
		return true;
	}
	if (r->sender_sp <= w->sp)
		w->sp = r->sender_sp - WORD;
	*step = walk_move(w, pc, r->sender_sp, fp) ? STEP_ON : STEP_END;
	return true;
}

/*
 * Behind `leave`, at the end of an interpreted method (remove_activation), of a native one (generate_native_entry),
 * and where a loop goes on in compiled code (TemplateTable::branch, OSR); 8 to 25. On 24 and later some
 * instructions lie between that do not matter.
 *     pop r13;  mov rsp, rbx;  jmp r13              pop rdi;  mov rsp, r11;  jmp rdi
 *     pop rcx;  mov rsp, rdx;  and rsp, -16;  push rcx;  jmp [rbx + nmethod::_osr_entry_point]
 * On i386
 *     pop esi;  mov esp, ebx;  jmp esi              pop edi;  mov esp, ecx;  jmp edi
 *     pop edi;  mov esp, edx;  and esp, -16;  push edi;  jmp [ebx + nmethod::_osr_entry_point]
 * where `leave` is  mov esp, ebp;  pop ebp.
 */
struct unwind_back {
	uint8_t ret, sender; /* numbers of the registers for the return address and the caller's sp */
	bool osr;
};
static const struct unwind_back ways_back[] = {WAYS_BACK};

/* jmp RET, or jmp [rbx + n] */
static bool is_last(const uint8_t *code, const struct unwind_back *way)
{
	if (way->osr)
		return code[0] == 0xff && (code[1] == 0xa3 || code[1] == 0x63);
	if (way->ret >= 8 && *code++ != 0x41)
		return false;
	return code[0] == 0xff && code[1] == (0xe0 | (way->ret & 7));
}

/* What is still to be popped of a frame that is being removed. */
struct left {
	bool fp, ret;
};

/* Follow the code at R's pc to the jump that ends the way. */
static bool follow_unwind_back(const struct walk_regs *r, const struct unwind_back *way, struct left *left)
{
	uintptr_t at = r->pc;
	uint8_t code[INSN_MAX + 1];
	struct insn insn;
	unsigned i;

	*left = (struct left){0};
	for (i = 0; i < 8 && load_bytes(code, at, sizeof(code)) && insn_decode(code, &insn); i++) {
		switch (insn.does) {
		case INSN_JUMP_AWAY:
			return is_last(code, way);
		case INSN_POP_FP:
			if (i > 0)
				return false;
			left->fp = true;
			break;
		case INSN_POP:
			if (insn.amount != way->ret || i > 1u + left->fp)
				return false;
			left->ret = true;
			break;
		case INSN_SP_FROM:
			if (insn.amount != way->sender)
				return false;
			break;
		case INSN_ALIGN:
		case INSN_RELEASE:
			if (!way->osr)
				return false;
			break;
		case INSN_OTHER:
		case INSN_BRANCH:
			break;
		default:
			return false;
		}
		at += insn.length;
	}
	return false;
}

/* Whether an interpreted frame was just removed: *PC, *SP and *FP of the caller. R: at its last instructions. */
static bool at_exit(const struct walk_regs *r, uintptr_t *pc, uintptr_t *sp, uintptr_t *fp)
{
	struct left left;
	unsigned i;

	for (i = 0; i < ARRAY_LEN(ways_back); i++) {
		const struct unwind_back *way = &ways_back[i];

		/* The cheap test first: most often that register holds a bytecode or an index. */
		if (context_register(r->all, way->sender, sp) && interpreted_near(*sp, r->sp) &&
		    follow_unwind_back(r, way, &left)) {
			*fp = r->fp;
			if (left.fp && !load_word(r->sp, fp))
				return false;
			return left.ret ? load_word(r->sp + (left.fp ? WORD : 0), pc)
					: context_register(r->all, way->ret, pc);
		}
	}
	return false;
}

/*
 * Where an exception takes an interpreted frame away (remove_activation_entry of generate_throw_exception; 8 to 25): it
 * looks, without a frame, for the handler in the caller. On 24 and later more instructions lie between.
 *     leave;  pop rdx;  mov rsp, rbx;  push rax;  push rdx;
 *     call SharedRuntime::raw_exception_handler_for_return_address;  mov rbx, rax;  pop rdx;  pop rax;  jmp rbx
 * Whether W's pc is behind that `leave`; *PC and *SP of the caller. Behind the call it need not be the top, for the
 * time goes there: then the registers are not known, and not needed.
 */
static bool at_throw(const struct walk *w, uintptr_t *pc, uintptr_t *sp)
{
	enum { RAX, RDX = 2, RBX = 3 };
	static const struct unwind_back way = {RBX, RBX, false};
	const void *all = w->top && w->regs ? w->regs->all : NULL;
	uint8_t code[INSN_MAX + 1], last = 0;
	uintptr_t at = w->pc, pushed = 0, first;
	struct insn insn;
	unsigned i;

	*sp = w->sp;
	/* The cheap test first. */
	if (!all || !context_register(all, RDX, pc) || !walk_is_code(w, *pc))
		*pc = 0;
	if (!*pc && !(load_word(w->sp, &first) && walk_is_code(w, first)) &&
	    !(load_word(w->sp + WORD, &first) && walk_is_code(w, first))) /* sp may be aligned for the call */
		return false;
	if (load_bytes(code, at - 1, 1))
		last = code[0];
	for (i = 0; i < THROW_MAX && load_bytes(code, at, sizeof(code)) && insn_decode(code, &insn); i++) {
		at += insn.length;
		switch (insn.does) {
		case INSN_JUMP_AWAY:
			return last == POP_RAX && is_last(code, &way) && walk_is_code(w, *pc);
		case INSN_POP:
			if (insn.amount == RDX && *sp != pushed && !load_word(*sp, pc))
				return false;
			if (insn.amount != RDX && (insn.amount != RAX || last != POP_RDX))
				return false;
			*sp += WORD;
			break;
		case INSN_SP_FROM:
			if (insn.amount != way.sender || !all || !context_register(all, way.sender, sp))
				return false;
			break;
		case INSN_RELEASE:
			*sp += (uintptr_t)(intptr_t)insn.amount;
			if (code[0] == PUSH_RDX && !pushed)
				pushed = *sp;
			break;
		case INSN_JUMP:
			if (insn.amount < 0)
				return false;
			at += (uintptr_t)(intptr_t)insn.amount;
			break;
		case INSN_OTHER:
		case INSN_BRANCH:
		case INSN_CALL:
		case INSN_CALL_REGISTER: break;
		default: return false;
		}
		last = code[0];
	}
	return false;
}

/* Behind the frame's removal: PC, SP and FP are the caller's. */
static enum step over_exit(struct walk *w, uintptr_t pc, uintptr_t sp, uintptr_t fp)
{
	w->end = END_bad_interpreted;
	if (!interpreted_near(sp, w->sp) || !walk_is_code(w, pc))
		return STEP_END;
	if (sp <= w->sp)
		w->sp = sp - WORD;
	return walk_move(w, pc, sp, fp) ? STEP_ON : STEP_END;
}

/* Whether PC stands before the frame pointer is set up by the code from ENTRY on. */
static bool not_built(uintptr_t entry, uintptr_t pc)
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
 * Whether pc stands in the entry of the method in the register for it, where its frame is not built. Elsewhere
 * the registers may look the same: they are what the last call left.
 */
static bool before_frame(const struct walk *w)
{
	uintptr_t entry = interpreted_entry(w, ENTRY_MAX);

	return entry && not_built(entry, w->pc);
}

/*
 * Some methods the interpreter does itself, without a frame: Reference.get, whose barrier needs the registers, the
 * Method* gone among them (generate_Reference_get_entry; 8 to 25). From there on the method is not known; its caller
 * is found where the way ends:
 *     pop rdi;  mov rsp, r13;  jmp rdi              on i386  mov esp, esi
 * Whether W's pc is on that way; *PC: where it returns to.
 */
static bool in_inline_method(const struct walk *w, uintptr_t *pc)
{
	static const struct unwind_back way = {7, SENDER_SP, false};
	uint8_t code[INSN_MAX + 1];
	uintptr_t at = w->pc, sp = w->sp, ret_at = 0;
	struct insn insn;
	unsigned i;

	for (i = 0; i < INLINE_MAX && load_bytes(code, at, sizeof(code)) && insn_decode(code, &insn); i++) {
		at += insn.length;
		switch (insn.does) {
		case INSN_JUMP_AWAY:
			return is_last(code, &way) &&
			       (ret_at ? load_word(ret_at, pc) : context_register(w->regs->all, way.ret, pc));
		case INSN_POP:
			if (insn.amount == way.ret)
				ret_at = sp;
			sp += WORD;
			break;
		case INSN_POP_FP: sp += WORD; break;
		case INSN_RELEASE: sp += (uintptr_t)(intptr_t)insn.amount; break;
		case INSN_JUMP:
			if (insn.amount < 0)
				return false;
			at += (uintptr_t)(intptr_t)insn.amount;
			break;
		case INSN_SP_FROM:
			if (insn.amount != way.sender)
				return false;
			break;
		case INSN_OTHER:
		case INSN_BRANCH:
		case INSN_SP_TO:
		case INSN_RELOAD:
		case INSN_CALL:
		case INSN_CALL_MEMORY:
		case INSN_CALL_REGISTER: break;
		default: return false;
		}
	}
	return false;
}

bool interpreted_prologue(struct walk *w, enum step *step)
{
	uintptr_t pc, sp, fp;

	if (at_throw(w, &pc, &sp)) {
		*step = over_exit(w, pc, sp, w->fp);
		return true;
	}
	if (!w->top || !w->regs)
		return false;
	if (at_exit(w->regs, &pc, &sp, &fp)) {
		*step = over_exit(w, pc, sp, fp);
		return true;
	}
	if (!interpreted_near(w->regs->sender_sp, w->sp))
		return false;
	if (before_frame(w))
		return walk_at_entry(w, step);
	if (!in_inline_method(w, &pc) || !walk_is_code(w, pc))
		return false;
	*step = over_exit(w, pc, w->regs->sender_sp, w->fp);
	return true;
}
