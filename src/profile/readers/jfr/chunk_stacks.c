/*
 * chunk_stacks.c - the stacks of a chunk, as rows of the aggregate's frames: the largest part of most recordings.
 *
 *   a stack in the file    truncated, count, then for each frame, innermost first:
 *   a frame                method (key), line, place in its code, kind (key)
 *
 * A frame is looked up by its two keys in a table of this chunk; only the first time it gets a name.
 */
#include <stdlib.h>

#include "profile/readers/jfr/chunk_frames.h"

#define FIRST_SLOTS 2048
#define BY_NUMBER (1ull << 63) /* no code made of bytes has it */

/* Where the search for a frame begins, before it is cut to the table's size. */
static inline size_t slot_at(const struct names *n, uint64_t code, uint32_t line)
{
	uint64_t hash = (code ^ (uint64_t)line << 32) * n->factor;

	return hash >> 32 ^ hash >> 51;
}

static inline bool is_frame(const struct frame_slot *s, uint64_t code, uint32_t line)
{
	return s->code == code && s->line == line && s->frame;
}

static struct frame_slot *find(const struct names *n, uint64_t code, uint32_t line)
{
	size_t at = slot_at(n, code, line), mask = n->slot_count - 1;

	while (n->slots[at & mask].frame && !is_frame(&n->slots[at & mask], code, line))
		at++;
	return &n->slots[at & mask];
}

static bool grow(struct names *n)
{
	uint32_t old_count = n->slot_count, count = old_count ? old_count * 2 : FIRST_SLOTS, i;
	struct frame_slot *old = n->slots, *slots = count ? calloc(count, sizeof(*slots)) : NULL;

	if (!slots)
		return false;
	n->slots = slots;
	n->slot_count = count;
	for (i = 0; i < old_count; i++)
		if (old[i].frame)
			*find(n, old[i].code, old[i].line) = old[i];
	free(old);
	return true;
}

/* The frame that CODE stands for, which is METHOD, KIND and LINE; made if it is new. */
static uint32_t frame_by_code(struct names *n, uint64_t code, uint64_t method, uint64_t kind, uint32_t line)
{
	struct frame_slot *s = find(n, code, line);
	uint32_t frame;

	if (s->frame)
		return s->frame - 1;
	frame = names_frame(n, method, kind, line);
	if (frame == LISTS_FAILED)
		return frame;
	if (n->slots_used * 2 >= n->slot_count && !grow(n)) {
		n->aggregate->no_memory = true;
		return LISTS_FAILED;
	}
	*find(n, code, line) = (struct frame_slot){code, line, frame + 1};
	n->slots_used++;
	return frame;
}

/* Numbers in any other form than the usual one. */
static uint32_t frame_by_number(struct names *n, uint64_t method, uint64_t kind, uint32_t line)
{
	if (method >> 55 || kind >> 8)
		return names_frame(n, method, kind, line);
	return frame_by_code(n, BY_NUMBER | method << 8 | kind, method, kind, line);
}

/* A number of LENGTH bytes, at most 8; eight can be read. */
static uint64_t number(const uint8_t *at, unsigned length)
{
	uint64_t word;

	memcpy(&word, at, sizeof(word));
	return read_squeeze(le64toh(word) & ~0ull >> (64 - 8 * length));
}

/* The bytes of the method's key and the kind's as one number. */
static inline uint64_t code_of(const uint8_t *at, unsigned method_length, uint8_t kind)
{
	uint64_t word;

	memcpy(&word, at, sizeof(word));
	return le64toh(word) << (64 - 8 * method_length) >> (56 - 8 * method_length) | kind;
}

static inline unsigned lowest(uint64_t bits)
{
	return (unsigned)__builtin_ctzll(bits);
}

/*
 * The usual frames that end in the block at R, at most COUNT, into LIST from its end. Returns how many: 0
 * if the first is none, or has a number of 8 bytes or more. Inlined twice: this is where most time goes.
 */
