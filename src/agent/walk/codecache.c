#include "agent/walk/codecache.h"

#define HOPS 512 /* 254 segments a hop: enough for a block of 16 MB */

uintptr_t code_blob_at(const struct layout *l, uintptr_t pc)
{
	uint32_t i, hops, back, used;

	for (i = 0; i < l->heap_count; i++) {
		const struct code_heap *h = &l->heap[i];
		uintptr_t segment, header;

		if (pc < h->low || pc >= h->high)
			continue;
		segment = (pc - h->low) >> h->log2_segment;
		for (hops = 0; hops < HOPS; hops++) {
			if (!load_u8(h->segmap + segment, &back) || back == 0xff || back > segment)
				return 0;
			if (back == 0)
				break;
			segment -= back;
		}
		header = h->low + (segment << h->log2_segment);
		if (!load_u8(header + (uintptr_t)l->block_used, &used) || !used)
			return 0;
		return header + (uintptr_t)l->block_size;
	}
	return 0;
}

/* "nmethod" or "native nmethod": before CodeBlob::_kind (24) a blob's name is its type. */
static bool read_kind_by_name(const struct layout *l, uintptr_t blob, bool *nmethod)
{
	uint64_t first;
	uintptr_t name;

	if (!load_word(blob + (uintptr_t)l->blob_name, &name) || !load_u64(name, &first))
		return false;
	*nmethod = first == 0x00646f6874656d6eull /* "nmethod\0" */ ||
		   first == 0x6e2065766974616eull /* "native n" */;
	return true;
}

bool code_blob_read(const struct layout *l, uintptr_t address, struct blob *b)
{
	uint32_t words, offset, kind;
	uint64_t complete;

	b->address = address;
	b->own_size = 0;
	if (!load_u32(address + (uintptr_t)l->blob_frame_size, &words) ||
	    !load_field(address + (uintptr_t)l->blob_frame_complete, l->blob_frame_complete_width,
			&complete))
		return false;
	/* -1: a stub of C1 that sets up no frame, or one of its own. */
	b->frame_bytes = words > 1u << 20 ? 0 : words * WORD;
	b->frame_complete = l->blob_frame_complete_width == 2 ? (int16_t)complete : (int32_t)complete;
	if (l->blob_code_offset >= 0) {
		if (!load_u32(address + (uintptr_t)l->blob_code_offset, &offset))
			return false;
		b->code = address + offset;
	} else if (!load_word(address + (uintptr_t)l->blob_code_begin, &b->code)) {
		return false;
	}
	if (l->blob_kind >= 0 && l->kind_nmethod != INT32_MIN) {
		if (!load_u8(address + (uintptr_t)l->blob_kind, &kind))
			return false;
		b->nmethod = (int32_t)kind == l->kind_nmethod;
		return true;
	}
	return read_kind_by_name(l, address, &b->nmethod);
}

uintptr_t code_blob_end(const struct layout *l, const struct blob *b)
{
	uint32_t size;

	return load_u32(b->address + (uintptr_t)l->blob_size, &size) && size < 1u << 28 ? b->address + size
										      : b->code;
}

uintptr_t code_entry(const struct layout *l, const struct blob *b)
{
	uint64_t offset;
	uintptr_t entry;

	if (l->nmethod_entry_offset >= 0 &&
	    load_field(b->address + (uintptr_t)l->nmethod_entry_offset, l->nmethod_entry_offset_width,
		       &offset))
		return b->code + offset;
	if (l->nmethod_entry >= 0 && load_word(b->address + (uintptr_t)l->nmethod_entry, &entry))
		return entry;
	return b->code;
}
