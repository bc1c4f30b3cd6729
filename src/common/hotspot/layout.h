/*
 * layout.h - where things lie inside this JVM.
 *
 * One `struct layout` is filled from vmstructs.def at start and never changes
 * afterwards, except for the code cache: when the agent is loaded before the
 * JVM has made it, its ranges are filled in by layout_refresh() as soon as they exist
 * (readers see `code_ready` last). The handler reads it freely.
 */
#ifndef JSTROBE_HOTSPOT_LAYOUT_H
#define JSTROBE_HOTSPOT_LAYOUT_H

#include <stdatomic.h>

#include "common/base/error.h"
#include "common/hotspot/frozen.h"

#define LAYOUT_HEAPS 8 /* code heaps: 3 since JDK 9, 4 with the hot code heap of 26 */

/* A code heap; low/high are its reserved bounds, which never move. */
struct code_heap {
	uintptr_t low, high;
	uintptr_t segmap;       /* low boundary of the segment map: one byte a segment */
	uint32_t log2_segment;
};

struct layout {
#define FIELD(member, type, field) int32_t member; uint8_t member##_width;
#define STATIC(member, type, field) uintptr_t member;
#define SIZE(member, type) int32_t member;
#define INT(member, name) int32_t member;
#define LONG(member, name) int32_t member;
#include "common/hotspot/vmstructs.def"

	/* Who cannot be walked, "the Zero VM" (no machine stacks), say; NULL = all can be: layout_read refuses it. */
	const char *unwalked;
	int jdk;                    /* feature release: 8, 11, 17, 25 */
	int32_t bcp_slot;           /* words from fp: where an interpreted frame keeps its bytecode pointer */
	int32_t method_slot;        /* words from fp: its Method* */
	bool scope_bytes_biased;    /* JDK 20+ (8292758): scope bytes are stored plus one */

	_Atomic bool code_ready;    /* the fields below are valid */
	uint32_t heap_count;
	uintptr_t code_low, code_high; /* hull of all heaps */
	uintptr_t interpreter_low, interpreter_high;
	uintptr_t call_stub_pc;     /* return address inside the call stub */
	_Atomic uintptr_t enter_special; /* nmethod of Continuation.enterSpecial once made (21+), else 0 */
	struct code_heap heap[LAYOUT_HEAPS];

	struct frozen_layout frozen;
};

/*
 * Fill L from the running libjvm. -ENOENT: no HotSpot in this process;
 * -ENOTSUP: its tables are missing or senseless (the text says which).
 * Normal code, once.
 */
int layout_read(struct layout *l, struct error *err);
/* Address of what libjvm exports as NAME, NULL if it does not. Normal code. */
void *layout_symbol(const char *name);
/* Try to fill in what the JVM had not made yet. True when code_ready (now or already). Normal code. */
bool layout_refresh(struct layout *l);

#endif
