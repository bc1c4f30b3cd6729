/*
 * Frame descriptions of any bytes: .eh_frame with and without its search table, .debug_frame. What
 * comes out is a table whose rows rise and whose rules exist.
 *
 *   input   | how | split: 2 bytes | .eh_frame_hdr, SPLIT bytes | the frames |
 */
#include <stdlib.h>
#include <string.h>

#include "common/elf/eh_frame.h"
#include "common/elf/rows.h"
#include "fuzz.h"

#define CODE 0x10000u
#define CODE_BYTES 0x8000u
#define HDR_AT 0x20000u
#define FRAME_AT 0x21000u

static void check(const struct rows *rows)
{
	struct image image = {.start = CODE, .end = CODE + CODE_BYTES};
	size_t i;
	uintptr_t pc;

	for (i = 0; i < rows->count; i++) {
		FUZZ_CHECK(rows->rule[i] < rows->rule_count);
		FUZZ_CHECK(i == 0 || rows->start[i] > rows->start[i - 1]);
		FUZZ_CHECK(rows->start[i] <= CODE_BYTES);
	}
	if (!rows_pack(rows, CODE_BYTES, &image.unwind))
		return;
	for (pc = CODE; pc < CODE + CODE_BYTES; pc += 61) {
		const struct unwind_rule *rule = unwind_find(&image, pc);

		FUZZ_CHECK(!rule || rule->cfa_kind <= CFA_UNKNOWN || rule->cfa_kind < 16);
	}
	unwind_table_free(&image.unwind);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct frame_sections s = {.bias = CODE};
	struct rows rows;
	size_t split;

	if (size < 3)
		return 0;
	split = MIN((size_t)(data[1] | data[2] << 8), size - 3);
	s.hdr = (struct span){data + 3, split, HDR_AT};
	if (data[0] & 1)
		s.debug_frame = (struct span){data + 3 + split, size - 3 - split, 0};
	else
		s.eh_frame = (struct span){data + 3 + split, size - 3 - split, FRAME_AT};
	if (!rows_init(&rows))
		return 0;
	eh_frame_address(&s.hdr);
	eh_frame_read(&s, CODE, CODE + CODE_BYTES, &rows);
	check(&rows);
	rows_free(&rows);
	return 0;
}
