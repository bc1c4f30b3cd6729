/*
 * opcodes.h - what is known of each instruction, from opcodes.def.
 */
#ifndef JSTROBE_BYTECODE_OPCODES_H
#define JSTROBE_BYTECODE_OPCODES_H

#include "common/base/base.h"

enum flow {
	FLOW_NEXT,   /* the next instruction */
	FLOW_IF,     /* the next one or its target, 2 bytes */
	FLOW_GOTO,   /* its target, 2 bytes */
	FLOW_GOTO_W, /* its target, 4 bytes */
	FLOW_JSR,    /* its target, and back to the next one */
	FLOW_JSR_W,
	FLOW_RET,    /* from a subroutine */
	FLOW_TABLE,  /* tableswitch */
	FLOW_LOOKUP, /* lookupswitch */
	FLOW_RETURN,
	FLOW_THROW,
	FLOW_WIDE,   /* a prefix; else as its instruction */
};

enum opcode {
#define OP(name, length, pop, push, flow, throws) OP_##name,
#include "common/bytecode/opcodes.def"
	OPCODES
};

struct opcode_info {
	int8_t length; /* 0 = it says so itself */
	int8_t pop, push; /* slots, -1 = the instruction or its constant says so */
	uint8_t flow;
	bool throws;
};

extern const struct opcode_info opcode_info[OPCODES];

/* Whether what follows the instruction is reached by jumps only. */
static inline bool flow_ends(enum flow f)
{
	return f == FLOW_GOTO || f == FLOW_GOTO_W || f == FLOW_RET || f == FLOW_TABLE ||
	       f == FLOW_LOOKUP || f == FLOW_RETURN || f == FLOW_THROW;
}

#endif
