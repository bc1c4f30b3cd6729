/*
 * fake_stack.h - stacks for a fake JVM, built from the root to the leaf, and the walk over them.
 */
#ifndef FAKE_STACK_H
#define FAKE_STACK_H

#include "agent/walk/walk.h"
#include "fake_jvm.h"

/* The innermost frame so far. */
struct fake_stack {
	struct fake_jvm *jvm;
	uintptr_t pc, sp, fp;
};

/* A thread that entered Java by the call stub; nothing before it. */
void stack_begin(struct fake_stack *s, struct fake_jvm *f);
/* A compiled method of WORDS words was called and stands at PC. */
void stack_compiled(struct fake_stack *s, uintptr_t pc, uint32_t words);
/* METHOD is interpreted, at BCI, with LOCALS more words than its caller pushed. */
void stack_interpreted(struct fake_stack *s, uintptr_t method, uint32_t bci, uint32_t locals);
/* Native code was called, and called into Java again. NO_PC: the anchor does not say where. */
void stack_reenter(struct fake_stack *s, bool no_pc);
/* The thread's last Java frame is the present one, and native code runs. */
void stack_native(struct fake_stack *s, uintptr_t pc, uint32_t words);

#define STACK_MAX 4096
struct walked {
	uint64_t frame[STACK_MAX];
	uint32_t count;
	bool root;
};
void stack_open_store(void);
void stack_close_store(void);
/* Walk from REGS (NULL: from S itself, with plain registers). */
void stack_walk(struct fake_jvm *f, const struct fake_stack *s, const struct walk_regs *regs,
		struct walked *w);

#endif
