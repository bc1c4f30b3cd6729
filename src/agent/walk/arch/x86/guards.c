/*
 * guards.c (x86) - the described places around a pc, see agent/walk/guards.h.
 *
 *     behind it                                       before it
 *     ◀─ at most 16 instructions, straight back ─ pc ─ at most 32 on, with up to two jumps ─▶
 *       (64, if nothing is before it)
 *
 * x86 code cannot be read backwards. It is read from a little before, which falls into step within a few
 * instructions: a start is right if it leads to pc. Should the first ones be wrong, no guard comes of it, since its
 * branch would have to hit a block that calls the uncommon trap.
 *
 * Of a leaf routine's call, the way on is looked at twice: round the loop that it is in, then straight on.
 */
#include "agent/walk/guards.h"

#include "agent/walk/walk.h"
#include "context.h"
#include "insn.h"

#define AHEAD 32         /* instructions */
#define BEHIND 16
#define FAR_BEHIND 64    /* if there is nothing ahead */
#define WINDOW 7         /* bytes before pc that are read for each of them; a mean is 4.3 */
#define TRIES 16         /* starts that are tried */
#define JUMPS 2          /* followed ahead */
#define OUT_OF_LINE 24   /* instructions of a block that may end in a trap */
#define BUDGET 1000      /* instructions in all */
#define NULLS_MAX 4096   /* entries of the table of implicit exceptions */
#define NULLS_NEAR 24
#define NAME_MAX 48

struct reader {
	const struct layout *l;
	const struct blob *b;
	const struct debug_info *d;
	uintptr_t end;            /* of the code */
	uint32_t budget;
	uint32_t from;            /* nothing is described from this offset on … */
	struct described next;    /* … before this one */
	uintptr_t stub;           /* what was called by a trap, 0 = not met yet */
	uint32_t null_count;
	struct {
		uint32_t at, to;
	} null[NULLS_NEAR];       /* near pc: instructions that fault for null, and where they go on then */
};

static bool inside(const struct reader *r, uintptr_t pc)
{
	return pc >= r->b->code && pc < r->end;
}

static bool fetch(struct reader *r, uintptr_t pc, struct insn *i)
{
	uint8_t code[INSN_MAX + 1];

	if (r->budget == 0 || !inside(r, pc))
		return false;
	r->budget--;
	return load_bytes(code, pc, sizeof(code)) && insn_decode(code, i);
}

/* The first described place at or behind PC. */
static const struct described *next_described(struct reader *r, uintptr_t pc)
{
	uint32_t offset = (uint32_t)(pc - r->b->code);

	if (offset < r->from || offset > r->next.offset) {
		r->from = offset;
		if (!decode_next(r->l, r->d, offset, &r->next))
			r->next = (struct described){UINT32_MAX, 0};
	}
	return &r->next;
}

static bool is_described(struct reader *r, uintptr_t pc, uint32_t *scope)
{
	const struct described *found = next_described(r, pc);

	*scope = found->scope;
	return found->offset == pc - r->b->code && found->scope != 0;
}

static bool begins_with(const char *name, size_t length, const char *with)
{
	size_t n = __builtin_strlen(with);

	return length >= n && __builtin_memcmp(name, with, n) == 0;
}

static bool ends_with(const char *name, size_t length, const char *with)
{
	size_t n = __builtin_strlen(with);

	return length >= n && __builtin_memcmp(name + length - n, with, n) == 0;
}

/*
 * Whether what lies at TARGET is called where a check fails or a fast path is left: by name, C1's stubs ("… Runtime1
 * stub", since 24 "C1 Runtime …"), C2's ("_new_instance_Java", "C2 Runtime …"). Calls of methods go elsewhere.
 */
