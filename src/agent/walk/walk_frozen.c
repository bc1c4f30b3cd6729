/*
 * walk_frozen.c - a virtual thread's frames that are not on the stack: from the barrier that its outermost thawed frame
 * returns to, to the chunks in the heap (common/hotspot/frozen.h).
 *
 * They lie there as they did on the stack, but for the links to interpreted frames, which are relative:
 *
 *   sp - 2   a word like the caller's saved fp; to an interpreted frame: how many words from here to its fp
 *   sp - 1   pc of this frame
 *   sp       …
 *
 * Oops in them may be narrow and a collector may have left a bitmap behind them: no matter to who looks for pcs only.
 *
 * What is seen must be the callers of the frames on the stack, or nothing is shown:
 * - While the JVM freezes, its last Java frame is the entry (unwind_frames), and a chunk's sp is the last that it
 *   writes: before that the chunk has the callers, behind it the frames that are still on the stack, too, the innermost
 *   one being that which called Continuation.doYield. Where it freezes for a lock (24+, 8338383), none is shown.
 * - While it thaws, the thread stands in the barrier behind its first instruction, or, where it goes on after a park,
 *   in the stub that Continuation.enterSpecial calls for it, whose return address is gone. The frames that are on
 *   their way are left out, and the stack says so there.
 * - No object moved meanwhile: at the end the way to the chunk is the same again, and so are the count of collections
 *   (Serial, Parallel, G1), or ZGC's colours with each pointer in the present one. Shenandoah leaves an old copy
 *   alone, to which only a thread that runs writes, until all threads' pointers lead to the new one.
 * - The outermost method is the one that Continuation.enterSpecial calls.
 */
#include "agent/walk/walk.h"

#include "agent/walk/decode.h"

#define ARGUMENTS_MAX 4096u  /* bytes between a frame and the entry: of its arguments */
#define EMPTY_MAX 64         /* chunks without frames in a row */
#define CHUNK_MAX (1u << 27) /* words */
#define SUPER_MAX 3          /* from a class to Continuation: VThreadContinuation is the first below it */
#define COLOUR_BITS 16       /* below the address of a coloured pointer */
#define FORWARDED 3u         /* the lowest bits of a mark word that is an address */

struct chunk {
	uintptr_t address, stack; /* the object; its words */
	uint32_t sp, bottom;      /* in words */
};

static const struct frozen_layout *layout_of(const struct walk *w)
{
	return &w->l->frozen;
}

/* ---- objects ---- */

/* ZGC: the address of coloured pointer V; NULL has a colour, too. False: what it points to may have moved. */
static bool uncolour(const struct frozen_layout *z, uint64_t v, uintptr_t *object)
{
	uintptr_t bad, shift = 0;

	if (!(v >> COLOUR_BITS)) {
		*object = 0;
		return true;
	}
	if (!load_word((uintptr_t)z->bad, &bad) || (v & bad) ||
	    (z->address_shift && !load_word((uintptr_t)z->address_shift, &shift)) || shift > 32)
		return false;
	*object = (uintptr_t)(v >> shift);
	return true;
}

/* Where OBJECT is now. */
static bool settle(const struct frozen_layout *z, uintptr_t *object)
{
	uintptr_t mark;

	if (z->mover != MOVES_FORWARDED || !*object)
		return true;
	if (!load_word(*object, &mark))
		return false;
	if ((mark & FORWARDED) == FORWARDED)
		*object = mark & ~(uintptr_t)FORWARDED;
	return true;
}

/* The object that the field at ADDRESS points to, 0: none. */
static bool load_oop(const struct frozen_layout *z, uintptr_t address, uintptr_t *object)
{
	uint32_t narrow;
	uint64_t wide;

	if (z->narrow_oops) {
		if (!load_u32(address, &narrow))
			return false;
		*object = narrow ? z->oop_base + ((uintptr_t)narrow << z->oop_shift) : 0;
		return settle(z, object);
	}
	if (!load_u64(address, &wide))
		return false;
	if (z->mover == MOVES_COLOURED || z->mover == MOVES_MARKED)
		return uncolour(z, wide, object);
	*object = (uintptr_t)wide;
	return settle(z, object);
}

static bool class_of(const struct walk *w, uintptr_t object, uintptr_t *class)
{
	const struct frozen_layout *z = layout_of(w);
	uint64_t mark;
	uint32_t narrow;

	if (z->class_in_mark) {
		if (!load_u64(object, &mark))
			return false;
		narrow = (uint32_t)(mark >> z->mark_shift);
	} else if (!z->narrow_classes) {
		return load_word(object + (uintptr_t)w->l->oop_class, class);
	} else if (!load_u32(object + (uintptr_t)w->l->oop_narrow_class, &narrow)) {
		return false;
	}
	*class = z->class_base + ((uintptr_t)narrow << z->class_shift);
	return true;
}

