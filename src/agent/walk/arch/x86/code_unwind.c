/*
 * code_unwind.c (x86) - where an innermost frame's return address lies, by following its code.
 *
 * How far rsp is from where the frame's blob says depends on the instruction alone: prologues,
 * epilogues, intrinsics that push registers, slow paths that save them. So any way from pc to a place where
 * that distance is known tells it for pc too:
 *
 *     ret                                       the return address is what rsp points to there
 *     a pc that debug information describes,
 *     a call of code with a frame of its own    the frame stands as its blob says
 *     a jump to other generated code            the one or the other, by what is jumped to
 *
 * The way goes straight on at branches and with jumps; where it leads in a circle or cannot be read,
 * the branches left behind are tried. Words on the stack that look like return addresses play no part: those
 * that earlier calls left there look as good as the true one.
 */
#include "agent/walk/code_way.h"
#include "code.h"
#include "cpu.h"
#include "insn.h"
#include "prologues.h"

#define BUDGET 400  /* instructions in all */
#define SPAN_MAX 65536

static bool in_circle(struct way *y, uintptr_t target)
{
	uint32_t i;

	for (i = 0; i < MIN(y->own.jumps, CIRCLE); i++)
		if (y->own.jumped[i] == target)
			return true;
	y->own.jumped[y->own.jumps++ % CIRCLE] = target;
	return false;
}

/* Out of the code by a jump: the frame still stands for some stubs, for all others it is gone. */
static enum go jump_out(struct way *y, uintptr_t target)
{
	const struct stub *stub = stub_find(y->w->stubs, target);

	if (!stub || !stub->onto)
		return GO_RETURN;
	/* The frame size of a stub of C1 counts what it pushes for its call, and that is gone by now. */
	if (CPU_PUSHES_ARGUMENTS && !y->blob->nmethod)
		return GO_BACK;
	if (stub->onto == STUB_ONTO_PC)
		y->at.released += WORD;
	return GO_STANDING;
}

static enum go jump(struct way *y, uintptr_t target)
{
	if (!way_holds(y, target))
		return jump_out(y, target);
	y->at.pc = target;
	return in_circle(y, target) ? GO_BACK : GO_ON;
}

/*
 * Whether the frame stands as its blob says at a call of TARGET (0 = not known) that returns to RA: what is
 * called has a frame of its own, or debug information describes the call.
 */
static bool is_border(const struct way *y, uintptr_t target, uintptr_t ra)
{
	struct blob b;

	if (target && code_contains(y->w->l, target)) {
		if (way_holds(y, target))
			return true;
		if (way_blob_at(y, target, &b) && (b.nmethod || b.frame_bytes >= 2 * WORD))
			return true;
	} else if (target) {
		return false;
	}
	return way_is_described(y, ra);
}

static enum go known_sp(struct way *y, int32_t released)
{
	y->at.released = released;
	y->at.lost = false;
	return GO_ON;
}

/* rsp becomes VALUE, which was computed before the way began. */
static enum go set_sp(struct way *y, uintptr_t value)
{
	y->fixed = false;
	if (value < y->w->sp || value - y->w->sp > SPAN_MAX || (value & (WORD - 1)))
		return GO_BACK;
	return known_sp(y, (int32_t)(value - y->w->sp));
}

static enum go sp_from_fp(struct way *y, int32_t amount)
{
	switch (y->at.fp) {
	case FP_IS_FIRST: return set_sp(y, y->w->fp + (uintptr_t)(intptr_t)amount);
	case FP_IS_KNOWN: return known_sp(y, y->at.base + amount);
	default: return GO_BACK;
	}
}

static void pop_fp(struct way *y)
{
	bool own = y->at.released < 0; /* what the way pushed itself was in the register */

	y->at.fp_at = own ? -1 : y->at.released;
	y->at.fp = own ? FP_IS_FIRST : FP_IS_LOST;
	y->at.released += WORD;
	y->at.size = 0; /* that frame is gone */
	y->at.anew = false;
}

static enum go leave(struct way *y)
{
	enum go go = sp_from_fp(y, 0);

