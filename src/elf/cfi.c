#include "elf/cfi.h"

#include "cpu.h"

enum { REG_FP = CPU_DWARF_FP, REG_SP = CPU_DWARF_SP, REG_RA = CPU_DWARF_RA };

enum {
	DW_CFA_advance_loc = 0x40, /* high two bits; the operand sits in the low six */
	DW_CFA_offset = 0x80,
	DW_CFA_restore = 0xc0,
	DW_CFA_nop = 0x00,
	DW_CFA_set_loc,
	DW_CFA_advance_loc1,
	DW_CFA_advance_loc2,
	DW_CFA_advance_loc4,
	DW_CFA_offset_extended,
	DW_CFA_restore_extended,
	DW_CFA_undefined,
	DW_CFA_same_value,
	DW_CFA_register,
	DW_CFA_remember_state,
	DW_CFA_restore_state,
	DW_CFA_def_cfa,
	DW_CFA_def_cfa_register,
	DW_CFA_def_cfa_offset,
	DW_CFA_def_cfa_expression,
	DW_CFA_expression,
	DW_CFA_offset_extended_sf,
	DW_CFA_def_cfa_sf,
	DW_CFA_def_cfa_offset_sf,
	DW_CFA_val_offset,
	DW_CFA_val_offset_sf,
	DW_CFA_val_expression,
	DW_CFA_GNU_window_save = 0x2d,
	DW_CFA_GNU_args_size = 0x2e,
	DW_CFA_GNU_negative_offset_extended = 0x2f,
};

enum {
	DW_OP_deref = 0x06,
	DW_OP_plus_uconst = 0x23,
	DW_OP_lit0 = 0x30,
	DW_OP_lit31 = 0x4f,
	DW_OP_breg0 = 0x70,
};

enum {
	DW_EH_PE_pcrel = 0x10,
	DW_EH_PE_datarel = 0x30,
};

#define STATES_MAX 16 /* compilers nest remember_state once */

/* One run of a program. */
struct run {
	struct cursor c;
	const struct cfi_common *common;
	const struct cfi_base *base;
	struct cfi_state state;
	struct cfi_state saved[STATES_MAX];
	unsigned depth;
	uintptr_t at, end, origin;
	struct rows *rows; /* NULL: initial instructions, no address yet */
};

uint64_t cfi_number(struct cursor *c, uint8_t encoding)
{
	switch (encoding & 0x0f) {
	case 0x00:
		return sizeof(uintptr_t) == 8 ? cursor_u64(c) : cursor_u32(c);
	case 0x01:
		return cursor_uleb(c);
	case 0x02:
		return cursor_u16(c);
	case 0x03:
		return cursor_u32(c);
	case 0x04:
	case 0x0c:
		return cursor_u64(c);
	case 0x09:
		return (uint64_t)cursor_sleb(c);
	case 0x0a:
		return (uint64_t)(int64_t)(int16_t)cursor_u16(c);
	case 0x0b:
		return (uint64_t)(int64_t)(int32_t)cursor_u32(c);
	default:
		cursor_fail(c);
		return 0;
	}
}

uintptr_t cfi_address(struct cursor *c, uint8_t encoding, const struct cfi_base *base)
{
	uintptr_t here = base->address + (uintptr_t)(c->at - base->bytes);
	uint64_t value = cfi_number(c, encoding);

	switch (encoding & 0xf0) {
	case 0:
		return (uintptr_t)value + base->bias;
	case DW_EH_PE_pcrel:
		return (uintptr_t)value + here;
	case DW_EH_PE_datarel:
		return (uintptr_t)value + base->data;
	default:
		cursor_fail(c);
		return 0;
	}
}

/* STATE as a rule, in the one spelling that equal rules share. */
static struct unwind_rule to_rule(const struct cfi_state *state, bool signal)
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

static void put(const struct run *r)
{
	struct unwind_rule rule = to_rule(&r->state, r->common->signal);

	rows_put(r->rows, (uint32_t)(r->at - r->origin), &rule);
}

/* Set *TO; false when VALUE does not fit, which no sane frame needs. */
static bool narrow(int64_t value, int32_t *to)
{
	*to = (int32_t)value;
	return *to == value;
}

static void define_cfa(struct run *r, uint64_t reg, int64_t offset)
{
	struct cfi_state *s = &r->state;

	s->cfa_kind = reg < UINT8_MAX && narrow(offset, &s->cfa_offset) ? CFA_REG : CFA_UNKNOWN;
	s->cfa_register = (uint8_t)reg;
}

