/*
 * elf_walk.h - a plain stack walker over unwind tables, for tests of the tables.
 * Loads are checked against the thread's stack, so a wrong rule cannot fault.
 */
#ifndef ELF_WALK_H
#define ELF_WALK_H

#include <ucontext.h>

#include "common/elf/unwind.h"

enum walk_stop {
	STOP_END,       /* a rule said: outermost frame */
	STOP_NO_RULE,   /* no image, no row, or an unknown one */
	STOP_REGISTER,  /* the CFA needs a register that a caller's frame does not have */
	STOP_BAD_LOAD,  /* an address outside the stack */
	STOP_FULL,
};

struct walk_from {
	uintptr_t pc, sp, fp;
	const ucontext_t *context; /* other registers of the innermost frame; may be NULL */
};

/* Frames from FROM outwards to PCS (at most MAX); returns their number, *STOP the reason. */
size_t walk_frames(const struct image_set *set, const struct walk_from *from, uintptr_t *pcs,
		   size_t max, enum walk_stop *stop);

/* The interrupted frame of a signal handler. */
struct walk_from walk_from_context(const void *context);

/* The place of the caller itself. */
#define WALK_HERE(from)                                                             \
	__asm__ volatile("lea 0(%%rip), %0\n\tmov %%rsp, %1\n\tmov %%rbp, %2"       \
			 : "=r"((from)->pc), "=r"((from)->sp), "=r"((from)->fp));    \
	(from)->context = NULL

/* Path of a libjvm.so: of JAVA_HOME, else of any JDK under /usr/lib/jvm; NULL if none. */
const char *find_libjvm(void);

#endif
