/*
 * eh_frame.h - from .eh_frame or .debug_frame to the rows of an unwind table.
 *
 * With .eh_frame_hdr the functions come sorted by address and are read in
 * that order; without it, or when it lies, all entries are listed and sorted.
 */
#ifndef JSTROBE_ELF_EH_FRAME_H
#define JSTROBE_ELF_EH_FRAME_H

#include "common/base/cursor.h"
#include "common/elf/rows.h"

/* Where frame descriptions are; empty spans for what there is not. */
struct frame_sections {
	struct span hdr;         /* .eh_frame_hdr; its address is the running one */
	struct span eh_frame;
	struct span debug_frame; /* as in the file; used when eh_frame is empty */
	uintptr_t bias;          /* what to add to the absolute addresses in debug_frame */
};

/*
 * Put the rows of the functions inside [start, end) into ROWS, as offsets from
 * START. Broken descriptions give CFA_UNKNOWN rows or none; rows->failed tells
 * when memory was short.
 */
void eh_frame_read(const struct frame_sections *sections, uintptr_t start, uintptr_t end,
		   struct rows *rows);

/*
 * The address of .eh_frame as .eh_frame_hdr (the span HDR, at least its first 16 bytes) says;
 * 0 if it does not.
 */
uintptr_t eh_frame_address(const struct span *hdr);

#endif
