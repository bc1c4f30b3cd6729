/*
 * code_rows.c (arm) - unwind rows by following the code of each function.
 *
 * The frame's address (CFA) is where sp was at the first instruction. From there on each instruction is looked at once,
 * along all branches, with what came before it:
 *
 *     push {r4, r7, lr}      sp = CFA - 12    lr at CFA - 4, r7 at CFA - 8
 *     sub sp, 16             sp = CFA - 28
 *     add r7, sp, 0          r7 = CFA - 28    by which GCC finds the frame when it moves sp by what it does not know
 *     …
 *     adds r7, 16; mov sp, r7; pop {r4, r7, pc}
 *
 * Functions are known from symbols, from pointers to them and from calls. Others are looked for in what is left: they
 * begin with a push of lr. Two ways to one instruction agree, or code could not work; the first one counts. So
 * nothing must be followed that is no code: data lies where a mapping symbol ($d) says so, or a load of a constant, and
 * what a function does not jump to within itself is another one.
 */
#include "elf/code_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/pages.h"
#include "base/vector.h"
#include "elf/memory.h"
#include "elf/symtab.h"
#include "thumb.h"

#define CODE_MAX ((size_t)256 << 20)
#define STATES_MAX 65534
#define FRAME_MAX 30000 /* bytes that an offset in a rule can say */
#define TABLE_MAX 1024
#define RECENT 4096

/* What holds before an instruction; offsets from the CFA. */
struct state {
	int32_t sp, base;             /* base: 0 until r7 is set */
	int32_t lr_at, base_at, fp_at; /* where lr, r7 and r11 are saved; 0: they are not */
	bool wide;                    /* A32 */
	bool lost;                    /* sp is not known: the frame is found by r7 */
	bool root;                    /* nobody called it */
};

struct place {
	uint32_t at;
	uint32_t size;  /* of a function; 0: up to the next */
	uint16_t state; /* number + 1 */
};

/* Where the kind of what lies in the code changes. */
struct mapping {
	uint32_t at;
	bool data;
};

struct reader {
	const uint8_t *code;
	uint32_t size;
	uint16_t *reached;            /* by half word: number of a state + 1; 0: not reached */
	uint8_t *begins;              /* bit by half word: a function begins there */
	uint8_t *data;                /* bit by half word: no code */
	uint32_t low, high;           /* the function in hand */
	VECTOR(struct state) states;
	uint16_t recent[RECENT];      /* numbers + 1 by hash: where to look first */
	VECTOR(struct place) later;   /* places of the function in hand that are still to be looked at */
	VECTOR(struct place) functions;
	bool failed;
};

static uint32_t half(const struct reader *r, uint32_t at)
{
	return at + 2 <= r->size ? (uint32_t)(r->code[at] | r->code[at + 1] << 8) : 0;
}

static bool marked(const uint8_t *bits, uint32_t at)
{
	return bits[at >> 4] >> (at >> 1 & 7) & 1;
}

static void mark(const struct reader *r, uint8_t *bits, uint32_t from, uint32_t to)
{
	for (; from < MIN(to, r->size); from += 2)
		bits[from >> 4] |= (uint8_t)(1u << (from >> 1 & 7));
}

static bool same(const struct state *a, const struct state *b)
{
	return a->sp == b->sp && a->base == b->base && a->lr_at == b->lr_at && a->base_at == b->base_at &&
	       a->fp_at == b->fp_at && a->wide == b->wide && a->lost == b->lost && a->root == b->root;
}

static uint32_t hash(const struct state *s)
{
	uint32_t h = (uint32_t)s->sp * 31 + (uint32_t)s->base;

	h = (h * 31 + (uint32_t)s->lr_at) * 31 + (uint32_t)s->base_at;
	return (h * 31 + (uint32_t)s->fp_at + s->wide + s->lost * 2u) * 0x9e3779b1u >> 20;
}

/* Number + 1 of S; 0 without memory. */
static uint16_t intern(struct reader *r, const struct state *s)
{
	uint16_t *recent = &r->recent[hash(s) % RECENT];
	struct state *new;
	size_t i;

	if (*recent && same(&r->states.items[*recent - 1], s))
		return *recent;
	for (i = 0; i < r->states.count; i++)
		if (same(&r->states.items[i], s))
			return *recent = (uint16_t)(i + 1);
	new = r->states.count < STATES_MAX ? VECTOR_PUSH(&r->states) : NULL;
	if (!new)
		return 0;
	*new = *s;
	return *recent = (uint16_t)r->states.count;
}

