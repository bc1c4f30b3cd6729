#include "common/elf/cfi_state.h"

enum {
	DW_OP_deref = 0x06,
	DW_OP_plus_uconst = 0x23,
	DW_OP_lit0 = 0x30,
	DW_OP_lit31 = 0x4f,
	DW_OP_breg0 = 0x70,
};

struct unwind_rule cfi_rule(const struct cfi_state *state, bool signal)
{
	struct unwind_rule rule = {0};

	if (signal) {
		rule.cfa_kind = CFA_SIGNAL;
		return rule;
	}
	if (state->ra_kind == RA_NONE) {
		rule.cfa_kind = CFA_END;
		return rule;
	}
	if (state->ra_kind == RA_UNSAID || state->sp_odd || state->cfa_kind == CFA_UNKNOWN ||
	    (state->ra_kind == RA_AT_CFA && state->ra_offset != (int16_t)state->ra_offset))
		return rule;
	rule.cfa_kind = state->cfa_kind;
	rule.cfa_offset = state->cfa_offset;
	if (state->cfa_kind != CFA_REG) {
		rule.cfa_register = state->words;
		rule.cfa_offset = state->expression_offset;
	} else if (state->cfa_register == REG_SP) {
		rule.cfa_kind = CFA_SP;
	} else if (state->cfa_register == REG_FP) {
		rule.cfa_kind = CFA_FP;
	} else {
		rule.cfa_register = state->cfa_register;
	}
	rule.fp_kind = state->fp_kind;
	if (state->fp_kind == FP_AT_CFA || state->fp_kind == FP_AT_FP)
		rule.fp_offset = state->fp_offset;
	if (state->ra_kind == RA_IN_REGISTER)
		rule.ra_register = state->ra_register + 1;
	else
		rule.ra_offset = (int16_t)state->ra_offset;
	return rule;
}

/* Set *TO; false when VALUE does not fit, which no sane frame needs. */
static bool narrow(int64_t value, int32_t *to)
{
	*to = (int32_t)value;
	return *to == value;
}

void cfi_define_cfa(struct cfi_state *s, uint64_t reg, int64_t offset)
{
	s->cfa_kind = reg < UINT8_MAX && narrow(offset, &s->cfa_offset) ? CFA_REG : CFA_UNKNOWN;
	s->cfa_register = (uint8_t)reg;
}

void cfi_saved_at(struct cfi_state *s, uint64_t reg, int64_t offset)
{
	if (reg == REG_FP)
		s->fp_kind = narrow(offset, &s->fp_offset) ? FP_AT_CFA : FP_LOST;
	else if (reg == REG_RA)
		s->ra_kind = narrow(offset, &s->ra_offset) ? RA_AT_CFA : RA_UNSAID;
	else if (reg == REG_SP)
		s->sp_odd = true;
}

void cfi_lost(struct cfi_state *s, uint64_t reg)
{
	if (reg == REG_FP)
		s->fp_kind = FP_LOST;
	else if (reg == REG_RA)
		s->ra_kind = RA_UNSAID;
	else if (reg == REG_SP)
		s->sp_odd = true;
}

void cfi_begin_return(struct cfi_state *s)
{
	s->ra_kind = CPU_LINKS ? RA_IN_REGISTER : RA_UNSAID;
	s->ra_register = CPU_LINKS ? REG_RA : 0;
}

void cfi_moved_to(struct cfi_state *s, uint64_t reg, uint64_t other)
{
	cfi_lost(s, reg);
	if (reg != REG_RA || other == REG_RA || other > CPU_DWARF_GENERAL)
		return;
	s->ra_kind = RA_IN_REGISTER;
	s->ra_register = (uint8_t)other;
}

void cfi_restore(struct cfi_state *s, const struct cfi_state *initial, uint64_t reg)
{
	if (reg == REG_FP) {
		s->fp_kind = initial->fp_kind;
		s->fp_offset = initial->fp_offset;
	} else if (reg == REG_RA) {
		s->ra_kind = initial->ra_kind;
		s->ra_register = initial->ra_register;
		s->ra_offset = initial->ra_offset;
	} else if (reg == REG_SP) {
		s->sp_odd = initial->sp_odd;
	}
}

/*
 * The PLT's expression: sp + 8 + ((pc & 15) >= LIT) << 3, as every linker writes
 * it: breg7 8, breg16 0, lit15, and, LIT, ge, lit3, shl, plus. On i386: breg4 4, breg8 0, …, lit2, shl, plus.
 */
static bool is_plt(const struct cursor *e, uint8_t *literal)
{
	static const uint8_t head[] = {DW_OP_breg0 + REG_SP, WORD, DW_OP_breg0 + REG_RA, 0x00, 0x3f, 0x1a};
	static const uint8_t tail[] = {0x2a, DW_OP_lit0 + (WORD == 8 ? 3 : 2), 0x24, 0x22};
	const uint8_t *lit = e->at + sizeof(head);

	if (cursor_left(e) != sizeof(head) + 1 + sizeof(tail) ||
	    memcmp(e->at, head, sizeof(head)) != 0 || memcmp(lit + 1, tail, sizeof(tail)) != 0)
		return false;
	*literal = (uint8_t)(*lit - DW_OP_lit0);
	return *lit >= DW_OP_lit0 && *lit <= DW_OP_lit31;
}

/* breg REG OFFSET, and nothing after it. */
static bool is_breg(struct cursor e, unsigned reg, int32_t *offset)
{
	return cursor_u8(&e) == DW_OP_breg0 + reg && narrow(cursor_sleb(&e), offset) && !e.failed &&
	       cursor_left(&e) == 0;
}

/* breg REG OFFSET deref [plus_uconst WORD * WORDS], and nothing after it. */
static bool is_breg_deref(struct cursor e, unsigned reg, int32_t *offset, uint8_t *words)
{
	uint64_t add = 0;

	if (cursor_u8(&e) != DW_OP_breg0 + reg || !narrow(cursor_sleb(&e), offset) ||
	    cursor_u8(&e) != DW_OP_deref)
		return false;
	if (cursor_left(&e) > 0) {
		if (cursor_u8(&e) != DW_OP_plus_uconst)
			return false;
		add = cursor_uleb(&e);
	}
	*words = (uint8_t)(add / WORD);
	return add % WORD == 0 && add / WORD <= UINT8_MAX && !e.failed && cursor_left(&e) == 0;
}

void cfi_define_cfa_by_expression(struct cfi_state *s, const struct cursor *e)
{
	uint8_t literal;

	s->words = 0;
	if (is_plt(e, &literal)) {
		s->cfa_kind = CFA_PLT;
		s->expression_offset = literal;
	} else if (is_breg_deref(*e, REG_FP, &s->expression_offset, &s->words)) {
		s->cfa_kind = CFA_FP_DEREF;
	} else if (is_breg_deref(*e, REG_SP, &s->expression_offset, &s->words)) {
		s->cfa_kind = CFA_SP_DEREF;
	} else if (is_breg(*e, REG_SP, &s->cfa_offset)) {
		s->cfa_kind = CFA_REG;
		s->cfa_register = REG_SP;
	} else {
		s->cfa_kind = CFA_UNKNOWN;
	}
}

void cfi_saved_by_expression(struct cfi_state *s, uint64_t reg, const struct cursor *e)
{
	if (reg == REG_FP && is_breg(*e, REG_FP, &s->fp_offset))
		s->fp_kind = FP_AT_FP;
	else
		cfi_lost(s, reg);
}