static inline __attribute__((always_inline)) uint64_t
read_frames(struct names *n, struct reader *r, uint32_t *list, uint64_t count, const bool lines)
{
	const struct frame_slot *slots = n->slots, *s;
	const uint8_t *at = r->c.at, *begin = at;
	uint64_t ends = block_ends(at);
	uint32_t *to = list + count;
	size_t mask = n->slot_count - 1;

	while (to > list) {
		/* where the second number, the third and the fourth end */
		uint64_t second = ends & (ends - 1), third = second & (second - 1), fourth = third & (third - 1), code;
		const uint8_t *line_at, *kind_at;
		uint32_t line = 0;

		if (!fourth)
			break;
		line_at = at + lowest(ends) + 1;
		kind_at = at + lowest(fourth);
		/* a key of 8 bytes, or a kind of more than one */
		if (unlikely(line_at - begin > 7 || !(third << 1 & fourth & -fourth)))
			break;
		if (lines)
			line = (uint32_t)number(line_at, (unsigned)(at + lowest(second) + 1 - line_at));
		code = code_of(begin, (unsigned)(line_at - begin), *kind_at);
		s = &slots[slot_at(n, code, line) & mask];
		if (likely(is_frame(s, code, line))) {
			*--to = s->frame - 1;
		} else {
			*--to = frame_by_code(n, code, number(begin, (unsigned)(line_at - begin)), *kind_at, line);
			slots = n->slots;
			mask = n->slot_count - 1;
		}
		begin = kind_at + 1;
		ends = fourth & (fourth - 1);
	}
	r->c.at = begin;
	return count - (uint64_t)(to - list);
}

static __attribute__((noinline)) uint64_t read_block(struct names *n, struct reader *r, uint32_t *list,
						     uint64_t count)
{
	return read_frames(n, r, list, count, false);
}

static __attribute__((noinline)) uint64_t read_block_with_lines(struct names *n, struct reader *r,
								 uint32_t *list, uint64_t count)
{
	return read_frames(n, r, list, count, true);
}

static bool room(struct names *n, uint64_t count)
{
	return (n->slots || grow(n)) && count < UINT32_MAX / 2 && VECTOR_RESERVE(&n->list, count);
}

/* A frame's line, or below 0 its place in the bytecode; 0: neither is known, or wanted. */
static uint32_t place_of(const struct names *n, const uint64_t slots[FRAME_SLOTS])
{
	if (n->lines && (!n->bci || (int32_t)slots[IN_LINE] > 0))
		return (uint32_t)slots[IN_LINE];
	return n->bci ? -(uint32_t)(slots[IN_BCI] & 0xffff) : 0;
}

/* The frames at R, innermost first there, outermost first in the aggregate. */
static uint32_t read_stack(struct names *n, struct reader *r)
{
	uint64_t count = read_int(r), left, slots[FRAME_SLOTS] = {0};

	if (count > read_left(r))
		return LISTS_FAILED;
	if (!room(n, count)) {
		n->aggregate->no_memory = true;
		return LISTS_FAILED;
	}
	for (left = count; left && !r->c.failed && !n->aggregate->no_memory;) {
		uint64_t done = 0;

		if (n->usual && read_left(r) >= BLOCK_SIZE + 8)
			done = n->lines ? read_block_with_lines(n, r, n->list.items, left) :
					  read_block(n, r, n->list.items, left);
		left -= done;
		if (done)
			continue;
		field_layout_read(n->layouts, n->frame_layout, r, slots);
		n->list.items[--left] = frame_by_number(n, slots[IN_METHOD], slots[IN_KIND],
						  place_of(n, slots));
	}
	return r->c.failed || n->aggregate->no_memory ? LISTS_FAILED :
						   lists_add(&n->aggregate->stacks, n->list.items, (uint32_t)count);
}

uint32_t names_stack(struct names *n, uint32_t place, bool *truncated)
{
	struct constant *constant = &n->pools->of_type[n->stack_type].constants.items[place];
	uint64_t slots[STACK_SLOTS] = {0};
	struct reader r = names_reader_at(n, constant->at);
	uint32_t number;

	*truncated = constant->truncated;
	if (constant->known)
		return constant->known - 1;
	if (n->stack_layout == LAYOUT_NONE || n->frame_layout == LAYOUT_NONE)
		return LISTS_FAILED;
	field_layout_read(n->layouts, n->stack_layout, &r, slots);
	if (r.c.failed || !slots[STACK_FRAMES])
		return LISTS_FAILED;
	*truncated = constant->truncated = slots[STACK_TRUNCATED] != 0;
	r = names_reader(n, slots[STACK_FRAMES]);
	number = read_stack(n, &r);
	if (number != LISTS_FAILED)
		constant->known = number + 1;
	return number;
}
