/*
 * code.h (i386) - what the JVM's code for this CPU has of its own; else arch/x86 speaks for both CPUs.
 */
#ifndef JSTROBE_WALK_CODE_H
#define JSTROBE_WALK_CODE_H

#include "agent/zone/load.h"

/* esi: the sender's sp, in the calling convention of the interpreter and its adapters. */
#define SENDER_SP 6

/* The registers of struct unwind_back, interpreted_prologue.c. */
#define WAYS_BACK {6, 3, false}, {7, 1, false}, {7, 2, true}

#define ADAPTER_SETS_SENDER 0x58, 0x8b, 0xf4 /* pop eax; mov esi, esp */
#define POLLED_CALLS 1                       /* before that: for the thread */
#define POLLED_GET 0x8b, 0x9f                /* mov ebx, [edi + imm32] */
#define POLLED_PUT 0x89, 0x5d, 0x04          /* mov [ebp + 4], ebx */

/*
 * Whether the stub of a return poll begins at CODE, of which 18 bytes are readable (17 to 24):
 *     push ecx;  push edx;  mov ecx, pc;  …  the thread in edx;  pop edx;  pop ecx;  jmp SafepointBlob
 */
static inline bool is_poll_stub(const uint8_t *c)
{
	return c[0] == 0x51 && c[1] == 0x52 && (c[2] == 0xb9 || (c[2] == 0x8d && c[3] == 0x0d));
}

/*
 * Whether PC is returned to from a call for the current thread, which is in no register of this CPU. Code of
 * all kinds does it wherever it needs the thread, be its frame standing or not (MacroAssembler::get_thread; 9 to 24):
 *     push edx;  push ecx;  call Thread::current;  pop ecx;  pop edx
 */
static inline bool asks_for_thread(uintptr_t pc)
{
	uint8_t c[9];

	return load_bytes(c, pc - 7, sizeof(c)) && c[0] == 0x52 && c[1] == 0x51 && c[2] == 0xe8 && c[7] == 0x59 &&
	       c[8] == 0x5a;
}

#endif
