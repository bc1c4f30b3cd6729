/*
 * load_arch.h (x86_64) - the instructions that load, and one that writes (load.h).
 */
#ifndef JSTROBE_WALK_LOAD_ARCH_H
#define JSTROBE_WALK_LOAD_ARCH_H

#define LOAD_FROM(address) [from] "m"(*(address))

#define LOAD_INSN_64 "movq %[from], %[to]"
#define LOAD_INSN_32 "movl %[from], %[to]"
#define LOAD_INSN_16 "movzwl %[from], %[to]"
#define LOAD_INSN_8 "movzbl %[from], %[to]"

#define REPLACE_INSN_64 "lock cmpxchgq %[new], %[at]" /* if what is there is in rax; then that becomes what is */

#endif
