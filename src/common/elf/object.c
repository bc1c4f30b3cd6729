/*
 * What the dynamic loader has mapped.
 *
 * dl_iterate_phdr calls back under the loader's lock. An allocator of the host
 * program may itself need that lock while it holds its own, so nothing is
 * allocated in the callback: it fills memory given beforehand and counts what
 * did not fit; then the memory is made larger and the list read again.
 */
#include "common/elf/object.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "common/base/cursor.h"
#include "common/base/hash.h"
#include "common/elf/memory.h"

#define FIRST_FACTS 64
#define FIRST_NAMES 8192
#define HEADERS_MAX 64

/* Program headers, copied: they lie in the object's file, which may have shrunk. */
struct headers {
	ElfW(Phdr) at[HEADERS_MAX];
	size_t count;
};

struct gather {
	struct object_list *list;
	size_t details_room, names_room;
	size_t details_wanted, names_wanted;
	uintptr_t vdso;
	bool first; /* the first object is the main program */
	struct headers headers;
};

uint64_t object_hash(const void *bytes, size_t size, uint64_t seed)
{
	return hash_bytes(seed ^ HASH_BEGIN, bytes, size);
}

struct build_id build_id_find(const void *notes, size_t size)
{
	struct span span = {notes, size, 0};
	struct cursor c = cursor_at(&span, 0);
	struct build_id id = {0};

	while (cursor_left(&c) >= sizeof(ElfW(Nhdr))) {
		uint32_t name_size = cursor_u32(&c);
		uint32_t text_size = cursor_u32(&c);
		uint32_t type = cursor_u32(&c);
		struct cursor name = cursor_cut(&c, ((uint64_t)name_size + 3) & ~3ull);
		struct cursor text = cursor_cut(&c, ((uint64_t)text_size + 3) & ~3ull);

		if (c.failed)
			break;
		if (type == NT_GNU_BUILD_ID && name_size == 4 && memcmp(name.at, "GNU", 4) == 0 &&
		    text_size > 0 && text_size <= BUILD_ID_MAX) {
			id.size = (uint8_t)text_size;
			memcpy(id.bytes, text.at, text_size);
			break;
		}
	}
	return id;
}

/* Facts that all executable ranges of the object share. */
static void describe(const struct headers *headers, struct object_details *f)
{
	const ElfW(Phdr) *end = headers->at + headers->count;
	const ElfW(Phdr) *p;

	f->low = UINTPTR_MAX;
	f->headers_hash = object_hash(headers->at, headers->count * sizeof(*p), 0);
	for (p = headers->at; p < end; p++) {
		uintptr_t at = f->bias + p->p_vaddr;

		if (p->p_type == PT_LOAD) {
			f->low = MIN(f->low, at);
			f->high = MAX(f->high, at + p->p_memsz);
		} else if (p->p_type == PT_GNU_EH_FRAME) {
			f->hdr = at;
		} else if (p->p_type == PT_DYNAMIC) {
			f->dynamic = at;
			f->dynamic_size = p->p_memsz;
		} else if (p->p_type == PT_NOTE && (!f->notes || p->p_align == 4)) {
			/* Build ids are in the notes aligned to 4; others hold properties. */
			f->notes = at;
			f->notes_size = p->p_memsz;
		}
	}
	for (p = headers->at; p < end; p++) {
		uintptr_t at = f->bias + p->p_vaddr;

		if (p->p_type == PT_LOAD && f->hdr >= at && f->hdr < at + p->p_filesz) {
			f->hdr_low = at;
			f->hdr_high = at + p->p_filesz;
		}
	}
}

static void add(struct gather *g, const struct object_details *f)
{
	if (g->details_wanted++ < g->details_room)
		g->list->details[g->list->count++] = *f;
}

/* One entry for each run of adjacent executable segments. */
static void add_ranges(struct gather *g, struct object_details *f)
{
	const ElfW(Phdr) *end = g->headers.at + g->headers.count;
	const ElfW(Phdr) *p;

	f->start = f->end = 0;
	for (p = g->headers.at; p < end; p++) {
		uintptr_t at = f->bias + p->p_vaddr;

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X) || p->p_memsz == 0 ||
		    at + p->p_memsz < at)
			continue;
		if (f->end && at != f->end) {
			add(g, f);
			f->end = 0;
		}
		if (!f->end)
			f->start = at;
		f->end = at + p->p_memsz;
	}
	if (f->end)
		add(g, f);
}

static int gather_one(struct dl_phdr_info *info, size_t size, void *data)
{
	struct gather *g = data;
	struct object_details f = {0};
	const char *name = info->dlpi_name ? info->dlpi_name : "";
	size_t length = strlen(name) + 1;

	if (size >= offsetof(struct dl_phdr_info, dlpi_subs) + sizeof(info->dlpi_subs)) {
		g->list->adds = info->dlpi_adds;
		g->list->subs = info->dlpi_subs;
	}
	g->headers.count = memory_copy(g->headers.at, (uintptr_t)info->dlpi_phdr,
				       MIN((size_t)info->dlpi_phnum, (size_t)HEADERS_MAX) *
					       sizeof(ElfW(Phdr))) / sizeof(ElfW(Phdr));
	f.bias = info->dlpi_addr;
	describe(&g->headers, &f);
	f.is_vdso = g->vdso && f.low == g->vdso;
	f.is_main = g->first;
	g->first = false;
	f.path = g->names_wanted;
	g->names_wanted += length;
	if (g->names_wanted <= g->names_room)
		memcpy(g->list->names + f.path, name, length);
	add_ranges(g, &f);
	return 0;
}

int object_list_read(struct object_list *list)
{
	struct gather g = {.list = list, .vdso = getauxval(AT_SYSINFO_EHDR)};
	size_t details_room = FIRST_FACTS, names_room = FIRST_NAMES;

	memset(list, 0, sizeof(*list));
	do {
		object_list_free(list);
		g.details_room = details_room;
		g.names_room = names_room;
		g.details_wanted = g.names_wanted = 0;
		g.first = true;
		list->details = calloc(details_room, sizeof(*list->details));
		list->names = malloc(names_room);
		if (!list->details || !list->names) {
			object_list_free(list);
			return -ENOMEM;
		}
		dl_iterate_phdr(gather_one, &g);
		details_room = g.details_wanted * 2;
		names_room = g.names_wanted * 2;
	} while (g.details_wanted > g.details_room || g.names_wanted > g.names_room);
	return 0;
}

void object_list_free(struct object_list *list)
{
	free(list->details);
	free(list->names);
	memset(list, 0, sizeof(*list));
}

struct changes {
	uint64_t adds, subs;
};

static int note_changes(struct dl_phdr_info *info, size_t size, void *data)
{
	struct changes *now = data;

	if (size >= offsetof(struct dl_phdr_info, dlpi_subs) + sizeof(info->dlpi_subs)) {
		now->adds = info->dlpi_adds;
		now->subs = info->dlpi_subs;
	}
	return 1;
}

void object_list_changes(uint64_t *adds, uint64_t *subs)
{
	struct changes now = {0};

	dl_iterate_phdr(note_changes, &now);
	*adds = now.adds;
	*subs = now.subs;
}
