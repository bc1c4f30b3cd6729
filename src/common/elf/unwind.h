/*
 * unwind.h - compact unwind tables, and the one look-up that the signal zone does.
 *
 * All loaded images (executable, libraries, vdso) are described by one
 * immutable `struct image_set`. It is built by elf/image.h in normal code and
 * published whole; the handler only reads it. Rows are made from .eh_frame
 * (or .debug_frame) beforehand, so no DWARF is interpreted in a handler.
 *
 *   image_set ─▶ images[] sorted by start ─▶ table: bucket[] ─▶ row_start[] / row_rule[] ─▶ rules[]
 *
 * A row holds the rule in force from its start offset up to the next row.
 */
#ifndef JSTROBE_ELF_UNWIND_H
#define JSTROBE_ELF_UNWIND_H

#include "common/base/base.h"

/* Where the canonical frame address (CFA) comes from. */
enum unwind_cfa {
	CFA_UNKNOWN,  /* no rule covers this pc */
	CFA_SP,       /* sp + cfa_offset */
	CFA_FP,       /* fp + cfa_offset */
	CFA_REG,      /* cfa_register + cfa_offset: only of use in the innermost frame */
	CFA_PLT,      /* sp + WORD + ((pc & 15) >= cfa_offset ? WORD : 0): lazy PLT stub, x86_64 and i386 */
	CFA_FP_DEREF, /* *(fp + cfa_offset) + WORD * cfa_register: functions that realign their stack */
	CFA_SIGNAL,   /* the signal return trampoline: a ucontext lies at sp */
	CFA_END,      /* outermost frame (_start, clone): no caller */
	CFA_SP_DEREF, /* *(sp + cfa_offset) + WORD * cfa_register: assembly that saved its old sp */
	CFA_BASE,     /* base + cfa_offset: arm's second frame pointer, r7 in native code */
};

/* Where the caller's frame pointer is. */
enum unwind_fp {
	FP_SAME,   /* unchanged */
	FP_AT_CFA, /* saved at CFA + fp_offset */
	FP_AT_FP,  /* saved at fp + fp_offset (realigned frames) */
	FP_LOST,   /* unknown */
};

/* A rule; few hundred distinct ones an image. x86_64: return address at CFA + ra_offset, or in a register. */
struct unwind_rule {
	uint8_t cfa_kind;     /* enum unwind_cfa */
	uint8_t cfa_register; /* CFA_REG: DWARF register number; CFA_…_DEREF: words to add, mostly 0 or 1 */
	uint8_t fp_kind;      /* enum unwind_fp */
	/* DWARF number + 1, of use in the innermost frame (link register; vfork: rdi); 0: at CFA + ra_offset */
	uint8_t ra_register;
	int32_t cfa_offset;
	int32_t fp_offset;
	int16_t ra_offset;    /* -8 on x86_64, -4 on i386; 0 with ra_register */
	int16_t base_offset;  /* arm: the caller's base is saved at CFA + base_offset; 0: unchanged */
};

#define UNWIND_BUCKET_SHIFT 10 /* one bucket per KB of code */

struct unwind_table {
	uint32_t row_count;
	uint32_t bucket_count;
	const uint32_t *row_start;  /* pc - image->start, ascending */
	const uint16_t *row_rule;   /* index into rules */
	const uint32_t *bucket;     /* bucket[i]: last row with start <= i << SHIFT; bucket_count + 1 entries */
	const struct unwind_rule *rules;
	uint32_t rule_count;
};

struct image {
	uintptr_t start, end;   /* mapped executable range, end exclusive */
	uintptr_t bias;         /* address - ELF virtual address */
	struct unwind_table unwind; /* row_count 0: none, use frame pointers */
	const char *path;       /* as in the link map; "[vdso]"; never NULL */
	const char *name;       /* base name inside path */
	uint32_t id;            /* unique for this mapping while the process lives */
	bool own;               /* the agent's library, or another copy of it */
	void *symbols;          /* private to elf/ (lazily read), collector only */
};

struct image_set {
	uint32_t count;
	uint32_t generation;    /* grows with each new set */
	uint64_t adds, subs;    /* dl_iterate_phdr counters this set was made from */
	const struct image *const *images; /* sorted by start, ranges do not overlap */
};

/* The image that holds PC, or NULL. Any context, signal handlers included; no system call. */
static inline const struct image *image_find(const struct image_set *set, uintptr_t pc)
{
	size_t low = SEARCH(set->count, i, set->images[i]->end <= pc);

	if (low < set->count && set->images[low]->start <= pc)
		return set->images[low];
	return NULL;
}

/*
 * The rule in force at PC in IMAGE (PC inside it), or NULL when no row covers it.
 * For a return address pass pc - 1. Any context, signal handlers included.
 */
static inline const struct unwind_rule *unwind_find(const struct image *image, uintptr_t pc)
{
	const struct unwind_table *t = &image->unwind;
	uint32_t offset = (uint32_t)(pc - image->start);
	uint32_t bucket = offset >> UNWIND_BUCKET_SHIFT;
	uint32_t low, high;

	if (t->row_count == 0 || bucket >= t->bucket_count || offset < t->row_start[0])
		return NULL;
	low = t->bucket[bucket];
	high = t->bucket[bucket + 1] + 1;
	while (high - low > 1) {
		uint32_t mid = (low + high) / 2;

		if (t->row_start[mid] <= offset)
			low = mid;
		else
			high = mid;
	}
	return &t->rules[t->row_rule[low]];
}

#endif