	pop_fp(y);
	return go;
}

/* rsp grows by the size word, which lies AT bytes above it. */
static enum go release_by(struct way *y, int32_t at)
{
	uintptr_t size = y->at.size;

	at += y->at.released;
	if (!y->blob->own_size) {
		y->at.lost = true;
		return GO_ON;
	}
	if (!size) {
		y->fixed = false;
		if (at < 0 || !load_word(y->w->sp + (uintptr_t)at, &size) || !frame_can_be(y->blob->own_size, size))
			return GO_BACK;
	}
	y->at.released += (int32_t)size;
	return GO_ON;
}

static enum go pop_sp(struct way *y)
{
	uintptr_t value;

	if (y->at.released < 0 || !load_word(y->w->sp + (uintptr_t)y->at.released, &value))
		return GO_BACK;
	return set_sp(y, value);
}

static enum go sp_from(struct way *y, uint32_t number)
{
	uintptr_t value;

	if (y->at.kept != INT32_MIN && y->at.keeper == number)
		return known_sp(y, y->at.kept);
	/* It has that value since before its place was written. */
	if (number == SENDER_SP && y->at.kept_at >= 0 && !y->w->regs)
		return load_word(y->w->sp + (uintptr_t)y->at.kept_at, &value) ? set_sp(y, value) : GO_BACK;
	if (!y->w->regs || !context_register(y->w->regs->all, number, &value))
		return GO_BACK;
	return set_sp(y, value);
}

static enum go call(struct way *y, int32_t distance)
{
	if (distance == 0) { /* pushes its own address: the deoptimisation handler */
		y->at.released -= WORD;
		return GO_ON;
	}
	return is_border(y, y->at.pc + (uintptr_t)(intptr_t)distance, y->at.pc) ? GO_STANDING : GO_ON;
}

/* What INSN does to rsp. */
static enum go change(struct way *y, const struct insn *i)
{
	switch (i->does) {
	case INSN_POP:
		y->at.popped = y->at.released;
		y->at.released += WORD;
		return GO_ON;
	case INSN_RELEASE: y->at.released += i->amount; return GO_ON;
	case INSN_RELEASE_BY: return release_by(y, i->amount);
	case INSN_POP_FP: pop_fp(y); return GO_ON;
	case INSN_POP_SP: return pop_sp(y);
	case INSN_LEAVE: return leave(y);
	case INSN_SP_FROM_FP: return sp_from_fp(y, i->amount);
	case INSN_SP_FROM: return sp_from(y, (uint32_t)i->amount);
	case INSN_ALIGN:
		/* Frames are aligned, so it mostly is by now. */
		y->at.lost |= (y->w->sp + (uintptr_t)(intptr_t)y->at.released) % (uintptr_t)i->amount != 0;
		return GO_ON;
	case INSN_SP_LOST:
	default: y->at.lost = true; return GO_ON;
	}
}

/* What INSN, behind which Y stands, does to the way. */
static enum go apply_insn(struct way *y, const struct insn *i)
{
	uintptr_t target = y->at.pc + (uintptr_t)(intptr_t)i->amount;

	switch (i->does) {
	case INSN_OTHER: return GO_ON;
	case INSN_RELOAD:
		if (i->number == SENDER_SP)
			y->at.kept_at = y->at.released + i->amount;
		return GO_ON;
	case INSN_FP_FROM_SP:
		y->at.base = y->at.released;
		y->at.fp = y->at.lost ? FP_IS_LOST : FP_IS_KNOWN;
		return GO_ON;
	case INSN_SP_TO:
		if (!y->at.lost) {
			y->at.keeper = (uint8_t)i->amount;
			y->at.kept = y->at.released;
		}
		return GO_ON;
	case INSN_CALL: return call(y, i->amount);
	case INSN_CALL_MEMORY: return is_border(y, 0, y->at.pc) ? GO_STANDING : GO_ON;
	case INSN_CALL_REGISTER: return GO_ON;
	case INSN_RETURN: return GO_RETURN;
	case INSN_JUMP: return jump(y, target);
	case INSN_JUMP_AWAY: return GO_AWAY;
	case INSN_BRANCH: way_remember(y, target); return GO_ON;
	case INSN_END: return GO_BACK;
	default:
		y->touched = true;
		return change(y, i);
	}
}

