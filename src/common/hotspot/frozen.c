#include "common/hotspot/frozen.h"

#include "common/hotspot/flags.h"
#include "common/hotspot/layout.h"

#define ZGC_ALONE 24         /* has no other form than the one with generations any more (8335850) */
#define CHUNK_WORDS_MAX 64u  /* of a StackChunk's own fields */

static bool flag_is_set(const struct layout *l, const char *name, bool absent)
{
	bool value;

	return flag_read_bool(l, name, &value) ? value : absent;
}

static uintptr_t word_at(uintptr_t address)
{
	return *(const uintptr_t *)address;
}

/* ZGC's masks: its own variables, by pointers in a struct for debuggers. */
static bool coloured(struct frozen_layout *z, uintptr_t instance, int32_t bad, int32_t shift)
{
	uintptr_t globals = instance ? word_at(instance) : 0;

	if (!globals || bad < 0)
		return false;
	z->bad = *(const uintptr_t *const *)(globals + (uintptr_t)bad);
	z->address_shift = shift < 0 ? NULL : *(const size_t *const *)(globals + (uintptr_t)shift);
	return z->bad && (shift < 0 || z->address_shift);
}

static bool settle_mover(const struct layout *l, struct frozen_layout *z)
{
	z->mover = MOVES_STOPPED;
	if (flag_is_set(l, "UseShenandoahGC", false))
		z->mover = MOVES_FORWARDED;
	if (!flag_is_set(l, "UseZGC", false))
		return true;
	if (l->thread_vthread < 0)
		return false;
	if (l->jdk >= ZGC_ALONE || flag_is_set(l, "ZGenerational", false)) {
		z->mover = MOVES_COLOURED;
		return l->z_load_shift >= 0 && coloured(z, l->z_globals, l->z_load_bad, l->z_load_shift);
	}
	z->mover = MOVES_MARKED;
	return coloured(z, l->x_globals, l->x_bad, -1);
}

static bool settle_oops(const struct layout *l, struct frozen_layout *z)
{
	z->narrow_oops = flag_is_set(l, "UseCompressedOops", false);
	if (!z->narrow_oops)
		return true;
	if (!l->oop_base || !l->oop_shift)
		return false;
	z->oop_base = word_at(l->oop_base);
	z->oop_shift = *(const uint32_t *)l->oop_shift;
	return z->oop_shift < 8;
}

static bool settle_classes(const struct layout *l, struct frozen_layout *z)
{
	z->class_in_mark = flag_is_set(l, "UseCompactObjectHeaders", false);
	/* JDK 27 has narrow ones only. */
	z->narrow_classes = z->class_in_mark || flag_is_set(l, "UseCompressedClassPointers", true);
	z->mark_shift = (uint32_t)l->mark_class_shift;
	if (z->class_in_mark && (l->mark_class_shift <= 0 || l->mark_class_shift > 60))
		return false;
	if (!z->narrow_classes)
		return l->oop_class >= 0;
	if (!l->class_base || !l->class_shift || (!z->class_in_mark && l->oop_narrow_class < 0))
		return false;
	z->class_base = word_at(l->class_base);
	z->class_shift = *(const uint32_t *)l->class_shift;
	return z->class_shift < 32;
}

/* The stack begins where an object of the class without it would end. */
static bool settle_chunk(const struct layout *l, struct frozen_layout *z)
{
	uint32_t size;

	if (l->klass_layout_helper < 0 || l->klass_super < 0)
		return false;
	size = *(const uint32_t *)(z->at.chunk + (uintptr_t)l->klass_layout_helper);
	z->stack = size & ~(uint32_t)(sizeof(uintptr_t) - 1); /* the lowest bit: its instances are made in a slow way */
	return (int32_t)size > 0 && z->stack <= CHUNK_WORDS_MAX * sizeof(uintptr_t) &&
	       z->stack > (uint32_t)z->at.chunk_sp && z->stack > (uint32_t)z->at.chunk_parent;
}

static bool are_known(const struct layout *l, const struct frozen_fields *f)
{
	return (l->cont_return_pc || f->enter_special) && l->collected_heap && l->heap_active >= 0 &&
	       l->heap_collections >= 0 && f->thread_cont > 0 && f->cont_tail > 0 && f->chunk_parent > 0 &&
	       f->chunk_size > 0 && f->chunk_sp > 0 && (f->chunk_bottom > 0 || f->chunk_argsize > 0) && f->thread &&
	       f->continuation && f->chunk;
}

bool frozen_settle(struct layout *l, const struct frozen_fields *f)
{
	struct frozen_layout *z = &l->frozen;

	if (atomic_load(&z->ready))
		return true;
	if (sizeof(uintptr_t) < 8 || !are_known(l, f))
		return false;
	z->at = *f;
	z->heap = word_at(l->collected_heap);
	if (!z->heap || !settle_mover(l, z) || !settle_oops(l, z) || !settle_classes(l, z) || !settle_chunk(l, z))
		return false;
	atomic_store_explicit(&z->ready, true, memory_order_release);
	return true;
}
