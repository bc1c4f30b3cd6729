/*
 * cpu_usual.h - what most CPUs have in common of what their cpu.h says: each defines before it includes this what it
 * has otherwise.
 */
#ifndef JSTROBE_BASE_CPU_USUAL_H
#define JSTROBE_BASE_CPU_USUAL_H

/* A second register by which native code finds its frames where the stack pointer is not enough; 0: none. */
#ifndef CPU_DWARF_BASE
#define CPU_DWARF_BASE 0
#endif
/* Bits of a function's address that only say how its code is read. */
#ifndef CPU_CODE_BITS
#define CPU_CODE_BITS 0u
#endif
/* Whether elf/arch can make unwind tables from code itself, where there are none. */
#ifndef CPU_READS_CODE
#define CPU_READS_CODE 0
#endif
/* Whether a call leaves the return address in a register; else it pushes it. */
#ifndef CPU_LINKS
#define CPU_LINKS 1
#endif
/* Whether native code takes its arguments on the stack. */
#ifndef CPU_PUSHES_ARGUMENTS
#define CPU_PUSHES_ARGUMENTS 0
#endif
/* Whether signal/arch has a walker for Java frames; else the JVM is asked for them. */
#ifndef CPU_WALKED
#define CPU_WALKED 1
#endif
/* Whether the word at sp is always the caller's sp. */
#ifndef CPU_BACK_CHAIN
#define CPU_BACK_CHAIN 0
#endif
/* Whether fp leads to where the caller's fp is kept, in code that keeps a frame pointer (x86: at it, aarch64: too). */
#ifndef CPU_FRAME_LINK
#define CPU_FRAME_LINK 0
#endif
/* Where a return address lies, in bytes from the caller's sp. */
#ifndef CPU_RETURN_AT
#define CPU_RETURN_AT (-(int)sizeof(void *))
#endif
/* Whether a native method's wrapper pushes its result around calls, below its frame (sharedRuntime_<cpu>.cpp). */
#ifndef CPU_WRAPPER_PUSHES
#define CPU_WRAPPER_PUSHES 0
#endif
/* Words from fp: where the frame by which native code calls Java keeps its call's data (frame_<cpu>.hpp). */
#ifndef CPU_ENTRY_WRAPPER_SLOT
#define CPU_ENTRY_WRAPPER_SLOT 0
#endif
/* The word that must stand before the abort handler of a restartable sequence (glibc's); 0: not tried there. */
#ifndef CPU_RSEQ_SIGNATURE
#define CPU_RSEQ_SIGNATURE 0
#endif
/* A counter of some GHz, read in less time than a clock: it says whether something took long, not how long. 0: none. */
#ifndef CPU_CYCLES
#define CPU_CYCLES 0
#endif
/* What a thread does between two looks at what another one is about to change. */
#ifndef CPU_PAUSE
#define CPU_PAUSE() __asm__ volatile("" ::: "memory")
#endif

#endif