/*
 * Debug information stands between what a compiler made of one operation and the next: nothing is on top of
 * the frame there.
 */
static bool is_described(const struct way *y)
{
	if (y->at.fp_at >= 0 && !y->at.anew)
		return false; /* the frame is being taken down */
	return y->at.pc == y->next ||
	       (y->own.everywhere && decode_described(y->w->l, y->blob, y->at.pc, false) == y->at.pc);
}

/*
 * Methods that take value objects build a frame for their entry barrier, take it down, take the objects apart and build
 * the frame they run in. From where its size is put there on, ways from other entries join, which put other sizes.
 */
static void note_frame(struct way *y, const uint8_t *code)
{
	int32_t at;

	if (frame_saves_fp(code, &at)) {
		y->at.anew |= y->at.fp_at >= 0;
		/* Elsewhere in a frame is whatever the register holds by then. */
		y->at.fp_kept |= y->at.fp_at < 0 && y->at.fp == FP_IS_FIRST &&
				 at == (int32_t)y->blob->frame_bytes - 2 * WORD;
	}
	if (unlikely(y->blob->own_size) && frame_puts_size(code, y->blob->frame_bytes, &y->at.size))
		y->straight = false;
}

static enum go one_instruction(struct way *y)
{
	uint8_t code[INSN_MAX + 1];
	uintptr_t next;
	struct insn i;
	enum go go;

	if (y->straight)
		y->same = y->at.pc;
	if (is_described(y))
		return GO_STANDING;
	if (!way_holds(y, y->at.pc) || !load_bytes(code, y->at.pc, sizeof(code)) || !insn_decode(code, &i))
		return GO_BACK;
	note_frame(y, code);
	next = y->at.pc += i.length;
	go = apply_insn(y, &i);
	y->straight &= go == GO_ON && y->at.pc == next && y->at.released == 0 && !y->touched;
	return go > GO_BACK && y->at.lost ? GO_BACK : go;
}

static enum go follow(struct way *y, bool away)
{
	enum go go = GO_ON;
	unsigned i;

	for (i = 0; i < BUDGET && (go == GO_ON || go == GO_BACK); i++) {
		if (go == GO_BACK && !way_back(y))
			break;
		go = one_instruction(y);
		if (go == GO_AWAY && !away)
			go = GO_BACK;
	}
	/* A long way that leaves rsp as it is: what pushes registers takes them off again within less. */
	if (((go == GO_ON && y->at.released == 0 && !y->at.lost) || (go == GO_BACK && !y->touched)) &&
	    y->blob->nmethod && y->blob->frame_bytes >= 2 * WORD)
		return GO_STANDING;
	return go;
}

bool code_unwind(const struct walk *w, const struct blob *b, const struct stub *stub, bool away,
		   struct code_unwind *out)
{
	const struct place at = {.pc = w->pc, .fp_at = -1, .popped = INT32_MIN, .kept = INT32_MIN,
				 .kept_at = INT32_MIN};
	struct way y;
	enum go go;

	way_begin(&y, w, b, stub, &at);
	y.next = way_next(&y);
	go = follow(&y, away);
	if ((go == GO_ON || go == GO_BACK) && b->nmethod) {
		/* A loop without calls, say. (Dear to look for, so only now.) */
		way_begin(&y, w, b, stub, &at);
		y.own.everywhere = true;
		go = follow(&y, away);
	}
	if (go == GO_ON || go == GO_BACK)
		return false;
	*out = (struct code_unwind){
		.end = way_end(go),
		.fixed = y.fixed,
		.released = y.at.released,
		.fp_at = y.at.fp_at,
		.popped = y.at.popped,
		.same = y.same,
		.size = y.at.size,
		.fp_kept = y.at.fp_kept,
	};
	return true;
}
