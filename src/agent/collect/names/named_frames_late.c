/*
 * named_frames_late.c - names of native and kernel code, looked up long after the sample: an address stands for the
 * frame until then. A function that was looked up once is known from then on.
 */
#include "agent/collect/names/named_frames.h"

#include <stdio.h>
#include <stdlib.h>

#include "agent/zone/frame_word.h"
#include "common/base/base.h"
#include "common/elf/elf.h"

/* The first range that ends behind ADDRESS. */
static size_t range_at(const struct frames *f, uint64_t address)
{
	return SEARCH(f->ranges.count, i, f->ranges.items[i].to <= address);
}

/*
 * Symbol tables are large: a function that was looked up once is known from then on, wherever in it an address
 * lies. What was known of another image at the same place goes.
 */
static void keep_range(struct frames *f, const struct late_frame *late, const struct late_name *name)
{
	size_t at = range_at(f, name->from), past = at;
	struct named_range *r;

	while (past < f->ranges.count && f->ranges.items[past].from < name->to)
		past++;
	if (past == at) {
		r = PAGED_PUSH(&f->ranges);
		if (!r)
			return;
		memmove(f->ranges.items + at + 1, f->ranges.items + at, (f->ranges.count - 1 - at) * sizeof(*r));
	} else if (past > at + 1) {
		memmove(f->ranges.items + at + 1, f->ranges.items + past,
			(f->ranges.count - past) * sizeof(*r));
		f->ranges.count -= past - at - 1;
	}
	r = &f->ranges.items[at];
	*r = (struct named_range){name->from, name->to, late->frame, late->image};
}

uint32_t frames_later(struct frames *f, uint64_t address, enum frame_kind kind, uint32_t library, uint32_t image)
{
	size_t at = range_at(f, address);
	const struct named_range *r = at < f->ranges.count ? &f->ranges.items[at] : NULL;
	struct named_frame n = {.library = library, .kind = (uint8_t)kind};
	struct late_frame *late;
	uint32_t frame;
	char text[32];

	if (r && r->from <= address && r->image == image)
		return r->frame;
	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)address);
	n.name = frames_text(f, text);
	frame = frames_intern(f, &n);
	if (frame == FRAMES_NO_MEMORY)
		return frame;
	late = PAGED_PUSH(&f->late);
	/* Without a place in the list it keeps its address for a name. */
	f->named.items[frame].late = late != NULL;
	if (late)
		*late = (struct late_frame){.address = address, .frame = frame, .image = image,
					    .kernel = kind == FRAME_KERNEL};
	return frame;
}

/* The function at PC; the image in brackets if it has no symbol there. */
static struct late_name symbol_name(const struct zone *z, uintptr_t pc, uint32_t id)
{
	const struct image_set *set = atomic_load(&z->images);
	const struct image *image = set ? image_find(set, pc) : NULL;
	const char *symbol = image ? image_symbol(image, pc, NULL) : NULL;
	struct late_name n = {.name = symbol ? demangle(symbol) : NULL};
	uintptr_t from, to;

	if (n.name)
		n.full = demangle_full(symbol);
	else if (symbol)
		n.name = strdup(symbol);
	else if (image && asprintf(&n.name, "[%s]", image->name) < 0)
		n.name = NULL;
	if (symbol && n.name && image->id == id && image_symbol_range(image, pc, &from, &to)) {
		n.from = from;
		n.to = to;
	}
	return n;
}

/* All kernel addresses in one pass over kallsyms. */
static void look_up_kernel(const struct late_frame *late, size_t count,
			   struct late_name *names)
{
	uint64_t *addresses = calloc(count, sizeof(*addresses));
	char **found = calloc(count, sizeof(*found));
	struct kernel_range *ranges = calloc(count, sizeof(*ranges));
	struct error err;
	size_t i, n = 0;

	if (!addresses || !found || !ranges)
		goto out;
	for (i = 0; i < count; i++)
		if (late[i].kernel)
			addresses[n++] = late[i].address;
	if (n == 0 || kernel_symbols(addresses, n, found, ranges, &err))
		goto out;
	for (i = n = 0; i < count; i++)
		if (late[i].kernel) {
			names[i].name = found[n];
			names[i].from = ranges[n].from;
			names[i].to = ranges[n++].to;
		}
out:
	free(addresses);
	free(ranges);
	free(found);
}

struct late_frames frames_take_late(struct frames *f)
{
	struct late_frames late = f->late;

	memset(&f->late, 0, sizeof(f->late));
	return late;
}

/* The same by a table that stays in memory. */
static void look_up_kernel_kept(struct kernel_table **kernel, const struct late_frame *late, size_t count,
				struct late_name *names)
{
	struct kernel_range range;
	struct error ignored;
	size_t i;

	for (i = 0; i < count; i++) {
		if (!late[i].kernel)
			continue;
		if (!*kernel)
			*kernel = kernel_table_read(&ignored);
		if (!*kernel)
			return;
		names[i].name = kernel_table_name(*kernel, late[i].address, &range);
		names[i].from = range.from;
		names[i].to = range.to;
	}
}

void frames_look_up(const struct zone *z, const struct late_frame *late, size_t count,
		    struct late_name *names, struct kernel_table **kernel)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (!late[i].kernel)
			names[i] = symbol_name(z, late[i].address, late[i].image);
	if (kernel) {
		look_up_kernel_kept(kernel, late, count, names);
		return;
	}
	look_up_kernel(late, count, names);
	frames_forget_symbols(z, NULL);
}

void frames_forget_symbols(const struct zone *z, struct kernel_table **kernel)
{
	if (kernel) {
		kernel_table_free(*kernel);
		*kernel = NULL;
	}
	if (atomic_load(&z->images))
		image_symbols_release(atomic_load(&z->images));
}

void frames_give_names(struct frames *f, const struct late_frame *late, size_t count,
		       struct late_name *names)
{
	size_t i;

	for (i = 0; i < count; i++) {
		struct named_frame *frame = &f->named.items[late[i].frame];
		uint32_t name = frames_text(f, names[i].name);

		frame->late = false;
		if (name)
			frame->name = name;
		if (name && names[i].from < names[i].to)
			keep_range(f, &late[i], &names[i]);
		if (names[i].full)
			frame->signature = frames_text(f, names[i].full);
		free(names[i].name);
		free(names[i].full);
	}
}

void frames_name_late(struct frames *f, const struct zone *z)
{
	struct late_frames late = frames_take_late(f);
	struct late_name *names = late.count ? calloc(late.count, sizeof(*names)) : NULL;

	if (names) {
		frames_look_up(z, late.items, late.count, names, NULL);
		frames_give_names(f, late.items, late.count, names);
	}
	free(names);
	PAGED_FREE(&late);
}
