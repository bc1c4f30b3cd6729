/*
 * cpu.h (s390x) - what rooms below the signal zone must know of this CPU.
 */
#ifndef JSTROBE_BASE_CPU_H
#define JSTROBE_BASE_CPU_H

#define CPU_NAME "s390x"
#define CPU_MUSL "s390x" /* in the name of musl's loader */

/* Object files: machine, and the relocations that hold a function's address. */
#define CPU_MACHINE EM_S390
#define CPU_JUMP_SLOT R_390_JMP_SLOT
#define CPU_GLOB_DAT R_390_GLOB_DAT

/* Registers' numbers in unwind tables (s390x ELF ABI supplement, section 1.6). */
#define CPU_DWARF_FP 11
#define CPU_DWARF_SP 15
#define CPU_DWARF_RA 14
/* The last that is a general register. */
#define CPU_DWARF_GENERAL 15

/* In what perf events tell of registers (the kernel's asm/perf_regs.h). */
#define CPU_PERF_SP 15
#define CPU_PERF_PC 33

/* See cpu_usual.h. */
#define CPU_WALKED 0
#include "common/base/cpu_usual.h"

/* The instructions that load (agent/zone/load.h). */
/* The last operand only tells the compiler which memory is read. */
#define LOAD_FROM(address) [at] "a"(address), "m"(*(address))

#define LOAD_INSN_64 "lg %[to], 0(%[at])"
#define LOAD_INSN_32 "llgf %[to], 0(%[at])"
#define LOAD_INSN_16 "llgh %[to], 0(%[at])"
#define LOAD_INSN_8 "llgc %[to], 0(%[at])"

#endif
