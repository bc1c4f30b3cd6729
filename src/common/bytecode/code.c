/*
 * code.c - a method's code from its parts: reading the attribute, going through the instructions
 * once, and writing it anew.
 */
#include "common/bytecode/code.h"

#include <stdlib.h>
#include <string.h>

#include "common/bytecode/emit.h"

#define CODE_MAX 65535u
#define COMPILED_MAX 8000u /* HotSpot's HugeMethodLimit: longer code is interpreted for ever */
#define SIPUSH_MAX 32767u
#define FRAMES_MAJOR 50 /* JDK 6: the verifier that reads frames */
#define STACK_NEEDED 3  /* by the probes, above what the method has there */
#define LOCAL_SLOTS 2   /* a long */

int32_t code_number(const struct code *c, uint32_t pc, unsigned n)
{
	struct cursor at = cursor_at(&c->bytes, pc);

	return n == 2 ? (int16_t)cursor_be16(&at) : (int32_t)cursor_be32(&at);
}

static uint64_t switch_length(const struct code *c, uint32_t pc, enum flow flow)
{
	uint32_t padding = ~pc & 3;
	struct cursor at = cursor_at(&c->bytes, (size_t)pc + 1 + padding);
	int64_t low, high;

	cursor_be32(&at);
	low = (int32_t)cursor_be32(&at);
	if (flow == FLOW_LOOKUP)
		return at.failed || low < 0 ? 0 : 1 + padding + 8 + 8 * (uint64_t)low;
	high = (int32_t)cursor_be32(&at);
	return at.failed || high < low ? 0 : 1 + padding + 12 + 4 * (uint64_t)(high - low + 1);
}

static unsigned wide_length(uint8_t op)
{
	if (op == OP_iinc)
		return 6;
	return (op >= OP_iload && op <= OP_aload) || (op >= OP_istore && op <= OP_astore) || op == OP_ret ? 4 : 0;
}

unsigned code_instruction(const struct code *c, uint32_t pc)
{
	uint8_t op = c->bytes.bytes[pc];
	uint64_t length = op < OPCODES ? (uint64_t)opcode_info[op].length : 0;
	size_t left = c->bytes.size - pc;

	if (op == OP_wide)
		length = left > 1 ? wide_length(c->bytes.bytes[pc + 1]) : 0;
	else if (op == OP_tableswitch || op == OP_lookupswitch)
		length = switch_length(c, pc, opcode_info[op].flow);
	return length <= left ? (unsigned)length : 0;
}

/* Memory for a method of this size. */
static bool reserve(struct code *c)
{
	size_t room = c->bytes.size + 1, types = c->max_locals + c->max_stack + 1u;

	if (c->room < room) {
		free(c->marks);
		free(c->at);
		free(c->moved);
		room = MAX(room, (size_t)4096);
		c->marks = malloc(room);
		c->at = malloc(room * sizeof(*c->at));
		c->moved = malloc(room * sizeof(*c->moved));
		c->room = c->marks && c->at && c->moved ? room : 0;
		if (!c->room)
			return false;
	}
	if (!VECTOR_RESERVE(&c->types, MAX(types, (size_t)256)))
		return false;
	c->memory.locals = c->types.items;
	c->memory.stack = c->memory.locals + c->max_locals;
	c->memory.local_room = c->max_locals;
	c->memory.stack_room = c->max_stack;
	memset(c->marks, 0, c->bytes.size + 1);
	return true;
}

void code_free(struct code *c)
{
	free(c->marks);
	free(c->at);
	free(c->moved);
	free(c->types.items);
	free(c->bridges.items);
}

static void find_frames(struct code *c)
{
	struct cursor at = c->attributes;
	struct attribute a;
	unsigned i;

	c->frames = at;
	c->frames.failed = true;
	for (i = 0; i < c->attribute_count && attribute_next(c->file, &at, &a); i++)
		if (text_is(&a.name, "StackMapTable"))
			c->frames = a.body;
}

static enum skip read_attribute(struct code *c, const struct attribute *a)
{
	struct cursor at = a->body, code;
	struct attribute skipped;
	unsigned i;

	c->max_stack = cursor_be16(&at);
	c->max_locals = cursor_be16(&at);
	code = cursor_cut(&at, cursor_be32(&at));
	c->bytes = (struct span){code.at, cursor_left(&code), 0};
	c->handler_count = cursor_be16(&at);
	c->handlers = cursor_cut(&at, 8ull * c->handler_count);
	c->attribute_count = cursor_be16(&at);
	c->attributes = at;
	for (i = 0; i < c->attribute_count && attribute_next(c->file, &at, &skipped); i++)
		;
	if (at.failed || cursor_left(&at) || !c->bytes.size || c->bytes.size > CODE_MAX)
		return SKIP_DAMAGED;
	find_frames(c);
	return reserve(c) ? SKIP_NONE : SKIP_NO_MEMORY;
}

/* Mark the instructions; notes whether it jumps, and which of them throw. */
static enum skip mark_instructions(struct code *c)
{
	uint32_t pc;
	unsigned length;

	c->handler = false;
	c->jumps = c->handler_count > 0;
	for (pc = 0; pc < c->bytes.size; pc += length) {
		const struct opcode_info *f;

		length = code_instruction(c, pc);
		if (!length)
			return SKIP_DAMAGED;
		f = &opcode_info[c->bytes.bytes[pc]];
		c->marks[pc] = f->flow == FLOW_RETURN ? AT_START | AT_RETURN : AT_START;
		if (c->calls->sleep_from && c->bytes.bytes[pc] == OP_invokestatic &&
		    (uint16_t)code_number(c, pc + 1, 2) == c->calls->sleep_from)
			c->marks[pc] |= AT_SLEEP;
		c->handler = c->handler || f->throws;
		c->jumps = c->jumps || (f->flow != FLOW_NEXT && f->flow != FLOW_RETURN &&
					f->flow != FLOW_THROW && f->flow != FLOW_WIDE);
	}
	return SKIP_NONE;
}