static void look_later(struct reader *r, uint32_t at, const struct state *s)
{
	struct place *p;

	if (at < r->low || at >= r->high || at & (s->wide ? 3 : 1) || r->reached[at >> 1])
		return;
	p = VECTOR_PUSH(&r->later);
	if (p)
		*p = (struct place){at, 0, intern(r, s)};
	else
		r->failed = true;
}

static void add_function(struct reader *r, uint32_t at, uint32_t size, bool wide, bool root)
{
	struct state s = {.wide = wide, .root = root};
	struct place *p;

	if (at >= r->size || at & (wide ? 3 : 1) || marked(r->begins, at) || marked(r->data, at))
		return;
	p = VECTOR_PUSH(&r->functions);
	if (!p) {
		r->failed = true;
		return;
	}
	*p = (struct place){at, size, intern(r, &s)};
	mark(r, r->begins, at, at + 2);
}

/* REGISTERS lie at OFFSET from the CFA on: loaded from there, or stored. */
static void move_registers(struct state *s, uint32_t registers, int32_t offset, bool load)
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
static bool change(struct reader *r, struct state *s, const struct thumb *t)
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
	case THUMB_LITERAL: mark(r, r->data, t->target & ~1u, t->target + (uint32_t)t->amount); break;
	case THUMB_CALL:
		if (t->target)
			add_function(r, t->target, 0, s->wide != t->leaves, false);
		break;
	default: break;
	}
	return t->does != THUMB_END;
}

/* Whether the table that begins at TABLE may go on at AT: data as far as it is known to be, and no code. */
static bool in_table(const struct reader *r, uint32_t table, uint32_t at)
{
	return !r->reached[at >> 1] && (marked(r->data, at) || !marked(r->data, table));
}

/* The targets of tbb or tbh, whose table stands at TABLE; it ends where the first target begins. */
static void look_behind_table(struct reader *r, uint32_t table, int32_t width, const struct state *s)
{
	uint32_t first = r->size, at = table, n;

	for (n = 0; n < TABLE_MAX && at < first && in_table(r, table, at); n++, at += (uint32_t)width) {
		uint32_t entry = width == 2 ? half(r, at) : half(r, at & ~1u) >> (at & 1) * 8 & 0xff;
		uint32_t target = table + 2 * entry;

		if (target <= at)
			break;
		first = MIN(first, target);
		look_later(r, target, s);
	}
}

/* The targets in a table of distances from itself, at TABLE. */
static void look_behind_distances(struct reader *r, uint32_t table, const struct state *s)
{
	uint32_t first = r->high, at = table, n;

	for (n = 0; n < TABLE_MAX && at + 4 <= first && in_table(r, table, at); n++, at += 4) {
		uint32_t target = (table + (half(r, at) | half(r, at + 2) << 16)) & ~1u;

		if (target < r->low || target >= r->high)
			break;
		if (target > table)
			first = MIN(first, target);
		look_later(r, target, s);
	}
}

static void decode(const struct reader *r, uint32_t at, bool wide, struct thumb *t)
{
	if (wide)
		thumb_decode_wide(half(r, at) | half(r, at + 2) << 16, at, t);
	else
		thumb_decode(half(r, at), half(r, at + 2), at, t);
}

/* Behind the COUNT instructions from AT on. */
static uint32_t behind(const struct reader *r, uint32_t at, int32_t count)
{
	struct thumb t;

	for (; count > 0; count--, at += t.bytes)
		decode(r, at, false, &t);
	return at;
}

