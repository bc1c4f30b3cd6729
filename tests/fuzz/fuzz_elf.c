/*
 * An ELF file of any bytes: its sections, build id, symbols and frames; and the same bytes as the
 * dynamic section of an object in memory.
 */
#include <stdlib.h>
#include <string.h>

#include "common/elf/eh_frame.h"
#include "common/elf/elf.h"
#include "common/elf/file.h"
#include "common/elf/rows.h"
#include "common/elf/symbols.h"
#include "fuzz.h"

#define CODE_BYTES 0x10000u

/* Some addresses of O have names of a bounded length, or none. */
static void ask(struct object *o)
{
	const struct image *images[1] = {&o->image};
	struct image_set set = {.count = 1, .images = images};
	uintptr_t pc, offset;

	for (pc = o->image.start; pc < o->image.end; pc += 1023) {
		const char *name = image_symbol(&o->image, pc, &offset);

		FUZZ_CHECK(!name || (strlen(name) > 0 && strlen(name) <= 4096 && offset < CODE_BYTES));
	}
	image_address_of(&o->image, "main");
	image_symbols_release(&set);
}

static void read_frames(const struct elf_file *file, struct object *o)
{
	struct frame_sections s = {.bias = 0};
	struct rows rows;

	if (!rows_init(&rows))
		return;
	elf_file_section(file, ".eh_frame", &s.eh_frame);
	elf_file_section(file, ".debug_frame", &s.debug_frame);
	if (s.eh_frame.size || s.debug_frame.size)
		eh_frame_read(&s, o->image.start, o->image.end, &rows);
	elf_file_free_section(&s.eh_frame);
	elf_file_free_section(&s.debug_frame);
	rows_free(&rows);
}

/* What identifies O as the file's object, so that the file is read. */
static bool identify(struct object *o, const uint8_t *data, size_t size)
{
	struct elf_file file;
	ElfW(Ehdr) h;

	if (!elf_file_open(&file, o->path))
		return false;
	memcpy(&h, data, sizeof(h));
	o->build_id = elf_file_build_id(&file);
	if (h.e_phoff < size && h.e_phnum * sizeof(ElfW(Phdr)) <= size - h.e_phoff)
		o->details.headers_hash = object_hash(data + h.e_phoff, h.e_phnum * sizeof(ElfW(Phdr)), 0);
	read_frames(&file, o);
	elf_file_close(&file);
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct object *o = calloc(1, sizeof(*o) + 32);

	fuzz_file(data, size, o->path);
	o->image.path = o->image.name = o->path;
	o->image.start = 0x1000;
	o->image.end = 0x1000 + CODE_BYTES;
	if (identify(o, data, size))
		ask(o);
	/* No file: the dynamic section, with addresses counted from the bytes themselves. */
	o->path[0] = '\0';
	o->details.bias = o->details.low = o->details.dynamic = (uintptr_t)data;
	o->details.high = o->details.low + size;
	o->details.dynamic_size = size;
	if (size)
		ask(o);
	build_id_find(data, size);
	free(o);
	return 0;
}