static bool is_slow_path(struct reader *r, uintptr_t target)
{
	uintptr_t blob, at;
	char name[NAME_MAX];
	uint32_t c, n;

	if (target == r->stub)
		return true;
	if (inside(r, target) || !code_contains(r->l, target))
		return false;
	blob = code_blob_at(r->l, target);
	if (!blob || !load_word(blob + (uintptr_t)r->l->blob_name, &at))
		return false;
	for (n = 0; n < sizeof(name) && load_u8(at + n, &c) && c; n++)
		name[n] = (char)c;
	if (!begins_with(name, n, "UncommonTrapBlob") && !begins_with(name, n, "C1 Runtime ") &&
	    !begins_with(name, n, "C2 Runtime ") && !begins_with(name, n, "_") && !ends_with(name, n, " Runtime1 stub"))
		return false;
	r->stub = target;
	return true;
}

/* SCOPE of the trap or slow path that the code at PC leads to, with nothing to decide on the way. */
static bool leads_to_trap(struct reader *r, uintptr_t pc, uint32_t *scope)
{
	unsigned n, jumps = 0;
	struct insn i;

	for (n = 0; n < OUT_OF_LINE && fetch(r, pc, &i); n++) {
		pc += i.length;
		switch (i.does) {
		case INSN_CALL:
			if (is_described(r, pc, scope))
				return is_slow_path(r, pc + (uintptr_t)(intptr_t)i.amount);
			break;
		case INSN_JUMP:
			if (++jumps > JUMPS)
				return false;
			pc += (uintptr_t)(intptr_t)i.amount;
			break;
		case INSN_CALL_MEMORY:
		case INSN_CALL_REGISTER:
		case INSN_BRANCH:
		case INSN_RETURN:
		case INSN_JUMP_AWAY:
		case INSN_END: return false;
		}
	}
	return false;
}

/* Where the nmethod's table of implicit exceptions lies, and its bytes. */
static bool null_table(const struct reader *r, uintptr_t *at, uint64_t *size)
{
	const struct layout *l = r->l;
	uintptr_t nm = r->b->address, base = nm;
	uint64_t begin, end, other;

	if (l->nmethod_null_checks < 0 ||
	    (l->nmethod_immutable >= 0 && !load_word(nm + (uintptr_t)l->nmethod_immutable, &base)) ||
	    !load_field(nm + (uintptr_t)l->nmethod_null_checks, l->nmethod_null_checks_width, &begin))
		return false;
	if (l->nmethod_immutable < 0) {
		if (l->nmethod_end < 0 || !load_field(nm + (uintptr_t)l->nmethod_end, l->nmethod_end_width, &end))
			return false;
	} else {
		/* What lies next to it differs from JDK to JDK. */
		end = r->d->pcs - base;
		if (l->nmethod_handlers >= 0 &&
		    load_field(nm + (uintptr_t)l->nmethod_handlers, l->nmethod_handlers_width, &other) && other > begin)
			end = MIN(end, other);
	}
	*at = base + begin;
	*size = end - begin;
	return end > begin;
}

/* Those of its entries, a count and pairs of offsets, that are near PC. An absent table has no bytes. */
static void read_nulls(struct reader *r, uintptr_t pc)
{
	uint32_t i, count, fault, to, offset = (uint32_t)(pc - r->b->code);
	uintptr_t table;
	uint64_t size;

	if (!null_table(r, &table, &size) || !load_u32(table, &count) || count > NULLS_MAX ||
	    size != ((8ull * count + 4 + 7) & ~7ull))
		return;
	for (i = 0; i < count && r->null_count < NULLS_NEAR; i++) {
		if (!load_u32(table + 4 + 8 * i, &fault) || !load_u32(table + 8 + 8 * i, &to))
			return;
		if (fault + WINDOW * FAR_BEHIND >= offset && fault < offset + AHEAD * INSN_MAX) {
			r->null[r->null_count].at = fault;
			r->null[r->null_count++].to = to;
		}
	}
}