static enum skip mark_handlers(struct code *c)
{
	struct cursor at = c->handlers;
	unsigned i;

	for (i = 0; i < c->handler_count; i++) {
		unsigned from = cursor_be16(&at), to = cursor_be16(&at), pc = cursor_be16(&at);

		cursor_be16(&at);
		if (from >= to || to > c->bytes.size || pc >= c->bytes.size || !(c->marks[from] & AT_START) ||
		    (to < c->bytes.size && !(c->marks[to] & AT_START)) || !(c->marks[pc] & AT_START))
			return SKIP_DAMAGED;
		c->marks[pc] |= AT_HANDLER;
	}
	return SKIP_NONE;
}

static bool takes_object(const struct member *m)
{
	static const char object[] = "(Ljava/lang/Object;";

	return m->type.length > strlen(object) && memcmp(m->type.at, object, strlen(object)) == 0;
}

/* How long the probes are, and which constants and handlers they need. */
static enum skip plan(struct code *c)
{
	unsigned id, local;

	if (c->max_locals + LOCAL_SLOTS > 65535)
		return SKIP_TOO_MANY_LOCALS;
	c->id_constant = c->id > SIPUSH_MAX ? pool_integer(c->pool, c->id) : 0;
	if (c->pool->failed)
		return SKIP_POOL_FULL;
	c->local = c->max_locals;
	id = c->id_constant && c->id_constant < 256 ? 2 : 3;
	local = c->local < 4 ? 1 : c->local < 256 ? 2 : 4;
	c->with = c->calls->enter_with && (c->method->access & ACC_STATIC) && takes_object(c->method);
	c->entry = c->with + id + 3 + local;
	c->leave = local + 3;
	c->again = local + id + 3;
	c->early_handler = false;
	/* The verifier that infers types merges what it finds: one handler does, even for a constructor. */
	if (c->constructor && c->handler && (!c->frames.failed || (c->file->major >= FRAMES_MAJOR && !c->jumps)))
		return code_mark_constructor(c);
	return SKIP_NONE;
}

/* One entry for each run of instructions that the same handler covers. */
static unsigned emit_runs(const struct code *c, uint8_t marks, uint32_t handler, struct buffer *out)
{
	uint32_t pc, from = 0;
	unsigned count = 0;
	bool inside = false;

	for (pc = 0; pc <= c->bytes.size; pc++) {
		bool covered = pc < c->bytes.size && (c->marks[pc] & (AT_EARLY | AT_UNCOVERED)) == marks;

		if (pc < c->bytes.size && !(c->marks[pc] & AT_START))
			continue;
		if (covered && !inside)
			from = pc;
		if (inside && !covered)
			count += code_emit_covered(c, from, pc, handler, 0, out);
		inside = covered;
	}
	return count;
}

static enum skip emit_handlers(const struct code *c, struct buffer *out)
{
	struct cursor at = c->handlers;
	size_t place = out->length;
	unsigned i, count = 0;

	emit_u2(out, 0);
	for (i = 0; i < c->handler_count; i++) {
		unsigned from = cursor_be16(&at), to = cursor_be16(&at), pc = cursor_be16(&at);

		count += code_emit_covered(c, from, to, c->at[pc], cursor_be16(&at), out);
	}
	if (c->early_handler)
		count += emit_runs(c, AT_EARLY, c->end, out);
	if (c->handler)
		count += emit_runs(c, 0, c->end + (c->early_handler ? c->leave + 1 : 0), out);
	if (count > 65535)
		return SKIP_TOO_LONG;
	emit_u2_at(out, place, count);
	return SKIP_NONE;
}

static enum skip emit(const struct code *c, const struct attribute *a, struct buffer *out)
{
	struct cursor name = cursor_at(&c->file->file, a->begin);
	size_t place = out->length;
	enum skip why;
	unsigned length = c->end + (c->early_handler + c->handler) * (c->leave + 1);

	if (length > CODE_MAX)
		return SKIP_TOO_LONG;
	if (length > COMPILED_MAX && c->bytes.size <= COMPILED_MAX)
		return SKIP_TOO_LONG_TO_COMPILE;
	emit_u2(out, cursor_be16(&name));
	emit_u4(out, 0);
	emit_u2(out, MAX(c->max_stack, 1) + STACK_NEEDED);
	emit_u2(out, c->max_locals + LOCAL_SLOTS);
	emit_u4(out, length);
	if (!code_emit(c, out))
		return SKIP_DAMAGED;
	why = emit_handlers(c, out);
	if (why == SKIP_NONE)
		why = code_emit_attributes(c, out);
	emit_u4_at(out, place + 2, (uint32_t)(out->length - place - 6));
	return why == SKIP_NONE && out->failed ? SKIP_NO_MEMORY : why;
}

enum skip code_rewrite(struct code *c, const struct member *method, const struct attribute *a, uint32_t id,
		       struct buffer *out)
{
	enum skip why;

	c->method = method;
	c->id = id;
	c->constructor = text_is(&method->name, "<init>") && c->file->super_class;
	why = read_attribute(c, a);
	if (why == SKIP_NONE)
		why = mark_instructions(c);
	if (why == SKIP_NONE)
		why = mark_handlers(c);
	if (why == SKIP_NONE)
		why = plan(c);
	if (why == SKIP_NONE)
		why = code_lay_out(c);
	if (why == SKIP_NONE)
		why = emit(c, a, out);
	if (why == SKIP_NONE && c->pool->failed)
		why = SKIP_POOL_FULL;
	return why;
}
