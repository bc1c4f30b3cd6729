#include "collect/frames.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elf/elf.h"
#include "signal/frame_word.h"

static uint32_t text_number(struct frames *f, const char *text)
{
	return text ? strings_add(&f->strings, text, strlen(text)) : 0;
}

static uint64_t identity_of(const struct named_frame *n)
{
	uint64_t h = map_hash((uint64_t)n->class_name << 32 | n->name);

	h = map_hash(h ^ ((uint64_t)n->signature << 32 | n->library));
	return map_hash(h ^ ((uint64_t)(uint32_t)n->line << 8 | n->kind));
}

/* The number of a frame equal to N, made if need be. */
static uint32_t intern(struct frames *f, const struct named_frame *n)
{
	uint64_t key = identity_of(n);
	struct named_frame *item;
	uint32_t *slot;

	for (;; key++) {
		slot = map_put(&f->by_identity, key, NULL);
		if (!slot)
			goto no_memory;
		if (!*slot)
			break;
		item = &f->named.items[*slot - 1];
		if (item->class_name == n->class_name && item->name == n->name &&
		    item->signature == n->signature && item->library == n->library &&
		    item->line == n->line && item->kind == n->kind)
			return *slot - 1;
	}
	/* No frame by a half name: it would stand for others later. */
	item = f->strings.failed ? NULL : VECTOR_PUSH(&f->named);
	if (!item)
		goto no_memory;
	*item = *n;
	*slot = (uint32_t)f->named.count;
	return *slot - 1;
no_memory:
	f->no_memory = true;
	return FRAMES_NO_MEMORY;
}

uint32_t frames_marker(struct frames *f, const char *text)
{
	struct named_frame n = {.name = text_number(f, text), .kind = FRAME_OTHER};

	return intern(f, &n);
}

uint32_t frames_class(struct frames *f, uint32_t name)
{
	struct named_frame n = {.class_name = name, .kind = FRAME_OTHER};

	return intern(f, &n);
}

uint32_t frames_java(struct frames *f, const char *class_name, const char *name)
{
	struct named_frame n = {.class_name = text_number(f, class_name), .name = text_number(f, name),
				.kind = FRAME_INLINED};

	return intern(f, &n);
}

/* ---- Java ---- */

static uint32_t name_java(struct frames *f, const struct zone *z, uint64_t word, uint64_t era)
{
	struct seen_method *m = seen_at(&f->methods, z, &f->strings, frame_method(word), era);
	struct named_frame n = {.kind = (uint8_t)frame_kind_of(word)};

	if (!m)
		return frames_marker(f, "[unloaded]");
	n.class_name = m->names.class_name;
	n.name = m->names.name;
	n.signature = m->names.signature;
	if (f->lines && frame_bci(word) != FRAME_NO_BCI) {
		n.line = method_line(&z->layout, &m->chain, frame_bci(word));
		/* The table of a method that is gone by now may be anything. */
		if (!seen_still(&f->methods, z, &f->strings, m, era))
			n.line = 0;
	}
	return intern(f, &n);
}

/* ---- native ---- */

static uint32_t name_generated(struct frames *f, const struct zone *z, uintptr_t pc)
{
	const struct stub *s = stub_find(atomic_load(&z->stubs), pc);
	struct named_frame n = {.kind = FRAME_NATIVE};

	n.name = text_number(f, s ? s->name : "[jvm_stub]");
	return intern(f, &n);
}

/* ---- functions looked up before ---- */

/* The first range that ends behind ADDRESS. */
static size_t range_at(const struct frames *f, uint64_t address)
{
	size_t low = 0, high = f->ranges.count;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (f->ranges.items[mid].to <= address)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
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
		r = VECTOR_PUSH(&f->ranges);
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

/* A frame of its own for each address, until frames_name_late() has the names. */
static uint32_t name_later(struct frames *f, uint64_t address, enum frame_kind kind, uint32_t library,
			   uint32_t image)
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
	n.name = text_number(f, text);
	frame = intern(f, &n);
	if (frame == FRAMES_NO_MEMORY)
		return frame;
	late = VECTOR_PUSH(&f->late);
	/* Without a place in the list it keeps its address for a name. */
	f->named.items[frame].late = late != NULL;
	if (late)
		*late = (struct late_frame){.address = address, .frame = frame, .image = image,
					    .kernel = kind == FRAME_KERNEL};
	return frame;
}

