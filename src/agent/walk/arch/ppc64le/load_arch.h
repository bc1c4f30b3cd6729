/*
 * load_arch.h (ppc64le) - the instructions that load (load.h).
 */
#ifndef JSTROBE_WALK_LOAD_ARCH_H
#define JSTROBE_WALK_LOAD_ARCH_H

/* The last operand only tells the compiler which memory is read. */
#define LOAD_FROM(address) [at] "b"(address), "m"(*(address))

#define LOAD_INSN_64 "ld %[to], 0(%[at])"
#define LOAD_INSN_32 "lwz %[to], 0(%[at])"
#define LOAD_INSN_16 "lhz %[to], 0(%[at])"
#define LOAD_INSN_8 "lbz %[to], 0(%[at])"

#endif
