/*
 * decode_cache.c - what was decoded once: by pc, by the line of code a pc lies in, and the edges of stretches.
 *
 * Entries come from one arena and never change once a slot shows them, so readers need no lock; who comes late
 * finds no room and decodes anew (upkeep.c makes a fresh cache then).
 */
#include "agent/walk/decode.h"

bool decode_identity(const struct layout *l, uintptr_t nm, uintptr_t *method, uint32_t *compile_id)
{
	*compile_id = 0;
	return load_word(nm + (uintptr_t)l->nmethod_method, method) && *method &&
	       (l->nmethod_compile_id < 0 || load_u32(nm + (uintptr_t)l->nmethod_compile_id, compile_id));
}

static void *cache_room(struct decode_cache *c, size_t size)
{
	uint32_t at, bytes = (uint32_t)(size + 7) & ~7u;

	if (atomic_load_explicit(&c->used, memory_order_relaxed) + bytes > c->size)
		return NULL;
	at = atomic_fetch_add_explicit(&c->used, bytes, memory_order_relaxed);
	return at + bytes <= c->size ? (char *)c->arena + at : NULL;
}

static uint32_t cache_home(uint64_t key)
{
	return (uint32_t)(key * 0x9e3779b97f4a7c15ull >> 40);
}

/* Lines that follow each other are neighbours. */
static _Atomic(struct pc_range *) *pc_range_slot(struct decode_cache *c, uintptr_t line)
{
	return &c->pc_range[line % DECODE_LINES];
}

static _Atomic(struct decoded *) *pc_line_slot(struct decode_cache *c, uintptr_t line)
{
	return &c->near[line % DECODE_LINES];
}

/* A full neighbourhood loses its first entry. */
static void put_exact(struct decode_cache *c, struct decoded *e)
{
	uint32_t i, home = cache_home(e->key);

	for (i = 0; i < DECODE_PROBES; i++) {
		_Atomic(struct decoded *) *slot = &c->slot[(home + i) % DECODE_SLOTS];
		struct decoded *there = atomic_load_explicit(slot, memory_order_relaxed);

		if (!there || there->key == e->key) {
			atomic_store_explicit(slot, e, memory_order_release);
			return;
		}
	}
	atomic_store_explicit(&c->slot[home % DECODE_SLOTS], e, memory_order_release);
}

void decode_remember(struct decode_cache *c, const struct decoded *head, const struct frame_state *frame_state,
		     const uint64_t *frame)
{
	struct decoded *e = cache_room(c, sizeof(*e) + head->count * sizeof(e->frame[0]));
	uintptr_t line, pc = head->key >> 1;
	uint32_t i;

	if (!e)
		return;
	*e = *head;
	e->return_offset = frame_state->return_offset;
	e->own_size = frame_state->own_size;
	e->fp_saved = frame_state->fp_saved;
	e->linked = frame_state->linked;
	e->before = (uint16_t)MIN(pc - frame_state->first, UINT16_MAX);
	e->after = (uint16_t)MIN(frame_state->last - pc, UINT16_MAX);
	for (i = 0; i < head->count; i++)
		e->frame[i] = frame[i];
	for (line = frame_state->first / DECODE_LINE; (e->key & 1) && line <= frame_state->last / DECODE_LINE; line++)
		atomic_store_explicit(pc_line_slot(c, line), e, memory_order_release);
	put_exact(c, e);
}

void decode_prefetch(const struct decode_cache *c, uintptr_t pc)
{
	if (c)
		__builtin_prefetch((const void *)&c->near[pc / DECODE_LINE % DECODE_LINES]);
}

/* Whether the nmethod at BLOB still is the one of that METHOD and COMPILE_ID. */
static bool is_same(const struct layout *l, uintptr_t blob, uintptr_t method, uint32_t compile_id)
{
	uintptr_t there;
	uint32_t id;

	return decode_identity(l, blob, &there, &id) && there == method && id == compile_id;
}

/* What was decoded for an innermost frame a few instructions further, as long as it is the same here. */
static const struct decoded *lookup_near(struct decode_cache *c, uintptr_t pc)
{
	const struct decoded *e = atomic_load_explicit(pc_line_slot(c, pc / DECODE_LINE), memory_order_acquire);
	uintptr_t at = e ? e->key >> 1 : 0;

	return e && pc + e->before >= at && pc <= at + e->after ? e : NULL;
}

static const struct decoded *lookup_exact(struct decode_cache *c, uint64_t key)
{
	uint32_t i, home = cache_home(key);

	for (i = 0; i < DECODE_PROBES; i++) {
		const struct decoded *e = atomic_load_explicit(&c->slot[(home + i) % DECODE_SLOTS],
							       memory_order_acquire);

		if (!e || e->key == key)
			return e;
	}
	return NULL;
}

const struct decoded *decode_lookup(const struct layout *l, struct decode_cache *c, uintptr_t pc,
				    bool top)
{
	const struct decoded *e;

	if (!c)
		return NULL;
	e = top ? lookup_near(c, pc) : NULL;
	if (!e)
		e = lookup_exact(c, (uint64_t)pc << 1 | top);
	return e && is_same(l, e->blob, e->method, e->compile_id) ? e : NULL;
}

bool decode_frame_state(const struct layout *l, struct decode_cache *c, const struct blob *b, uintptr_t pc,
		 struct frame_state *frame_state)
{
	const struct pc_range *s;

	s = c ? atomic_load_explicit(pc_range_slot(c, pc / DECODE_LINE), memory_order_acquire) : NULL;
	if (!s || pc < s->frame_state.first || pc > s->frame_state.last || s->blob != b->address ||
	    !is_same(l, s->blob, s->method, s->compile_id))
		return false;
	*frame_state = s->frame_state;
	return true;
}

void decode_keep_frame_state(const struct layout *l, struct decode_cache *c, const struct blob *b,
		      const struct frame_state *frame_state)
{
	uintptr_t method, line;
	struct pc_range *s;
	uint32_t id;

	if (!c || !decode_identity(l, b->address, &method, &id))
		return;
	s = cache_room(c, sizeof(*s));
	if (!s)
		return;
	*s = (struct pc_range){b->address, method, id, *frame_state};
	for (line = frame_state->first / DECODE_LINE; line <= frame_state->last / DECODE_LINE; line++)
		atomic_store_explicit(pc_range_slot(c, line), s, memory_order_release);
}
