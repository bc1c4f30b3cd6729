#include "common/elf/rows.h"

#include <string.h>

#include "common/base/pages.h"

#define SLOTS (4 * ROWS_RULES_MAX)
#define FIRST_CAPACITY 4096

_Static_assert(sizeof(struct unwind_rule) == 16, "rules are compared as two words");

bool rows_init(struct rows *rows)
{
	memset(rows, 0, sizeof(*rows));
	rows->slots = pages_alloc(SLOTS * sizeof(*rows->slots));
	rows->rules = pages_alloc(ROWS_RULES_MAX * sizeof(*rows->rules));
	if (!rows->slots || !rows->rules) {
		rows_free(rows);
		return false;
	}
	/* Rule 0 is "unknown": all bytes zero. */
	rows->rule_count = 1;
	return true;
}

void rows_reset(struct rows *rows)
{
	memset(rows->slots, 0, SLOTS * sizeof(*rows->slots));
	rows->count = 0;
	rows->rule_count = 1;
	rows->last = 0;
	rows->failed = false;
}

void rows_free(struct rows *rows)
{
	pages_free(rows->slots, SLOTS * sizeof(*rows->slots));
	pages_free(rows->rules, ROWS_RULES_MAX * sizeof(*rows->rules));
	pages_free(rows->start, rows->capacity * sizeof(*rows->start));
	pages_free(rows->rule, rows->capacity * sizeof(*rows->rule));
	memset(rows, 0, sizeof(*rows));
}

static inline bool same(const struct unwind_rule *a, const struct unwind_rule *b)
{
	uint64_t x[2], y[2];

	memcpy(x, a, sizeof(x));
	memcpy(y, b, sizeof(y));
	return x[0] == y[0] && x[1] == y[1];
}

static uint32_t hash(const struct unwind_rule *rule)
{
	uint64_t x[2];

	memcpy(x, rule, sizeof(x));
	x[0] = (x[0] ^ (x[1] << 23 | x[1] >> 41)) * 0x9e3779b97f4a7c15ull;
	return (uint32_t)(x[0] >> 40) % SLOTS;
}

/* Index of RULE among the distinct ones; 0 (unknown) when there are too many. */
static uint16_t intern(struct rows *rows, const struct unwind_rule *rule)
{
	uint32_t slot;

	if (same(&rows->rules[rows->last], rule))
		return rows->last;
	if (rule->cfa_kind == CFA_UNKNOWN)
		return 0;
	for (slot = hash(rule); rows->slots[slot]; slot = (slot + 1) % SLOTS)
		if (same(&rows->rules[rows->slots[slot] - 1], rule))
			return rows->last = rows->slots[slot] - 1;
	if (rows->rule_count == ROWS_RULES_MAX)
		return 0;
	rows->rules[rows->rule_count] = *rule;
	rows->slots[slot] = (uint16_t)++rows->rule_count;
	return rows->last = (uint16_t)(rows->rule_count - 1);
}

static bool grow(struct rows *rows)
{
	size_t wanted = rows->capacity ? rows->capacity * 2 : FIRST_CAPACITY;
	void *start, *rule;

	start = pages_grow(rows->start, rows->capacity * sizeof(*rows->start),
			   wanted * sizeof(*rows->start));
	if (!start)
		return false;
	rows->start = start;
	rule = pages_grow(rows->rule, rows->capacity * sizeof(*rows->rule),
			  wanted * sizeof(*rows->rule));
	if (!rule) {
		/* Back to one capacity for both. */
		pages_free((char *)start + pages_bytes(rows->capacity * sizeof(*rows->start)),
			   (wanted - rows->capacity) * sizeof(*rows->start));
		if (rows->capacity == 0)
			rows->start = NULL;
		return false;
	}
	rows->rule = rule;
	rows->capacity = wanted;
	return true;
}

void rows_put(struct rows *rows, uint32_t offset, const struct unwind_rule *rule)
{
	uint16_t index = intern(rows, rule);

	if (rows->count > 0 && offset < rows->start[rows->count - 1])
		return;
	if (rows->count > 0 && offset == rows->start[rows->count - 1])
		rows->count--;
	if (rows->count > 0 && rows->rule[rows->count - 1] == index)
		return;
	if (rows->count == rows->capacity && !grow(rows)) {
		rows->failed = true;
		return;
	}
	rows->start[rows->count] = offset;
	rows->rule[rows->count++] = index;
}

/* One block: rules, row starts, buckets, row rules – in falling order of alignment. */
static size_t block_size(uint32_t rule_count, uint32_t row_count, uint32_t bucket_count)
{
	return rule_count * sizeof(struct unwind_rule) + row_count * sizeof(uint32_t) +
	       (bucket_count + 1) * sizeof(uint32_t) + row_count * sizeof(uint16_t);
}

static void fill_buckets(const struct rows *rows, uint32_t *bucket, uint32_t count)
{
	uint32_t row = 0, i;

	for (i = 0; i <= count; i++) {
		uint64_t edge = (uint64_t)i << UNWIND_BUCKET_SHIFT;

		while (row + 1 < rows->count && rows->start[row + 1] <= edge)
			row++;
		bucket[i] = row;
	}
}

bool rows_pack(const struct rows *rows, size_t code_size, struct unwind_table *table)
{
	uint32_t row_count = (uint32_t)rows->count;
	uint32_t bucket_count;
	struct unwind_rule *rules;
	uint32_t *start, *bucket;
	uint16_t *rule;

	memset(table, 0, sizeof(*table));
	if (rows->failed)
		return false;
	if (row_count == 0 || code_size == 0)
		return true;
	code_size = MIN(code_size, (size_t)UINT32_MAX);
	bucket_count = (uint32_t)((code_size - 1) >> UNWIND_BUCKET_SHIFT) + 1;
	rules = pages_alloc(block_size(rows->rule_count, row_count, bucket_count));
	if (!rules)
		return false;
	start = (uint32_t *)(rules + rows->rule_count);
	bucket = start + row_count;
	rule = (uint16_t *)(bucket + bucket_count + 1);
	memcpy(rules, rows->rules, rows->rule_count * sizeof(*rules));
	memcpy(start, rows->start, row_count * sizeof(*start));
	memcpy(rule, rows->rule, row_count * sizeof(*rule));
	fill_buckets(rows, bucket, bucket_count);
	*table = (struct unwind_table){
		.row_count = row_count,
		.bucket_count = bucket_count,
		.row_start = start,
		.row_rule = rule,
		.bucket = bucket,
		.rules = rules,
		.rule_count = rows->rule_count,
	};
	return true;
}

static size_t size_of(const struct unwind_table *t)
{
	return block_size(t->rule_count, t->row_count, t->bucket_count);
}

void unwind_table_free(struct unwind_table *table)
{
	if (table->rules)
		pages_free((void *)table->rules, size_of(table));
	memset(table, 0, sizeof(*table));
}

size_t unwind_table_bytes(const struct unwind_table *table)
{
	return table->rules ? pages_bytes(size_of(table)) : 0;
}
