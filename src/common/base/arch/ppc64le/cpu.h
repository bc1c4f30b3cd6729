/*
 * cpu.h (ppc64le) - what rooms below the signal zone must know of this CPU.
 */
#ifndef JSTROBE_BASE_CPU_H
#define JSTROBE_BASE_CPU_H

#define CPU_NAME "ppc64le"
#define CPU_MUSL "powerpc64le" /* in the name of musl's loader */

/* Object files: machine, and the relocations that hold a function's address. */
#define CPU_MACHINE EM_PPC64
#define CPU_JUMP_SLOT R_PPC64_JMP_SLOT
#define CPU_GLOB_DAT R_PPC64_GLOB_DAT

/* Registers' numbers in unwind tables (64-bit ELF V2 ABI for Power, section 2.4). */
#define CPU_DWARF_FP 31
#define CPU_DWARF_SP 1
#define CPU_DWARF_RA 65
/* The last that is a general register. */
#define CPU_DWARF_GENERAL 31

/* In what perf events tell of registers (the kernel's asm/perf_regs.h). */
#define CPU_PERF_SP 1
#define CPU_PERF_PC 32

/* See cpu_usual.h. */
#define CPU_BACK_CHAIN 1
#define CPU_RETURN_AT 16
#define CPU_ENTRY_WRAPPER_SLOT (-40)
#include "common/base/cpu_usual.h"

/* The instructions that load (agent/zone/load.h). */
/* The last operand only tells the compiler which memory is read. */
#define LOAD_FROM(address) [at] "b"(address), "m"(*(address))

#define LOAD_INSN_64 "ld %[to], 0(%[at])"
#define LOAD_INSN_32 "lwz %[to], 0(%[at])"
#define LOAD_INSN_16 "lhz %[to], 0(%[at])"
#define LOAD_INSN_8 "lbz %[to], 0(%[at])"

#endif
