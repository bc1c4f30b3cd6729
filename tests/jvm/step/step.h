/*
 * step.h - between the stepping and judging (step.c) and the account of where walks went wrong (places.c).
 */
#ifndef STEP_H
#define STEP_H

#include "agent/walk/walk.h"

#define LIVE 4096 /* return addresses of a thread that can be followed */
#define PCS 4096  /* that a walk can go by */

/* A return address that is alive, and where it lies. */
struct live {
	uintptr_t slot, pc;
};

struct stepped {
	_Atomic uintptr_t tcb;
	pthread_t thread;
	_Atomic long wanted;  /* steps asked for */
	long left;
	bool in_burst;
	uintptr_t last_pc, last_sp;
	struct live popped;   /* the last one that died, and how many steps ago */
	unsigned popped_age;
	uint32_t count;
	struct live live[LIVE];
	uint32_t walked;      /* by the last walk: the pcs it went by, and its sp at each */
	uintptr_t pcs[PCS], sps[PCS];
	struct stack_chunk chunk;
};

/* What came out of a walk. */
struct verdict {
	bool wrong;           /* else it ended early */
	enum step last;
	uint32_t at;          /* compiled callers that were right */
};

/* Whether PC lies in code of the JVM other than the interpreter. */
bool step_compiled(uintptr_t pc);
/* Count walk W of S, from REGS, as wrong or short, and note its place. In a handler. */
void place_note(const struct stepped *s, const struct walk *w, const struct walk_regs *regs, struct verdict v);
/* Walks that were wrong, and that ended early. */
long place_count(bool wrong);

#endif
