#include "common/bytecode/opcodes.h"

const struct opcode_info opcode_info[OPCODES] = {
#define OP(name, length, pop, push, flow, throws) {length, pop, push, FLOW_##flow, throws},
#include "common/bytecode/opcodes.def"
};
