#include "agent/collect/names/named_frames.h"

#include <stdlib.h>
#include <string.h>

#include "agent/zone/frame_word.h"
#include "common/base/hash.h"
#include "common/elf/elf.h"

static uint64_t identity_of(const struct named_frame *n)
{
	uint64_t h = hash_mix((uint64_t)n->class_name << 32 | n->name);

	h = hash_mix(h ^ ((uint64_t)n->signature << 32 | n->library));
	return hash_mix(h ^ ((uint64_t)(uint32_t)n->line << 8 | n->kind));
}

struct wanted {
	const struct frames *frames;
	const struct named_frame *frame;
};

static bool is_frame(uint32_t number, const void *wanted)
{
	const struct wanted *w = wanted;
	const struct named_frame *item = &w->frames->named.items[number - 1], *n = w->frame;

	return item->class_name == n->class_name && item->name == n->name && item->signature == n->signature &&
	       item->library == n->library && item->line == n->line && item->kind == n->kind;
}

uint32_t frames_intern(struct frames *f, const struct named_frame *n)
{
	uint32_t *slot = map_intern(&f->by_identity, identity_of(n), is_frame, &(struct wanted){f, n});
	struct named_frame *item;

	if (!slot)
		goto no_memory;
	if (*slot)
		return *slot - 1;
	/* No frame by a half name: it would stand for others later. */
	item = f->strings.failed ? NULL : PAGED_PUSH(&f->named);
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
	struct named_frame n = {.name = frames_text(f, text), .kind = FRAME_OTHER};

	return frames_intern(f, &n);
}

uint32_t frames_target(struct frames *f, uint32_t name)
{
	struct named_frame n = {.name = name, .kind = FRAME_OTHER};

	return frames_intern(f, &n);
}

uint32_t frames_lock(struct frames *f, uint32_t name, uint32_t number)
{
	struct named_frame n = {.class_name = name, .line = (int32_t)number, .kind = FRAME_OTHER};

	return frames_intern(f, &n);
}

uint32_t frames_class(struct frames *f, uint32_t name)
{
	return frames_lock(f, name, 0);
}

static const char *text_or_null(const struct frames *f, uint32_t number)
{
	return number ? strings_get(&f->strings, number) : NULL;
}

struct profile_frame frames_spelled(const struct frames *f, uint32_t number)
{
	const struct named_frame *n = &f->named.items[number];

	return (struct profile_frame){
		.class_name = text_or_null(f, n->class_name),
		.name = strings_get(&f->strings, n->name),
		.signature = text_or_null(f, n->signature),
		.library = text_or_null(f, n->library),
		.line = n->line,
		.kind = n->kind,
	};
}

/* ---- Java ---- */

static uint32_t name_java(struct frames *f, const struct zone *z, uint64_t word, uint64_t epoch)
{
	struct method_identity *m = method_identities_at(&f->methods, z, &f->strings, frame_method(word), epoch);
	struct named_frame n = {.kind = (uint8_t)frame_kind_of(word)};

	if (!m)
		return frames_marker(f, "[unloaded]");
	n.class_name = m->names.class_name;
	n.name = m->names.name;
	n.signature = m->names.signature;
	if (f->lines && frame_bci(word) != FRAME_NO_BCI) {
		n.line = method_line(&z->layout, &m->chain, frame_bci(word));
		/* The table of a method that is gone by now may be anything. */
		if (!method_identities_still(&f->methods, z, &f->strings, m, epoch))
			n.line = 0;
	}
	return frames_intern(f, &n);
}

/* ---- native ---- */

static uint32_t name_generated(struct frames *f, const struct zone *z, uintptr_t pc)
{
	const struct stub *s = stub_find(atomic_load(&z->stubs), pc);
	struct named_frame n = {.kind = FRAME_NATIVE};

	n.name = frames_text(f, s ? s->name : "[jvm_stub]");
	return frames_intern(f, &n);
}

/*
 * Whether images have come or gone since the last drain, 10 ms ago at short intervals: code in none of them may be of
 * one that came and went. Else it was generated.
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
	return frames_later(f, pc, FRAME_NATIVE, frames_text(f, image->name), image->id);
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

uint32_t frames_version(struct frames *f, const struct zone *z, uint64_t word, uint64_t epoch)
{
	struct method_identity *m;

	if (!frame_is_java(word))
		return frame_kind_of(word) == FRAME_NATIVE ? image_version(z, frame_address(word)) : 0;
	m = method_identities_at(&f->methods, z, &f->strings, frame_method(word), epoch);
	return m ? m->version : FRAMES_GONE;
}

static uint64_t key_of(const struct frames *f, uint64_t word, uint32_t version)
{
	if (frame_is_java(word) && !f->lines)
		word |= FRAME_NO_BCI;
	return version ? hash_mix(word + version) : word;
}

uint32_t frames_name(struct frames *f, const struct zone *z, uint64_t word, uint64_t epoch)
{
	uint32_t version, frame, *known;
	uint64_t key;

	f->no_memory = f->strings.failed = false;
	version = frames_version(f, z, word, epoch);
	key = key_of(f, word, version);
	known = version == FRAMES_GONE ? NULL : map_get(&f->by_word, key);
	if (known)
		return *known - 1;
	switch (frame_kind_of(word)) {
	case FRAME_NATIVE:
		frame = name_native(f, z, frame_address(word));
		break;
	case FRAME_KERNEL:
		frame = frames_later(f, frame_address(word), FRAME_KERNEL, 0, 0);
		break;
	case FRAME_OTHER:
		frame = name_other(f, word);
		break;
	default:
		frame = name_java(f, z, word, epoch);
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
	PAGED_FREE(&f->named);
	PAGED_FREE(&f->late);
	PAGED_FREE(&f->ranges);
	map_free(&f->by_word);
	map_free(&f->by_identity);
	method_identities_free(&f->methods);
	memset(f, 0, sizeof(*f));
}
