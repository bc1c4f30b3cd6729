/*
 * From hand-made .eh_frame bytes to rules, and real ones broken at random:
 * every instruction that compilers write gives its rule, everything else
 * gives "unknown", and nothing makes the reader read outside its bytes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/elf/eh_frame.h"
#include "common/elf/elf.h"
#include "common/elf/file.h"

#define CODE 0x100000u /* where the described code lies */
#define CODE_SIZE 0x10000u
#define FRAME 0x400000u /* where the section lies */

/* A section in the making. */
struct section {
	uint8_t bytes[4096];
	size_t size;
	size_t cie;
};

static void put(struct section *s, const void *bytes, size_t n)
{
	assert_true(s->size + n <= sizeof(s->bytes));
	memcpy(s->bytes + s->size, bytes, n);
	s->size += n;
}

static void put32(struct section *s, uint32_t value)
{
	put(s, &value, sizeof(value));
}

/* A CIE as gcc writes it: CFA = rsp + 8, return address at CFA - 8. */
static void put_cie(struct section *s, const char *augmentation)
{
	static const uint8_t head[] = {1, 0x78, 16}; /* code 1, data -8, ra 16 */
	static const uint8_t program[] = {0x0c, 7, 8, 0x90, 1};
	size_t n = strlen(augmentation) + 1;
	uint8_t data[2] = {1, 0x1b}; /* one byte: pcrel | sdata4 */

	s->cie = s->size;
	put32(s, (uint32_t)(4 + 1 + n + sizeof(head) + sizeof(data) + sizeof(program)));
	put32(s, 0);
	put(s, "\1", 1);
	put(s, augmentation, n);
	put(s, head, sizeof(head));
	put(s, data, sizeof(data));
	put(s, program, sizeof(program));
}

static void put_fde(struct section *s, uint32_t start, uint32_t size, const void *program, size_t n)
{
	uint32_t base;

	put32(s, (uint32_t)(4 + 4 + 4 + 1 + n));
	put32(s, (uint32_t)(s->size - s->cie));
	base = (uint32_t)(FRAME + s->size);
	put32(s, CODE + start - base);
	put32(s, size);
	put(s, "\0", 1);
	put(s, program, n);
}

static bool read_rows(const struct section *s, struct unwind_table *table)
{
	/* Exactly as long as the section, so that a sanitizer sees the first byte past it. */
	uint8_t *copy = malloc(s->size);
	struct frame_sections sections = {.eh_frame = {copy, s->size, FRAME}};
	struct rows rows;
	bool ok;

	memcpy(copy, s->bytes, s->size);
	assert_true(rows_init(&rows));
	eh_frame_read(&sections, CODE, CODE + CODE_SIZE, &rows);
	ok = rows_pack(&rows, CODE_SIZE, table);
	rows_free(&rows);
	free(copy);
	return ok;
}

static struct unwind_rule rule_at(const struct unwind_table *table, uint32_t offset)
{
	struct image image = {.start = CODE, .end = CODE + CODE_SIZE, .unwind = *table};
	const struct unwind_rule *rule = unwind_find(&image, CODE + offset);

	return rule ? *rule : (struct unwind_rule){.ra_register = 99};
}

/* The rule at OFFSET of a lone function of 0x100 bytes at 0x100 that runs PROGRAM. */
static struct unwind_rule after(const void *program, size_t n, uint32_t offset)
{
	struct section s = {.size = 0};
	struct unwind_table table;
	struct unwind_rule rule;

	put_cie(&s, "zR");
	put_fde(&s, 0x100, 0x100, program, n);
	assert_true(read_rows(&s, &table));
	rule = rule_at(&table, 0x100 + offset);
	unwind_table_free(&table);
	return rule;
}

#define AFTER(offset, ...) \
	after((const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}), offset)

#define assert_rule(rule, kind, cfa, fp, fp_at)               \
	do {                                                  \
		struct unwind_rule r_ = (rule);               \
		assert_int_equal(r_.cfa_kind, kind);          \
		assert_int_equal(r_.cfa_offset, cfa);         \
		assert_int_equal(r_.fp_kind, fp);             \
		assert_int_equal(r_.fp_offset, fp_at);        \
	} while (0)

#define PUSH_RBP 0x41, 0x0e, 16, 0x86, 2 /* advance 1, def_cfa_offset 16, offset rbp -16 */
#define MOV_RBP 0x43, 0x0d, 6            /* advance 3, def_cfa_register rbp */