static bool is_a(const struct walk *w, uintptr_t object, uintptr_t class)
{
	uintptr_t its;
	int i;

	if (!object || !class_of(w, object, &its))
		return false;
	for (i = 0; i < SUPER_MAX && its != class; i++)
		if (!load_word(its + (uintptr_t)w->l->klass_super, &its))
			return false;
	return its == class;
}

/* ---- the way to a chunk ---- */

/* The entry of the innermost continuation: where the frames on the stack end. The barrier leads to it, too. */
static bool find_entry(const struct walk *w, uintptr_t barrier, uintptr_t *entry)
{
	uint32_t field = (uint32_t)w->l->thread_cont_entry;

	return (w->l->thread_cont_entry >= 0 || stub_thread_field(barrier, &field)) &&
	       load_word(w->java_thread + field, entry) && *entry >= w->sp && !(*entry & (WORD - 1));
}

/* The JVM has frames of the continuation at ENTRY under its hands: those on the stack may be in a chunk, too. */
static bool is_being_frozen(const struct walk *w, uintptr_t entry)
{
	uintptr_t last;

	return !load_word(w->java_thread + (uintptr_t)(w->l->thread_anchor + w->l->anchor_sp), &last) || last >= entry;
}

/* M is a method of class HOLDER. */
static bool is_method_of(const struct walk *w, uintptr_t m, uintptr_t holder)
{
	uintptr_t its;

	return load_word(m + (uintptr_t)w->l->method_const, &its) &&
	       load_word(its + (uintptr_t)w->l->const_pool, &its) &&
	       load_word(its + (uintptr_t)w->l->pool_holder, &its) && its == holder;
}

/* The innermost method is Continuation.doYield: where the one that called it is written, else 0. */
static size_t find_yield(const struct walk *w)
{
	const uint64_t *first = w->out->trace->frame, *word = first;

	while (word < w->out->pos && !frame_is_java(*word))
		word++;
	return word < w->out->pos && frame_kind_of(*word) == FRAME_WRAPPER &&
			       is_method_of(w, frame_method(*word), layout_of(w)->at.continuation)
		       ? (size_t)(word - first) + 1
		       : 0;
}

/*
 * The Continuation of ENTRY, {parent, cont, ...}, before which some JDKs have an empty struct of one byte. The word in
 * the place of the other one is no object: NULL, or an entry on the stack.
 */
static bool load_entry(const struct walk *w, uintptr_t entry, uintptr_t *cont)
{
	const struct frozen_layout *z = layout_of(w);
	int at;

	for (at = 2; at >= 1; at--)
		if (load_word(entry + (uintptr_t)at * WORD, cont) && settle(z, cont) &&
		    is_a(w, *cont, z->at.continuation))
			return true;
	return false;
}

/* With ZGC. The entry's own pointer is brought up to date when its frame is returned to, or by the collector, later. */
static bool find_coloured(const struct walk *w, uintptr_t entry, uintptr_t *cont)
{
	const struct frozen_layout *z = layout_of(w);
	uintptr_t slot, thread, word;
	int at;

	if (!load_word(w->java_thread + (uintptr_t)w->l->thread_vthread, &slot) || !load_oop(z, slot, &thread) ||
	    !is_a(w, thread, z->at.thread) || !load_oop(z, thread + (uintptr_t)z->at.thread_cont, cont))
		return false;
	for (at = 2; at >= 1; at--)
		if (load_word(entry + (uintptr_t)at * WORD, &word) && word == *cont)
			return true;
	return false;
}

static bool find_continuation(const struct walk *w, uintptr_t entry, uintptr_t *cont)
{
	const struct frozen_layout *z = layout_of(w);

	return z->mover == MOVES_COLOURED || z->mover == MOVES_MARKED ? find_coloured(w, entry, cont)
								      : load_entry(w, entry, cont);
}

static bool load_chunk(const struct walk *w, uintptr_t object, struct chunk *c)
{
	const struct frozen_layout *z = layout_of(w);
	uint32_t size, argsize;

	if (!is_a(w, object, z->at.chunk) || !load_u32(object + (uintptr_t)z->at.chunk_size, &size) ||
	    !load_u32(object + (uintptr_t)z->at.chunk_sp, &c->sp))
		return false;
	c->address = object;
	c->stack = object + z->stack;
	if (z->at.chunk_bottom >= 0) {
		if (!load_u32(object + (uintptr_t)z->at.chunk_bottom, &c->bottom))
			return false;
	} else {
		if (!load_u32(object + (uintptr_t)z->at.chunk_argsize, &argsize) || argsize > size)
			return false;
		c->bottom = size - argsize;
	}
	return size <= CHUNK_MAX && c->bottom <= size && c->sp <= c->bottom;
}

