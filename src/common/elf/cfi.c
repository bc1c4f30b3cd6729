#include "common/elf/cfi.h"

#include "common/elf/cfi_state.h"

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

static void put(const struct run *r)
{
	struct unwind_rule rule = cfi_rule(&r->state, r->common->signal);

	rows_put(r->rows, (uint32_t)(r->at - r->origin), &rule);
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
	struct cfi_state *s = &r->state;
	int64_t align = r->common->data_align;
	uint64_t reg = cursor_uleb(c);
	struct cursor e;

	switch (op) {
	case DW_CFA_offset_extended:
		cfi_saved_at(s, reg, (int64_t)(cursor_uleb(c) * (uint64_t)align));
		break;
	case DW_CFA_offset_extended_sf:
		cfi_saved_at(s, reg, (int64_t)((uint64_t)cursor_sleb(c) * (uint64_t)align));
		break;
	case DW_CFA_GNU_negative_offset_extended:
		cfi_saved_at(s, reg, (int64_t)(-cursor_uleb(c) * (uint64_t)align));
		break;
	case DW_CFA_restore_extended:
		cfi_restore(s, &r->common->initial, reg);
		break;
	case DW_CFA_undefined:
		cfi_lost(s, reg);
		if (reg == REG_RA)
			s->ra_kind = RA_NONE;
		break;
	case DW_CFA_same_value:
		cfi_lost(s, reg);
		if (reg == REG_FP)
			s->fp_kind = FP_SAME;
		else if (reg == REG_RA)
			cfi_begin_return(s);
		break;
	case DW_CFA_expression:
		e = cursor_cut(c, cursor_uleb(c));
		cfi_saved_by_expression(s, reg, &e);
		break;
	case DW_CFA_val_expression:
		e = cursor_cut(c, cursor_uleb(c));
		cfi_lost(s, reg);
		break;
	case DW_CFA_register:
		cfi_moved_to(s, reg, cursor_uleb(c));
		break;
	default: /* val_offset, val_offset_sf: one operand whose value is of no use */
		cursor_uleb(c);
		cfi_lost(s, reg);
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
		cfi_define_cfa(s, reg, (int64_t)cursor_uleb(c));
		break;
	case DW_CFA_def_cfa_sf:
		reg = cursor_uleb(c);
		cfi_define_cfa(s, reg, (int64_t)((uint64_t)cursor_sleb(c) * align));
		break;
	case DW_CFA_def_cfa_expression:
		e = cursor_cut(c, cursor_uleb(c));
		cfi_define_cfa_by_expression(s, &e);
		break;
	/*
	 * The other part stays as it was – also behind an expression, which the standard
	 * does not allow but assemblers write and other unwinders accept.
	 */
	case DW_CFA_def_cfa_register:
		cfi_define_cfa(s, cursor_uleb(c), s->cfa_offset);
		break;
	case DW_CFA_def_cfa_offset:
		cfi_define_cfa(s, s->cfa_register, (int64_t)cursor_uleb(c));
		break;
	default: /* def_cfa_offset_sf */
		cfi_define_cfa(s, s->cfa_register, (int64_t)((uint64_t)cursor_sleb(c) * align));
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
			cfi_saved_at(&r->state, low, (int64_t)(cursor_uleb(c) * (uint64_t)r->common->data_align));
		else
			cfi_restore(&r->state, &r->common->initial, low);
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

	cfi_begin_return(&r.state);
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