static void usual_function(void **state)
{
	struct unwind_rule r = AFTER(0, PUSH_RBP, MOV_RBP);

	assert_rule(r, CFA_SP, 8, FP_SAME, 0);
	assert_int_equal(r.ra_offset, -8);
	assert_rule(AFTER(1, PUSH_RBP, MOV_RBP), CFA_SP, 16, FP_AT_CFA, -16);
	assert_rule(AFTER(3, PUSH_RBP, MOV_RBP), CFA_SP, 16, FP_AT_CFA, -16);
	assert_rule(AFTER(4, PUSH_RBP, MOV_RBP), CFA_FP, 16, FP_AT_CFA, -16);
	assert_rule(AFTER(0xff, PUSH_RBP, MOV_RBP), CFA_FP, 16, FP_AT_CFA, -16);
	/* Before it there is no row, behind it an unknown one. */
	assert_int_equal(after("", 0, (uint32_t)-1).ra_register, 99);
	assert_rule(after("", 0, 0x100), CFA_UNKNOWN, 0, FP_SAME, 0);
}

static void instructions(void **state)
{
	/* remember, def_cfa rsp+8, advance, restore */
	assert_rule(AFTER(5, PUSH_RBP, MOV_RBP, 0x0a, 0x41, 0x0c, 7, 8), CFA_SP, 8, FP_AT_CFA, -16);
	assert_rule(AFTER(6, PUSH_RBP, MOV_RBP, 0x0a, 0x41, 0x0c, 7, 8, 0x41, 0x0b), CFA_FP, 16,
		    FP_AT_CFA, -16);
	/* restore rbp, the short and the long form; same_value; undefined; another register */
	assert_rule(AFTER(9, PUSH_RBP, 0x41, 0xc6), CFA_SP, 16, FP_SAME, 0);
	assert_rule(AFTER(9, PUSH_RBP, 0x41, 0x06, 6), CFA_SP, 16, FP_SAME, 0);
	assert_rule(AFTER(9, PUSH_RBP, 0x41, 0x08, 6), CFA_SP, 16, FP_SAME, 0);
	assert_rule(AFTER(9, PUSH_RBP, 0x41, 0x07, 6), CFA_SP, 16, FP_LOST, 0);
	assert_rule(AFTER(9, PUSH_RBP, 0x41, 0x09, 6, 3), CFA_SP, 16, FP_LOST, 0);
	assert_rule(AFTER(9, PUSH_RBP, 0x41, 0x14, 6, 2), CFA_SP, 16, FP_LOST, 0);
	/* callee-saved registers that do not matter to us */
	assert_rule(AFTER(9, 0x83, 3, 0x8c, 4, 0x16, 3, 1, 0x30), CFA_SP, 8, FP_SAME, 0);
	/* the long and signed forms */
	assert_rule(AFTER(0, 0x05, 6, 2), CFA_SP, 8, FP_AT_CFA, -16);
	assert_rule(AFTER(0, 0x11, 6, 0x7e), CFA_SP, 8, FP_AT_CFA, 16);
	assert_rule(AFTER(0, 0x12, 6, 0x7e), CFA_FP, 16, FP_SAME, 0);
	assert_rule(AFTER(0, 0x13, 0x7e), CFA_SP, 16, FP_SAME, 0);
	assert_rule(AFTER(0, 0x2f, 6, 2), CFA_SP, 8, FP_AT_CFA, 16);
	/* advance_loc1/2/4, GNU_args_size, nop */
	assert_rule(AFTER(0x41, 0x02, 0x41, 0x0e, 32), CFA_SP, 32, FP_SAME, 0);
	assert_rule(AFTER(0x40, 0x02, 0x41, 0x0e, 32), CFA_SP, 8, FP_SAME, 0);
	assert_rule(AFTER(0x41, 0x03, 0x41, 0, 0x0e, 32), CFA_SP, 32, FP_SAME, 0);
	assert_rule(AFTER(0x41, 0x04, 0x41, 0, 0, 0, 0x0e, 32), CFA_SP, 32, FP_SAME, 0);
	assert_rule(AFTER(9, 0x2e, 0x90, 1, 0, 0x0e, 32), CFA_SP, 32, FP_SAME, 0);
}

