/*
 * The set of images: which code is mapped where, with tables to unwind it.
 *
 * What the loader lists is compared with the previous set; a range is taken
 * over if place, path, program headers and build id are the same. The rest is
 * described anew from its bytes in memory, which are the truth even when the
 * file was replaced since. The loader's lock is not held meanwhile: should
 * objects come or go, bytes are copied by the kernel and cannot fault, and
 * the counters tell that the list must be read again.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/pages.h"
#include "common/base/proc_self.h"
#include "common/base/soname.h"
#include "common/elf/eh_frame.h"
#include "common/elf/elf.h"
#include "common/elf/file.h"
#include "common/elf/memory.h"
#include "common/elf/object.h"
#include "common/elf/rows.h"
#include "common/elf/symbols.h"
#include "common/elf/symtab.h"
#include "cpu.h"

#define NOTES_MAX 4096
#define FRAMES_MAX ((size_t)256 << 20)
#define READ_AGAIN_MAX 3

/* Never reused, so an id or a generation of an earlier session is not mistaken for a new one. */
static _Atomic uint32_t last_id, last_generation;

static struct build_id read_build_id(const struct object_details *details)
{
	uint8_t notes[NOTES_MAX];
	size_t size = MIN(details->notes_size, sizeof(notes));

	if (!details->notes)
		return (struct build_id){0};
	return build_id_find(notes, memory_copy(notes, details->notes, size));
}

/* Find .eh_frame_hdr and .eh_frame up to the end of their segment, with pages for a copy. */
static bool find_frames(const struct object_details *f, struct span *copy, struct rows *rows)
{
	uint8_t head[16];
	struct span hdr = {head, sizeof(head), f->hdr};
	uintptr_t frame;

	if (!f->hdr || memory_copy(head, f->hdr, sizeof(head)) < sizeof(head))
		return false;
	frame = eh_frame_address(&hdr);
	if (frame < f->hdr_low || frame >= f->hdr_high)
		return false;
	copy->address = MIN(frame, f->hdr);
	copy->size = f->hdr_high - copy->address;
	if (copy->size > FRAMES_MAX)
		return false;
	copy->bytes = pages_alloc(copy->size);
	if (!copy->bytes)
		rows->failed = true;
	return copy->bytes != NULL;
}

/* The part of COPY from ADDRESS on; empty unless it lies in the LENGTH bytes there are. */
static struct span cut(const struct span *copy, uintptr_t address, size_t length)
{
	size_t skip = address - copy->address;

	if (skip >= length)
		return (struct span){copy->bytes, 0, address};
	return (struct span){copy->bytes + skip, length - skip, address};
}

static bool rows_from_memory(const struct object_details *f, struct rows *rows)
{
	struct frame_sections sections = {0};
	struct span copy;
	size_t length;

	if (!find_frames(f, &copy, rows))
		return false;
	length = memory_copy((void *)copy.bytes, copy.address, copy.size);
	sections.hdr = cut(&copy, f->hdr, length);
	sections.eh_frame = cut(&copy, eh_frame_address(&sections.hdr), length);
	if (sections.eh_frame.size)
		eh_frame_read(&sections, f->start, f->end, rows);
	pages_free((void *)copy.bytes, copy.size);
	return rows->count > 0;
}

/* For objects without .eh_frame_hdr: the sections that the file names. */
static void rows_from_file(const struct object *o, struct rows *rows)
{
	struct frame_sections sections = {.bias = o->image.bias};
	struct elf_file file;

	if (!elf_file_open_object(&file, o))
		return;
	if (elf_file_section(&file, ".eh_frame", &sections.eh_frame) ||
	    elf_file_section(&file, ".debug_frame", &sections.debug_frame)) {
		sections.eh_frame.address += o->image.bias;
		eh_frame_read(&sections, o->image.start, o->image.end, rows);
	}
	elf_file_free_section(&sections.eh_frame);
	elf_file_free_section(&sections.debug_frame);
	elf_file_close(&file);
}

/* Where F's object comes from, for people; the main program has no name in the list. */
static const char *path_of(const struct object_details *f, const char *names, char *room, size_t size)
{
	const char *path = names + f->path;
	char self[PROC_SELF_MAX];
	ssize_t n;

	if (f->is_vdso)
		return "[vdso]";
	if (path[0] && !f->is_main)
		return path;
	n = f->is_main ? readlink(proc_self(self, "exe"), room, size - 1) : -1;
	if (n > 0) {
		room[n] = '\0';
		return room;
	}
	return path[0] ? path : "[unknown]";
}

static void free_object(struct object *o)
{
	symbols_free(o->image.symbols);
	unwind_table_free(&o->image.unwind);
	free(o);
}

static struct object *make(const struct object_details *f, const char *path, struct rows *rows)
{
	size_t length = strlen(path) + 1;
	struct object *o = calloc(1, sizeof(*o) + length);
	const char *slash;