/* From P straight on. Instructions under a condition are followed as if it were true, what is behind them as if not. */
static void follow(struct reader *r, const struct place *p)
{
	struct state s = r->states.items[p->state - 1];
	uint32_t at = p->at, end = r->high, table = 0;
	struct thumb t;

	for (; at < end && !r->reached[at >> 1] && !marked(r->data, at); at += t.bytes) {
		r->reached[at >> 1] = intern(r, &s);
		decode(r, at, s.wide, &t);
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

static void follow_function(struct reader *r, struct place p)
{
	r->low = p.at;
	r->high = p.size ? p.at + MIN(p.size, r->size - p.at) : p.at + 2;
	while (!p.size && r->high < r->size && !marked(r->begins, r->high))
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

/* All functions that are known from FROM on, and those that are found on the way. */
static void follow_functions(struct reader *r, size_t from)
{
	for (; from < r->functions.count && !r->failed; from++)
		follow_function(r, r->functions.items[from]);
}

/* From the first function that is known to the last, if one is: around them there may be data. */
static void find_bounds(const struct reader *r, uint32_t *low, uint32_t *high)
{
	size_t i;

	*low = r->functions.count ? r->size : 0;
	*high = r->functions.count ? 0 : r->size;
	for (i = 0; i < r->functions.count; i++) {
		*low = MIN(*low, r->functions.items[i].at);
		*high = MAX(*high, r->functions.items[i].at);
	}
}

/* What nobody calls by name: code that was not reached and begins with a push of lr, behind one of arguments maybe. */
static void find_functions(struct reader *r)
{
	uint32_t at, end, former;

	find_bounds(r, &at, &end);
	for (; at < end && !r->failed; at += 2) {
		size_t count = r->functions.count;
		uint16_t number = r->reached[at >> 1];
		struct thumb t;

		if (marked(r->data, at))
			continue;
		decode(r, at, number && r->states.items[number - 1].wide, &t);
		if (number) {
			at += t.bytes - 2u;
			continue;
		}
		if (t.does == THUMB_PUSH && t.registers >> THUMB_LR & 1) {
			former = at;
			decode(r, at >= 2 ? at - 2 : at, false, &t);
			if (at >= 2 && !r->reached[(at - 2) >> 1] && t.bytes == 2 && t.does == THUMB_PUSH)
				former = at - 2;
			add_function(r, former, 0, false, false);
			follow_functions(r, count);
		}
	}
}

/* Threads begin here, and the process: what called them, if anything, is _start, which mostly has no symbol. */
static bool is_root(const char *name)
{
	static const char *const names[] = {"clone", "__clone", "__clone3", "_start", "__libc_start_main"};
	size_t i;

	for (i = 0; i < ARRAY_LEN(names); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

static int by_place(const void *a, const void *b)
{
	const struct mapping *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

/* What $d, $t and $a say. */
static void mark_data(struct reader *r, const struct object *o, const struct symtab *t)
{
	VECTOR(struct mapping) changes = {0};
	size_t i;

	for (i = 0; i < t->count && !r->failed; i++) {
		const ElfW(Sym) *s = &t->symbols[i];
		uintptr_t at = s->st_value + o->image.bias - o->image.start;
		struct mapping *m;

		if (ELF32_ST_TYPE(s->st_info) != STT_NOTYPE || s->st_name >= t->names_size || at >= r->size ||
		    t->names[s->st_name] != '$')
			continue;
		m = VECTOR_PUSH(&changes);
		if (m)
			*m = (struct mapping){(uint32_t)at, t->names[s->st_name + 1] == 'd'};
		else
			r->failed = true;
	}
	if (changes.count)
		qsort(changes.items, changes.count, sizeof(*changes.items), by_place);
	for (i = 0; i < changes.count; i++)
		if (changes.items[i].data)
			mark(r, r->data, changes.items[i].at & ~1u,
			     i + 1 < changes.count ? changes.items[i + 1].at : changes.items[i].at);
	free(changes.items);
}

#define DYNAMIC_MAX 128
#define POINTERS_MAX ((size_t)1 << 20) /* relocations of an object */

/* In a table of relocations: where pointers to functions lie, that the loader has filled in. */
static void add_pointed(struct reader *r, const struct object *o, uintptr_t table, size_t size)
{
	Elf32_Rel part[64];
	size_t i, n;

	for (size = MIN(size, POINTERS_MAX * sizeof(part[0])); size >= sizeof(part[0]); size -= n) {
		n = memory_copy(part, table, MIN(size, sizeof(part))) / sizeof(part[0]) * sizeof(part[0]);
		if (n == 0)
			return;
		for (i = 0; i < n / sizeof(part[0]); i++) {
			uint32_t kind = ELF32_R_TYPE(part[i].r_info), value;

			/* An even pointer may be one to data, unless it is what a choice of functions came to. */
			if ((kind == R_ARM_RELATIVE || kind == R_ARM_IRELATIVE) &&
			    memory_copy(&value, o->image.bias + part[i].r_offset, sizeof(value)) == sizeof(value) &&
			    (value & 1 || kind == R_ARM_IRELATIVE) && value >= (uint32_t)o->image.start)
				add_function(r, (value & ~1u) - (uint32_t)o->image.start, 0, !(value & 1), false);
		}
		table += n;
	}
}

/* Functions that no symbol names: what the object has pointers to. */
static void add_pointers(struct reader *r, const struct object *o)
{
	Elf32_Dyn entries[DYNAMIC_MAX];
	size_t count = memory_copy(entries, o->facts.dynamic, MIN(o->facts.dynamic_size, sizeof(entries))), i;
	uintptr_t table[2] = {0, 0};
	size_t size[2] = {0, 0};

	count /= sizeof(entries[0]);
	for (i = 0; i < count && entries[i].d_tag != DT_NULL; i++) {
		uint32_t value = entries[i].d_un.d_val;
		uintptr_t address = value >= o->facts.low && value < o->facts.high ? value : value + o->image.bias;

		switch (entries[i].d_tag) {
		case DT_REL: table[0] = address; break;
		case DT_RELSZ: size[0] = value; break;
		case DT_JMPREL: table[1] = address; break;
		case DT_PLTRELSZ: size[1] = value; break;
		default: break;
		}
	}
	for (i = 0; i < ARRAY_LEN(table); i++)
		if (table[i])
			add_pointed(r, o, table[i], size[i]);
}

static void add_symbols(struct reader *r, const struct object *o)
{
	enum symtab_source source;
	struct symtab t;
	size_t i;

	for (source = SYMTAB_FILE; source < SYMTAB_SOURCES && !symtab_open(&t, o, source); source++)
		;
	if (source == SYMTAB_SOURCES)
		return;
	mark_data(r, o, &t);
	for (i = 0; i < t.count; i++) {
		const ElfW(Sym) *s = &t.symbols[i];
		uintptr_t at = s->st_value + o->image.bias - o->image.start;

		if (ELF32_ST_TYPE(s->st_info) == STT_FUNC && s->st_shndx != SHN_UNDEF && s->st_name < t.names_size) {
			bool root = is_root(t.names + s->st_name);

			/* clone's size leaves out what the new thread does. */
			add_function(r, (uint32_t)at & ~1u, root ? 0 : s->st_size, !(at & 1), root);
		}
	}
	symtab_close(&t);
	symtab_free_names(&t);
}

static struct unwind_rule rule_of(const struct state *s)
{
	struct unwind_rule rule = {.fp_kind = s->fp_at ? FP_AT_CFA : FP_SAME, .fp_offset = s->fp_at};

	if (s->root) {
		rule.cfa_kind = CFA_END;
		return rule;
	}
	if (s->lost && !s->base)
		return rule;
	rule.cfa_kind = s->lost ? CFA_BASE : CFA_SP;
	rule.cfa_offset = -(s->lost ? s->base : s->sp);
	rule.base_offset = (int16_t)s->base_at;
	if (s->lr_at)
		rule.ra_offset = (int16_t)s->lr_at;
	else
		rule.ra_register = THUMB_LR + 1;
	return rule;
}

static void put_rows(const struct reader *r, struct rows *rows)
{
	static const struct unwind_rule unknown;
	uint32_t at, left = 0; /* half words of the last instruction */

	for (at = 0; at < r->size; at += 2) {
		uint16_t number = r->reached[at >> 1];

		if (number) {
			const struct state *s = &r->states.items[number - 1];
			struct unwind_rule rule = rule_of(s);
			struct thumb t;

			decode(r, at, s->wide, &t);
			left = t.bytes / 2u;
			rows_put(rows, at, &rule);
		} else if (left == 0) {
			rows_put(rows, at, &unknown);
		}
		left -= left > 0;
	}
}

void code_rows_read(const struct object *o, struct rows *rows)
{
	size_t size = o->image.end - o->image.start;
	struct reader r = {.size = (uint32_t)size};
	void *code = NULL;

	if (size == 0 || size > CODE_MAX)
		return;
	code = pages_alloc(size);
	r.code = code;
	r.reached = pages_alloc(size / 2 * sizeof(*r.reached) + 2);
	r.begins = pages_alloc(size / 16 + 1);
	r.data = pages_alloc(size / 16 + 1);
	if (!code || !r.reached || !r.begins || !r.data) {
		rows->failed = true;
		goto out;
	}
	r.size = (uint32_t)memory_copy(code, o->image.start, size) & ~3u;
	add_symbols(&r, o);
	if (o->facts.dynamic)
		add_pointers(&r, o);
	follow_functions(&r, 0);
	find_functions(&r);
	rows->failed |= r.failed;
	if (!r.failed && r.states.count)
		put_rows(&r, rows);
out:
	pages_free(code, size);
	pages_free(r.reached, size / 2 * sizeof(*r.reached) + 2);
	pages_free(r.begins, size / 16 + 1);
	pages_free(r.data, size / 16 + 1);
	free(r.states.items);
	free(r.later.items);
	free(r.functions.items);
}
