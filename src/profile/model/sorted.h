/*
 * sorted.h - all stacks of a profile in the order of their names, which is a tree of calls without
 * the memory of one: this runs in other people's processes.
 *
 * Items that share their first names stand side by side, and each knows how many of them it shares
 * with the item before:
 *
 *     item  shared  names              the node "run" is the range 0..2 at depth 1,
 *       0      0    main run get       "put" the range 1..2 at depth 2
 *       1      2    main run put
 *       2      3    main run put hash
 *       3      1    main stop
 *
 * Stacks whose names agree in full are one item each still (`shared` is their depth): they may
 * differ in the kinds of their frames.
 */
#ifndef JSTROBE_MODEL_SORTED_H
#define JSTROBE_MODEL_SORTED_H

#include "profile/model/name_table.h"

struct sorted_item {
	uint32_t stack;  /* index into profile.stacks */
	uint32_t shared; /* names in common with the item before; 0 for the first */
};

struct sorted {
	const struct profile *profile;
	bool by_thread; /* the thread's name comes first */
	struct name_table names;
	uint32_t *ranks; /* name -> its place in the order of names */
	struct sorted_item *items;
	uint32_t count;
	uint32_t depth; /* of the deepest item */
};

/* The items FROM up to, not including, TO agree in their first DEPTH names. */
struct sorted_range {
	uint32_t from, to, depth;
	uint64_t samples, weight;           /* of all of them */
	uint64_t self_samples, self_weight; /* of those that end here */
	uint64_t self_objects; /* as in struct profile_stack */
};

/*
 * Sort P, which must live as long, with names in STYLE, below thread frames if BY_THREAD.
 * 0 or -ENOMEM; free in both cases. Normal code.
 */
int sorted_build(struct sorted *s, const struct profile *p, unsigned style, bool by_thread);
void sorted_free(struct sorted *s);

/* How many names item I has: at least one, a stack without frames is called "[no_frames]". */
uint32_t sorted_depth(const struct sorted *s, uint32_t i);
/* The name (in s->names) and the kind (enum frame_kind) of item I at LEVEL, 0 = root. */
uint32_t sorted_name(const struct sorted *s, uint32_t i, uint32_t level);
uint8_t sorted_kind(const struct sorted *s, uint32_t i, uint32_t level);
/* The range of DEPTH names that begins with item FROM. */
struct sorted_range sorted_range(const struct sorted *s, uint32_t from, uint32_t depth);

/* Whether item I begins a new sequence of names, not one that the item before has, too. */
static inline bool sorted_is_new(const struct sorted *s, uint32_t i)
{
	return i == 0 || s->items[i].shared < sorted_depth(s, i);
}

static inline const char *sorted_text(const struct sorted *s, uint32_t i, uint32_t level)
{
	return name_text(&s->names, sorted_name(s, i, level));
}

#endif