static void expressions(void **state)
{
	/* The PLT's, with the literal 11 and 10. */
	assert_rule(AFTER(0, 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22),
		    CFA_PLT, 11, FP_SAME, 0);
	assert_rule(AFTER(0, 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3a, 0x2a, 0x33, 0x24, 0x22),
		    CFA_PLT, 10, FP_SAME, 0);
	/* A frame realigned: CFA = *(rbp - 8), rbp saved at rbp. */
	assert_rule(AFTER(0, 0x0f, 3, 0x76, 0x78, 0x06, 0x10, 6, 2, 0x76, 0), CFA_FP_DEREF, -8,
		    FP_AT_FP, 0);
	/* Assembly: CFA = *(rsp + 40) + 8, or a few words more. */
	assert_rule(AFTER(0, 0x0f, 5, 0x77, 40, 0x06, 0x23, 8), CFA_SP_DEREF, 40, FP_SAME, 0);
	assert_int_equal(AFTER(0, 0x0f, 5, 0x77, 40, 0x06, 0x23, 8).cfa_register, 1);
	assert_int_equal(AFTER(0, 0x0f, 5, 0x77, 40, 0x06, 0x23, 64).cfa_register, 8);
	assert_int_equal(AFTER(0, 0x0f, 3, 0x77, 40, 0x06).cfa_register, 0);
	assert_rule(AFTER(0, 0x0f, 5, 0x76, 40, 0x06, 0x23, 8), CFA_FP_DEREF, 40, FP_SAME, 0);
	assert_rule(AFTER(0, 0x0f, 5, 0x77, 40, 0x06, 0x23, 9), CFA_UNKNOWN, 0, FP_SAME, 0);
	assert_rule(AFTER(0, 0x0f, 6, 0x77, 40, 0x06, 0x23, 8, 0x06), CFA_UNKNOWN, 0, FP_SAME, 0);
	/* Behind it the register alone may change: the offset is the one from before. */
	assert_rule(AFTER(1, 0x0e, 56, 0x0f, 5, 0x77, 40, 0x06, 0x23, 56, 0x41, 0x0d, 7), CFA_SP, 56,
		    FP_SAME, 0);
	assert_rule(AFTER(0, 0x0f, 3, 0x77, 40, 0x13), CFA_UNKNOWN, 0, FP_SAME, 0);
	assert_rule(AFTER(0, 0x0f, 0), CFA_UNKNOWN, 0, FP_SAME, 0);
	/* r10, as realigning functions have it at first */
	assert_rule(AFTER(0, 0x0c, 10, 0), CFA_REG, 0, FP_SAME, 0);
	assert_int_equal(AFTER(0, 0x0c, 10, 0).cfa_register, 10);
}

static void ends_and_signals(void **state)
{
	struct section s = {.size = 0};
	struct unwind_table table;

	/* undefined rip: no caller */
	assert_rule(AFTER(0, 0x07, 16), CFA_END, 0, FP_SAME, 0);
	/* The return address in a register, as vfork has it (r5 = rdi), until it is on the stack again. */
	assert_rule(AFTER(0, 0x0e, 0, 0x09, 16, 5), CFA_SP, 0, FP_SAME, 0);
	assert_int_equal(AFTER(0, 0x0e, 0, 0x09, 16, 5).ra_register, 6);
	assert_int_equal(AFTER(0, 0x09, 16, 5, 0x90, 1).ra_register, 0);
	assert_int_equal(AFTER(0, 0x09, 16, 5, 0x90, 1).ra_offset, -8);
	/* In one that is none, or rsp saved somewhere: no rule of ours. */
	assert_rule(AFTER(0, 0x09, 16, 17), CFA_UNKNOWN, 0, FP_SAME, 0);
	assert_rule(AFTER(0, 0x87, 3), CFA_UNKNOWN, 0, FP_SAME, 0);
	put_cie(&s, "zRS");
	put_fde(&s, 0x100, 0x10, "", 0);
	assert_true(read_rows(&s, &table));
	assert_rule(rule_at(&table, 0x108), CFA_SIGNAL, 0, FP_SAME, 0);
	unwind_table_free(&table);
}

static void bad_programs(void **state)
{
	/* What held before the bad instruction still holds there; nothing does after it. */
	assert_rule(AFTER(0, 0x41, 0x3c), CFA_SP, 8, FP_SAME, 0);
	assert_rule(AFTER(1, 0x41, 0x3c), CFA_UNKNOWN, 0, FP_SAME, 0);
	assert_rule(AFTER(1, 0x41, 0x0b), CFA_UNKNOWN, 0, FP_SAME, 0); /* nothing remembered */
	assert_rule(AFTER(1, 0x41, 0x0e), CFA_UNKNOWN, 0, FP_SAME, 0); /* cut */
	assert_rule(AFTER(1, 0x41, 0x0f, 0x7f, 0x77), CFA_UNKNOWN, 0, FP_SAME, 0);
	assert_rule(AFTER(0, 0x0e, 0xff, 0xff, 0xff, 0xff, 0x7f), CFA_UNKNOWN, 0, FP_SAME, 0);
	/* Advancing past the end of the function ends it. */
	assert_rule(AFTER(0xff, 0x04, 0xff, 0xff, 0xff, 0xff, 0x0e, 32), CFA_SP, 8, FP_SAME, 0);
	assert_rule(AFTER(0x100, 0x04, 0xff, 0xff, 0xff, 0xff, 0x0e, 32), CFA_UNKNOWN, 0, FP_SAME, 0);
}

