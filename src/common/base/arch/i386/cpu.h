/*
 * cpu.h (i386) - what rooms below the signal zone must know of this CPU.
 */
#ifndef JSTROBE_BASE_CPU_H
#define JSTROBE_BASE_CPU_H

#define CPU_NAME "i386"
#define CPU_MUSL "i386" /* in the name of musl's loader */

/* Object files: machine, and the relocations that hold a function's address. */
#define CPU_MACHINE EM_386
#define CPU_JUMP_SLOT R_386_JMP_SLOT
#define CPU_GLOB_DAT R_386_GLOB_DAT

/* Registers' numbers in unwind tables (System V i386 ABI, table 2.14). */
#define CPU_DWARF_FP 5
#define CPU_DWARF_SP 4
#define CPU_DWARF_RA 8
/* The last that is a general register. */
#define CPU_DWARF_GENERAL 7

/* In what perf events tell of registers (the kernel's asm/perf_regs.h). */
#define CPU_PERF_SP 7
#define CPU_PERF_PC 8

/* See cpu_usual.h. */
#define CPU_FRAME_LINK 1
#define CPU_LINKS 0
#define CPU_PUSHES_ARGUMENTS 1
#define CPU_ENTRY_WRAPPER_SLOT (2)
#define CPU_CYCLES __builtin_ia32_rdtsc()
#define CPU_PAUSE() __builtin_ia32_pause()
#include "common/base/cpu_usual.h"

/* The instructions that load (agent/zone/load.h). */
#define LOAD_FROM(address) [from] "m"(*(address))

#define LOAD_INSN_32 "movl %[from], %[to]"
#define LOAD_INSN_16 "movzwl %[from], %[to]"
#define LOAD_INSN_8 "movzbl %[from], %[to]"

#endif
