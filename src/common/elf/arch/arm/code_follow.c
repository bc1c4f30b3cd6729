/*
 * code_follow.c (arm) - each instruction of a function is looked at once, along all branches.
 *
 * Two ways to one instruction agree, or code could not work; the first one counts. So nothing must be followed that is
 * no code: data lies where a mapping symbol ($d) says so, or a load of a constant, and what a function does not jump to
 * within itself is another one.
 */
#include "code_reader.h"

#define FRAME_MAX 30000 /* bytes that an offset in a rule can say */
#define TABLE_MAX 1024

static bool same(const struct code_state *a, const struct code_state *b)
{
	return a->sp == b->sp && a->base == b->base && a->lr_at == b->lr_at && a->base_at == b->base_at &&
	       a->fp_at == b->fp_at && a->wide == b->wide && a->lost == b->lost && a->root == b->root;
}

static uint32_t hash(const struct code_state *s)
{
	uint32_t h = (uint32_t)s->sp * 31 + (uint32_t)s->base;

	h = (h * 31 + (uint32_t)s->lr_at) * 31 + (uint32_t)s->base_at;
	return (h * 31 + (uint32_t)s->fp_at + s->wide + s->lost * 2u) * 0x9e3779b1u >> 20;
}

/* Number + 1 of S; 0 without memory. */
static uint16_t intern(struct code_reader *r, const struct code_state *s)
{
	uint16_t *recent = &r->recent[hash(s) % CODE_RECENT];
	struct code_state *new;
	size_t i;

	if (*recent && same(&r->states.items[*recent - 1], s))
		return *recent;
	for (i = 0; i < r->states.count; i++)
		if (same(&r->states.items[i], s))
			return *recent = (uint16_t)(i + 1);
	new = r->states.count < CODE_STATES_MAX ? VECTOR_PUSH(&r->states) : NULL;
	if (!new)
		return 0;
	*new = *s;
	return *recent = (uint16_t)r->states.count;
}

static void look_later(struct code_reader *r, uint32_t at, const struct code_state *s)
{
	struct code_place *p;

	if (at < r->low || at >= r->high || at & (s->wide ? 3 : 1) || r->reached[at >> 1])
		return;
	p = VECTOR_PUSH(&r->later);
	if (p)
		*p = (struct code_place){at, 0, intern(r, s)};
	else
		r->failed = true;
}

void code_add_function(struct code_reader *r, uint32_t at, uint32_t size, bool wide, bool root)
{
	struct code_state s = {.wide = wide, .root = root};
	struct code_place *p;

	if (at >= r->size || at & (wide ? 3 : 1) || code_marked(r->begins, at) || code_marked(r->data, at))
		return;
	p = VECTOR_PUSH(&r->functions);
	if (!p) {
		r->failed = true;
		return;
	}
	*p = (struct code_place){at, size, intern(r, &s)};
	code_mark(r, r->begins, at, at + 2);
}

/* REGISTERS lie at OFFSET from the CFA on: loaded from there, or stored. */
static void move_registers(struct code_state *s, uint32_t registers, int32_t offset, bool load)
{
	unsigned number;

	for (number = 0; number <= THUMB_PC; number++) {
		int32_t *at = number == THUMB_LR     ? &s->lr_at
			      : number == THUMB_BASE ? &s->base_at
			      : number == THUMB_FP   ? &s->fp_at
						     : NULL;

		if (!(registers >> number & 1))
			continue;
		if (at && load && *at == offset)
			*at = 0;
		else if (at && !load && !*at && offset < 0)
			*at = offset; /* the first time: later ones are other values */
		offset += 4;
	}
}

/* What T does to S; false: nothing goes on behind it. */
static bool change(struct code_reader *r, struct code_state *s, const struct thumb *t)
{
	switch (t->does) {
	case THUMB_SP_ADD: s->sp += t->amount; break;
	case THUMB_SP_BASE:
		s->lost = !s->base;
		s->sp = s->base + t->amount;
		break;
	case THUMB_SP_LOST: s->lost = true; break;
	case THUMB_BASE_SP: s->base = s->lost ? 0 : s->sp + t->amount; break;
	case THUMB_BASE_ADD: s->base += s->base ? t->amount : 0; break;
	case THUMB_PUSH:
		s->sp -= t->amount;
		if (!s->lost)
			move_registers(s, t->registers, s->sp, false);
		break;
	case THUMB_POP:
		if (!s->lost)
			move_registers(s, t->registers, s->sp, true);
		s->sp += t->amount;
		return !t->leaves;
	case THUMB_STORE:
	case THUMB_LOAD:
		if (!s->lost)
			move_registers(s, t->registers, s->sp + t->amount, t->does == THUMB_LOAD);
		break;
	case THUMB_LITERAL: code_mark(r, r->data, t->target & ~1u, t->target + (uint32_t)t->amount); break;
	case THUMB_CALL:
		if (t->target)
			code_add_function(r, t->target, 0, s->wide != t->leaves, false);
		break;
	default: break;
	}
	return t->does != THUMB_END;
}

