/*
 * cpu.h (x86_64) - what rooms below the signal zone must know of this CPU.
 */
#ifndef JSTROBE_BASE_CPU_H
#define JSTROBE_BASE_CPU_H

#define CPU_NAME "x86_64"
#define CPU_MUSL "x86_64" /* in the name of musl's loader */

/* Object files: machine, and the relocations that hold a function's address. */
#define CPU_MACHINE EM_X86_64
#define CPU_JUMP_SLOT R_X86_64_JUMP_SLOT
#define CPU_GLOB_DAT R_X86_64_GLOB_DAT

/* Registers' numbers in unwind tables (System V x86_64 ABI, figure 3.36). */
#define CPU_DWARF_FP 6
#define CPU_DWARF_SP 7
#define CPU_DWARF_RA 16
/* The last that is a general register. */
#define CPU_DWARF_GENERAL 15

/* In what perf events tell of registers (the kernel's asm/perf_regs.h). */
#define CPU_PERF_SP 7
#define CPU_PERF_PC 8

/* See cpu_usual.h. */
#define CPU_FRAME_LINK 1
#define CPU_LINKS 0
#define CPU_ENTRY_WRAPPER_SLOT (-6)
#define CPU_RSEQ_SIGNATURE 0x53053053
#define CPU_CYCLES __builtin_ia32_rdtsc()
#define CPU_PAUSE() __builtin_ia32_pause()
#include "common/base/cpu_usual.h"

/* The instructions that load, and one that writes (agent/zone/load.h). */
#define LOAD_FROM(address) [from] "m"(*(address))

#define LOAD_INSN_64 "movq %[from], %[to]"
#define LOAD_INSN_32 "movl %[from], %[to]"
#define LOAD_INSN_16 "movzwl %[from], %[to]"
#define LOAD_INSN_8 "movzbl %[from], %[to]"

#define REPLACE_INSN_64 "lock cmpxchgq %[new], %[at]" /* if what is there is in rax; then that becomes what is */

#endif
