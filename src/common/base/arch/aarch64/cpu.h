/*
 * cpu.h (aarch64) - what rooms below the signal zone must know of this CPU.
 */
#ifndef JSTROBE_BASE_CPU_H
#define JSTROBE_BASE_CPU_H

#define CPU_NAME "aarch64"
#define CPU_MUSL "aarch64" /* in the name of musl's loader */

/* Object files: machine, and the relocations that hold a function's address. */
#define CPU_MACHINE EM_AARCH64
#define CPU_JUMP_SLOT R_AARCH64_JUMP_SLOT
#define CPU_GLOB_DAT R_AARCH64_GLOB_DAT

/* Registers' numbers in unwind tables (DWARF for the Arm 64-bit Architecture, section 4.1). */
#define CPU_DWARF_FP 29
#define CPU_DWARF_SP 31
#define CPU_DWARF_RA 30
/* The last that is a general register. */
#define CPU_DWARF_GENERAL 31

/* In what perf events tell of registers (the kernel's asm/perf_regs.h). */
#define CPU_PERF_SP 31
#define CPU_PERF_PC 32

/* See cpu_usual.h. */
#define CPU_FRAME_LINK 1
#define CPU_ENTRY_WRAPPER_SLOT (-8)
#define CPU_PAUSE() __asm__ volatile("isb" ::: "memory")
#include "common/base/cpu_usual.h"

/* The instructions that load (agent/zone/load.h). */
#define LOAD_FROM(address) [from] "Q"(*(address))

#define LOAD_INSN_64 "ldr %x[to], %[from]"
#define LOAD_INSN_32 "ldr %w[to], %[from]"
#define LOAD_INSN_16 "ldrh %w[to], %[from]"
#define LOAD_INSN_8 "ldrb %w[to], %[from]"

#endif
