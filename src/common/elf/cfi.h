/*
 * cfi.h - runs the call frame instructions of DWARF (what .cfi_* directives
 * leave in .eh_frame) and puts down a row at each change.
 *
 * Only three registers matter to us: the canonical frame address, the frame
 * pointer and the return address. Whatever a struct unwind_rule cannot say
 * becomes CFA_UNKNOWN for its stretch of code – never a guess.
 */
#ifndef JSTROBE_ELF_CFI_H
#define JSTROBE_ELF_CFI_H

#include "common/base/cursor.h"
#include "common/elf/rows.h"

enum cfi_ra {
	RA_UNSAID,  /* no rule yet, or one that we cannot express */
	RA_AT_CFA,
	RA_IN_REGISTER,
	RA_NONE,    /* undefined: the outermost frame */
};

/* What holds at one address while instructions run. */
struct cfi_state {
	uint8_t cfa_kind;     /* enum unwind_cfa; CFA_REG stands for SP and FP too */
	uint8_t cfa_register;
	uint8_t fp_kind;      /* enum unwind_fp */
	uint8_t ra_kind;      /* enum cfi_ra */
	uint8_t ra_register;  /* RA_IN_REGISTER */
	bool sp_odd;          /* the caller's stack pointer is not the CFA */
	uint8_t words;        /* expressions: what they add at the end, in words */
	int32_t cfa_offset;   /* CFA_REG; kept while an expression is in force */
	int32_t expression_offset;
	int32_t fp_offset, ra_offset;
};

/* A common information entry: what its functions share. */
struct cfi_common {
	uint64_t code_align;
	int64_t data_align;
	uint8_t encoding;     /* of addresses in its functions, DW_EH_PE_* */
	bool sized;           /* functions have a length-prefixed augmentation */
	bool signal;          /* its functions are signal trampolines */
	struct cfi_state initial;
};

/* How to turn an encoded address into one of the running process. */
struct cfi_base {
	const uint8_t *bytes; /* first byte of the section, and … */
	uintptr_t address;    /* … where it lies in memory: pc-relative values */
	uintptr_t data;       /* data-relative values */
	uintptr_t bias;       /* absolute values (sections read from a file) */
};

/*
 * Read an address encoded as ENCODING (DW_EH_PE_*), or only the number in that
 * format (lengths). An unknown encoding fails the cursor.
 */
uintptr_t cfi_address(struct cursor *c, uint8_t encoding, const struct cfi_base *base);
uint64_t cfi_number(struct cursor *c, uint8_t encoding);

/* Run the initial instructions PROGRAM of COMMON; false: its functions cannot be described. */
bool cfi_run_common(struct cfi_common *common, struct cursor program, const struct cfi_base *base);

/*
 * Run PROGRAM of one function that covers [start, end) and put its rows, as
 * offsets from ORIGIN (≤ start; end - ORIGIN fits 32 bits), into ROWS.
 */
void cfi_run(const struct cfi_common *common, struct cursor program, const struct cfi_base *base,
	     uintptr_t start, uintptr_t end, uintptr_t origin, struct rows *rows);

#endif