/* Whether the table that begins at TABLE may go on at AT: data as far as it is known to be, and no code. */
static bool in_table(const struct code_reader *r, uint32_t table, uint32_t at)
{
	return !r->reached[at >> 1] && (code_marked(r->data, at) || !code_marked(r->data, table));
}

/* The targets of tbb or tbh, whose table stands at TABLE; it ends where the first target begins. */
static void look_behind_table(struct code_reader *r, uint32_t table, int32_t width, const struct code_state *s)
{
	uint32_t first = r->size, at = table, n;

	for (n = 0; n < TABLE_MAX && at < first && in_table(r, table, at); n++, at += (uint32_t)width) {
		uint32_t entry = width == 2 ? code_half(r, at) : code_half(r, at & ~1u) >> (at & 1) * 8 & 0xff;
		uint32_t target = table + 2 * entry;

		if (target <= at)
			break;
		first = MIN(first, target);
		look_later(r, target, s);
	}
}

/* The targets in a table of distances from itself, at TABLE. */
static void look_behind_distances(struct code_reader *r, uint32_t table, const struct code_state *s)
{
	uint32_t first = r->high, at = table, n;

	for (n = 0; n < TABLE_MAX && at + 4 <= first && in_table(r, table, at); n++, at += 4) {
		uint32_t target = (table + (code_half(r, at) | code_half(r, at + 2) << 16)) & ~1u;

		if (target < r->low || target >= r->high)
			break;
		if (target > table)
			first = MIN(first, target);
		look_later(r, target, s);
	}
}

/* Behind the COUNT instructions from AT on. */
static uint32_t behind(const struct code_reader *r, uint32_t at, int32_t count)
{
	struct thumb t;

	for (; count > 0; count--, at += t.bytes)
		code_decode(r, at, false, &t);
	return at;
}

/* From P straight on. Instructions under a condition are followed as if it were true, what is behind them as if not. */
static void follow(struct code_reader *r, const struct code_place *p)
{
	struct code_state s = r->states.items[p->state - 1];
	uint32_t at = p->at, end = r->high, table = 0;
	struct thumb t;

	for (; at < end && !r->reached[at >> 1] && !code_marked(r->data, at); at += t.bytes) {
		r->reached[at >> 1] = intern(r, &s);
		code_decode(r, at, s.wide, &t);
		if (t.does == THUMB_IF) {
			end = MIN(end, behind(r, at + t.bytes, t.amount));
			look_later(r, end, &s);
			continue;
		}
		if (t.does == THUMB_ADDRESS)
			table = t.target;
		/* A jump by a table right behind it. */
		if (t.does == THUMB_END && table > at && table <= at + 8)
			look_behind_distances(r, table, &s);
		if (!change(r, &s, &t))
			return;
		if (s.sp > 0 || s.sp < -FRAME_MAX)
			return;
		if (t.does == THUMB_BRANCH || t.does == THUMB_JUMP)
			look_later(r, t.target, &s);
		if (t.does == THUMB_TABLE)
			look_behind_table(r, at + t.bytes, t.amount, &s);
		if (t.does == THUMB_JUMP || t.does == THUMB_TABLE)
			return;
	}
}

static void follow_function(struct code_reader *r, struct code_place p)
{
	r->low = p.at;
	r->high = p.size ? p.at + MIN(p.size, r->size - p.at) : p.at + 2;
	while (!p.size && r->high < r->size && !code_marked(r->begins, r->high))
		r->high += 2;
	r->later.count = 0;
	for (;;) {
		if (p.state && !r->reached[p.at >> 1])
			follow(r, &p);
		if (!r->later.count)
			return;
		p = r->later.items[--r->later.count];
	}
}

void code_follow(struct code_reader *r, size_t from)
{
	for (; from < r->functions.count && !r->failed; from++)
		follow_function(r, r->functions.items[from]);
}
