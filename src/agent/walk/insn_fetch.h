/*
 * insn_fetch.h - reading code on CPUs whose instructions have four bytes. Inner header of their insn.h.
 */
#ifndef JSTROBE_WALK_INSN_FETCH_H
#define JSTROBE_WALK_INSN_FETCH_H

#include "agent/zone/load.h"

struct insn;

/* Decode the instruction WORD. Any context. */
void insn_decode(uint32_t word, struct insn *i);

/* Decode the one at PC. False: it cannot be read. */
static inline bool insn_fetch(uintptr_t pc, struct insn *i)
{
	uint32_t word;

	if (!load_u32(pc, &word))
		return false;
	insn_decode(word, i);
	return true;
}

#endif
