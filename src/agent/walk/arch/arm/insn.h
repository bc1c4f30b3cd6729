/*
 * insn.h (arm) - the registers that matter, as instructions number them.
 */
#ifndef JSTROBE_WALK_INSN_H
#define JSTROBE_WALK_INSN_H

#define INSN_SP 13
#define INSN_LINK 14
#define INSN_FP 11

#include "agent/walk/arch/linked/instruction.h"

#endif