	if (!o)
		return NULL;
	memcpy(o->path, path, length);
	slash = strrchr(o->path, '/');
	o->details = *f;
	o->build_id = read_build_id(f);
	o->image = (struct image){
		.start = f->start,
		.end = f->end,
		.bias = f->bias,
		.path = o->path,
		.name = slash ? slash + 1 : o->path,
		.id = atomic_fetch_add(&last_id, 1) + 1,
	};
	o->image.own = symtab_soname_is(o, OWN_SONAME);
	rows_reset(rows);
	if (!rows_from_memory(f, rows) && !rows->failed && !f->is_vdso)
		rows_from_file(o, rows);
	if (CPU_READS_CODE && rows->count == 0 && !rows->failed && !f->is_vdso)
		code_rows_read(o, rows);
	if (!rows_pack(rows, f->end - f->start, &o->image.unwind)) {
		free_object(o);
		return NULL;
	}
	return o;
}

/* The image of PREVIOUS that F describes, if it is still the same code. */
static struct object *take_over(const struct image_set *previous, const struct object_details *f,
				const char *path)
{
	const struct image *image = previous ? image_find(previous, f->start) : NULL;
	struct object *o;
	struct build_id id;

	if (!image)
		return NULL;
	o = object_of(image);
	if (image->start != f->start || image->end != f->end || image->bias != f->bias ||
	    o->details.headers_hash != f->headers_hash || strcmp(image->path, path) != 0)
		return NULL;
	id = read_build_id(f);
	return memcmp(&id, &o->build_id, sizeof(id)) == 0 ? o : NULL;
}

static int by_start(const void *a, const void *b)
{
	const struct image *const *x = a, *const *y = b;

	return (*x)->start < (*y)->start ? -1 : (*x)->start > (*y)->start;
}

/* Sort the images of SET; of overlapping ones, which no loader makes, the first stays. */
static void order(struct image_set *set, const struct image_set *previous)
{
	const struct image **images = (const struct image **)set->images;
	uint32_t i, kept = 0;

	qsort(images, set->count, sizeof(*images), by_start);
	for (i = 0; i < set->count; i++) {
		if (kept > 0 && images[kept - 1]->end > images[i]->start) {
			if (!previous || image_find(previous, images[i]->start) != images[i])
				free_object(object_of(images[i]));
		} else {
			images[kept++] = images[i];
		}
	}
	set->count = kept;
}

static struct image_set *read_once(const struct image_set *previous, struct rows *rows)
{
	struct object_list list;
	struct image_set *set = NULL;
	char room[4096];
	size_t i;

	if (object_list_read(&list) < 0)
		return NULL;
	set = calloc(1, sizeof(*set));
	if (!set)
		goto out;
	set->adds = list.adds;
	set->subs = list.subs;
	set->images = calloc(MAX(list.count, (size_t)1), sizeof(*set->images));
	if (!set->images)
		goto failed;
	for (i = 0; i < list.count; i++) {
		const struct object_details *f = &list.details[i];
		const char *path = path_of(f, list.names, room, sizeof(room));
		struct object *o = take_over(previous, f, path);

		if (!o)
			o = make(f, path, rows);
		if (!o)
			goto failed;
		((const struct image **)set->images)[set->count++] = &o->image;
	}
	order(set, previous);
	set->generation = atomic_fetch_add(&last_generation, 1) + 1;
	goto out;
failed:
	/* The order of a half-made set does not matter: it is only freed. */
	image_set_free(set, previous);
	set = NULL;
out:
	object_list_free(&list);
	return set;
}

struct image_set *image_set_read(const struct image_set *previous, struct error *err)
{
	struct image_set *set = NULL;
	struct rows rows;
	int i;

	if (!rows_init(&rows))
		goto out;
	set = read_once(previous, &rows);
	/* Something came or went meanwhile: what we read of it may be of two objects. */
	for (i = 0; set && i < READ_AGAIN_MAX && image_set_is_stale(set); i++) {
		image_set_free(set, previous);
		set = read_once(previous, &rows);
	}
	rows_free(&rows);
out:
	if (!set)
		error_set(err, ENOMEM, "no memory for the unwind tables of the loaded libraries");
	return set;
}

bool image_set_is_stale(const struct image_set *set)
{
	uint64_t adds, subs;

	object_list_changes(&adds, &subs);
	return adds != set->adds || subs != set->subs;
}

bool image_set_has_grown(const struct image_set *set)
{
	uint64_t adds, subs;

	object_list_changes(&adds, &subs);
	return adds != set->adds && subs == set->subs;
}

static bool contains(const struct image_set *set, const struct image *image)
{
	return set && image_find(set, image->start) == image;
}

void image_set_free(struct image_set *old, const struct image_set *next)
{
	uint32_t i;

	if (!old)
		return;
	for (i = 0; i < old->count; i++)
		if (!contains(next, old->images[i]))
			free_object(object_of(old->images[i]));
	free((void *)old->images);
	free(old);
}

size_t image_set_bytes(const struct image_set *set)
{
	size_t bytes = sizeof(*set) + set->count * sizeof(*set->images);
	uint32_t i;

	for (i = 0; i < set->count; i++) {
		const struct object *o = object_of(set->images[i]);

		bytes += sizeof(*o) + strlen(o->path) + 1 + unwind_table_bytes(&o->image.unwind) +
			 symbols_bytes(o->image.symbols);
	}
	return bytes;
}
