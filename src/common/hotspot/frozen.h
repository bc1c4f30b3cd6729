/*
 * frozen.h - where the frames of virtual threads lie that are not on a stack (JDK 21+).
 *
 *   JavaThread._cont_entry ─▶ ContinuationEntry {parent, cont}   (on the carrier's stack, at the thread's end)
 *                                               │
 *                   Continuation.tail ◀─────────┘
 *                          │
 *                     StackChunk {parent, size, sp, bottom} │ words of the stack, innermost first │
 *                          └─▶ StackChunk …                   ▲ sp                                ▲ bottom
 *
 * ZGC leaves a stale address in an entry for a while, so there the way is the thread's own coloured pointers:
 * JavaThread._vthread ─▶ VirtualThread.cont ─▶ Continuation.tail.
 */
#ifndef JSTROBE_HOTSPOT_FROZEN_H
#define JSTROBE_HOTSPOT_FROZEN_H

#include <stdatomic.h>

#include "common/base/base.h"

struct layout;

/* How this JVM's collector moves objects. */
enum frozen_mover {
	MOVES_STOPPED,   /* Serial, Parallel, G1, Epsilon: while all Java threads stand */
	MOVES_FORWARDED, /* Shenandoah: at any time; the old place leads to the new one by its mark word */
	MOVES_COLOURED,  /* ZGC with generations (21+): at any time; colours below the address tell */
	MOVES_MARKED,    /* ZGC without (..23): at any time; colours are bits of the address */
};

/* What only Java code can tell: offsets of fields, -1 = this JDK does not have it, and Klass*. */
struct frozen_fields {
	int32_t thread_cont;                           /* VirtualThread.cont */
	int32_t cont_tail;                             /* Continuation.tail */
	int32_t chunk_parent, chunk_size, chunk_sp;    /* StackChunk */
	int32_t chunk_bottom;                          /* 22+ */
	int32_t chunk_argsize;                         /* 21: bottom = size - argsize */
	uintptr_t thread, continuation, chunk;         /* Klass* */
	uintptr_t enter_special;                       /* 21 does not tell _return_pc: Method* */
};

struct frozen_layout {
	_Atomic bool ready;             /* the rest is valid, and does not change any more */
	enum frozen_mover mover;
	struct frozen_fields at;
	uint32_t stack;                 /* from a chunk to the words of its stack */
	bool narrow_oops;
	uint32_t oop_shift;
	uintptr_t oop_base;
	bool class_in_mark;             /* compact headers (24+) */
	bool narrow_classes;
	uint32_t class_shift, mark_shift;
	uintptr_t class_base;
	uintptr_t heap;                 /* CollectedHeap* */
	const uintptr_t *bad;           /* ZGC: a pointer with one of these bits may be stale */
	const size_t *address_shift;    /* ZGC: from a coloured pointer to its address; NULL = 0 */
};

/* Fill in L->frozen from F, once. False: this JVM does not say enough. Normal code, the JVM is up. */
bool frozen_settle(struct layout *l, const struct frozen_fields *f);

#endif
