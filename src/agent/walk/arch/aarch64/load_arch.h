/*
 * load_arch.h (aarch64) - the instructions that load (load.h).
 */
#ifndef JSTROBE_WALK_LOAD_ARCH_H
#define JSTROBE_WALK_LOAD_ARCH_H

#define LOAD_FROM(address) [from] "Q"(*(address))

#define LOAD_INSN_64 "ldr %x[to], %[from]"
#define LOAD_INSN_32 "ldr %w[to], %[from]"
#define LOAD_INSN_16 "ldrh %w[to], %[from]"
#define LOAD_INSN_8 "ldrb %w[to], %[from]"

#endif
