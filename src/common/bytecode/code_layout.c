/*
 * code_layout.c - where everything stands once probes are in, and the code itself.
 *
 * Places depend on lengths (a switch is padded to four bytes, a far jump needs its wide form) and
 * lengths on places; both are counted until nothing changes. Jumps only ever grow, so that ends.
 */
#include "common/bytecode/code.h"
#include "common/bytecode/emit.h"

#define NEAR_MAX 32767 /* in code no longer than that all jumps reach */

/* What is put before the instruction at PC, in bytes. */
static unsigned inserted(const struct code *c, uint32_t pc)
{
	return (c->marks[pc] & AT_HANDLER ? c->again : 0) + (c->marks[pc] & AT_RETURN ? c->leave : 0);
}

/* How much longer the instruction at PC is when it stands at NOW. */
static int growth(const struct code *c, uint32_t pc, uint32_t now)
{
	enum flow flow = opcode_info[c->bytes.bytes[pc]].flow;

	if (flow == FLOW_TABLE || flow == FLOW_LOOKUP)
		return (int)(~now & 3) - (int)(~pc & 3);
	return (c->marks[pc] & AT_WIDE) && flow != FLOW_IF ? 2 : 0;
}

static void place(struct code *c)
{
	uint32_t pc = 0, now = c->entry;
	unsigned i, length;

	while (pc < c->bytes.size) {
		now = code_place_bridges(c, pc, now);
		length = code_instruction(c, pc);
		for (i = 0; i < length; i++) {
			c->at[pc + i] = now;
			c->moved[pc + i] = now + inserted(c, pc);
		}
		now += inserted(c, pc);
		now += length + (unsigned)growth(c, pc, now);
		pc += length;
	}
	c->at[pc] = c->moved[pc] = c->end = code_place_bridges(c, pc, now);
}

/* The pc that the jump at PC goes to, with its offset of N bytes at PC + WHERE. */
static bool target(const struct code *c, uint32_t pc, uint32_t where, unsigned n, uint32_t *to)
{
	int64_t t = (int64_t)pc + code_number(c, pc + where, n);

	*to = (uint32_t)t;
	return t >= 0 && t < (int64_t)c->bytes.size && (c->marks[t] & AT_START);
}

/* The offset of such a jump now; 0 if it leads nowhere, which no jump of ours does. */
static int32_t offset(const struct code *c, uint32_t pc, uint32_t where, unsigned n, bool *sound)
{
	uint32_t to = 0;

	if (!target(c, pc, where, n, &to)) {
		*sound = false;
		return 0;
	}
	return (int32_t)c->at[to] - (int32_t)c->moved[pc];
}

static bool is_near(enum flow f)
{
	return f == FLOW_IF || f == FLOW_GOTO || f == FLOW_JSR;
}

/* Give the jump at PC its wide form, or a bridge. */
static enum skip lengthen(struct code *c, uint32_t pc)
{
	enum skip why = SKIP_NONE;
	uint32_t to;

	if (opcode_info[c->bytes.bytes[pc]].flow == FLOW_IF)
		why = target(c, pc, 1, 2, &to) ? code_build_bridge(c, pc, to) : SKIP_DAMAGED;
	c->marks[pc] |= AT_WIDE;
	return why;
}

/* Widen the jumps that do not reach. *CHANGED: some were. */
static enum skip widen(struct code *c, bool *changed)
{
	enum skip why = SKIP_NONE;
	bool sound = true;
	uint32_t pc;

	for (pc = 0; pc < c->bytes.size && why == SKIP_NONE; pc++) {
		int32_t o;

		if (!(c->marks[pc] & AT_START) || (c->marks[pc] & AT_WIDE) ||
		    !is_near(opcode_info[c->bytes.bytes[pc]].flow))
			continue;
		o = offset(c, pc, 1, 2, &sound);
		if (!sound)
			return SKIP_DAMAGED;
		if (code_reaches(o))
			continue;
		why = lengthen(c, pc);
		*changed = true;
	}
	return why;
}

/* Whether each `if` reaches its bridge, where that stands at last. */
static bool bridges_are_near(const struct code *c)
{
	size_t i;

	for (i = 0; i < c->bridges.count; i++) {
		const struct bridge *b = &c->bridges.items[i];

		if (!code_reaches((int64_t)b->at - c->moved[b->from]))
			return false;
	}
	return true;
}

enum skip code_lay_out(struct code *c)
{
	bool changed = true;
	enum skip why = SKIP_NONE;

	c->bridges.count = 0;
	while (changed && why == SKIP_NONE) {
		place(c);
		changed = false;
		if (c->end > NEAR_MAX)
			why = widen(c, &changed);
	}
	return why == SKIP_NONE && !bridges_are_near(c) ? SKIP_FAR_JUMP : why;
}

/* ---- the code ------------------------------------------------------------------ */

static void emit_local(const struct code *c, struct buffer *out, unsigned op, unsigned op_0)
{
	if (c->local < 4) {
		emit_u1(out, op_0 + c->local);
	} else if (c->local < 256) {
		emit_u1(out, op);
		emit_u1(out, c->local);
	} else {
		emit_u1(out, OP_wide);
		emit_u1(out, op);
		emit_u2(out, c->local);
	}
}

