/*
 * code_unwind.c - where an innermost frame's return address lies, by following its code. For CPUs that link.
 *
 * The same idea as on x86_64: any way from pc to a place where the frame is known tells how it is at pc.
 *
 *     ret, or a jump to other code              the frame is gone, the link register holds the return address: since
 *                                               before pc, or since the way loaded it from the stack
 *     a pc that debug information describes,
 *     a call of code with a frame of its own    the frame stands as its blob says, that in its last word; unless
 *                                               the way put it there itself: then it still is in the register
 *
 * The way goes straight on at branches and with jumps; where it cannot be read, the branches left behind are tried.
 */
#include "agent/walk/arch/linked/prologues.h"
#include "agent/walk/code_way.h"
#include "insn.h"

#define BUDGET 300 /* instructions in all */

static void learn(struct way *y, uint8_t number, uintptr_t value)
{
	y->own.known |= 1u << number;
	y->own.value[number] = value;
}

static void forget(struct way *y, uint8_t number)
{
	y->own.known &= ~(1u << number);
}

static bool knows(const struct way *y, uint8_t number)
{
	return y->own.known >> number & 1;
}

/* Frame pointer or link register are loaded or stored, or sp is changed, by an access at sp. */
static enum go reach(struct way *y, const struct insn *i)
{
	int64_t sp = y->at.released + i->before;

	y->at.released = sp + i->after;
	y->touched |= i->before || i->after;
	if (i->load && i->link_at >= 0)
		forget(y, INSN_LINK);
	if (i->load && i->link_at >= 0) {
		y->at.link_at = sp + i->link_at;
		y->at.called = false;
	} else if (i->link_at >= 0 && !y->at.called && y->at.link_at < 0) {
		y->at.stored_at = sp + i->link_at;
	}
	if (i->load && i->fp_at >= 0) {
		y->at.fp_at = sp + i->fp_at;
		y->at.fp = y->at.fp_at < 0 ? FP_IS_FIRST : FP_IS_LOST; /* the way itself put it below the first sp */
	}
	return i->jumps ? GO_RETURN : GO_ON;
}

static enum go set_sp(struct way *y, const struct insn *i)
{
	uintptr_t fp = y->w->fp;

	y->touched = true;
	y->at.lost = i->number != INSN_FP;
	if (y->at.lost)
		return GO_ON;
	if (y->at.fp == FP_IS_KNOWN) {
		y->at.released = y->at.base + i->amount;
		return GO_ON;
	}
	y->fixed = false;
	if (y->at.fp == FP_IS_LOST || fp < y->w->sp || fp - y->w->sp > INTERPRETED_SPAN || (fp & (WORD - 1)))
		return GO_BACK;
	y->at.released = (int64_t)(fp - y->w->sp) + i->amount;
	return GO_ON;
}

/* Out of the code: the frame still stands for some stubs, for all others it is gone. */
static enum go jump(struct way *y, uintptr_t target)
{
	const struct stub *stub;

	if (way_holds(y, target)) {
		y->at.pc = target;
		return GO_ON;
	}
	stub = stub_find(y->w->stubs, target);
	return stub && stub->onto ? GO_STANDING : GO_RETURN;
}

/* Whether the frame stands as its blob says at a call of TARGET (0 = not known) that returns to RA. */
static bool is_border(const struct way *y, uintptr_t target, uintptr_t ra)
{
	struct blob b;

	if (target && code_contains(y->w->l, target) && !way_holds(y, target) && way_blob_at(y, target, &b) &&
	    b.nmethod)
		return true;
	return way_is_described(y, ra);
}

static enum go call(struct way *y, uintptr_t target)
{
	y->at.called = true;
	return is_border(y, target, y->at.pc) ? GO_STANDING : GO_ON;
}

static void compute(struct way *y, const struct insn *i, uintptr_t pc)
{
	switch (i->does) {
	case INSN_CONSTANT: learn(y, i->number, (uintptr_t)i->amount); break;
	case INSN_NEAR: learn(y, i->number, pc + (uintptr_t)i->amount); break;
	case INSN_NEAR_PAGE: learn(y, i->number, (pc & ~(uintptr_t)4095) + (uintptr_t)i->amount); break;
	case INSN_FORGET: forget(y, i->number); break;
	default:
		if (knows(y, i->number))
			y->own.value[i->number] += (uintptr_t)i->amount;
	}
}

static enum go lower(struct way *y, uint8_t number)
{
	y->touched = true;
	if (!knows(y, number))
		return GO_BACK;
	y->at.released -= (int64_t)y->own.value[number];
	return GO_ON;
}

