/*
 * codecache.h - from a pc to the blob (compiled method or stub) that holds it.
 *
 * HotSpot's own way (CodeHeap::find_start): the segment map has one byte for each
 * segment; 0xff is free, else it says how far back the block begins, hop by hop.
 *
 *   heap.low ─▶ │Header│ CodeBlob … code … │Header│ CodeBlob …
 *   segmap   ─▶  0  1  2  3 … 254 254      0  1 …
 */
#ifndef JSTROBE_WALK_CODECACHE_H
#define JSTROBE_WALK_CODECACHE_H

#include "agent/zone/load.h"
#include "common/hotspot/layout.h"

static inline bool code_contains(const struct layout *l, uintptr_t pc)
{
	return pc >= l->code_low && pc < l->code_high;
}

static inline bool code_is_interpreter(const struct layout *l, uintptr_t pc)
{
	return pc >= l->interpreter_low && pc < l->interpreter_high;
}

/* What a walker needs to know of a blob; see blob_read. */
struct blob {
	uintptr_t address;
	uintptr_t code;          /* first instruction */
	uint32_t frame_bytes;    /* 0: no fixed frame (stubs set up their own, or none) */
	int32_t frame_complete;  /* offset from `code` behind which the frame stands, -1 = never */
	uint32_t own_size;       /* see frame_own_size(), which sets it; 0: its frames are all of the same size */
	bool nmethod;
};

/* The blob that holds PC, 0 if none. Any context. */
uintptr_t code_blob_at(const struct layout *l, uintptr_t pc);
/* Read the header of the blob at ADDRESS. False when it cannot be. Any context. */
bool code_blob_read(const struct layout *l, uintptr_t address, struct blob *b);
/* Where the blob ends; its code is before that. Any context. */
uintptr_t code_blob_end(const struct layout *l, const struct blob *b);
/* Where calls enter nmethod B whose receiver is known to fit. Any context. */
uintptr_t code_entry(const struct layout *l, const struct blob *b);

#endif