static bool faults_for_null(struct reader *r, uintptr_t pc, uint32_t *scope)
{
	uint32_t i;

	for (i = 0; i < r->null_count; i++)
		if (r->null[i].at == pc - r->b->code)
			return leads_to_trap(r, r->b->code + r->null[i].to, scope);
	return false;
}

/* Whether instruction I at PC stands at a place that is known: its SCOPE. */
static bool is_place(struct reader *r, uintptr_t pc, const struct insn *i, uint32_t *scope)
{
	uintptr_t next = pc + i->length;

	if (faults_for_null(r, pc, scope))
		return true;
	switch (i->does) {
	case INSN_CALL:
	case INSN_CALL_MEMORY:
	case INSN_CALL_REGISTER: return is_described(r, next, scope);
	case INSN_BRANCH: return leads_to_trap(r, next + (uintptr_t)(intptr_t)i->amount, scope);
	/* A poll is described where it begins; what follows a call is that call's. */
	default: return is_described(r, pc, scope) && !follows_call(pc);
	}
}

/* What lies on one side of pc. */
struct side {
	bool found;
	bool known;       /* found, or the method's own end or beginning: scope 0 */
	uint32_t scope;
	uint32_t steps;   /* instructions from pc */
	uint32_t to_turn; /* ahead: of these, up to the last branch before it; 0 = no branch */
	uintptr_t last;   /* ahead: how far it was found straight on; behind: what follows it */
};

static bool takes_frame_down(const struct insn *i)
{
	return (i->does == INSN_RELEASE && i->amount > 0) || i->does == INSN_RELEASE_BY || i->does == INSN_POP_FP ||
	       i->does == INSN_LEAVE;
}

/* Whether instruction I at AT is a place: then S is found. */
static bool meets(struct reader *r, uintptr_t at, const struct insn *i, struct side *s)
{
	uint32_t scope;

	if (!is_place(r, at, i, &scope))
		return false;
	s->scope = scope;
	return s->found = s->known = true;
}

/*
 * Ahead of PC; each instruction's distance from there goes into DELTA as long as they lie in a row. ROUND: along
 * branches to before PC, as a loop that it is in goes.
 */
static void look_ahead(struct reader *r, uintptr_t pc, bool round, struct side *s, uint16_t *delta)
{
	uintptr_t at = pc;
	unsigned jumps = 0;
	struct insn i;

	*s = (struct side){.last = pc};
	for (s->steps = 0; s->steps < AHEAD && fetch(r, at, &i); s->steps++) {
		if (!jumps)
			s->last = at;
		delta[s->steps] = (uint16_t)(s->last - pc);
		if (meets(r, at, &i, s))
			return;
		s->known = takes_frame_down(&i) || i.does == INSN_RETURN;
		if (s->known)
			return;
		at += i.length;
		switch (i.does) {
		case INSN_BRANCH:
			s->to_turn = s->steps + 1;
			if (!round || at + (uintptr_t)(intptr_t)i.amount > pc)
				break;
			/* fall through */
		case INSN_JUMP:
			if (++jumps > JUMPS)
				return;
			at += (uintptr_t)(intptr_t)i.amount;
			break;
		case INSN_JUMP_AWAY:
		case INSN_END: return;
		}
		if (at == pc)
			return; /* once round, and nothing in it */
	}
	s->last = pc; /* further on it may be found */
}

/* The pcs of up to FAR_BEHIND instructions from BEGIN to PC; *COUNT of them, in a ring. False: none lead there. */
static bool read_up_to(struct reader *r, uintptr_t begin, uintptr_t pc, uintptr_t *ring, uint32_t *count)
{
	struct insn i;

	for (*count = 0; begin < pc; begin += i.length) {
		if (!fetch(r, begin, &i))
			return false;
		ring[(*count)++ % FAR_BEHIND] = begin;
	}
	return begin == pc;
}

