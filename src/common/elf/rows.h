/*
 * rows.h - gathers (code offset, rule) rows in ascending order and packs them
 * into an unwind_table of exact size.
 *
 * Six bytes a row: the few hundred distinct rules of an image are kept once,
 * rows that repeat the rule before them are left out. One thread.
 */
#ifndef JSTROBE_ELF_ROWS_H
#define JSTROBE_ELF_ROWS_H

#include "common/elf/object.h"
#include "common/elf/unwind.h"

#define ROWS_RULES_MAX 16384 /* rows beyond get CFA_UNKNOWN; real images stay far below */

struct rows {
	uint32_t *start;
	uint16_t *rule;   /* index into rules */
	size_t count, capacity;
	struct unwind_rule *rules;
	uint32_t rule_count;
	uint16_t *slots;  /* hash of rules: index + 1, 0 empty */
	uint16_t last;    /* the rule interned last: a row often repeats it */
	bool failed;      /* out of memory */
};

/* False when out of memory. */
bool rows_init(struct rows *rows);
/* RULE holds from OFFSET on. An offset below the last one is ignored (overlapping descriptions). */
void rows_put(struct rows *rows, uint32_t offset, const struct unwind_rule *rule);
/* Forget all rows and rules, keep the memory. */
void rows_reset(struct rows *rows);
/*
 * Pack into TABLE for CODE_SIZE bytes of code; TABLE has no rows if there were none.
 * False when out of memory. Free with unwind_table_free.
 */
bool rows_pack(const struct rows *rows, size_t code_size, struct unwind_table *table);
void rows_free(struct rows *rows);

void unwind_table_free(struct unwind_table *table);
size_t unwind_table_bytes(const struct unwind_table *table);

/*
 * Unwind rows made from the code itself, for objects that do not describe their frames.
 *
 * On arm neither the JVM nor libc have .eh_frame: the little that .ARM.exidx holds is made for exceptions, and C++
 * without them has none. Each function is followed from its first instruction on, and what the instructions do to the
 * stack pointer gives the rows. CPUs with CPU_READS_CODE 1 have it (arch/<cpu>/code_rows.c).
 */

/*
 * Put rows for O's code into ROWS, as offsets from its start. Code that no function is known to reach gets
 * CFA_UNKNOWN. Normal code; rows->failed tells when memory was short.
 */
void code_rows_read(const struct object *o, struct rows *rows);

#endif
