/*
 * caller.h - where the caller of a function of ours stands: what a walk in normal code begins with. With the running
 * thread's pointer (context_tcb).
 */
#ifndef JSTROBE_WALK_CALLER_H
#define JSTROBE_WALK_CALLER_H

#include "common/base/base.h"
#include "context.h"
#include "cpu.h"

struct walk_caller {
	uintptr_t pc;     /* the return address */
	uintptr_t sp, fp; /* as they are there; sp 0: this CPU's frames do not say (CPU_FRAME_LINK) */
};

/* That of the function which this stands in: it gets a frame pointer for it. */
#define WALK_CALLER                                                                                  \
	((struct walk_caller){                                                                       \
		.pc = (uintptr_t)__builtin_return_address(0),                                        \
		.sp = CPU_FRAME_LINK ? (uintptr_t)__builtin_dwarf_cfa() : 0,                         \
		.fp = CPU_FRAME_LINK ? *(const uintptr_t *)__builtin_frame_address(0) : 0,           \
	})

#endif