/* Behind PC, up to REACH instructions. */
static void look_behind(struct reader *r, uintptr_t pc, uint32_t reach, struct side *s)
{
	uintptr_t ring[FAR_BEHIND], entry = code_entry(r->l, r->b), window = WINDOW * (uintptr_t)reach;
	uintptr_t begin = pc - entry > window ? pc - window : entry;
	uint32_t count = 0, n;
	struct insn i;
	unsigned try;

	s->last = pc;
	if (pc <= entry)
		return;
	for (try = 0; try < TRIES && !read_up_to(r, begin + try, pc, ring, &count); try++)
		if (begin == entry)
			return;
	if (try == TRIES)
		return;
	for (n = 1; n <= MIN(count, reach); n++) {
		uintptr_t at = ring[(count - n) % FAR_BEHIND];

		if (!fetch(r, at, &i) || i.does == INSN_RETURN || i.does == INSN_JUMP || i.does == INSN_JUMP_AWAY ||
		    i.does == INSN_END)
			return;
		s->steps = n;
		if (meets(r, at, &i, s))
			return;
		s->last = at;
		s->known = at == entry;
	}
}

/* Between two places, from which instruction behind the first on code belongs to the second: two fifths of the way. */
static uint32_t turning_point(uint32_t steps)
{
	return (2 * steps + 4) / 5;
}

/* PC lies between BEHIND and AHEAD. */
static void choose(const struct side *behind, const struct side *ahead, uintptr_t pc, const uint16_t *delta,
		   struct guarded *g)
{
	uint32_t turn = turning_point(behind->steps + ahead->steps);

	if (ahead->steps == 0 || !ahead->to_turn || behind->steps >= turn) {
		*g = (struct guarded){ahead->scope, false, pc, ahead->last};
		return;
	}
	*g = (struct guarded){behind->scope, false, behind->last, 0};
	g->last = pc + delta[MIN(turn - behind->steps, ahead->to_turn) - 1];
}

/* Where the call that returns to PC begins: of an address, or of a register that has one too far away. 0: neither. */
static uintptr_t call_before(uintptr_t pc)
{
	uint8_t c[5];

	if (!load_bytes(c, pc - sizeof(c), sizeof(c)))
		return 0;
	if (c[3] == 0xff && (c[4] & 0xf8) == 0xd0)
		return pc - 2 - (WORD == 8 && c[2] == 0x41);
	return c[0] == 0xe8 ? pc - 5 : 0;
}

bool guards_find(const struct layout *l, const struct blob *b, const struct debug_info *d, uintptr_t pc, bool is_return,
		 struct guarded *g)
{
	struct reader r = {.l = l, .b = b, .d = d, .end = code_blob_end(l, b), .budget = BUDGET, .from = UINT32_MAX};
	struct side ahead, behind = {.found = false};
	uint16_t delta[AHEAD];
	struct insn i;

	if (is_return)
		pc = call_before(pc);
	if (!pc || !fetch(&r, pc, &i))
		return false;
	*g = (struct guarded){0, false, pc, pc};
	if (takes_frame_down(&i))
		return true;
	read_nulls(&r, pc);
	look_ahead(&r, pc, is_return, &ahead, delta);
	if (is_return && !ahead.found)
		look_ahead(&r, pc, false, &ahead, delta);
	look_behind(&r, pc, ahead.found ? BEHIND : FAR_BEHIND, &behind);
	if (!ahead.found && !behind.found)
		return ahead.known && behind.known; /* a short method without any */
	if (ahead.found && behind.found)
		choose(&behind, &ahead, pc, delta, g);
	else if (ahead.found)
		*g = (struct guarded){ahead.scope, false, pc, ahead.last};
	else
		*g = (struct guarded){behind.scope, false, behind.last, pc};
	if (!(ahead.found && ahead.steps == 0))
		g->unsure = !ahead.known || !behind.known || !decode_same_methods(l, d, ahead.scope, behind.scope);
	return true;
}
