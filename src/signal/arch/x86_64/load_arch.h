/*
 * load_arch.h (x86_64) - one load that may fault.
 *
 * The address of the load and of its way out stand in the section js_faults;
 * when the load faults, fault.c moves the program counter to the way out.
 *
 *   js_faults:  { int32 load - here, int32 way_out - here } ...
 */
#ifndef JSTROBE_SIGNAL_LOAD_ARCH_H
#define JSTROBE_SIGNAL_LOAD_ARCH_H

#define LOAD_OR_GOTO(insn, out, address, label)                      \
	asm goto("1: " insn " %[from], %[to]\n"                      \
		 ".pushsection js_faults,\"a\"\n"                    \
		 ".balign 4\n"                                       \
		 ".long 1b - .\n"                                    \
		 ".long %l[" #label "] - .\n"                        \
		 ".popsection\n"                                     \
		 : [to] "=r"(out)                                    \
		 : [from] "m"(*(address))                            \
		 :                                                   \
		 : label)

#define LOAD64(out, address, label) \
	LOAD_OR_GOTO("movq", out, (const volatile uint64_t *)(address), label)
#define LOAD32(out, address, label) \
	LOAD_OR_GOTO("movl", out, (const volatile uint32_t *)(address), label)
#define LOAD16(out, address, label) \
	LOAD_OR_GOTO("movzwl", out, (const volatile uint16_t *)(address), label)
#define LOAD8(out, address, label) \
	LOAD_OR_GOTO("movzbl", out, (const volatile uint8_t *)(address), label)

#endif
