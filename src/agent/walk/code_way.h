/*
 * code_way.h - a way through generated code, as the CPUs' code_unwind.c follow it: what they share.
 *
 * It goes straight on at branches and with jumps, until the frame is known; where it leads nowhere, it goes on at a
 * branch left behind. What is known at a place of it is in the CPU's place.h: struct place, with the pc, and struct
 * way_registers, what holds for the way as a whole. Inner header of the CPUs' folders; any context.
 */
#ifndef JSTROBE_WALK_CODE_WAY_H
#define JSTROBE_WALK_CODE_WAY_H

#include "agent/walk/decode.h"
#include "agent/walk/walk.h"

/* What the frame pointer is. */
enum fp_value {
	FP_IS_FIRST, /* as it was at the beginning */
	FP_IS_KNOWN, /* where the stack was at some place of the way, and maybe an amount more: `base` */
	FP_IS_LOST,
};

#include "place.h"

#define WAY_LATER 8 /* branches to come back to */

/* What an instruction does to the way. */
enum go { GO_ON, GO_BACK, GO_RETURN, GO_STANDING, GO_AWAY };

struct way {
	const struct walk *w;
	const struct blob *blob;
	uintptr_t begin, end; /* the code */
	struct place at;
	struct place later[WAY_LATER];
	uint32_t later_count;
	uintptr_t next;       /* see way_next; 0: it plays no part */
	uintptr_t same;       /* the last pc that straight on and with the first sp leads to */
	bool straight;        /* it may still grow */
	bool fixed;           /* nothing depended on registers or the stack */
	bool touched;         /* something changed sp */
	struct way_registers own;
};

/* A way from AT on, in STUB or, if that is NULL, in B. */
static inline void way_begin(struct way *y, const struct walk *w, const struct blob *b, const struct stub *stub,
			     const struct place *at)
{
	*y = (struct way){
		.w = w,
		.blob = b,
		.fixed = true,
		.straight = true,
		.begin = stub ? stub->start : b->code,
		.end = stub ? stub->end : code_blob_end(w->l, b),
		.at = *at,
	};
}

/* The next pc that debug information describes: that of the walk's pc tells of what stands before it. */
static inline uintptr_t way_next(const struct way *y)
{
	return y->blob->nmethod ? decode_described(y->w->l, y->blob, y->w->pc + 1, false) : 0;
}

static inline bool way_holds(const struct way *y, uintptr_t pc)
{
	return pc >= y->begin && pc < y->end;
}

/*
 * Where a branch leads is tried if straight on leads nowhere; those back are the heads of loops. The last one is tried
 * first, as it has most of the way in common; so of too many the first one is forgotten, which would come last.
 */
static inline void way_remember(struct way *y, uintptr_t target)
{
	struct place p = y->at;

	if (!way_holds(y, target) || target < y->at.pc)
		return;
	p.pc = target;
	if (y->later_count == WAY_LATER)
		__builtin_memmove(y->later, y->later + 1, (WAY_LATER - 1) * sizeof(p));
	else
		y->later_count++;
	y->later[y->later_count - 1] = p;
}

/* On at the last branch left behind; false: there is none. */
static inline bool way_back(struct way *y)
{
	if (!y->later_count)
		return false;
	y->at = y->later[--y->later_count];
	y->straight = false;
	return true;
}

/* Whether debug information describes RA as what a call returns to. */
static inline bool way_is_described(const struct way *y, uintptr_t ra)
{
	return y->blob->nmethod && decode_described(y->w->l, y->blob, ra, true) == ra;
}

static inline bool way_blob_at(const struct way *y, uintptr_t pc, struct blob *b)
{
	uintptr_t blob = code_blob_at(y->w->l, pc);

	return blob && code_blob_read(y->w->l, blob, b);
}

static inline enum unwind_end way_end(enum go go)
{
	return go == GO_STANDING ? UNWIND_STANDING : go == GO_RETURN ? UNWIND_RETURN : UNWIND_AWAY;
}

#endif
