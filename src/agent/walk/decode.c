#include "agent/walk/decode.h"
#include "agent/walk/guards.h"
#include "context.h"
#include "cpu.h"

#define SENTINELS 2     /* PcDescs at both ends of the array that describe nothing */
#define SCOPES_MAX 64   /* methods inlined into each other that are compared */

struct scope {
	uint32_t sender; /* 0: the outermost */
	uint32_t method; /* index into the metadata, from 1 on */
	uint32_t bci;
};

/* A bounded reader of scope bytes. */
struct scope_reader {
	uintptr_t at;
	bool biased;             /* JDK 20+ (8292758) */
	bool failed;
};

/*
 * UNSIGNED5 (compressedStream.hpp): up to five bytes; one below 192 ends the number,
 * each counts 64 times more than the one before. Since JDK 20 every byte is stored plus one.
 */
static uint32_t read_int(struct scope_reader *r)
{
	uint32_t sum = 0, byte, i;

	for (i = 0; i < 5; i++) {
		if (r->failed || !load_u8(r->at++, &byte)) {
			r->failed = true;
			return 0;
		}
		sum += (byte - (r->biased ? 1 : 0)) << (6 * i);
		if (byte < 192)
			break;
	}
	return sum;
}

static bool int_at(uintptr_t base, int32_t offset, uint32_t *value)
{
	return load_u32(base + (uintptr_t)offset, value);
}

/* Where scopes begin: 8 keeps an offset, 9 to 22 a pointer. */
static bool old_scopes(const struct layout *l, uintptr_t nm, uintptr_t *scopes)
{
	uint32_t offset;

	if (l->nmethod_scopes_begin >= 0)
		return load_word(nm + (uintptr_t)l->nmethod_scopes_begin, scopes);
	if (!int_at(nm, l->nmethod_scopes_offset, &offset))
		return false;
	*scopes = nm + offset;
	return true;
}

/* ..22: everything behind the nmethod's header. */
static bool info_old(const struct layout *l, uintptr_t nm, struct debug_info *d)
{
	uint32_t pcs, end, metadata;

	if (!int_at(nm, l->nmethod_pcs_offset, &pcs) || !int_at(nm, l->nmethod_dependencies, &end) ||
	    !int_at(nm, l->nmethod_metadata, &metadata) || !old_scopes(l, nm, &d->scopes))
		return false;
	d->pcs = nm + pcs;
	d->pcs_end = nm + end;
	d->metadata = nm + metadata;
	return true;
}

/* 23+: in malloc'ed memory that is freed with the nmethod. */
static bool info_young(const struct layout *l, uintptr_t nm, struct debug_info *d)
{
	uint32_t pcs, scopes, data;
	uint64_t metadata;
	uintptr_t immutable;

	if (!load_word(nm + (uintptr_t)l->nmethod_immutable, &immutable) ||
	    !int_at(nm, l->nmethod_pcs_offset, &pcs) || !int_at(nm, l->nmethod_scopes_offset, &scopes))
		return false;
	d->pcs = immutable + pcs;
	d->scopes = d->pcs_end = immutable + scopes;
	if (l->blob_mutable_data >= 0) { /* 25+ */
		if (!load_word(nm + (uintptr_t)l->blob_mutable_data, &d->metadata) ||
		    !int_at(nm, l->blob_relocation_size, &data))
			return false;
		d->metadata += data;
		return true;
	}
	if (!int_at(nm, l->blob_data_offset, &data) || l->nmethod_metadata < 0 ||
	    !load_field(nm + (uintptr_t)l->nmethod_metadata, l->nmethod_metadata_width, &metadata))
		return false;
	d->metadata = nm + data + metadata;
	return true;
}

static enum frame_kind kind_of_level(uint32_t level)
{
	return level == 0 ? FRAME_WRAPPER : level < 4 ? FRAME_C1 : FRAME_C2;
}

/* A pointer to something aligned in user memory: what a frame word can hold. */
static bool is_pointer(uintptr_t p)
{
	return p >= 4096 && p < USER_ADDRESS_END && !(p & 7);
}

bool decode_info(const struct layout *l, uintptr_t nm, struct debug_info *d)
{
	uint64_t level;

	if (!decode_identity(l, nm, &d->method, &d->compile_id) || !is_pointer(d->method) ||
	    !load_field(nm + (uintptr_t)l->nmethod_comp_level, l->nmethod_comp_level_width, &level))
		return false;
	d->kind = kind_of_level((uint32_t)level);
	return l->nmethod_immutable < 0 ? info_old(l, nm, d) : info_young(l, nm, d);
}

/*
 * The first PcDesc at or behind OFFSET (from the code's begin), the offset it is for and, in BEFORE (or NULL),
 * that of the one before it; 0 = none.
 * The array has a sentinel at both ends (-1 and the maximum).
 */
