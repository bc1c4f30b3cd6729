/*
 * load_arch.h (s390x) - the instructions that load (load.h).
 */
#ifndef JSTROBE_WALK_LOAD_ARCH_H
#define JSTROBE_WALK_LOAD_ARCH_H

/* The last operand only tells the compiler which memory is read. */
#define LOAD_FROM(address) [at] "a"(address), "m"(*(address))

#define LOAD_INSN_64 "lg %[to], 0(%[at])"
#define LOAD_INSN_32 "llgf %[to], 0(%[at])"
#define LOAD_INSN_16 "llgh %[to], 0(%[at])"
#define LOAD_INSN_8 "llgc %[to], 0(%[at])"

#endif
