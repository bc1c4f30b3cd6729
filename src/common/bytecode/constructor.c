/*
 * constructor.c - where in a constructor `this` is not initialised yet.
 *
 * One pass over the code with the stack as the verifier would see it, but of each slot only whether
 * it holds the uninitialised `this`. Where jumps meet, the method's own frames tell. The call of
 * super() or this() is the invokespecial of <init> that finds it as its receiver.
 */
#include <stdlib.h>
#include <string.h>

#include "common/bytecode/code.h"

struct pass {
	struct code *code;
	bool *locals, *stack; /* slot holds the uninitialised `this` */
	unsigned depth, room;
	bool failed; /* the code does something that verified code does not */
};

static void pop(struct pass *p, unsigned n)
{
	if (n > p->depth)
		p->failed = true;
	else
		p->depth -= n;
}

static void push(struct pass *p, unsigned n, bool this)
{
	if (n > p->room - p->depth) {
		p->failed = true;
		return;
	}
	while (n-- > 0)
		p->stack[p->depth++] = this;
}

/* Copy the top N slots below the K ones under them: dup 1,0; dup_x1 1,1; dup2_x2 2,2 … */
static void duplicate(struct pass *p, unsigned n, unsigned k)
{
	unsigned i, base;

	if (n + k > p->depth || n > p->room - p->depth) {
		p->failed = true;
		return;
	}
	base = p->depth - n - k;
	for (i = 0; i < n; i++)
		p->stack[p->depth + i] = p->stack[p->depth + i - n];
	memmove(p->stack + base + n, p->stack + base, k * sizeof(*p->stack));
	memcpy(p->stack + base, p->stack + p->depth, n * sizeof(*p->stack));
	p->depth += n;
}

static void swap(struct pass *p)
{
	bool top;

	if (p->depth < 2) {
		p->failed = true;
		return;
	}
	top = p->stack[p->depth - 1];
	p->stack[p->depth - 1] = p->stack[p->depth - 2];
	p->stack[p->depth - 2] = top;
}

static void store(struct pass *p, unsigned local, bool this)
{
	if (local >= p->code->max_locals)
		p->failed = true;
	else
		p->locals[local] = this;
}

static void field(struct pass *p, uint8_t op, uint16_t index)
{
	struct text name, type;
	unsigned slots;

	if (!classfile_reference(p->code->file, index, &name, &type) || !type.length) {
		p->failed = true;
		return;
	}
	slots = type_slots(&type);
	if (op == OP_putfield || op == OP_putstatic)
		pop(p, slots);
	if (op == OP_putfield || op == OP_getfield)
		pop(p, 1);
	if (op == OP_getfield || op == OP_getstatic)
		push(p, slots, false);
}

/* A call; true if it is the one that initialises `this`. */
static bool call(struct pass *p, uint8_t op, uint16_t index)
{
	unsigned parameters, result;
	struct text name, type;
	bool initialises = false;

	if (!classfile_reference(p->code->file, index, &name, &type) ||
	    !descriptor_slots(&type, &parameters, &result)) {
		p->failed = true;
		return false;
	}
	pop(p, parameters);
	if (op != OP_invokestatic && op != OP_invokedynamic) {
		pop(p, 1);
		initialises = !p->failed && op == OP_invokespecial && p->stack[p->depth] &&
			      text_is(&name, "<init>");
	}
	push(p, result, false);
	return initialises;
}

/* Loads and stores of a local variable with number N; false if OP is none. */
static bool local(struct pass *p, uint8_t op, unsigned n)
{
	const struct opcode_info *f = &opcode_info[op];
	bool this;

	if (op == OP_aload || (op >= OP_aload_0 && op <= OP_aload_3)) {
		push(p, 1, n < p->code->max_locals && p->locals[n]);
	} else if (op >= OP_iload && op <= OP_aload_3) {
		push(p, (unsigned)f->push, false);
	} else if (op >= OP_istore && op <= OP_astore_3) {
		this = p->depth && p->stack[p->depth - 1];
		pop(p, (unsigned)f->pop);
		store(p, n, this && f->pop == 1);
		if (f->pop == 2)
			store(p, n + 1, false);
	} else {
		return op == OP_iinc || op == OP_ret;
	}
	return true;
}

/* The number of the local variable that OP at PC names. */
static unsigned local_number(const struct code *c, uint32_t pc, uint8_t op, bool wide)
{
	if (op >= OP_iload_0 && op <= OP_aload_3)
		return (op - OP_iload_0) & 3;
	if (op >= OP_istore_0 && op <= OP_astore_3)
		return (op - OP_istore_0) & 3;
	return wide ? (uint16_t)code_number(c, pc + 2, 2) : c->bytes.bytes[pc + 1];
}

