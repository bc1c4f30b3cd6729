#include "common/elf/eh_frame.h"

#include <stdlib.h>

#include "common/base/vector.h"
#include "common/elf/cfi.h"

#define COMMONS 16 /* cached; an image has one to three of them */
#define CODE_ALIGN 16

#define DW_EH_PE_omit 0xff
#define SEARCH_TABLE 0x3b /* datarel | sdata4: the only table form that linkers write */

/* One entry of a section: a CIE or an FDE. */
struct entry {
	struct cursor body;     /* after the id */
	uint64_t id;            /* 0 / all ones: CIE; else where the CIE is */
	size_t id_offset;       /* offset of the id field */
	size_t next;            /* offset of the entry after this one */
	uint64_t common_offset; /* FDE: offset of its CIE */
	bool is_common;
};

struct function {
	uintptr_t start;
	size_t offset; /* of its FDE */
};

struct reader {
	struct span section;
	bool is_debug_frame;
	struct cfi_base base;
	uintptr_t start, end;    /* code of interest */
	uintptr_t covered;       /* end of the last function put down */
	struct rows *rows;
	struct {
		size_t offset;   /* + 1, so that 0 is empty */
		bool usable;
		struct cfi_common common;
	} commons[COMMONS];
};

/* Read the frame of the entry at OFFSET; false: the section ends or is broken here. */
static bool read_entry(const struct reader *r, size_t offset, struct entry *e)
{
	struct cursor c = cursor_at(&r->section, offset);
	uint64_t length = cursor_u32(&c);
	bool wide = length == UINT32_MAX;
	uint64_t common_id = 0;

	if (wide)
		length = cursor_u64(&c);
	if (c.failed || length == 0)
		return false;
	e->body = cursor_cut(&c, length);
	if (c.failed)
		return false;
	e->next = (size_t)(c.at - r->section.bytes);
	e->id_offset = (size_t)(e->body.at - r->section.bytes);
	if (wide && r->is_debug_frame) {
		e->id = cursor_u64(&e->body);
		common_id = UINT64_MAX;
	} else {
		e->id = cursor_u32(&e->body);
		common_id = r->is_debug_frame ? UINT32_MAX : 0;
	}
	e->is_common = e->id == common_id;
	e->common_offset = r->is_debug_frame ? e->id : e->id_offset - e->id;
	return !e->body.failed;
}

/* The letters of the augmentation after 'z'; false: one of them changes what we do not know. */
static bool read_augmentation(const char *letters, struct cursor data, struct cfi_common *common)
{
	uint8_t encoding;

	for (; *letters; letters++) {
		switch (*letters) {
		case 'R':
			common->encoding = cursor_u8(&data);
			break;
		case 'P':
			encoding = cursor_u8(&data);
			cfi_number(&data, encoding);
			break;
		case 'L':
			cursor_u8(&data);
			break;
		case 'S':
			common->signal = true;
			break;
		case 'B': /* aarch64: return addresses signed with the B key */
			break;
		default:
			return false;
		}
	}
	return !data.failed;
}

static bool read_common(const struct reader *r, size_t offset, struct cfi_common *common)
{
	struct entry e;
	const char *letters;
	uint8_t version;

	*common = (struct cfi_common){0};
	if (!read_entry(r, offset, &e) || !e.is_common)
		return false;
	version = cursor_u8(&e.body);
	letters = cursor_string(&e.body);
	if (version >= 4 && (cursor_u8(&e.body) != sizeof(void *) || cursor_u8(&e.body) != 0))
		return false;
	common->code_align = cursor_uleb(&e.body);
	common->data_align = cursor_sleb(&e.body);
	if (version == 1)
		cursor_u8(&e.body); /* return address register: always the platform's */
	else
		cursor_uleb(&e.body);
	if (letters[0] == 'z') {
		common->sized = true;
		if (!read_augmentation(letters + 1, cursor_cut(&e.body, cursor_uleb(&e.body)), common))
			return false;
	} else if (letters[0]) {
		return false;
	}
	return !e.body.failed && cfi_run_common(common, e.body, &r->base);
}

/* The CIE at OFFSET, or NULL if it cannot be used. */
static const struct cfi_common *find_common(struct reader *r, uint64_t offset)
{
	unsigned slot = (unsigned)(offset >> 3) % COMMONS;

	if (offset >= r->section.size)
		return NULL;
	if (r->commons[slot].offset != offset + 1) {
		r->commons[slot].offset = (size_t)offset + 1;
		r->commons[slot].usable = read_common(r, (size_t)offset, &r->commons[slot].common);
	}
	return r->commons[slot].usable ? &r->commons[slot].common : NULL;
}

/*
 * Code without description follows the last function up to START. Padding that
 * aligns the next function does not count: nothing runs there, and a row for
 * each would double the table.
 */
static void close_gap(struct reader *r, uintptr_t start)
{
	static const struct unwind_rule unknown;
	uintptr_t aligned = (r->covered + CODE_ALIGN - 1) & -(uintptr_t)CODE_ALIGN;

	if (r->covered && start > MAX(aligned, r->covered))
		rows_put(r->rows, (uint32_t)(r->covered - r->start), &unknown);
}

