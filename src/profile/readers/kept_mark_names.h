/*
 * kept_mark_names.h - which names marks have, and how many of each lasted how long. All are kept while a recording is
 * read, as it is not known before its end which are frequent. Normal code, one thread at a time.
 */
#ifndef JSTROBE_READERS_KEPT_MARK_NAMES_H
#define JSTROBE_READERS_KEPT_MARK_NAMES_H

#include "common/base/map.h"
#include "common/base/strings.h"
#include "common/base/vector.h"
#include "profile/model/profile_marks.h"
#include "profile/readers/read_limits.h"

#define KEPT_MARK_NAMES LIMIT_COUNT(200)
#define KEPT_MARK_NAMES_READ LIMIT_COUNT(1u << 20) /* before those of most marks are known */

/* Numbers of a name: by part of the time (of those given up), and from KEPT_MARK_STEP on by length (mark_step). */
#define KEPT_MARK_STEP PROFILE_MARK_PARTS
#define KEPT_MARK_NUMBERS (PROFILE_MARK_PARTS + PROFILE_MARK_STEPS)

struct kept_mark_name {
	uint8_t kind;
	uint32_t text;          /* string of the aggregate */
	uint64_t count, sum, longest, kept;
	int64_t given_up;       /* none that lasts so long or shorter is kept; below 0: all are */
	uint32_t *parts, *steps;
	bool estimated;         /* see struct profile_mark_name */
};

/* Zeroed: empty. */
struct kept_mark_names {
	VECTOR(struct kept_mark_name);
	struct map by_name;     /* kind and text → place + 1 */
	struct map single;      /* place and number → how many, of names that have no lists */
	uint64_t last_key;      /* of by_name, what was asked for last, */
	uint32_t last_name;     /* and what it leads to; 0: nothing yet */
	bool failed;            /* no memory */
};

/* The name of KIND and TEXT, made if need be; those that are too many are one without text. NULL: no memory. */
struct kept_mark_name *kept_mark_name(struct kept_mark_names *n, enum mark_kind kind, uint32_t text);
/* MORE in number AT of NAME. */
void kept_mark_count(struct kept_mark_names *n, const struct kept_mark_name *name, unsigned at, uint32_t more);
/*
 * Add FROM's names: TEXT is what a string of FROM's aggregate is in N's. Where each is in N, the caller's to free; with
 * n->failed they are not all there.
 */
uint32_t *kept_mark_names_join(struct kept_mark_names *n, const struct kept_mark_names *from,
			       uint32_t (*text)(void *arg, uint32_t number), void *arg);
/*
 * All were read: the KEPT_MARK_NAMES of most marks stay, in that order, the others become one of each kind, without a
 * text. None has kept marks then. Where each goes, the same.
 */
uint32_t *kept_mark_names_cut(struct kept_mark_names *n, const struct strings *strings);
void kept_mark_names_free(struct kept_mark_names *n);

#endif