/* What INSN at PC, behind which Y stands, does to the way. */
static enum go apply_insn(struct way *y, const struct insn *i, uintptr_t pc)
{
	uintptr_t target = pc + (uintptr_t)i->amount;

	switch (i->does) {
	case INSN_OTHER: return GO_ON;
	case INSN_STACK: return reach(y, i);
	case INSN_RELEASE:
		y->at.released += i->amount;
		y->touched = true;
		return GO_ON;
	case INSN_LOWER_BY: return lower(y, i->number);
	case INSN_SP_FROM: return set_sp(y, i);
	case INSN_SP_LOST: y->at.lost = true; return GO_ON;
	case INSN_FP_FROM_SP:
		y->at.base = y->at.released + i->amount;
		y->at.fp = y->at.lost ? FP_IS_LOST : FP_IS_KNOWN;
		return GO_ON;
	case INSN_CALL: return call(y, target);
	case INSN_CALL_REGISTER: return call(y, knows(y, i->number) ? y->own.value[i->number] : 0);
	case INSN_RETURN: return GO_RETURN;
	case INSN_JUMP: return jump(y, target);
	case INSN_JUMP_REGISTER:
		/* The link register was set just before: a call. */
		if (knows(y, INSN_LINK) && way_holds(y, y->own.value[INSN_LINK])) {
			y->at.pc = y->own.value[INSN_LINK];
			return call(y, 0);
		}
		return knows(y, i->number) ? jump(y, y->own.value[i->number]) : GO_AWAY;
	case INSN_BRANCH: way_remember(y, target); return GO_ON;
	case INSN_END: return GO_BACK;
	default: compute(y, i, pc); return GO_ON;
	}
}

static enum go one_instruction(struct way *y)
{
	uintptr_t pc = y->at.pc;
	struct insn i;
	enum go go;

	if (y->straight)
		y->same = pc;
	if (pc == y->next && y->at.link_at < 0)
		return GO_STANDING;
	if (!way_holds(y, pc) || !insn_fetch(pc, &i))
		return GO_BACK;
	y->at.pc = pc + INSN_BYTES;
	go = apply_insn(y, &i, pc);
	y->straight &= go == GO_ON && y->at.pc == pc + INSN_BYTES && !y->touched && i.does < INSN_CALL;
	return go > GO_BACK && y->at.lost ? GO_BACK : go;
}

/* What the way's end says of its beginning. False: the two do not fit. */
static bool conclude(const struct way *y, enum go go, struct code_unwind *out)
{
	const struct place *p = &y->at;
	bool own = p->link_at >= 0 && p->link_at == p->stored_at;

	*out = (struct code_unwind){
		.end = way_end(go),
		.fixed = y->fixed,
		.released = (int32_t)p->released,
		.fp_at = -1,
		.popped = INT32_MIN,
		.same = y->same,
	};
	if (p->released != out->released)
		return false;
	if (go == GO_STANDING) {
		out->linked = p->stored_at != INT64_MIN;
		return p->link_at < 0 && y->blob->frame_bytes >= 2 * WORD;
	}
	out->linked = p->link_at < 0 || own;
	if (out->linked)
		return !p->called;
	out->released = (int32_t)p->link_at;
	out->fp_at = (int32_t)p->fp_at;
	return p->released == p->link_at + (int64_t)WORD;
}

bool code_unwind(const struct walk *w, const struct blob *b, const struct stub *stub, bool away,
		   struct code_unwind *out)
{
	enum go go = GO_ON;
	unsigned n;
	struct way y;

	way_begin(&y, w, b, stub, &(struct place){.pc = w->pc, .link_at = -1, .fp_at = -1, .stored_at = INT64_MIN});
	y.next = way_next(&y);
	for (n = 0; n < BUDGET; n++) {
		go = one_instruction(&y);
		if (go == GO_AWAY && !away)
			go = GO_BACK;
		if (go > GO_BACK && conclude(&y, go, out))
			return true;
		if (go != GO_ON && !way_back(&y))
			break;
	}
	/* A long way, or one that leads nowhere, on which sp stays as it is: the frame stands. */
	if (!b->nmethod || b->frame_bytes < 2 * WORD || (y.touched && decode_described(w->l, b, w->pc, false) != w->pc))
		return false;
	*out = (struct code_unwind){
		.end = UNWIND_STANDING, .fixed = y.fixed, .fp_at = -1, .popped = INT32_MIN, .same = y.same,
	};
	return true;
}