static void put_function(struct reader *r, const struct cfi_common *common, struct cursor program,
			 uintptr_t start, uintptr_t end)
{
	/* Overlapping descriptions: the first one keeps its code. */
	if (start < r->start || end > r->end || start >= end || start < r->covered)
		return;
	close_gap(r, start);
	cfi_run(common, program, &r->base, start, end, r->start, r->rows);
	r->covered = end;
}

/* Where the function of FDE E starts; its CIE to *COMMON. False: no such function. */
static bool read_start(struct reader *r, struct entry *e, const struct cfi_common **common,
		       uintptr_t *start)
{
	*common = find_common(r, e->common_offset);
	if (!*common)
		return false;
	*start = cfi_address(&e->body, (*common)->encoding, &r->base);
	return !e->body.failed;
}

static void read_function(struct reader *r, size_t offset)
{
	const struct cfi_common *common;
	struct entry e;
	uintptr_t start, size;

	if (!read_entry(r, offset, &e) || e.is_common || !read_start(r, &e, &common, &start))
		return;
	size = (uintptr_t)cfi_number(&e.body, common->encoding);
	if (common->sized)
		cursor_skip(&e.body, cursor_uleb(&e.body));
	if (!e.body.failed && size <= r->end && start <= r->end - size)
		put_function(r, common, e.body, start, start + size);
}

/* A cursor at the search table of HDR and its length; false: there is none of the usual form. */
static bool find_table(const struct span *hdr, struct cursor *table, uint64_t *count)
{
	struct cfi_base base = {hdr->bytes, hdr->address, hdr->address, 0};
	struct cursor c = cursor_at(hdr, 0);
	uint8_t version = cursor_u8(&c);
	uint8_t frame_encoding = cursor_u8(&c);
	uint8_t count_encoding = cursor_u8(&c);
	uint8_t table_encoding = cursor_u8(&c);

	if (version != 1 || count_encoding == DW_EH_PE_omit || table_encoding != SEARCH_TABLE)
		return false;
	cfi_address(&c, frame_encoding, &base);
	*count = cfi_number(&c, count_encoding);
	*table = c;
	return !c.failed && *count > 0 && *count <= cursor_left(&c) / 8;
}

/* Whether COUNT entries of TABLE rise; a table that does not is not to be trusted. */
static bool is_sorted(struct cursor table, uint64_t count)
{
	int32_t last = INT32_MIN;

	while (count--) {
		int32_t start = (int32_t)cursor_u32(&table);

		if (start < last)
			return false;
		last = start;
		cursor_u32(&table);
	}
	return true;
}

static bool read_by_table(struct reader *r, const struct span *hdr)
{
	struct cursor table;
	uint64_t count;

	if (!find_table(hdr, &table, &count) || !is_sorted(table, count))
		return false;
	while (count--) {
		cursor_skip(&table, 4);
		read_function(r, (size_t)(hdr->address + (uintptr_t)(int32_t)cursor_u32(&table) -
					  r->section.address));
	}
	return true;
}

static int by_start(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static void read_all(struct reader *r)
{
	VECTOR(struct function) functions = {0};
	const struct cfi_common *common;
	struct function *f;
	struct entry e;
	uintptr_t start;
	size_t offset, i;

	for (offset = 0; read_entry(r, offset, &e); offset = e.next) {
		size_t here = offset;

		if (e.is_common || !read_start(r, &e, &common, &start))
			continue;
		f = VECTOR_PUSH(&functions);
		if (!f) {
			r->rows->failed = true;
			break;
		}
		*f = (struct function){start, here};
	}
	if (functions.count)
		qsort(functions.items, functions.count, sizeof(*functions.items), by_start);
	for (i = 0; i < functions.count; i++)
		read_function(r, functions.items[i].offset);
	free(functions.items);
}

uintptr_t eh_frame_address(const struct span *hdr)
{
	struct cfi_base base = {hdr->bytes, hdr->address, hdr->address, 0};
	struct cursor c = cursor_at(hdr, 0);
	uint8_t version = cursor_u8(&c);
	uint8_t encoding = cursor_u8(&c);
	uintptr_t address;

	cursor_skip(&c, 2);
	address = cfi_address(&c, encoding, &base);
	return c.failed || version != 1 || encoding == DW_EH_PE_omit ? 0 : address;
}

void eh_frame_read(const struct frame_sections *sections, uintptr_t start, uintptr_t end,
		   struct rows *rows)
{
	static const struct unwind_rule unknown;
	struct reader r = {
		.section = sections->eh_frame,
		.base = {
			.bytes = sections->eh_frame.bytes,
			.address = sections->eh_frame.address,
			.data = sections->hdr.address,
		},
		.start = start,
		.end = end,
		.rows = rows,
	};

	/* Offsets have 32 bits. */
	if (end - start > UINT32_MAX)
		r.end = start + UINT32_MAX;
	if (sections->eh_frame.size == 0) {
		r.section = sections->debug_frame;
		r.is_debug_frame = true;
		r.base.bytes = r.section.bytes;
		r.base.bias = sections->bias;
	}
	if (r.is_debug_frame || !read_by_table(&r, &sections->hdr))
		read_all(&r);
	if (r.covered)
		rows_put(rows, (uint32_t)(r.covered - start), &unknown);
}
