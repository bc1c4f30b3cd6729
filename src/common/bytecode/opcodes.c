#include "instrument/opcodes.h"

const struct opcode_facts opcode_facts[OPCODES] = {
#define OP(name, length, pop, push, flow, throws) {length, pop, push, FLOW_##flow, throws},
#include "instrument/opcodes.def"
};
