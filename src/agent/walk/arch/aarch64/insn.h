/*
 * insn.h (aarch64) - the registers that matter, as instructions number them.
 */
#ifndef JSTROBE_WALK_INSN_H
#define JSTROBE_WALK_INSN_H

#define INSN_SP 31 /* where it is not xzr */
#define INSN_LINK 30
#define INSN_FP 29

#include "agent/walk/arch/linked/instruction.h"

#endif
