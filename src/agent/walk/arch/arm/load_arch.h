/*
 * load_arch.h (arm) - the instructions that load (load.h).
 */
#ifndef JSTROBE_WALK_LOAD_ARCH_H
#define JSTROBE_WALK_LOAD_ARCH_H

#define LOAD_FROM(address) [from] "Q"(*(address))

#define LOAD_INSN_32 "ldr %[to], %[from]"
#define LOAD_INSN_16 "ldrh %[to], %[from]"
#define LOAD_INSN_8 "ldrb %[to], %[from]"

#endif