/* The chunk at OBJECT, or else the next one out of it, that has frames. C->address 0: there is none. */
static bool find_frames(const struct walk *w, uintptr_t object, struct chunk *c)
{
	const struct frozen_layout *z = layout_of(w);
	int i;

	for (i = 0; i < EMPTY_MAX && object; i++) {
		if (!load_chunk(w, object, c))
			return false;
		if (c->sp < c->bottom)
			return true;
		if (!load_oop(z, object + (uintptr_t)z->at.chunk_parent, &object))
			return false;
	}
	c->address = 0;
	return !object;
}

/* What must be the same before and after: whether and how far the collector is at moving. */
static bool load_moves(const struct walk *w, uintptr_t *moves)
{
	const struct frozen_layout *z = layout_of(w);
	uint32_t active, count;

	if (!load_u8(z->heap + (uintptr_t)w->l->heap_active, &active) || active ||
	    !load_u32(z->heap + (uintptr_t)w->l->heap_collections, &count))
		return false;
	*moves = count;
	return z->mover == MOVES_COLOURED || z->mover == MOVES_MARKED ? load_word((uintptr_t)z->bad, moves) : true;
}

/* From ENTRY to the innermost frozen frame. False: an object on the way has moved, or is none. */
static bool find_way(const struct walk *w, uintptr_t entry, struct frozen_way *way, struct chunk *c)
{
	const struct frozen_layout *z = layout_of(w);
	uintptr_t tail;

	*way = (struct frozen_way){.entry = entry};
	if (!load_moves(w, &way->moves) || !find_continuation(w, entry, &way->continuation) ||
	    !is_a(w, way->continuation, z->at.continuation) ||
	    !load_oop(z, way->continuation + (uintptr_t)z->at.cont_tail, &tail) || !find_frames(w, tail, c))
		return false;
	way->chunk = c->address;
	way->sp = c->sp;
	way->bottom = c->bottom;
	return true;
}

bool walk_frozen_unmoved(const struct walk *w)
{
	struct frozen_way way;
	struct chunk c;

	return find_way(w, w->frozen.way.entry, &way, &c) && way.continuation == w->frozen.way.continuation &&
	       way.chunk == w->frozen.way.chunk && way.sp == w->frozen.way.sp &&
	       way.bottom == w->frozen.way.bottom && way.moves == w->frozen.way.moves;
}

/* ---- its frames ---- */

/* The fp of the interpreted frame that the word at LINK leads to. */
static bool follow_link(const struct walk *w, uintptr_t link, uintptr_t *fp)
{
	uintptr_t words;

	if (!load_word(link, &words) || words > CHUNK_MAX)
		return false;
	*fp = link + words * WORD;
	return *fp < w->frozen.end;
}

/* On to the innermost frame in C. */
static enum step enter(struct walk *w, const struct chunk *c)
{
	w->frozen.chunk = c->address;
	w->frozen.end = c->stack + c->bottom * WORD;
	w->frozen.link = 0;
	w->sp = c->stack + c->sp * WORD;
	w->stack_high = w->frozen.end;
	w->top = false;
	w->regs = NULL;
	if (c->sp < 2 || !load_word(w->sp - WORD, &w->pc) || !load_word(w->sp - 2 * WORD, &w->fp))
		return walk_end_with(w, END_bad_frozen);
	return STEP_ON;
}

/* A pc of enterSpecial's: where it goes on or, if that is not told, where it begins; it is the same frame. */
static bool root_pc(const struct walk *w, uintptr_t *pc)
{
	struct blob b;

	if (w->l->cont_return_pc)
		return load_word(w->l->cont_return_pc, pc);
	if (!code_blob_read(w->l, atomic_load_explicit(&w->l->enter_special, memory_order_relaxed), &b))
		return false;
	*pc = b.code;
	return true;
}

/* All chunks are behind us: what is left is on the carrier's stack again, the method that all began with. */
static enum step to_entry(struct walk *w)
{
	uint64_t last = stack_trace_length(w->out) > w->frozen.mark ? w->out->pos[-1] : 0;

	w->frozen.end = 0;
	w->stack_high = w->frozen.stack_high;
	if (!frame_is_java(last) || !is_method_of(w, frame_method(last), layout_of(w)->at.continuation) ||
	    !root_pc(w, &w->pc))
		return walk_end_with(w, END_bad_frozen);
	w->sp = w->frozen.way.entry;
	return STEP_ON;
}

