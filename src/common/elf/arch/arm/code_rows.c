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
 * Where functions begin: code_functions.c. How they are followed: code_follow.c. Here what was found becomes rows.
 */
#include "common/elf/rows.h"

#include <stdlib.h>

#include "code_reader.h"
#include "common/base/pages.h"
#include "common/elf/memory.h"

#define CODE_MAX ((size_t)256 << 20)

static struct unwind_rule rule_of(const struct code_state *s)
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

static void put_rows(const struct code_reader *r, struct rows *rows)
{
	static const struct unwind_rule unknown;
	uint32_t at, left = 0; /* half words of the last instruction */

	for (at = 0; at < r->size; at += 2) {
		uint16_t number = r->reached[at >> 1];

		if (number) {
			const struct code_state *s = &r->states.items[number - 1];
			struct unwind_rule rule = rule_of(s);
			struct thumb t;

			code_decode(r, at, s->wide, &t);
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
	struct code_reader r = {.size = (uint32_t)size};
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
	code_add_known(&r, o);
	code_follow(&r, 0);
	code_find_others(&r);
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
