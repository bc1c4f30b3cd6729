/*
 * kept_marks.h - marks (model/profile_marks.h) while a recording is read: bounded, however many there are.
 *
 * When more than twice KEPT_MARKS_MOST are kept, the shortest ones of the names that have most are given up for a
 * number: what was given up of a name is never longer than what is kept of it, and all that is longer is kept. Of many
 * names each keeps a few until all are known, so that it does not matter who read what.
 * Normal code, one thread at a time.
 */
#ifndef JSTROBE_READERS_KEPT_MARKS_H
#define JSTROBE_READERS_KEPT_MARKS_H

#include "profile/readers/kept_mark_names.h"
#include "profile/readers/kept_rows.h"
#include "profile/readers/lists.h"

#define KEPT_MARKS_MOST LIMIT_COUNT(4096)
#define KEPT_MARK_GCS LIMIT_COUNT(65536)
#define OTHER_EVENTS_MOST LIMIT_COUNT(2000)
#define OTHER_EVENTS_READ LIMIT_COUNT(65536)

struct kept_mark {
	int64_t at;             /* ns since 1970; of JSON since the profile's start */
	uint64_t duration, gc;  /* gc: its number in the recording + 1; 0: none */
	uint32_t name, thread;  /* thread: of the aggregate, or LISTS_FAILED */
};

struct kept_gc {
	uint64_t id;
	uint32_t name, cause;   /* strings of the aggregate */
};

struct other_event {
	uint32_t type, number;  /* strings of the aggregate; number 0: there is none */
	uint64_t count, time, longest, number_sum, number_most;
	int64_t first, last;    /* ns since 1970 */
	bool estimated;         /* time and number_sum are, from some of the events */
};

/* Zeroed: empty, and nothing is wanted. */
struct kept_marks {
	bool wanted;
	bool failed;            /* no memory */
	int64_t from, to;       /* the time of all parts, ns since 1970 */
	struct kept_mark_names names;
	VECTOR(struct kept_mark) items;
	VECTOR(struct kept_gc) gcs;
	VECTOR(struct other_event) events;
	struct map by_gc, by_event;
	struct kept_rows rows;
	size_t full;            /* more items than that are made fewer */
	uint64_t types_left_out; /* of other events, at least */
	uint64_t types_cut;     /* … whose sums are of more than the time of all parts */
};

/* M, which is empty, is for another part of what LIKE is for. */
static inline void kept_marks_begin(struct kept_marks *m, const struct kept_marks *like)
{
	if (m == like)
		return;
	m->wanted = like->wanted;
	m->from = like->from;
	m->to = like->to;
}

/* Whether a mark of KIND and TEXT that lasts DURATION will be kept: else its thread need not be known. */
bool kept_marks_keep(struct kept_marks *m, enum mark_kind kind, uint32_t text, uint64_t duration);
/* Add MARK, whose `name` does not matter yet, as one of KIND and TEXT. */
void kept_marks_add(struct kept_marks *m, enum mark_kind kind, uint32_t text, const struct kept_mark *mark);
/*
 * What a file says of marks of KIND and TEXT goes to their name: COUNT of them, … . Those of them that it tells one by
 * one are put behind that. NULL: no memory.
 */
struct kept_mark_name *kept_marks_said(struct kept_marks *m, enum mark_kind kind, uint32_t text, uint64_t count,
				       uint64_t sum, uint64_t longest);
void kept_marks_put(struct kept_marks *m, enum mark_kind kind, uint32_t text, const struct kept_mark *mark);
void kept_marks_gc(struct kept_marks *m, const struct kept_gc *gc);
/* Add what some events of the type EVENT->type come to. */
void kept_marks_event(struct kept_marks *m, const struct other_event *event);
/* VALUE of ROW, reported AT (ns since 1970). */
void kept_marks_row(struct kept_marks *m, enum mark_row row, int64_t at, uint64_t value);
/* Add all of FROM: TEXT is what a string of FROM's aggregate is in M's, THREADS leads to M's threads. */
void kept_marks_join(struct kept_marks *m, const struct kept_marks *from,
		     uint32_t (*text)(void *arg, uint32_t number), void *arg, const uint32_t *threads);
/*
 * M for a profile that begins at START (as the marks' times), with texts and threads of the aggregate they are of; to
 * be freed by kept_marks_view_free. NULL: there is nothing, or no memory, and M->failed says which.
 */
struct profile_marks *kept_marks_view(struct kept_marks *m, const struct strings *strings, const struct lists *threads,
				      int64_t start);
void kept_marks_view_free(struct profile_marks *view);
void kept_marks_free(struct kept_marks *m);

#endif