/*
 * Whether images have come or gone since the last drain, 10 ms ago at short intervals: code in none of them may be of
 * one that came and went. Else somebody has generated it.
 */
static bool images_changed(const struct frames *f, const struct image_set *set)
{
	return image_set_is_stale(set) || (f->images_read && f->drain <= f->images_read + 1);
}

static uint32_t name_native(struct frames *f, const struct zone *z, uintptr_t pc)
{
	const struct image_set *set = atomic_load(&z->images);
	const struct image *image = set ? image_find(set, pc) : NULL;

	if (z->has_jvm && atomic_load(&z->layout.code_ready) && pc >= z->layout.code_low &&
	    pc < z->layout.code_high)
		return name_generated(f, z, pc);
	if (!image)
		return frames_marker(f, set && images_changed(f, set) ? "[unread_library]" : "[unknown]");
	return name_later(f, pc, FRAME_NATIVE, text_number(f, image->name), image->id);
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

struct late_frame *frames_take_late(struct frames *f, size_t *count)
{
	struct late_frame *late = f->late.items;

	*count = f->late.count;
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
		uint32_t name = text_number(f, names[i].name);

		frame->late = false;
		if (name)
			frame->name = name;
		if (name && names[i].from < names[i].to)
			keep_range(f, &late[i], &names[i]);
		if (names[i].full)
			frame->signature = text_number(f, names[i].full);
		free(names[i].name);
		free(names[i].full);
	}
}

void frames_name_late(struct frames *f, const struct zone *z)
{
	size_t count;
	struct late_frame *late = frames_take_late(f, &count);
	struct late_name *names = count ? calloc(count, sizeof(*names)) : NULL;

	if (names) {
		frames_look_up(z, late, count, names, NULL);
		frames_give_names(f, late, count, names);
	}
	free(names);
	free(late);
}

/* ---- all ---- */

static uint32_t name_other(struct frames *f, uint64_t word)
{
	uint32_t end = (uint32_t)word;

	if (frame_other_kind(word) == OTHER_VIRTUAL)
		return frames_marker(f, "[virtual_thread]");
	return frames_marker(f, end < WALK_ENDS ? walk_end_names[end].frame : "[unknown]");
}

/* Native code is of the image mapped there; another one may come to its place. */
static uint32_t image_version(const struct zone *z, uintptr_t pc)
{
	const struct image_set *set = atomic_load(&z->images);
	const struct image *image = set ? image_find(set, pc) : NULL;

	return image ? image->id : 0;
}

uint32_t frames_version(struct frames *f, const struct zone *z, uint64_t word, uint64_t era)
{
	struct seen_method *m;

	if (!frame_is_java(word))
		return frame_kind_of(word) == FRAME_NATIVE ? image_version(z, frame_address(word)) : 0;
	m = seen_at(&f->methods, z, &f->strings, frame_method(word), era);
	return m ? m->version : FRAMES_GONE;
}

static uint64_t key_of(const struct frames *f, uint64_t word, uint32_t version)
{
	if (frame_is_java(word) && !f->lines)
		word |= FRAME_NO_BCI;
	return version ? map_hash(word + version) : word;
}

uint32_t frames_name(struct frames *f, const struct zone *z, uint64_t word, uint64_t era)
{
	uint32_t version, frame, *known;
	uint64_t key;

	f->no_memory = f->strings.failed = false;
	version = frames_version(f, z, word, era);
	key = key_of(f, word, version);
	known = version == FRAMES_GONE ? NULL : map_get(&f->by_word, key);
	if (known)
		return *known - 1;
	switch (frame_kind_of(word)) {
	case FRAME_NATIVE:
		frame = name_native(f, z, frame_address(word));
		break;
	case FRAME_KERNEL:
		frame = name_later(f, frame_address(word), FRAME_KERNEL, 0, 0);
		break;
	case FRAME_OTHER:
		frame = name_other(f, word);
		break;
	default:
		frame = name_java(f, z, word, era);
	}
	if (f->no_memory || f->strings.failed)
		return FRAMES_NO_MEMORY;
	known = version == FRAMES_GONE ? NULL : map_put(&f->by_word, key, NULL);
	if (known)
		*known = frame + 1;
	return frame;
}

void frames_free(struct frames *f)
{
	strings_free(&f->strings);
	free(f->named.items);
	free(f->late.items);
	free(f->ranges.items);
	map_free(&f->by_word);
	map_free(&f->by_identity);
	seen_free(&f->methods);
	memset(f, 0, sizeof(*f));
}