static bool find_desc(const struct layout *l, const struct debug_info *d, uint32_t offset,
		      uintptr_t *desc, uint32_t *pc, uint32_t *before)
{
	uintptr_t size = (uintptr_t)l->pcdesc_size;
	uint64_t low = 0, high = d->pcs_end > d->pcs ? (d->pcs_end - d->pcs) / size : 0;
	uint64_t count = high;

	*desc = 0;
	while (low < high) {
		uint64_t middle = (low + high) / 2;

		if (!int_at(d->pcs + middle * size, l->pcdesc_pc, pc))
			return false;
		if ((int32_t)*pc < (int32_t)offset)
			low = middle + 1;
		else
			high = middle;
	}
	if (low + 1 >= count)
		return true;
	if (!int_at(d->pcs + low * size, l->pcdesc_pc, pc))
		return false;
	if (*pc == (uint32_t)INT32_MAX) /* the sentinel */
		return true;
	if (before && (low == 0 || !int_at(d->pcs + (low - 1) * size, l->pcdesc_pc, before)))
		return false;
	*desc = d->pcs + low * size;
	return true;
}

/*
 * Scope offset of the PcDesc for PC, 0 = none. E is narrowed to the pcs whose scope it is too. A sampled
 * pc (TOP) is described by the first PcDesc behind its instruction, a return address by its own.
 */
static bool find_scope(const struct layout *l, const struct debug_info *d, const struct blob *b, uintptr_t pc,
		       bool top, uint32_t *scope, struct frame_state *e)
{
	uint32_t at, before;
	uintptr_t desc;

	*scope = 0;
	if (!find_desc(l, d, (uint32_t)(pc - b->code) + top, &desc, &at, &before))
		return false;
	if (!desc || !top) {
		e->first = e->last = pc;
	} else {
		e->first = MAX(e->first, before == UINT32_MAX ? b->code : b->code + before);
		e->last = MIN(e->last, b->code + at - 1);
	}
	return !desc || int_at(desc, l->pcdesc_scope, scope);
}

uintptr_t decode_described(const struct layout *l, const struct blob *b, uintptr_t pc, bool is_return)
{
	struct debug_info d;
	uintptr_t desc;
	uint32_t at;

	if (!decode_info(l, b->address, &d))
		return 0;
	/* A native method's wrapper has no such table, and mostly nothing on top of its frame for a call. */
	if (d.kind == FRAME_WRAPPER)
		return is_return && !CPU_PUSHES_ARGUMENTS && !CPU_WRAPPER_PUSHES ? pc : 0;
	return find_desc(l, &d, (uint32_t)(pc - b->code), &desc, &at, NULL) && desc ? b->code + at : 0;
}

bool decode_next(const struct layout *l, const struct debug_info *d, uint32_t offset, struct described *found)
{
	uintptr_t desc;

	*found = (struct described){UINT32_MAX, 0};
	return find_desc(l, d, offset, &desc, &found->offset, NULL) &&
	       (desc ? int_at(desc, l->pcdesc_scope, &found->scope) : (found->offset = UINT32_MAX, true));
}

/* The JVM keeps an oop map for each place where a thread may stop, and a PcDesc for each of these at least. */
bool decode_is_sparse(const struct layout *l, const struct debug_info *d, uintptr_t nm)
{
	uintptr_t maps;
	uint32_t count;

	return l->blob_oop_maps >= 0 && l->oop_map_count >= 0 && d->pcs_end > d->pcs &&
	       load_word(nm + (uintptr_t)l->blob_oop_maps, &maps) && maps &&
	       load_u32(maps + (uintptr_t)l->oop_map_count, &count) &&
	       (d->pcs_end - d->pcs) / (uintptr_t)l->pcdesc_size <= (uintptr_t)count + SENTINELS;
}

/* The scope at offset SCOPE. False: it cannot be read. */
static bool read_scope(const struct layout *l, const struct debug_info *d, uint32_t scope, struct scope *s)
{
	struct scope_reader r = {d->scopes + scope, l->scope_bytes_biased, false};

	s->sender = read_int(&r);
	s->method = read_int(&r);
	s->bci = read_int(&r) - 1;
	return !r.failed && s->sender < scope;
}

/* The Method* of scope S. */
static bool method_of(const struct debug_info *d, const struct scope *s, uintptr_t *method)
{
	return s->method && s->method <= 1u << 20 &&
	       load_word(d->metadata + (s->method - 1) * sizeof(uintptr_t), method) && is_pointer(*method);
}

bool decode_same_methods(const struct layout *l, const struct debug_info *d, uint32_t a, uint32_t b)
{
	uint32_t i;

	for (i = 0; i < SCOPES_MAX && a != b; i++) {
		struct scope x = {0, 0, 0}, y = {0, 0, 0};
		uintptr_t one, other;

		if ((a && !read_scope(l, d, a, &x)) || (b && !read_scope(l, d, b, &y)))
			return false;
		if (!x.sender || !y.sender) /* the method itself */
			return !x.sender && !y.sender;
		if (x.method != y.method && (!method_of(d, &x, &one) || !method_of(d, &y, &other) || one != other))
			return false;
		a = x.sender;
		b = y.sender;
	}
	return a == b;
}