static void gaps(void **state)
{
	static const uint8_t bigger[] = {0x0e, 32};
	struct section s = {.size = 0};
	struct unwind_table table;

	put_cie(&s, "zR");
	put_fde(&s, 0x300, 0x10, bigger, 2); /* out of order */
	put_fde(&s, 0x100, 0x0b, "", 0);
	put_fde(&s, 0x110, 0x20, "", 0);     /* after padding only: one row with the one before */
	put_fde(&s, 0x140, 0x20, "", 0);     /* 0x130 could be a function: unknown */
	put_fde(&s, 0x150, 0x20, bigger, 2); /* overlaps: ignored */
	put_fde(&s, CODE_SIZE - 8, 16, "", 0); /* leaves the code: ignored */
	put_fde(&s, 0x200, 0, "", 0);
	assert_true(read_rows(&s, &table));
	assert_int_equal(table.row_count, 6);
	assert_rule(rule_at(&table, 0x100), CFA_SP, 8, FP_SAME, 0);
	assert_rule(rule_at(&table, 0x12f), CFA_SP, 8, FP_SAME, 0);
	assert_rule(rule_at(&table, 0x130), CFA_UNKNOWN, 0, FP_SAME, 0);
	assert_rule(rule_at(&table, 0x140), CFA_SP, 8, FP_SAME, 0);
	assert_rule(rule_at(&table, 0x15f), CFA_SP, 8, FP_SAME, 0);
	assert_rule(rule_at(&table, 0x160), CFA_UNKNOWN, 0, FP_SAME, 0);
	assert_rule(rule_at(&table, 0x2ff), CFA_UNKNOWN, 0, FP_SAME, 0);
	assert_rule(rule_at(&table, 0x300), CFA_SP, 32, FP_SAME, 0);
	assert_rule(rule_at(&table, 0x310), CFA_UNKNOWN, 0, FP_SAME, 0);
	assert_rule(rule_at(&table, CODE_SIZE - 1), CFA_UNKNOWN, 0, FP_SAME, 0);
	assert_true(unwind_table_bytes(&table) > 0);
	unwind_table_free(&table);
	assert_int_equal(unwind_table_bytes(&table), 0);
}

/* ---- packing ---- */

static void packed_lookup(void **state)
{
	enum { COUNT = 20000 };
	static uint32_t starts[COUNT];
	static int32_t offsets[COUNT];
	struct unwind_table table;
	struct rows rows;
	uint32_t at = 37, i, pc, row;

	srand(7);
	assert_true(rows_init(&rows));
	for (i = 0; i < COUNT; i++) {
		struct unwind_rule rule = {.cfa_kind = CFA_SP, .cfa_offset = (int32_t)(i % 700 * 8)};

		starts[i] = at;
		offsets[i] = rule.cfa_offset;
		rows_put(&rows, at, &rule);
		at += 1 + (uint32_t)rand() % (i % 100 == 0 ? 5000 : 6);
	}
	assert_true(rows_pack(&rows, at, &table));
	assert_int_equal(table.row_count, COUNT);
	assert_int_equal(table.rule_count, 701);
	/* What the signal zone's search finds is what a plain walk over the rows says. */
	for (pc = 0, row = 0; pc < at; pc++) {
		struct image image = {.start = 0x1000, .end = 0x1000 + at, .unwind = table};
		const struct unwind_rule *rule = unwind_find(&image, 0x1000 + pc);

		while (row + 1 < COUNT && starts[row + 1] <= pc)
			row++;
		if (pc < starts[0])
			assert_null(rule);
		else if (!rule || rule->cfa_offset != offsets[row])
			fail_msg("wrong row at %u", pc);
	}
	unwind_table_free(&table);
	rows_free(&rows);
}

