/*
 * cpu.h (riscv64) - what rooms below the signal zone must know of this CPU.
 */
#ifndef JSTROBE_BASE_CPU_H
#define JSTROBE_BASE_CPU_H

#define CPU_NAME "riscv64"
#define CPU_MUSL "riscv64" /* in the name of musl's loader */

/* Object files: machine, and the relocations that hold a function's address. */
#define CPU_MACHINE EM_RISCV
#define CPU_JUMP_SLOT R_RISCV_JUMP_SLOT
#define CPU_GLOB_DAT R_RISCV_64

/* Registers' numbers in unwind tables (RISC-V DWARF specification). */
#define CPU_DWARF_FP 8
#define CPU_DWARF_SP 2
#define CPU_DWARF_RA 1
/* The last that is a general register. */
#define CPU_DWARF_GENERAL 31

/* In what perf events tell of registers (the kernel's asm/perf_regs.h). */
#define CPU_PERF_SP 2
#define CPU_PERF_PC 0

/* See cpu_usual.h. */
#define CPU_WALKED 0
#include "common/base/cpu_usual.h"

/* The instructions that load (agent/zone/load.h). */
/* The last operand only tells the compiler which memory is read. */
#define LOAD_FROM(address) [at] "r"(address), "m"(*(address))

#define LOAD_INSN_64 "ld %[to], 0(%[at])"
#define LOAD_INSN_32 "lwu %[to], 0(%[at])"
#define LOAD_INSN_16 "lhu %[to], 0(%[at])"
#define LOAD_INSN_8 "lbu %[to], 0(%[at])"

#endif
