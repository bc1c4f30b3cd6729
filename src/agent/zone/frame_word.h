/*
 * frame_word.h - a frame in 64 bits.
 *
 *   63 61 60                                   16 15        0
 *  ┌─────┬──────────────────────────────────────┬───────────┐
 *  │kind │ Method* / 8                          │ bci       │  interpreted, C1, C2, inlined, wrapper
 *  ├─────┼──────────────────────────────────────┴───────────┤
 *  │kind │ pc (kernel: its low 61 bits, sign-extended)       │  native, kernel
 *  ├─────┼───────────────────────┬──────────────────────────┤
 *  │kind │ sub-kind              │ value (32 bits)          │  other
 *  └─────┴───────────────────────┴──────────────────────────┘
 *
 * bci 65,535 = none. A Method* is unique only while it lives: the collector
 * names words at each drain (design: "Method identity").
 */
#ifndef JSTROBE_ZONE_FRAME_WORD_H
#define JSTROBE_ZONE_FRAME_WORD_H

#include "common/words/enum_names.h"

#define FRAME_NO_BCI 0xffffu
#define FRAME_KIND_SHIFT 61
#define FRAME_PAYLOAD ((1ull << FRAME_KIND_SHIFT) - 1)

enum other_kind {
	OTHER_END,     /* value: enum walk_end */
	OTHER_VIRTUAL, /* the root of a virtual thread's own stack */
};

static inline uint64_t frame_java(enum frame_kind kind, uintptr_t method, uint32_t bci)
{
	return (uint64_t)kind << FRAME_KIND_SHIFT | (uint64_t)(method >> 3) << 16 | bci;
}
static inline uint64_t frame_pc(enum frame_kind kind, uint64_t pc)
{
	return (uint64_t)kind << FRAME_KIND_SHIFT | (pc & FRAME_PAYLOAD);
}
static inline uint64_t frame_other(enum other_kind sub, uint32_t value)
{
	return (uint64_t)FRAME_OTHER << FRAME_KIND_SHIFT | (uint64_t)sub << 32 | value;
}
static inline enum frame_kind frame_kind_of(uint64_t word)
{
	return (enum frame_kind)(word >> FRAME_KIND_SHIFT);
}
static inline enum other_kind frame_other_kind(uint64_t word)
{
	return (enum other_kind)((word & FRAME_PAYLOAD) >> 32);
}
static inline bool frame_is_java(uint64_t word)
{
	return frame_kind_of(word) <= FRAME_WRAPPER;
}
static inline uintptr_t frame_method(uint64_t word)
{
	return (uintptr_t)((word & FRAME_PAYLOAD) >> 16) << 3;
}
static inline uint32_t frame_bci(uint64_t word)
{
	return (uint32_t)word & 0xffff;
}
static inline uint64_t frame_address(uint64_t word)
{
	uint64_t pc = word & FRAME_PAYLOAD;

	if (frame_kind_of(word) == FRAME_KERNEL && (pc >> 60))
		pc |= ~FRAME_PAYLOAD;
	return pc;
}

#endif
