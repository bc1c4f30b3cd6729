/*
 * code.h (x86_64) - what the JVM's code for this CPU has of its own; else arch/x86 speaks for both CPUs.
 */
#ifndef JSTROBE_WALK_CODE_H
#define JSTROBE_WALK_CODE_H

#include "agent/zone/load.h"

/* r13: the sender's sp, in the calling convention of the interpreter and its adapters. */
#define SENDER_SP 13

/* The registers of struct unwind_back, interpreted_prologue.c. */
#define WAYS_BACK {13, 3, false}, {7, 11, false}, {1, 2, true}

#define ADAPTER_SETS_SENDER 0x58, 0x4c, 0x8b, 0xec /* pop rax; mov r13, rsp */
#define POLLED_CALLS 0                             /* before that */
#define POLLED_GET 0x49, 0x8b, 0x9f                /* mov rbx, [r15 + imm32] */
#define POLLED_PUT 0x48, 0x89, 0x5d, 0x08          /* mov [rbp + 8], rbx */

/*
 * Whether the stub of a return poll begins at CODE, of which 18 bytes are readable:
 *     mov r10, pc;  mov [r15 + imm], r10;  jmp SafepointBlob
 * (A native method's wrapper keeps its pc likewise, but goes on otherwise.)
 */
static inline bool is_poll_stub(const uint8_t *c)
{
	return c[0] == 0x49 && c[1] == 0xba && c[10] == 0x4d && c[11] == 0x89 &&
	       ((c[12] == 0x97 && c[17] == 0xe9) || (c[12] == 0x57 && c[14] == 0xe9));
}

/* The thread is in r15. */
static inline bool asks_for_thread(uintptr_t pc)
{
	return false;
}

#endif
