/*
 * load_arch.h (riscv64) - the instructions that load (load.h).
 */
#ifndef JSTROBE_WALK_LOAD_ARCH_H
#define JSTROBE_WALK_LOAD_ARCH_H

/* The last operand only tells the compiler which memory is read. */
#define LOAD_FROM(address) [at] "r"(address), "m"(*(address))

#define LOAD_INSN_64 "ld %[to], 0(%[at])"
#define LOAD_INSN_32 "lwu %[to], 0(%[at])"
#define LOAD_INSN_16 "lhu %[to], 0(%[at])"
#define LOAD_INSN_8 "lbu %[to], 0(%[at])"

#endif