/* REG is saved in memory at CFA + OFFSET. */
static void saved_at(struct run *r, uint64_t reg, int64_t offset)
{
	struct cfi_state *s = &r->state;

	if (reg == REG_FP)
		s->fp_kind = narrow(offset, &s->fp_offset) ? FP_AT_CFA : FP_LOST;
	else if (reg == REG_RA)
		s->ra_kind = narrow(offset, &s->ra_offset) ? RA_AT_CFA : RA_UNSAID;
	else if (reg == REG_SP)
		s->sp_odd = true;
}

/* REG's value is somewhere that a rule cannot say. */
static void lost(struct run *r, uint64_t reg)
{
	if (reg == REG_FP)
		r->state.fp_kind = FP_LOST;
	else if (reg == REG_RA)
		r->state.ra_kind = RA_UNSAID;
	else if (reg == REG_SP)
		r->state.sp_odd = true;
}

/* As long as nothing is said of the return address, it is where a call leaves it. */
static void begin_return(struct cfi_state *s)
{
	s->ra_kind = CPU_LINKS ? RA_IN_REGISTER : RA_UNSAID;
	s->ra_register = CPU_LINKS ? REG_RA : 0;
}

/* REG's value is in register OTHER. */
static void moved_to(struct run *r, uint64_t reg, uint64_t other)
{
	lost(r, reg);
	if (reg != REG_RA || other == REG_RA || other > CPU_DWARF_GENERAL)
		return;
	r->state.ra_kind = RA_IN_REGISTER;
	r->state.ra_register = (uint8_t)other;
}

