/*
 * hot_paths.h - the few paths of calls that explain most of a profile, as a tree small enough to be read as text.
 *
 * A row is chosen by its part of the whole × 0.9^depth, so that the tree shows both what is heavy and where it comes
 * from. A chain of calls that has one way on is one row. What is not in the rows is summed up: nothing vanishes unsaid.
 */
#ifndef JSTROBE_VIEWS_HOT_PATHS_H
#define JSTROBE_VIEWS_HOT_PATHS_H

#include "common/base/buffer.h"
#include "common/base/vector.h"
#include "profile/model/profile.h"

#define HOT_PATHS_MOST 60
#define HOT_PATHS_NO_PARENT UINT32_MAX

struct hot_path {
	uint32_t parent; /* place in order of choice; HOT_PATHS_NO_PARENT */
	uint32_t depth;  /* rows above it */
	uint64_t total, self; /* of the chain's first frame, and of its last one */
	size_t text;     /* in `texts`: the names, " → " between them */
};

struct hot_paths {
	VECTOR(struct hot_path) rows; /* in order of choice: each parent stands before its children */
	uint32_t *order;  /* the rows in order of reading */
	uint64_t all;     /* what the shares are of */
	bool by_weight;
	struct buffer texts;
};

/* Choose at most MOST rows, none below DEPTH others, of P. 0 or -ENOMEM; free in both cases. Normal code. */
int hot_paths_find(struct hot_paths *h, const struct profile *p, uint32_t most, uint32_t depth);
void hot_paths_free(struct hot_paths *h);

static inline const char *hot_paths_text(const struct hot_paths *h, const struct hot_path *row)
{
	return h->texts.data + row->text;
}
/* What the first COUNT rows do not show: branches that have no row, and what rows without children call. */
struct hot_paths_rest {
	uint64_t beside, below;
};
struct hot_paths_rest hot_paths_rest(const struct hot_paths *h, uint32_t count);

#endif