static void too_many_rules(void **state)
{
	struct unwind_table table;
	struct rows rows;
	uint32_t i;

	assert_true(rows_init(&rows));
	for (i = 0; i < 2 * ROWS_RULES_MAX; i++) {
		struct unwind_rule rule = {.cfa_kind = CFA_SP, .cfa_offset = (int32_t)i};

		rows_put(&rows, i, &rule);
	}
	assert_true(rows_pack(&rows, i, &table));
	assert_int_equal(table.rule_count, ROWS_RULES_MAX);
	assert_int_equal(table.rules[table.row_rule[100]].cfa_offset, 100);
	assert_int_equal(table.rules[table.row_rule[table.row_count - 1]].cfa_kind, CFA_UNKNOWN);
	unwind_table_free(&table);
	rows_free(&rows);
}

/* ---- broken bytes ---- */

static uint64_t seed = 88172645463325252ull;

static uint32_t any(uint32_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 33) % below;
}

static void break_bytes(uint8_t *bytes, size_t size)
{
	static const uint8_t nasty[] = {0, 1, 0x7f, 0x80, 0xff, 0x0f, 0x10, 0x16, 0x0b, 0x04};
	uint32_t n = 1 + any(12);

	while (n--) {
		uint32_t at = any((uint32_t)size);

		switch (any(4)) {
		case 0:
			bytes[at] = (uint8_t)any(256);
			break;
		case 1:
			bytes[at] ^= (uint8_t)(1u << any(8));
			break;
		case 2:
			memset(bytes + at, 0xff, MIN((size_t)4, size - at));
			break;
		default:
			bytes[at] = nasty[any(ARRAY_LEN(nasty))];
		}
	}
}

/* Whatever the bytes were, the table must be one that the signal zone can search. */
static void check_table(const struct unwind_table *t, size_t code_size)
{
	uint32_t i;

	for (i = 0; i < t->row_count; i++) {
		assert_true(i == 0 || t->row_start[i] > t->row_start[i - 1]);
		assert_true(t->row_rule[i] < t->rule_count);
		assert_true(t->row_start[i] <= code_size);
	}
	for (i = 0; t->row_count && i <= t->bucket_count; i++)
		assert_true(t->bucket[i] < t->row_count);
}

static void read_broken(const struct frame_sections *whole, size_t frame_size, uintptr_t start,
			uintptr_t end, struct rows *rows)
{
	size_t hdr_size = whole->hdr.size ? 1 + any((uint32_t)whole->hdr.size) : 0;
	uint8_t *hdr = malloc(hdr_size + 1), *frame = malloc(frame_size);
	struct frame_sections s = *whole;
	struct unwind_table table;

	memcpy(hdr, whole->hdr.bytes, hdr_size);
	memcpy(frame, whole->eh_frame.bytes, frame_size);
	if (hdr_size && any(2))
		break_bytes(hdr, MIN(hdr_size, (size_t)64));
	break_bytes(frame, frame_size);
	s.hdr = (struct span){hdr, any(3) ? hdr_size : 0, whole->hdr.address};
	s.eh_frame = (struct span){frame, frame_size, whole->eh_frame.address};
	if (any(8) == 0) {
		s.debug_frame = s.eh_frame;
		s.eh_frame = (struct span){0};
	}
	rows_reset(rows);
	eh_frame_read(&s, start, end, rows);
	assert_true(rows_pack(rows, end - start, &table));
	check_table(&table, end - start);
	unwind_table_free(&table);
	free(hdr);
	free(frame);
}

static void broken_sections(void **state)
{
	int rounds = getenv("JSTROBE_SOAK") ? 200000 : 6000;
	struct frame_sections whole = {0};
	struct elf_file file;
	struct rows rows;
	uintptr_t end;
	int i;

	assert_true(elf_file_open(&file, "/proc/self/exe"));
	assert_true(elf_file_section(&file, ".eh_frame_hdr", &whole.hdr));
	assert_true(elf_file_section(&file, ".eh_frame", &whole.eh_frame));
	end = elf_file_find(&file, ".fini")->sh_addr;
	assert_true(rows_init(&rows));
	for (i = 0; i < rounds; i++) {
		/* Mostly a short piece, so that the damage is met early. */
		size_t most = any(16) ? MIN(whole.eh_frame.size, (size_t)2000) : whole.eh_frame.size;

		read_broken(&whole, 1 + any((uint32_t)most), any(2) ? 0 : end / 2, end, &rows);
	}
	rows_free(&rows);
	elf_file_free_section(&whole.hdr);
	elf_file_free_section(&whole.eh_frame);
	elf_file_close(&file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(usual_function),   cmocka_unit_test(instructions),
		cmocka_unit_test(expressions),      cmocka_unit_test(ends_and_signals),
		cmocka_unit_test(bad_programs),     cmocka_unit_test(gaps),
		cmocka_unit_test(packed_lookup),    cmocka_unit_test(too_many_rules),
		cmocka_unit_test(broken_sections),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