static void restore(struct run *r, uint64_t reg)
{
	const struct cfi_state *initial = &r->common->initial;

	if (reg == REG_FP) {
		r->state.fp_kind = initial->fp_kind;
		r->state.fp_offset = initial->fp_offset;
	} else if (reg == REG_RA) {
		r->state.ra_kind = initial->ra_kind;
		r->state.ra_register = initial->ra_register;
		r->state.ra_offset = initial->ra_offset;
	} else if (reg == REG_SP) {
		r->state.sp_odd = initial->sp_odd;
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

static void define_cfa_by_expression(struct run *r, const struct cursor *e)
{
	struct cfi_state *s = &r->state;
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

/* REG is saved at the address that E computes. */
static void saved_by_expression(struct run *r, uint64_t reg, const struct cursor *e)
{
	struct cfi_state *s = &r->state;

	if (reg == REG_FP && is_breg(*e, REG_FP, &s->fp_offset))
		s->fp_kind = FP_AT_FP;
	else
		lost(r, reg);
}

/* Put down what held up to here, then go DELTA code units on. */
static void advance(struct run *r, uint64_t delta)
{
	uint64_t left = r->end - r->at;

	if (!r->rows) {
		cursor_fail(&r->c);
		return;
	}
	put(r);
	if (__builtin_mul_overflow(delta, r->common->code_align, &delta) || delta > left)
		delta = left;
	r->at += delta;
	if (r->at == r->end)
		r->c.at = r->c.end; /* what follows describes no code */
}

static void set_location(struct run *r)
{
	uintptr_t to = cfi_address(&r->c, r->common->encoding, r->base);

	if (!r->rows || to < r->at || to > r->end) {
		cursor_fail(&r->c);
		return;
	}
	put(r);
	r->at = to;
}

static void remember(struct run *r)
{
	if (r->depth == STATES_MAX)
		cursor_fail(&r->c);
	else
		r->saved[r->depth++] = r->state;
}

static void recall(struct run *r)
{
	if (r->depth == 0)
		cursor_fail(&r->c);
	else
		r->state = r->saved[--r->depth];
}

/* The instructions that say where a register is. */
static void step_register(struct run *r, uint8_t op)
{
	struct cursor *c = &r->c;
	int64_t align = r->common->data_align;
	uint64_t reg = cursor_uleb(c);
	struct cursor e;

	switch (op) {
	case DW_CFA_offset_extended:
		saved_at(r, reg, (int64_t)(cursor_uleb(c) * (uint64_t)align));
		break;
	case DW_CFA_offset_extended_sf:
		saved_at(r, reg, (int64_t)((uint64_t)cursor_sleb(c) * (uint64_t)align));
		break;
	case DW_CFA_GNU_negative_offset_extended:
		saved_at(r, reg, (int64_t)(-cursor_uleb(c) * (uint64_t)align));
		break;
	case DW_CFA_restore_extended:
		restore(r, reg);
		break;
	case DW_CFA_undefined:
		lost(r, reg);
		if (reg == REG_RA)
			r->state.ra_kind = RA_NONE;
		break;
	case DW_CFA_same_value:
		lost(r, reg);
		if (reg == REG_FP)
			r->state.fp_kind = FP_SAME;
		else if (reg == REG_RA)
			begin_return(&r->state);
		break;
	case DW_CFA_expression:
		e = cursor_cut(c, cursor_uleb(c));
		saved_by_expression(r, reg, &e);
		break;
	case DW_CFA_val_expression:
		e = cursor_cut(c, cursor_uleb(c));
		lost(r, reg);
		break;
	case DW_CFA_register:
		moved_to(r, reg, cursor_uleb(c));
		break;
	default: /* val_offset, val_offset_sf: one operand whose value is of no use */
		cursor_uleb(c);
		lost(r, reg);
		break;
	}
}

/* The instructions that say where the CFA is. */
static void step_cfa(struct run *r, uint8_t op)
{
	struct cursor *c = &r->c;
	uint64_t align = (uint64_t)r->common->data_align;
	struct cfi_state *s = &r->state;
	struct cursor e;
	uint64_t reg;

	switch (op) {
	case DW_CFA_def_cfa:
		reg = cursor_uleb(c);
		define_cfa(r, reg, (int64_t)cursor_uleb(c));
		break;
	case DW_CFA_def_cfa_sf:
		reg = cursor_uleb(c);
		define_cfa(r, reg, (int64_t)((uint64_t)cursor_sleb(c) * align));
		break;
	case DW_CFA_def_cfa_expression:
		e = cursor_cut(c, cursor_uleb(c));
		define_cfa_by_expression(r, &e);
		break;
	/*
	 * The other part stays as it was – also behind an expression, which the standard
	 * does not allow but assemblers write and other unwinders accept.
	 */
	case DW_CFA_def_cfa_register:
		define_cfa(r, cursor_uleb(c), s->cfa_offset);
		break;
	case DW_CFA_def_cfa_offset:
		define_cfa(r, s->cfa_register, (int64_t)cursor_uleb(c));
		break;
	default: /* def_cfa_offset_sf */
		define_cfa(r, s->cfa_register, (int64_t)((uint64_t)cursor_sleb(c) * align));
	}
}

static void step(struct run *r)
{
	struct cursor *c = &r->c;
	uint8_t op = cursor_u8(c);
	uint8_t low = op & 0x3f;

	if (op & 0xc0) {
		if ((op & 0xc0) == DW_CFA_advance_loc)
			advance(r, low);
		else if ((op & 0xc0) == DW_CFA_offset)
			saved_at(r, low, (int64_t)(cursor_uleb(c) * (uint64_t)r->common->data_align));
		else
			restore(r, low);
		return;
	}
	switch (op) {
	case DW_CFA_nop:
		break;
	case DW_CFA_set_loc:
		set_location(r);
		break;
	case DW_CFA_advance_loc1:
		advance(r, cursor_u8(c));
		break;
	case DW_CFA_advance_loc2:
		advance(r, cursor_u16(c));
		break;
	case DW_CFA_advance_loc4:
		advance(r, cursor_u32(c));
		break;
	case DW_CFA_remember_state:
		remember(r);
		break;
	case DW_CFA_restore_state:
		recall(r);
		break;
	case DW_CFA_GNU_args_size:
		cursor_uleb(c);
		break;
#ifdef __aarch64__
	case DW_CFA_GNU_window_save: /* negate_ra_state: the signature is stripped at the load */
		break;
#endif
	case DW_CFA_def_cfa:
	case DW_CFA_def_cfa_sf:
	case DW_CFA_def_cfa_register:
	case DW_CFA_def_cfa_offset:
	case DW_CFA_def_cfa_offset_sf:
	case DW_CFA_def_cfa_expression:
		step_cfa(r, op);
		break;
	default:
		if ((op >= DW_CFA_offset_extended && op <= DW_CFA_val_expression) ||
		    op == DW_CFA_GNU_negative_offset_extended)
			step_register(r, op);
		else
			cursor_fail(c);
	}
}

bool cfi_run_common(struct cfi_common *common, struct cursor program, const struct cfi_base *base)
{
	struct run r = {.c = program, .common = common, .base = base};

	begin_return(&r.state);
	while (cursor_left(&r.c) > 0)
		step(&r);
	common->initial = r.state;
	return !r.c.failed;
}

void cfi_run(const struct cfi_common *common, struct cursor program, const struct cfi_base *base,
	     uintptr_t start, uintptr_t end, uintptr_t origin, struct rows *rows)
{
	struct run r;

	/* Not an initialiser: clearing `saved` for each function costs more than parsing it. */
	r.c = program;
	r.common = common;
	r.base = base;
	r.state = common->initial;
	r.depth = 0;
	r.at = start;
	r.end = end;
	r.origin = origin;
	r.rows = rows;
	while (cursor_left(&r.c) > 0)
		step(&r);
	if (r.c.failed)
		memset(&r.state, 0, sizeof(r.state));
	if (r.at < r.end)
		put(&r);
}
