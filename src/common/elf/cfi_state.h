/*
 * cfi_state.h - what call frame instructions do to what holds at one address, and the rule that it amounts to.
 *
 * Registers are DWARF's numbers; those that a rule does not speak of change nothing. Offsets are bytes from the CFA.
 */
#ifndef JSTROBE_ELF_CFI_STATE_H
#define JSTROBE_ELF_CFI_STATE_H

#include "common/elf/cfi.h"
#include "cpu.h"

enum { REG_FP = CPU_DWARF_FP, REG_SP = CPU_DWARF_SP, REG_RA = CPU_DWARF_RA };

/* The CFA is REG + OFFSET, or what E computes (what a rule cannot say becomes CFA_UNKNOWN). */
void cfi_define_cfa(struct cfi_state *s, uint64_t reg, int64_t offset);
void cfi_define_cfa_by_expression(struct cfi_state *s, const struct cursor *e);
/* REG is saved in memory at CFA + OFFSET, or at the address that E computes. */
void cfi_saved_at(struct cfi_state *s, uint64_t reg, int64_t offset);
void cfi_saved_by_expression(struct cfi_state *s, uint64_t reg, const struct cursor *e);
/* REG's value is somewhere that a rule cannot say. */
void cfi_lost(struct cfi_state *s, uint64_t reg);
/* REG's value is in register OTHER. */
void cfi_moved_to(struct cfi_state *s, uint64_t reg, uint64_t other);
/* As long as nothing is said of the return address, it is where a call leaves it. */
void cfi_begin_return(struct cfi_state *s);
/* REG is where it was INITIALly. */
void cfi_restore(struct cfi_state *s, const struct cfi_state *initial, uint64_t reg);
/* S as a rule, in the one spelling that equal rules share. SIGNAL: of a signal trampoline. */
struct unwind_rule cfi_rule(const struct cfi_state *s, bool signal);

#endif
