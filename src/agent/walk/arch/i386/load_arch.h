/*
 * load_arch.h (i386) - the instructions that load (load.h).
 */
#ifndef JSTROBE_WALK_LOAD_ARCH_H
#define JSTROBE_WALK_LOAD_ARCH_H

#define LOAD_FROM(address) [from] "m"(*(address))

#define LOAD_INSN_32 "movl %[from], %[to]"
#define LOAD_INSN_16 "movzwl %[from], %[to]"
#define LOAD_INSN_8 "movzbl %[from], %[to]"

#endif