static enum step next_chunk(struct walk *w)
{
	const struct frozen_layout *z = layout_of(w);
	struct chunk c;
	uintptr_t parent;

	if (!load_oop(z, w->frozen.chunk + (uintptr_t)z->at.chunk_parent, &parent) || !find_frames(w, parent, &c))
		return walk_end_with(w, END_moving);
	return c.address ? enter(w, &c) : to_entry(w);
}

/* One step over an interpreted frame, all of whose links are relative. */
static enum step over_interpreted(struct walk *w)
{
	uintptr_t link = w->frozen.link ? w->frozen.link : w->sp - 2 * WORD, fp, method, bcp, locals, sp, pc;
	struct method m;
	uint32_t bci = FRAME_NO_BCI;

	if (!follow_link(w, link, &fp) || fp < w->sp ||
	    !load_word(fp + (uintptr_t)((intptr_t)w->l->method_slot * WORD), &method) ||
	    !load_word(fp + (uintptr_t)((intptr_t)w->l->bcp_slot * WORD), &bcp) ||
	    !load_word(fp + (uintptr_t)((intptr_t)(w->l->bcp_slot + 1) * WORD), &locals) ||
	    !load_word(fp + (uintptr_t)((intptr_t)w->l->interpreter_sender_sp_slot * WORD), &sp) ||
	    !load_word(fp + WORD, &pc) || !decode_method(w->l, w->cache, method, &m))
		return walk_end_with(w, END_bad_frozen);
	if (bcp >= m.code && bcp - m.code < m.code_size)
		bci = (uint32_t)(bcp - m.code);
	if (!stack_trace_put(w->out, interpreted_word(&m, bci)))
		return STEP_END;
	locals = fp + locals * WORD;
	sp = fp + sp * WORD;
	if (locals + WORD >= w->frozen.end)
		return next_chunk(w);
	w->frozen.link = fp;
	return walk_move(w, pc, sp, 0) ? STEP_ON : walk_end_with(w, END_bad_frozen);
}

/* The first frame in the heap is the one that called doYield: then those on the stack are there, too. Once. */
static void drop_frozen(struct walk *w)
{
	uint64_t *frame = w->out->trace->frame, *from = frame + w->frozen.mark, *to = frame + w->frozen.yields;

	w->frozen.yields = 0;
	if (to >= from || !frame_is_java(*from) || !frame_is_java(*to) || frame_method(*from) != frame_method(*to))
		return;
	w->frozen.mark = (size_t)(to - frame);
	while (from < w->out->pos)
		*to++ = *from++;
	w->out->pos = to;
}

bool walk_in_heap(struct walk *w, enum step *step)
{
	const struct stub *stub;

	if (w->frozen.yields && stack_trace_length(w->out) > w->frozen.mark)
		drop_frozen(w);
	if (w->sp + 2 * WORD >= w->frozen.end) {
		*step = next_chunk(w);
	} else if (code_is_interpreter(w->l, w->pc)) {
		*step = over_interpreted(w);
	} else if (!code_contains(w->l, w->pc) ||
		   ((stub = stub_find(w->stubs, w->pc)) && stub->frozen)) {
		/* A freeze writes what it copies over the innermost frame's pc, then puts that back. */
		*step = walk_end_with(w, w->frozen.yields ? END_freezing : END_bad_frozen);
	} else {
		w->frozen.link = 0;
		return false;
	}
	return true;
}

enum step walk_frozen(struct walk *w, const struct stub *stub)
{
	uintptr_t barrier = stub->thaws ? w->stubs->barrier : stub->start;
	bool thaws = stub->thaws || w->pc != barrier;
	uintptr_t entry;
	struct chunk c;

	if (CPU_BACK_CHAIN || !w->java_thread || !atomic_load_explicit(&layout_of(w)->ready, memory_order_acquire))
		return walk_end_with(w, END_frozen);
	if (w->top && !stack_trace_put(w->out, frame_pc(FRAME_NATIVE, w->pc)))
		return STEP_END;
	w->frozen.yields = find_yield(w);
	if (!find_entry(w, barrier, &entry) || (!thaws && entry - w->sp > ARGUMENTS_MAX) ||
	    (!w->frozen.yields && !thaws && is_being_frozen(w, entry)))
		return walk_end_with(w, END_freezing);
	if (!find_way(w, entry, &w->frozen.way, &c)) {
		w->frozen.way.chunk = 0;
		return walk_end_with(w, END_moving);
	}
	w->frozen.mark = stack_trace_length(w->out);
	if (!c.address || (thaws && !stack_trace_put(w->out, frame_other(OTHER_END, END_freezing))))
		return walk_end_with(w, END_freezing);
	w->frozen.stack_high = w->stack_high;
	return enter(w, &c);
}