static void emit_call(struct buffer *out, uint16_t method)
{
	emit_u1(out, OP_invokestatic);
	emit_u2(out, method);
}

static void emit_id(const struct code *c, struct buffer *out)
{
	if (!c->id_constant) {
		emit_u1(out, OP_sipush);
		emit_u2(out, c->id);
	} else if (c->id_constant < 256) {
		emit_u1(out, OP_ldc);
		emit_u1(out, c->id_constant);
	} else {
		emit_u1(out, OP_ldc_w);
		emit_u2(out, c->id_constant);
	}
}

static void emit_leave(const struct code *c, struct buffer *out)
{
	emit_local(c, out, OP_lload, OP_lload_0);
	emit_call(out, c->id & CODE_GATES ? c->calls->leave_if : c->calls->leave);
}

static void emit_again(const struct code *c, struct buffer *out)
{
	emit_local(c, out, OP_lload, OP_lload_0);
	emit_id(c, out);
	emit_call(out, c->calls->again);
}

static bool emit_switch(const struct code *c, uint32_t pc, unsigned length, struct buffer *out)
{
	uint32_t padding = ~pc & 3, where = 1 + padding, now = ~c->moved[pc] & 3;
	unsigned step = c->bytes.bytes[pc] == OP_lookupswitch ? 8 : 4;
	unsigned head = step == 8 ? 4 : 8; /* behind the default: the count, or low and high */
	bool sound = true;

	emit_u1(out, c->bytes.bytes[pc]);
	while (now-- > 0)
		emit_u1(out, 0);
	emit_u4(out, (uint32_t)offset(c, pc, where, 4, &sound));
	buffer_append(out, c->bytes.bytes + pc + where + 4, head);
	for (where += 4 + head; where < length; where += step) {
		if (step == 8)
			buffer_append(out, c->bytes.bytes + pc + where, 4);
		emit_u4(out, (uint32_t)offset(c, pc, where + step - 4, 4, &sound));
	}
	return sound;
}

/* The instruction at PC, which jumps. */
static bool emit_jump(const struct code *c, uint32_t pc, unsigned length, struct buffer *out)
{
	uint8_t op = c->bytes.bytes[pc];
	enum flow flow = opcode_info[op].flow;
	bool sound = true;

	if (flow == FLOW_TABLE || flow == FLOW_LOOKUP)
		return emit_switch(c, pc, length, out);
	if ((c->marks[pc] & AT_WIDE) && flow == FLOW_IF) {
		emit_u1(out, op);
		emit_u2(out, code_bridge_of(c, pc)->at - c->moved[pc]);
	} else if (c->marks[pc] & AT_WIDE) {
		emit_u1(out, op == OP_goto ? OP_goto_w : OP_jsr_w);
		emit_u4(out, (uint32_t)offset(c, pc, 1, 2, &sound));
	} else if (is_near(flow)) {
		emit_u1(out, op);
		emit_u2(out, (uint32_t)offset(c, pc, 1, 2, &sound));
	} else {
		emit_u1(out, op);
		emit_u4(out, (uint32_t)offset(c, pc, 1, 4, &sound));
	}
	return sound;
}

static bool is_jump(enum flow f)
{
	return f != FLOW_NEXT && f != FLOW_RETURN && f != FLOW_THROW && f != FLOW_WIDE && f != FLOW_RET;
}

bool code_emit(const struct code *c, struct buffer *out)
{
	const char *bytes = (const char *)c->bytes.bytes;
	uint32_t pc, copied = 0; /* the run COPIED..PC goes as it is */
	unsigned i, length;

	if (c->with)
		emit_u1(out, OP_aload_0);
	emit_id(c, out);
	emit_call(out, c->with ? c->calls->enter_with : c->id & CODE_GATES ? c->calls->enter_if : c->calls->enter);
	emit_local(c, out, OP_lstore, OP_lstore_0);
	for (pc = 0; pc < c->bytes.size; pc += length) {
		bool jump = is_jump(opcode_info[c->bytes.bytes[pc]].flow);

		length = code_instruction(c, pc);
		if (!jump && !(c->marks[pc] & (AT_HANDLER | AT_RETURN | AT_SLEEP | AT_BRIDGES)))
			continue;
		buffer_append(out, bytes + copied, pc - copied);
		copied = pc;
		if (c->marks[pc] & AT_BRIDGES)
			code_emit_bridges(c, pc, out);
		if (c->marks[pc] & AT_HANDLER)
			emit_again(c, out);
		if (c->marks[pc] & AT_RETURN)
			emit_leave(c, out);
		if (c->marks[pc] & AT_SLEEP) {
			emit_call(out, c->calls->sleep);
			copied = pc + length;
		}
		if (!jump)
			continue;
		if (!emit_jump(c, pc, length, out))
			return false;
		copied = pc + length;
	}
	buffer_append(out, bytes + copied, c->bytes.size - copied);
	if (c->marks[pc] & AT_BRIDGES)
		code_emit_bridges(c, pc, out);
	for (i = 0; i < (unsigned)(c->early_handler + c->handler); i++) {
		emit_leave(c, out);
		emit_u1(out, OP_athrow);
	}
	return true;
}
