/*
 * code_reader.h (arm) - an object's code while its functions are followed: what is known of each half word.
 *
 * Not shared between threads. Memory that could not be had is noted in `failed`.
 */
#ifndef JSTROBE_ELF_CODE_READER_H
#define JSTROBE_ELF_CODE_READER_H

#include "common/base/vector.h"
#include "common/elf/object.h"
#include "thumb.h"

#define CODE_STATES_MAX 65534
#define CODE_RECENT 4096

/* What holds before an instruction; offsets from the CFA. */
struct code_state {
	int32_t sp, base;             /* base: 0 until r7 is set */
	int32_t lr_at, base_at, fp_at; /* where lr, r7 and r11 are saved; 0: they are not */
	bool wide;                    /* A32 */
	bool lost;                    /* sp is not known: the frame is found by r7 */
	bool root;                    /* it has no caller */
};

struct code_place {
	uint32_t at;
	uint32_t size;  /* of a function; 0: up to the next */
	uint16_t state; /* number + 1 */
};

struct code_reader {
	const uint8_t *code;
	uint32_t size;
	uint16_t *reached;            /* by half word: number of a state + 1; 0: not reached */
	uint8_t *begins;              /* bit by half word: a function begins there */
	uint8_t *data;                /* bit by half word: no code */
	uint32_t low, high;           /* the function in hand */
	VECTOR(struct code_state) states;
	uint16_t recent[CODE_RECENT];      /* numbers + 1 by hash: where to look first */
	VECTOR(struct code_place) later;   /* places of the function in hand that are still to be looked at */
	VECTOR(struct code_place) functions;
	bool failed;
};

static inline uint32_t code_half(const struct code_reader *r, uint32_t at)
{
	return at + 2 <= r->size ? (uint32_t)(r->code[at] | r->code[at + 1] << 8) : 0;
}

static inline bool code_marked(const uint8_t *bits, uint32_t at)
{
	return bits[at >> 4] >> (at >> 1 & 7) & 1;
}

static inline void code_mark(const struct code_reader *r, uint8_t *bits, uint32_t from, uint32_t to)
{
	for (; from < MIN(to, r->size); from += 2)
		bits[from >> 4] |= (uint8_t)(1u << (from >> 1 & 7));
}

static inline void code_decode(const struct code_reader *r, uint32_t at, bool wide, struct thumb *t)
{
	if (wide)
		thumb_decode_wide(code_half(r, at) | code_half(r, at + 2) << 16, at, t);
	else
		thumb_decode(code_half(r, at), code_half(r, at + 2), at, t);
}

/*
 * Note a function at offset AT (from the image's start), SIZE bytes long (0: up to the next one), in A32 if WIDE; ROOT:
 * it has no caller. Nothing happens where one is known already, or data. code_follow.c
 */
void code_add_function(struct code_reader *r, uint32_t at, uint32_t size, bool wide, bool root);
/* Look at all instructions of the functions from number FROM on, and of those found on the way. code_follow.c */
void code_follow(struct code_reader *r, size_t from);
/* Note what O's symbols and pointers tell of its functions and data. code_functions.c */
void code_add_known(struct code_reader *r, const struct object *o);
/* Find and follow the functions that nothing told of, once the others have been followed. code_functions.c */
void code_find_others(struct code_reader *r);

#endif
