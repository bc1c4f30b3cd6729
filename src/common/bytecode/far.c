/*
 * far.c - an `if` whose target is out of its reach once probes are in.
 *
 *      if… B            B: goto_w TARGET
 *
 * `if` has no wide form. To turn its condition round and jump over a goto_w would take a frame for the instruction
 * behind, which the method's own table often has none for; so the `if` goes to a goto_w that stands elsewhere within
 * its reach, a bridge. That one's frame is its target's. Bridges stand where control does not fall into them: behind an
 * instruction that always goes elsewhere. There is one in between, for those are what probes make longer.
 *
 * No handler covers a bridge: what its frame promises is right at the target, not where it stands.
 */
#include <stdlib.h>

#include "common/bytecode/code.h"
#include "common/bytecode/emit.h"

#define BRIDGE 5u       /* bytes: goto_w */
#define REACH_MAX 32767 /* of an `if` */
#define BRIDGES_MAX 1000u /* a method that needs more was made to keep us busy: each takes a look at all of it */

bool code_reaches(int64_t offset)
{
	return offset >= -REACH_MAX - 1 && offset <= REACH_MAX;
}

/* The place nearest to PC behind which control does not go on, UINT32_MAX if there is none. By pcs as they were. */
static uint32_t nearest_spot(const struct code *c, uint32_t pc)
{
	uint32_t at, next, below = UINT32_MAX;

	for (at = 0; at < c->bytes.size; at = next) {
		next = at + code_instruction(c, at);
		if (!flow_ends(opcode_info[c->bytes.bytes[at]].flow))
			continue;
		if (next > pc)
			return below != UINT32_MAX && pc - below < next - pc ? below : next;
		below = next;
	}
	return below;
}

enum skip code_build_bridge(struct code *c, uint32_t pc, uint32_t to)
{
	uint32_t spot = nearest_spot(c, pc);
	struct bridge *b;
	size_t i;

	if (spot == UINT32_MAX || c->bridges.count >= BRIDGES_MAX)
		return SKIP_FAR_JUMP;
	b = VECTOR_PUSH(&c->bridges);
	if (!b)
		return SKIP_NO_MEMORY;
	b = c->bridges.items;
	for (i = c->bridges.count - 1; i > 0 && b[i - 1].spot > spot; i--)
		b[i] = b[i - 1];
	b[i] = (struct bridge){.from = pc, .spot = spot, .to = to};
	c->marks[spot] |= AT_BRIDGES;
	return SKIP_NONE;
}

const struct bridge *code_bridge_of(const struct code *c, uint32_t pc)
{
	const struct bridge *b = c->bridges.items;

	while (b->from != pc)
		b++;
	return b;
}

static unsigned length_before(const struct code *c, uint32_t pc)
{
	unsigned length = 0;
	size_t i;

	for (i = 0; (c->marks[pc] & AT_BRIDGES) && i < c->bridges.count; i++)
		length += c->bridges.items[i].spot == pc ? BRIDGE : 0;
	return length;
}

uint32_t code_place_bridges(struct code *c, uint32_t pc, uint32_t now)
{
	size_t i;

	for (i = 0; (c->marks[pc] & AT_BRIDGES) && i < c->bridges.count; i++) {
		if (c->bridges.items[i].spot != pc)
			continue;
		c->bridges.items[i].at = now;
		now += BRIDGE;
	}
	return now;
}

void code_emit_bridges(const struct code *c, uint32_t pc, struct buffer *out)
{
	const struct bridge *b;
	size_t i;

	for (i = 0; i < c->bridges.count; i++) {
		b = &c->bridges.items[i];
		if (b->spot != pc)
			continue;
		emit_u1(out, OP_goto_w);
		emit_u4(out, c->at[b->to] - b->at);
	}
}

/* ---- handlers -------------------------------------------------------------------- */

unsigned code_emit_covered(const struct code *c, uint32_t from, uint32_t to, unsigned handler, unsigned type,
			   struct buffer *out)
{
	unsigned count = 0;
	uint32_t pc;

	for (pc = from + 1; pc <= to; pc++) {
		if (pc < to && !(c->marks[pc] & AT_BRIDGES))
			continue;
		emit_u2(out, c->at[from]);
		emit_u2(out, c->at[pc] - length_before(c, pc));
		emit_u2(out, handler);
		emit_u2(out, type);
		from = pc;
		count++;
	}
	return count;
}

unsigned code_handler_number(const struct code *c, unsigned number)
{
	struct cursor at = c->handlers;
	unsigned i, more = 0;
	uint32_t pc, to;

	for (i = 0; c->bridges.count && i < number && i < c->handler_count; i++) {
		pc = cursor_be16(&at);
		to = cursor_be16(&at);
		cursor_be32(&at);
		while (++pc < to)
			more += (c->marks[pc] & AT_BRIDGES) != 0;
	}
	return number + more;
}

/* ---- frames ---------------------------------------------------------------------- */

enum skip code_emit_bridge_frame(const struct code *c, const struct bridge *b, unsigned delta, struct buffer *out)
{
	struct frame memory = c->memory;
	enum skip why = SKIP_DAMAGED;
	struct frame_reader r;

	/* the other reader is in the midst of its own */
	memory.locals = malloc((c->max_locals + c->max_stack + 1u) * sizeof(*memory.locals));
	memory.stack = memory.locals + c->max_locals;
	if (!memory.locals)
		return SKIP_NO_MEMORY;
	if (frames_begin(&r, c->frames, &memory, c->file, c->method, c->pool))
		while (why != SKIP_NONE && frames_next(&r))
			if (r.frame.pc == b->to && code_frame_is_sound(c, &r.frame))
				why = SKIP_NONE;
	if (why == SKIP_NONE)
		frame_emit(out, &r.frame, delta, c->local, c->moved);
	free(memory.locals);
	return why;
}
