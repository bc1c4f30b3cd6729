/*
 * enum_names.h - the enums behind frame_kinds.def, thread_states.def, lock_kinds.def, io_words.def and counters.def,
 * and their words. Includable from the signal zone (the tables are constant data).
 */
#ifndef JSTROBE_WORDS_ENUM_NAMES_H
#define JSTROBE_WORDS_ENUM_NAMES_H

#include "common/base/base.h"

enum frame_kind {
#define X(name, word, suffix, colour) FRAME_##name,
#include "common/words/frame_kinds.def"
#undef X
	FRAME_KINDS
};

enum loss_reason {
#define LOSS(name, meaning) LOSS_##name,
#include "common/words/counters.def"
	LOSS_REASONS
};

enum walk_end {
#define END(name, frame, meaning) END_##name,
#include "common/words/counters.def"
	WALK_ENDS
};

enum thread_state {
#define STATE(name, word, meaning) THREAD_##name,
#include "common/words/thread_states.def"
	THREAD_STATES
};

enum lock_kind {
#define LOCK(name, word, meaning) LOCK_##name,
#include "common/words/lock_kinds.def"
	LOCK_KINDS
};

/* A wait in native code, for what has an address. */
static inline bool lock_kind_is_native(enum lock_kind kind)
{
	return kind >= LOCK_MUTEX;
}

enum io_operation {
#define IO_OPERATION(id, word) IO_##id,
#include "common/words/io_words.def"
	IO_OPERATIONS
};

enum io_kind {
#define IO_KIND(id, word, others) IO_KIND_##id,
#include "common/words/io_words.def"
	IO_KINDS
};

struct io_kind_name {
	const char *word, *others;
};

struct thread_state_name {
	const char *word, *meaning;
};
struct lock_kind_name {
	const char *word, *meaning;
};
struct frame_kind_name {
	const char *word;   /* "c1" */
	const char *suffix; /* "_[1]" */
	const char *colour; /* class name in the page */
};
struct counter_name {
	const char *name;    /* "queue_full" */
	const char *frame;   /* text of the ending frame; NULL for losses */
	const char *meaning; /* one sentence without full stop */
};

extern const struct frame_kind_name frame_kind_names[FRAME_KINDS];
extern const struct thread_state_name thread_state_names[THREAD_STATES];
extern const struct lock_kind_name lock_kind_names[LOCK_KINDS];
extern const char *const io_operation_names[IO_OPERATIONS];
extern const struct io_kind_name io_kind_names[IO_KINDS];
extern const struct counter_name loss_names[LOSS_REASONS];
extern const struct counter_name walk_end_names[WALK_ENDS];

/* What a WORD of the tables means; of one that is in none: FRAME_OTHER, THREAD_NONE, lock kind 0. */
enum frame_kind frame_kind_by_word(const char *word);
enum thread_state thread_state_by_word(const char *word);
enum lock_kind lock_kind_by_word(const char *word);
/* The reason called NAME, or called so by an earlier version; LOSS_REASONS: there is none. */
enum loss_reason loss_by_name(const char *name);

#endif
