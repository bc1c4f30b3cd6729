/*
 * cpu.h (arm) - what rooms below the signal zone must know of this CPU.
 */
#ifndef JSTROBE_BASE_CPU_H
#define JSTROBE_BASE_CPU_H

#define CPU_NAME "arm"
#define CPU_MUSL "armhf" /* in the name of musl's loader */

/* Object files: machine, and the relocations that hold a function's address. */
#define CPU_MACHINE EM_ARM
#define CPU_JUMP_SLOT R_ARM_JUMP_SLOT
#define CPU_GLOB_DAT R_ARM_GLOB_DAT

/* Registers' numbers in unwind tables (DWARF for the Arm Architecture, section 4.1). */
#define CPU_DWARF_FP 11
#define CPU_DWARF_SP 13
#define CPU_DWARF_RA 14
/* The last that is a general register. */
#define CPU_DWARF_GENERAL 15

/* In what perf events tell of registers (the kernel's asm/perf_regs.h). */
#define CPU_PERF_SP 13
#define CPU_PERF_PC 15

/* See cpu_usual.h. */
#define CPU_DWARF_BASE 7
#define CPU_CODE_BITS 1u
#define CPU_READS_CODE 1
#define CPU_WRAPPER_PUSHES 1
#include "common/base/cpu_usual.h"

/* The instructions that load (agent/zone/load.h). */
#define LOAD_FROM(address) [from] "Q"(*(address))

#define LOAD_INSN_32 "ldr %[to], %[from]"
#define LOAD_INSN_16 "ldrh %[to], %[from]"
#define LOAD_INSN_8 "ldrb %[to], %[from]"

#endif