/* Those that only move slots about; false if OP is none. */
static bool permute(struct pass *p, uint8_t op)
{
	switch (op) {
	case OP_dup:
		duplicate(p, 1, 0);
		return true;
	case OP_dup_x1:
		duplicate(p, 1, 1);
		return true;
	case OP_dup_x2:
		duplicate(p, 1, 2);
		return true;
	case OP_dup2:
		duplicate(p, 2, 0);
		return true;
	case OP_dup2_x1:
		duplicate(p, 2, 1);
		return true;
	case OP_dup2_x2:
		duplicate(p, 2, 2);
		return true;
	case OP_swap:
		swap(p);
		return true;
	default:
		return false;
	}
}

/* The instruction at PC; true if it initialises `this`. */
static bool step(struct pass *p, uint32_t pc)
{
	const struct code *c = p->code;
	uint8_t op = c->bytes.bytes[pc];
	bool wide = op == OP_wide;

	if (wide)
		op = c->bytes.bytes[pc + 1];
	if (((op >= OP_iload && op <= OP_aload_3) || (op >= OP_istore && op <= OP_astore_3)) &&
	    local(p, op, local_number(c, pc, op, wide)))
		return false;
	if (permute(p, op))
		return false;
	if (op >= OP_getstatic && op <= OP_putfield) {
		field(p, op, (uint16_t)code_number(c, pc + 1, 2));
		return false;
	}
	if (op >= OP_invokevirtual && op <= OP_invokedynamic)
		return call(p, op, (uint16_t)code_number(c, pc + 1, 2));
	if (op == OP_multianewarray)
		pop(p, c->bytes.bytes[pc + 3]);
	else
		pop(p, (unsigned)opcode_info[op].pop);
	push(p, (unsigned)opcode_info[op].push, false);
	return false;
}

static void take_slots(bool *slots, unsigned room, unsigned *used, const struct frame_type *types, unsigned count)
{
	unsigned i;

	*used = 0;
	for (i = 0; i < count && *used < room; i++) {
		slots[(*used)++] = types[i].tag == TYPE_UNINITIALIZED_THIS;
		if (frame_type_slots(types[i]) == 2 && *used < room)
			slots[(*used)++] = false;
	}
}

static void take_frame(struct pass *p, const struct frame *f)
{
	unsigned used;

	memset(p->locals, 0, p->code->max_locals);
	take_slots(p->locals, p->code->max_locals, &used, f->locals, f->local_count);
	take_slots(p->stack, p->room, &p->depth, f->stack, f->stack_count);
}

/* `this` is initialised: wherever it lies. */
static void initialised(struct pass *p)
{
	memset(p->locals, 0, p->code->max_locals);
	memset(p->stack, 0, p->room);
}

/* A handler of code before that call has `this` in its frame: there it must be. */
static void mark(struct pass *p, uint32_t pc, bool early)
{
	struct code *c = p->code;

	if (!early) {
		c->handler = c->handler || opcode_info[c->bytes.bytes[pc]].throws;
		return;
	}
	c->marks[pc] |= AT_EARLY;
	if (!p->locals[0])
		c->marks[pc] |= AT_UNCOVERED;
	else
		c->early_handler = c->early_handler || opcode_info[c->bytes.bytes[pc]].throws;
}

static enum skip go_through(struct pass *p)
{
	struct cursor none = {.failed = false};
	struct code *c = p->code;
	struct frame_reader r;
	unsigned length;
	uint32_t pc;
	bool more, early = true;

	c->handler = false;
	if (!frames_begin(&r, c->frames.failed ? none : c->frames, &c->memory, c->file, c->method, c->pool))
		return SKIP_DAMAGED;
	take_frame(p, &r.frame);
	more = frames_next(&r);
	for (pc = 0; pc < c->bytes.size && !p->failed; pc += length) {
		unsigned i;

		length = code_instruction(c, pc);
		if (more && r.frame.pc == pc) {
			take_frame(p, &r.frame);
			early = false;
			for (i = 0; i < c->max_locals; i++)
				early = early || p->locals[i];
			more = frames_next(&r);
		}
		mark(p, pc, early);
		if (step(p, pc)) {
			c->marks[pc] |= AT_UNCOVERED;
			initialised(p);
			early = false;
		}
	}
	return p->failed || r.at.failed ? SKIP_DAMAGED : SKIP_NONE;
}

enum skip code_mark_constructor(struct code *c)
{
	struct pass p = {.code = c, .room = c->max_stack};
	enum skip why = SKIP_NO_MEMORY;

	p.locals = calloc(c->max_locals + 1u, sizeof(*p.locals));
	p.stack = calloc(c->max_stack + 1u, sizeof(*p.stack));
	if (p.locals && p.stack)
		why = go_through(&p);
	free(p.locals);
	free(p.stack);
	return why;
}