/* Append the chain of scopes that begins at SCOPE; the last one, or OUTERMOST alone, is the nmethod's own method. */
static bool append_scopes(const struct layout *l, const struct debug_info *d, uint32_t scope, bool outermost,
			  struct stack_trace_writer *w)
{
	while (scope) {
		uintptr_t method;
		struct scope s;

		if (!read_scope(l, d, scope, &s) || !method_of(d, &s, &method))
			return false;
		if (!(outermost && s.sender) &&
		    !stack_trace_put(w, frame_java(s.sender ? FRAME_INLINED : d->kind, method,
						   s.bci > 0xfffe ? FRAME_NO_BCI : s.bci)))
			return true;
		scope = s.sender;
	}
	return true;
}

/* Whether the chain from a ConstMethod to the class that holds it can be followed. */
static bool read_method(const struct layout *l, uintptr_t constant, uint32_t *code_size)
{
	uintptr_t pool, holder;

	return is_pointer(constant) && load_word(constant + (uintptr_t)l->const_pool, &pool) &&
	       is_pointer(pool) && load_word(pool + (uintptr_t)l->pool_holder, &holder) &&
	       is_pointer(holder) &&
	       load_u16(constant + (uintptr_t)l->const_code_size, code_size);
}

bool decode_method(const struct layout *l, struct decode_cache *c, uintptr_t address, struct method *m)
{
	struct known_method *known = c ? &c->method[(address >> 4) % DECODE_METHODS] : NULL;
	uintptr_t constant;
	uint64_t word;

	if (!is_pointer(address) || !load_word(address + (uintptr_t)l->method_const, &constant))
		return false;
	m->address = address;
	m->code = constant + (uintptr_t)l->const_size;
	if (known && atomic_load_explicit(&known->method, memory_order_relaxed) == address) {
		word = atomic_load_explicit(&known->constant_size, memory_order_relaxed);
		m->code_size = (uint32_t)word & 0xffff;
		if (word >> 16 == constant)
			return true;
	}
	if (!read_method(l, constant, &m->code_size))
		return false;
	if (known) {
		atomic_store_explicit(&known->method, address, memory_order_relaxed);
		atomic_store_explicit(&known->constant_size, (uint64_t)constant << 16 | m->code_size,
				      memory_order_relaxed);
	}
	return true;
}

/* Whether PC of nmethod B, a return address, is that of a call of Java code or of the JVM, where a thread may stop. */
static bool may_stop(const struct layout *l, const struct debug_info *d, const struct blob *b, uintptr_t pc)
{
	struct described at;

	return !decode_next(l, d, (uint32_t)(pc - b->code), &at) || at.offset == pc - b->code;
}

/*
 * SCOPE that PC of nmethod B stands in: as the described places around it say, if only such places are described, else
 * as find_scope(). UNSURE: those places disagree. So it is for an innermost pc (TOP) and behind calls of leaf routines.
 */
static bool innermost_scope(const struct layout *l, const struct debug_info *d, const struct blob *b, uintptr_t pc,
			    bool top, struct frame_state *e, uint32_t *scope, bool *unsure)
{
	struct guarded g;

	*scope = 0;
	if (e->part == FRAME_EPILOGUE)
		return true;
	if (e->part != FRAME_PROLOGUE && d->kind != FRAME_WRAPPER && (top || !may_stop(l, d, b, pc)) &&
	    decode_is_sparse(l, d, b->address)) {
		if (guards_find(l, b, d, pc, !top, &g)) {
			e->first = MAX(e->first, g.first);
			e->last = MIN(e->last, g.last);
			*scope = g.scope;
			*unsure = g.unsure;
			return true;
		}
		*unsure = true;
	}
	return e->part == FRAME_TAIL || find_scope(l, d, b, pc, top, scope, e);
}

bool decode_nmethod(const struct layout *l, struct decode_cache *c, const struct blob *b, uintptr_t pc,
		    bool top, const struct frame_state *frame_state, struct stack_trace_writer *w)
{
	size_t before = (size_t)(w->pos - w->trace->frame);
	struct frame_state here = *frame_state;
	struct debug_info d;
	bool whole = true, unsure = false;
	uint32_t scope;

	if (!decode_info(l, b->address, &d) || !innermost_scope(l, &d, b, pc, top, &here, &scope, &unsure))
		return false;
	if (scope && !append_scopes(l, &d, scope, frame_state->part == FRAME_PROLOGUE, w)) {
		w->pos = w->trace->frame + before;
		scope = 0;
		whole = false;
	}
	if (!scope && !stack_trace_put(w, frame_java(d.kind, d.method, FRAME_NO_BCI)))
		return false;
	if (w->full)
		return false;
	w->unsure |= unsure;
	/* What could not be read now may be another time. */
	if (c && whole && frame_state->fixed)
		decode_remember(c, &(struct decoded){.key = (uint64_t)pc << 1 | top, .blob = b->address,
						     .method = d.method, .compile_id = d.compile_id,
						     .frame_bytes = b->frame_bytes, .unsure = unsure,
						     .count = (uint32_t)((size_t)(w->pos - w->trace->frame) - before)},
				&here, w->trace->frame + before);
	return true;
}
